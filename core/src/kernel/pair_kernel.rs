use core::borrow::Borrow;
use core::marker::PhantomData;

use super::aligned::check_stored;
use super::{Cells, KernelError, LogKernel, Observed, PairHmm, Scaled, Validate};
use crate::error::{ObservationError, check_symbol};
use crate::filter::Streaming;
use crate::number::Real;

/// The kernel of sequences of any two lengths under a [`PairHmm`], against a stored one.
///
/// ```text
/// k(s, t) = sum_a k[|s|][|t|][a] end'[a]
/// k[i][j][b] = P(s_i, - | b) p[i-1][j][b] + P(-, t_j | b) p[i][j-1][b] + P(s_i, t_j | b) p[i-1][j-1][b]
/// p[i][j][b] = sum_a k[i][j][a] P'(b | a)         p[0][0] = the initial probabilities
/// ```
///
/// with the emissions of the pair model, none of which is (nothing, nothing). One column over the
/// stored sequence is kept, of the predicted rows `p`: a cell needs its own and its neighbour's from
/// the column before, and is predicted from once. Each cell has a power of two of its own.
///
/// After `j` symbols it reads the kernel with the first `j`. A symbol that is missing, of either, is one
/// summed over the alphabet.
///
/// Source: Shawe-Taylor and Cristianini, "Kernel Methods for Pattern Analysis", 2004, Algorithm
/// 12.14, with the end weights that it leaves out.
///
/// `C` are the cells of a column, of a device `[Scaled<T, N>; ROWS]`: `ROWS` is the length of the longest sequence that may be
/// stored, and one. State: `ROWS + 1` rows of `N` reals and 8 B. Work per symbol: `|s| (N^2 + 6 N)` multiply-adds, and as many to start
/// or reset.
///
/// ```
/// use fishweir_core::{filter::Stream, kernel::{End, PairHmm, PairKernel}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // One symbol, or none, from one state; then the end.
/// let model = PairHmm::<f64, 1, 1>::new(
///     [1.0], [[0.0]], [[0.75]], [0.25], End::Silent { initial: 0.0, state: [1.0] },
/// )?;
/// let mut kernel = Stream::new(PairKernel::<_, _, [_; 2]>::of(&model, &[0_u8])?);
/// assert!((kernel.read().exp() - 0.75 * 0.25).abs() < 1e-15); // with the empty sequence
/// kernel.push(&0)?;
/// assert!((kernel.read().exp() - 0.75 * 0.75).abs() < 1e-15);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct PairKernel<'m, H, S, C> {
    model: &'m H,
    stored: &'m [S],
    cells: PhantomData<fn() -> C>,
}

impl<H, S, C> Clone for PairKernel<'_, H, S, C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<H, S, C> Copy for PairKernel<'_, H, S, C> {}

/// State of a [`PairKernel`]: a column of scaled rows over the stored sequence.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Column<T, C, const N: usize> {
    /// `p[i][j]`.
    predicted: C,
    /// `k[|s|][j]`.
    last: Scaled<T, N>,
    /// `true` if nothing is stored and nothing has come: the trajectory of no state.
    empty: bool,
}

impl<'m, H, S, C> PairKernel<'m, H, S, C> {
    /// A kernel whose stored sequence was checked before, as an export writes it; [`validate`](Validate::validate) checks
    /// it again.
    pub const fn from_parts(model: &'m H, stored: &'m [S]) -> Self {
        Self { model, stored, cells: PhantomData }
    }
}

