use heapless::Deque;

use super::{Belief, Evidence, Forward, SettingError, Streaming, Windowed};
use crate::emission::Emission;
use crate::error::ObservationError;
use crate::hmm::{Hmm, NumberOf, ReadingOf};
use crate::number::Number;

/// The log-likelihood of the last samples given all before them, with its tangents.
///
/// ```text
/// log p(x_s+1..t | x_1..s) = sum_{u=s+1..t} log c_u = log p(x_1..t) - log p(x_1..s)
/// ```
///
/// One forward filter, and every `interval` samples a mark of its [`Evidence`], of which `SNAPSHOTS` are
/// kept: the reading covers the last `(SNAPSHOTS - 1) interval + 1` to `SNAPSHOTS interval` samples. The
/// difference is taken of ledgers, and is as exact after `10^8` samples as after the first.
///
/// State: that of [`Forward`], `SNAPSHOTS` evidences and a counter; in `f32`, categorical, `N = 4`,
/// 8 marks: 256 B, with one direction 344 B. Work per sample: that of [`Forward`]; a reading costs one
/// logarithm and `1 + 2 C` divisions.
///
/// ```
/// use fishweir_core::{emission::Categorical, filter::{RollingLogLikelihood, Stream}, hmm::{Chain, Hmm}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hmm = Hmm::new(
///     Chain::<f32, 2>::new([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]])?,
///     [Categorical::<2, f32>::new([0.75, 0.25])?, Categorical::<2, f32>::new([0.1, 0.9])?],
/// );
/// let mut recent = Stream::new(RollingLogLikelihood::<_, 2, 8>::of(&hmm, 16)?);
/// recent.push_block(&[0; 1000])?;
/// let usual = recent.read();
/// recent.push_block(&[1, 0].repeat(64))?;
/// let unusual = recent.read();
/// assert_eq!((usual.samples, unusual.samples), (120, 120));
/// assert!(unusual.reading < usual.reading);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct RollingLogLikelihood<'m, E: Emission, const N: usize, const SNAPSHOTS: usize> {
    forward: Forward<'m, E, N>,
    interval: u32,
}

impl<E: Emission, const N: usize, const SNAPSHOTS: usize> Clone
    for RollingLogLikelihood<'_, E, N, SNAPSHOTS>
{
    fn clone(&self) -> Self {
        *self
    }
}
impl<E: Emission, const N: usize, const SNAPSHOTS: usize> Copy
    for RollingLogLikelihood<'_, E, N, SNAPSHOTS>
{
}

/// The state of [`RollingLogLikelihood`]: a belief, and marks of its earlier log-likelihoods, the oldest first.
#[derive(Clone, Debug, PartialEq)]
pub struct RecentState<X: Number, const N: usize, const SNAPSHOTS: usize> {
    belief: Belief<X, N>,
    marks: Deque<Evidence<X>, SNAPSHOTS>,
    /// Samples since the newest mark.
    since: u32,
}

impl<X: Number, const N: usize, const SNAPSHOTS: usize> RecentState<X, N, SNAPSHOTS> {
    /// State before the first sample.
    pub const NEW: Self = Self { belief: Belief::NEW, marks: Deque::new(), since: 0 };

    /// The filter's belief.
    pub fn belief(&self) -> &Belief<X, N> {
        &self.belief
    }
}

impl<'m, E: Emission, const N: usize, const SNAPSHOTS: usize>
    RollingLogLikelihood<'m, E, N, SNAPSHOTS>
{
    /// The recent evidence for a model, over `SNAPSHOTS x interval` samples.
    ///
    /// # Errors
    /// [`SettingError::Interval`] where `interval` is zero.
    pub const fn of(hmm: &'m Hmm<E, N>, interval: u32) -> Result<Self, SettingError> {
        const { assert!(SNAPSHOTS > 0, "SNAPSHOTS must be at least 1") };
        if interval == 0 {
            return Err(SettingError::Interval);
        }
        Ok(Self { forward: Forward::of(hmm), interval })
    }

    /// The filter underneath, for readings of its own.
    pub const fn forward(&self) -> Forward<'m, E, N> {
        self.forward
    }

    fn count(
        &self,
        state: &mut RecentState<NumberOf<E>, N, SNAPSHOTS>,
        before: Evidence<NumberOf<E>>,
    ) {
        if state.marks.is_empty() || state.since >= self.interval {
            if state.marks.is_full() {
                state.marks.pop_front();
            }
            // There is room: a full ring has just lost its oldest.
            let _ = state.marks.push_back(before);
            state.since = 0;
        }
        state.since += 1;
    }
}

impl<E: Emission, const N: usize, const SNAPSHOTS: usize> Streaming
    for RollingLogLikelihood<'_, E, N, SNAPSHOTS>
{
    type Observation = E::Observation;
    type State = RecentState<NumberOf<E>, N, SNAPSHOTS>;
    type Reading = Windowed<ReadingOf<E>>;

    fn initial_state(&self) -> Self::State {
        RecentState::NEW
    }

    #[inline]
    fn step(&self, state: &mut Self::State, x: &E::Observation) -> Result<(), ObservationError> {
        let before = state.belief.evidence();
        self.forward.step(&mut state.belief, x)?;
        self.count(state, before);
        Ok(())
    }

    #[inline]
    fn step_missing(&self, state: &mut Self::State) {
        let before = state.belief.evidence();
        self.forward.step_missing(&mut state.belief);
        self.count(state, before);
    }

    fn read(&self, state: &Self::State) -> Self::Reading {
        match state.marks.front() {
            Some(oldest) => Windowed {
                reading: E::in_units(
                    self.forward.hmm().emission(),
                    state.belief.evidence().difference(oldest),
                ),
                samples: (state.marks.len() as u32)
                    .saturating_sub(1)
                    .saturating_mul(self.interval)
                    .saturating_add(state.since),
            },
            None => Windowed { reading: state.belief.log(), samples: 0 },
        }
    }
}
