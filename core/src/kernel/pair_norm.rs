use core::marker::PhantomData;

use super::{Cells, KernelError, LogKernel, PairHmm, Scaled, Validate};
use crate::error::ObservationError;
use crate::filter::Streaming;
use crate::number::Real;

/// The kernel of a stream with itself under a [`PairHmm`]: the square of its norm, by which a
/// [`PairKernel`](super::PairKernel) is normalised.
///
/// ```text
/// k(x, x) = sum_a k[t][t][a] end'[a]
/// ```
///
/// with `k[i][j]` as of a [`PairKernel`](super::PairKernel) whose stored sequence is the stream itself. Each symbol adds a row
/// and a column to the table; the table is symmetric, so the column alone is computed, over all symbols so far, which are
/// kept. A symbol that is missing is summed over, in each of the two by itself.
///
/// Source: Shawe-Taylor and Cristianini, "Kernel Methods for Pattern Analysis", 2004, Algorithm 12.14.
///
/// `C` are the cells of the column and `X` the symbols, of a device `[Scaled<T, N>; ROWS]` and `[u16; ROWS]`, for streams of up
/// to `ROWS - 1` symbols; more are refused, and missing ones then change nothing. State: `ROWS + 1` rows of `N` reals and 8 B,
/// and 2 B per symbol. Work per symbol: `t (N^2 + 6 N)` multiply-adds after `t` symbols.
///
/// ```
/// use fishweir_core::{filter::Stream, kernel::{End, PairHmm, PairNorm}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // One symbol, or none, from one state; then the end.
/// let model = PairHmm::<f64, 1, 1>::new(
///     [1.0], [[0.0]], [[0.75]], [0.25], End::Silent { initial: 0.0, state: [1.0] },
/// )?;
/// let mut norm = Stream::new(PairNorm::<_, [_; 2], [_; 2]>::of(&model));
/// norm.push(&0)?;
/// assert!((norm.read().exp() - 0.75 * 0.75).abs() < 1e-15);
/// assert!(norm.push(&0).is_err()); // two rows are for one symbol
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct PairNorm<'m, H, C, X> {
    model: &'m H,
    room: PhantomData<fn() -> (C, X)>,
}

impl<H, C, X> Clone for PairNorm<'_, H, C, X> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<H, C, X> Copy for PairNorm<'_, H, C, X> {}

/// State of a [`PairNorm`]: a column of scaled rows over the symbols so far, and these.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PairNormState<S, C, X> {
    /// `p[i][t]`.
    predicted: C,
    symbols: X,
    /// `k[t][t]`.
    last: S,
    length: usize,
}

/// A symbol that is missing, among those that are kept.
const MISSING: u16 = u16::MAX;

impl<'m, H, C, X> PairNorm<'m, H, C, X> {
    /// The norm under a model.
    pub const fn of(model: &'m H) -> Self {
        Self { model, room: PhantomData }
    }
}

impl<T, C, X, const N: usize, const K: usize> PairNorm<'_, PairHmm<T, N, K>, C, X>
where
    T: Real,
    C: Cells<Scaled<T, N>>,
    X: Cells<u16>,
{
    fn emits(&self, symbol: u16) -> Option<[T; N]> {
        self.model.emits(if symbol == MISSING { None } else { Some(usize::from(symbol)) })
    }

    /// Adds the symbol's column; `false` where there is no room, and nothing changes.
    fn advance(
        &self,
        state: &mut PairNormState<Scaled<T, N>, C, X>,
        symbol: u16,
        emitted: &[T; N],
    ) -> bool {
        let PairNormState { predicted, symbols, last, length } = state;
        if !predicted.reserve(Scaled::ZERO, *length + 2) || !symbols.reserve(MISSING, *length + 1) {
            return false;
        }
        let (cells, symbols) = (predicted.as_mut(), symbols.as_mut());
        let Some(([first, rest @ ..], kept)) =
            cells.get_mut(..*length + 2).zip(symbols.get_mut(..=*length))
        else {
            return false;
        };
        if let Some(new) = kept.last_mut() {
            *new = symbol;
        }
        let mut diagonal = *first;
        let mut above = self.model.after(&self.model.first_cell(first, emitted));
        *first = above;
        let before = *length;
        for (i, (cell, &symbol)) in rest.iter_mut().zip(&*kept).enumerate() {
            // By symmetry `p[t][t-1]` is `p[t-1][t]`, which was computed last.
            let left = if i == before { above } else { *cell };
            let stored = self.emits(symbol).unwrap_or([T::ZERO; N]);
            *last = self.model.cell([&above, &left, &diagonal], &stored, Some(emitted));
            diagonal = left;
            above = self.model.after(last);
            *cell = above;
        }
        *length += 1;
        true
    }
}

impl<T, C, X, const N: usize, const K: usize> Streaming for PairNorm<'_, PairHmm<T, N, K>, C, X>
where
    T: Real,
    C: Cells<Scaled<T, N>>,
    X: Cells<u16>,
{
    type Observation = usize;
    type State = PairNormState<Scaled<T, N>, C, X>;
    /// `log k(x, x)`.
    type Reading = T;

    fn initial_state(&self) -> Self::State {
        let mut predicted = C::filled(Scaled::ZERO, 1);
        if let Some(first) = predicted.as_mut().first_mut() {
            *first = Scaled::new(*self.model.chain().initial());
        }
        PairNormState { predicted, symbols: X::filled(MISSING, 0), last: Scaled::ZERO, length: 0 }
    }

    fn step(&self, state: &mut Self::State, x: &usize) -> Result<(), ObservationError> {
        let emitted = self.model.emits(Some(*x)).ok_or(ObservationError::UnknownSymbol)?;
        let symbol = u16::try_from(*x).map_err(|_| ObservationError::UnknownSymbol)?;
        if !self.advance(state, symbol, &emitted) {
            return Err(ObservationError::PastEnd);
        }
        Ok(())
    }

    fn step_missing(&self, state: &mut Self::State) {
        if let Some(emitted) = self.model.emits(None) {
            self.advance(state, MISSING, &emitted);
        }
    }

    fn read(&self, state: &Self::State) -> T {
        if state.length == 0 {
            return self.model.initial_end().ln();
        }
        state.last.log_of(self.model.end())
    }
}

impl<T, C, X, const N: usize, const K: usize> LogKernel for PairNorm<'_, PairHmm<T, N, K>, C, X>
where
    T: Real,
    C: Cells<Scaled<T, N>>,
    X: Cells<u16>,
{
    type Parts = [T; 2];
    fn log_parts(&self, state: &Self::State) -> [T; 2] {
        if state.length == 0 {
            return [self.model.initial_end().ln(), T::ZERO];
        }
        state.last.log_parts_of(self.model.end())
    }
    fn is_full(&self, state: &Self::State) -> bool {
        C::CAPACITY.is_some_and(|rows| state.length + 2 > rows)
            || X::CAPACITY.is_some_and(|symbols| state.length + 1 > symbols)
    }
}

impl<H, C, X> Validate for PairNorm<'_, H, C, X> {
    fn validate(&self) -> Result<(), KernelError> {
        Ok(())
    }
    /// Size without the model, which belongs to the kernel.
    fn size_bytes(&self) -> usize {
        size_of_val(self)
    }
}
