use super::backward::{Backward, NoPairs};
use crate::emission::Emission;
use crate::error::ObservationError;
use crate::filter::{Belief, Forward, Streaming};
use crate::hmm::Hmm;
use crate::number::Real;

/// The fixed-lag smoother: the distribution of the state `LAG` samples ago, given the stream so far.
///
/// ```text
/// read:  p(z_t-LAG = i | x_1..t)        p(z_1 = i | x_1..t) while t <= LAG
/// ```
///
/// It keeps the filter's last rows in a ring; a reading runs the backward pass of
/// [`posteriors`](super::posteriors) over them. With `LAG = 0` it is the filter; with a lag that
/// covers the stream, the smoother. Before the first sample it reads the initial distribution, at
/// lag 0; [`LaggedPosterior::lag`] always says how far back a reading lies.
///
/// Source: Rabiner 1989, equation 27, on the window's samples; the samples before it are in the
/// filter's oldest row. State: `(LAG + 1) N` reals, a ledger and two counters; `N = 4`, `LAG = 8` in
/// `f32` takes 176 B on a Cortex-M. Work per sample: that of [`Forward`] and `N` moves. Work per reading:
/// `LAG (2 N^2)` multiply-adds and `LAG N` divisions.
///
/// ```
/// use fishweir_core::{
///     emission::Categorical, filter::Stream, hmm::{Chain, Hmm}, smooth::FixedLag,
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hmm = Hmm::new(
///     Chain::<f32, 2>::new([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]])?,
///     [Categorical::<2>::new([0.75, 0.25])?, Categorical::<2>::new([0.1, 0.9])?],
/// );
/// let mut stream = Stream::new(FixedLag::<_, 2, 3>::of(&hmm));
/// for x in [0, 0, 1, 0, 0] {
///     stream.push(&x)?;
/// }
/// let smoothed = stream.read();
/// assert_eq!(smoothed.lag, 3); // the second of the five samples
/// assert!(smoothed.probability[0] > 0.9);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct FixedLag<'m, E: Emission, const N: usize, const LAG: usize> {
    forward: Forward<'m, E, N>,
}

impl<E: Emission, const N: usize, const LAG: usize> Clone for FixedLag<'_, E, N, LAG> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<E: Emission, const N: usize, const LAG: usize> Copy for FixedLag<'_, E, N, LAG> {}

/// A fixed-lag smoother's state: the filter's, and the `LAG` rows before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LagWindow<T: Real, const N: usize, const LAG: usize> {
    belief: Belief<T, N>,
    /// A ring: the oldest row is at `head` once it is full.
    rows: [[T; N]; LAG],
    head: usize,
    filled: usize,
}

impl<T: Real, const N: usize, const LAG: usize> LagWindow<T, N, LAG> {
    /// State before the first sample.
    pub const NEW: Self =
        Self { belief: Belief::NEW, rows: [[T::ZERO; N]; LAG], head: 0, filled: 0 };

    /// The filter's state.
    pub const fn belief(&self) -> &Belief<T, N> {
        &self.belief
    }

    /// The largest lag that can be read: `LAG`, or fewer where fewer samples came before the last.
    pub const fn lag(&self) -> usize {
        self.filled
    }

    /// Keeps the row that has just been left behind.
    #[inline]
    fn keep(&mut self, row: &[T; N]) {
        if let Some(slot) = self.rows.get_mut(self.head) {
            *slot = *row;
            self.head += 1;
            if self.head == LAG {
                self.head = 0;
            }
            if self.filled < LAG {
                self.filled += 1;
            }
        }
    }

    /// The kept rows, newest first.
    fn newest_first(&self) -> impl Iterator<Item = &[T; N]> {
        let (newer, older) = self.rows.split_at_checked(self.head).unwrap_or((&[], &[]));
        newer.iter().rev().chain(older.iter().rev()).take(self.filled)
    }
}

/// A smoothed distribution of the hidden state and the time it is about.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LaggedPosterior<T, const N: usize> {
    /// Number of samples before the last.
    pub lag: usize,
    /// `p(z_t-lag = i | x_1..t)`, `[state]`.
    pub probability: [T; N],
}

impl<'m, E: Emission, const N: usize, const LAG: usize> FixedLag<'m, E, N, LAG> {
    /// The fixed-lag smoother of a model.
    pub const fn of(hmm: &'m Hmm<E, N>) -> Self {
        Self { forward: Forward::of(hmm) }
    }

    /// The forward recursion underneath, for the readings of the filter.
    pub const fn forward(&self) -> Forward<'m, E, N> {
        self.forward
    }
}

impl<T: Real, E: Emission<Weight = T>, const N: usize, const LAG: usize> FixedLag<'_, E, N, LAG> {
    /// The smoothed distributions of the samples in the window, from the last (lag 0) to lag
    /// [`LagWindow::lag`]; none before the first sample.
    ///
    /// Work: that of one reading for all of them.
    pub fn for_each_lag(
        &self,
        state: &LagWindow<T, N, LAG>,
        mut visit: impl FnMut(LaggedPosterior<T, N>),
    ) {
        if state.belief.is_new() {
            return;
        }
        let chain = self.forward.hmm().chain();
        let mut row = *state.belief.row();
        let mut backward = Backward::from_last(&mut row);
        visit(LaggedPosterior { lag: 0, probability: row });
        for (filtered, lag) in state.newest_first().zip(1..) {
            row = *filtered;
            backward.step(chain, &mut row, &mut NoPairs);
            visit(LaggedPosterior { lag, probability: row });
        }
    }

    /// `p(z_t-lag = i | x_1..t)`; `None` where the window does not reach so far back.
    pub fn at_lag(&self, state: &LagWindow<T, N, LAG>, lag: usize) -> Option<[T; N]> {
        if state.belief.is_new() || lag > state.filled {
            return None;
        }
        let chain = self.forward.hmm().chain();
        let mut row = *state.belief.row();
        let mut backward = Backward::from_last(&mut row);
        for filtered in state.newest_first().take(lag) {
            row = *filtered;
            backward.step(chain, &mut row, &mut NoPairs);
        }
        Some(row)
    }
}

impl<T: Real, E: Emission<Weight = T>, const N: usize, const LAG: usize> Streaming
    for FixedLag<'_, E, N, LAG>
{
    type Observation = E::Observation;
    type State = LagWindow<T, N, LAG>;
    type Reading = LaggedPosterior<T, N>;

    #[inline]
    fn initial_state(&self) -> Self::State {
        LagWindow::NEW
    }

    #[inline]
    fn step(&self, state: &mut Self::State, x: &E::Observation) -> Result<(), ObservationError> {
        let (first, row) = (state.belief.is_new(), *state.belief.row());
        self.forward.step(&mut state.belief, x)?;
        if !first {
            state.keep(&row);
        }
        Ok(())
    }

    #[inline]
    fn step_missing(&self, state: &mut Self::State) {
        let (first, row) = (state.belief.is_new(), *state.belief.row());
        self.forward.step_missing(&mut state.belief);
        if !first {
            state.keep(&row);
        }
    }

    fn read(&self, state: &Self::State) -> LaggedPosterior<T, N> {
        match self.at_lag(state, state.filled) {
            Some(probability) => LaggedPosterior { lag: state.filled, probability },
            None => LaggedPosterior { lag: 0, probability: *self.forward.hmm().chain().initial() },
        }
    }
}