impl<'m, T, S, C, const N: usize, const K: usize> PairKernel<'m, PairHmm<T, N, K>, S, C>
where
    T: Real,
    S: Observed<usize>,
    C: Cells<Scaled<T, N>>,
{
    /// The kernel under a model against a stored sequence, which may be empty.
    ///
    /// # Errors
    /// The first stored symbol outside the alphabet, or a sequence that needs more rows than there are:
    /// one more than its symbols.
    pub fn of(model: &'m PairHmm<T, N, K>, stored: &'m [S]) -> Result<Self, KernelError> {
        const {
            assert!(
                !matches!(C::CAPACITY, Some(0)),
                "a column needs a row more than symbols are stored"
            )
        };
        if let Some(available) = C::CAPACITY
            && stored.len() >= available
        {
            return Err(KernelError::Capacity { needed: stored.len() + 1, available });
        }
        check_stored(&[stored], |&symbol| check_symbol(symbol, K))?;
        Ok(Self::from_parts(model, stored))
    }

    /// The model.
    pub const fn model(&self) -> &'m PairHmm<T, N, K> {
        self.model
    }

    /// The logarithms of `k[|s|][|t|][a]`: of the initial state, then `[state]`. Without the end
    /// weights they are those of trajectories whose last pair is not empty.
    pub fn subkernels(&self, state: &Column<T, C, N>) -> (T, [T; N]) {
        let initial = if state.empty { T::ZERO } else { T::NEG_INFINITY };
        (initial, state.last.logs())
    }

    /// Computes the column after another symbol; the first column without one.
    #[inline]
    fn advance(&self, column: &mut Column<T, C, N>, streamed: Option<[T; N]>) {
        let Some((first, rest)) = column.predicted.as_mut().split_first_mut() else { return };
        let (mut diagonal, mut above) = (*first, *first);
        let mut last = Scaled::ZERO;
        if let Some(streamed) = &streamed {
            last = self.model.first_cell(first, streamed);
            above = self.model.after(&last);
            *first = above;
        }
        for (cell, symbol) in rest.iter_mut().zip(self.stored) {
            let symbol = symbol.observation().map(|symbol| *symbol.borrow());
            let stored = self.model.emits(symbol).unwrap_or([T::ZERO; N]);
            last = self.model.cell([&above, cell, &diagonal], &stored, streamed.as_ref());
            diagonal = *cell;
            above = self.model.after(&last);
            *cell = above;
        }
        column.last = last;
    }
}

impl<T, S, C, const N: usize, const K: usize> Streaming for PairKernel<'_, PairHmm<T, N, K>, S, C>
where
    T: Real,
    S: Observed<usize>,
    C: Cells<Scaled<T, N>>,
{
    type Observation = usize;
    type State = Column<T, C, N>;
    /// `log k`.
    type Reading = T;

    fn initial_state(&self) -> Self::State {
        let mut column = Column {
            predicted: C::filled(Scaled::ZERO, self.stored.len() + 1),
            last: Scaled::ZERO,
            empty: self.stored.is_empty(),
        };
        if let Some(first) = column.predicted.as_mut().first_mut() {
            *first = Scaled::new(*self.model.chain().initial());
        }
        self.advance(&mut column, None);
        column
    }

    #[inline]
    fn step(&self, state: &mut Self::State, x: &usize) -> Result<(), ObservationError> {
        let streamed = self.model.emits(Some(*x)).ok_or(ObservationError::UnknownSymbol)?;
        state.empty = false;
        self.advance(state, Some(streamed));
        Ok(())
    }

    #[inline]
    fn step_missing(&self, state: &mut Self::State) {
        state.empty = false;
        self.advance(state, self.model.emits(None));
    }

    fn read(&self, state: &Self::State) -> T {
        if state.empty {
            return self.model.initial_end().ln();
        }
        state.last.log_of(self.model.end())
    }
}

impl<T, S, C, const N: usize, const K: usize> LogKernel for PairKernel<'_, PairHmm<T, N, K>, S, C>
where
    T: Real,
    S: Observed<usize>,
    C: Cells<Scaled<T, N>>,
{
    type Parts = [T; 2];
    fn log_parts(&self, state: &Self::State) -> [T; 2] {
        if state.empty {
            return [self.model.initial_end().ln(), T::ZERO];
        }
        state.last.log_parts_of(self.model.end())
    }
}

impl<T, S, C, const N: usize, const K: usize> Validate for PairKernel<'_, PairHmm<T, N, K>, S, C>
where
    T: Real,
    S: Observed<usize>,
    C: Cells<Scaled<T, N>>,
{
    fn validate(&self) -> Result<(), KernelError> {
        self.model.validate()?;
        Self::of(self.model, self.stored).map(drop)
    }
    fn size_bytes(&self) -> usize {
        size_of_val(self) + size_of_val(self.model) + size_of_val(self.stored)
    }
    fn shared_bytes(&self) -> usize {
        size_of_val(self.model)
    }
}
