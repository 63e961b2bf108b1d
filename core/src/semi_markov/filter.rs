use super::SegmentChain;
use crate::emission::{Emission, Row};
use crate::error::{ErrorKind, ModelError, ObservationError, Part};
use crate::filter::Streaming;
use crate::number::{RESCALE_BELOW, RESCALE_FROM, Real, UNDERFLOW_EXP};

/// Tables of a hidden semi-Markov model of `N` states and `D` cells per state: see [`SegmentChain`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SegmentModel<T, const N: usize, const D: usize> {
    initial: [T; N],
    transition: [[T; N]; N],
    hazard: [[T; D]; N],
    end: [T; N],
}

impl<T: Real, const N: usize, const D: usize> SegmentModel<T, N, D> {
    /// A model of hazards, `[state][elapsed - 1]`; the last of a row may be below one, for a geometric tail.
    ///
    /// # Errors
    /// Names the first entry that is no probability, and the first row, or `initial`, that does not sum to one.
    pub fn new(
        initial: [T; N],
        transition: [[T; N]; N],
        hazard: [[T; D]; N],
    ) -> Result<Self, ModelError> {
        let model = Self { initial, transition, hazard, end: [T::ONE; N] };
        model.check([T::ZERO; N])?;
        let mut begins = T::ZERO;
        for i in 0..N {
            begins = begins + initial[i];
        }
        if !is_one(begins) {
            return Err(ModelError::new(Part::Initial, ErrorKind::SumNotOne, 0, 0));
        }
        Ok(model)
    }

    /// A model of duration tables, `[state][duration - 1]`.
    ///
    /// # Errors
    /// As [`new`](Self::new), and names a table that does not sum to one.
    pub fn with_durations(
        initial: [T; N],
        transition: [[T; N]; N],
        duration: [[T; D]; N],
    ) -> Result<Self, ModelError> {
        let mut hazard = [[T::ONE; D]; N];
        for state in 0..N {
            let mut left = T::ZERO;
            for u in 0..D {
                let last = D - 1 - u;
                left = left + duration[state][last];
                if left > T::ZERO {
                    hazard[state][last] = duration[state][last] / left;
                }
            }
            if !is_one(left) {
                let part = Part::Parameter("duration");
                return Err(ModelError::new(part, ErrorKind::SumNotOne, state, 0));
            }
        }
        Self::new(initial, transition, hazard)
    }

    /// The model of strings that end after a segment with the probabilities `end`, `[state]`: rows of `transition` and `end` sum to one
    /// together. What `initial` lacks is the probability of the empty string.
    ///
    /// # Errors
    /// As [`new`](Self::new), with a sum of `initial` above one.
    pub fn with_end(
        initial: [T; N],
        transition: [[T; N]; N],
        hazard: [[T; D]; N],
        end: [T; N],
    ) -> Result<Self, ModelError> {
        let model = Self { initial, transition, hazard, end };
        model.check(end)?;
        Ok(model)
    }

    /// A model that is known to be valid, for constants: what the constructors refuse gives meaningless answers.
    pub const fn from_parts(
        initial: [T; N],
        transition: [[T; N]; N],
        hazard: [[T; D]; N],
        end: [T; N],
    ) -> Self {
        Self { initial, transition, hazard, end }
    }

    fn check(&self, end: [T; N]) -> Result<(), ModelError> {
        SegmentChain::new(
            &self.initial,
            self.transition.as_flattened(),
            self.hazard.as_flattened(),
        )?;
        for state in 0..N {
            let mut sum = end[state];
            for to in 0..N {
                sum = sum + self.transition[state][to];
            }
            if !is_one(sum) || end[state] < T::ZERO {
                return Err(ModelError::new(Part::Transition, ErrorKind::SumNotOne, state, 0));
            }
        }
        Ok(())
    }

    /// The recursion over these tables.
    pub const fn chain(&self) -> SegmentChain<'_, T> {
        let (transition, hazard) = (self.transition.as_flattened(), self.hazard.as_flattened());
        SegmentChain::from_parts(&self.initial, transition, hazard, D)
    }
}

/// Returns whether a sum of probabilities is one, but for rounding; `false` for NaN.
fn is_one<T: Real>(sum: T) -> bool {
    (sum - T::ONE).abs() <= T::SUM_TOLERANCE
}

/// State of a [`SegmentFilter`]: the weights of the cells, `[state][elapsed - 1]`, scaled.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SegmentBelief<T: Real, const N: usize, const D: usize> {
    cells: [[T; D]; N],
    ledger: T::ScaleAccumulator,
    begun: bool,
}

impl<T: Real, const N: usize, const D: usize> SegmentBelief<T, N, D> {
    /// State before the first sample.
    pub const NEW: Self = Self { cells: [[T::ZERO; D]; N], ledger: T::UNSCALED, begun: false };

    /// The weights of the cells, proportional to `p(z_t = i, elapsed = u, x_1..t)`.
    pub const fn cells(&self) -> &[[T; D]; N] {
        &self.cells
    }

    fn sum(&self) -> T {
        let mut sum = T::ZERO;
        for &cell in self.cells.as_flattened() {
            sum = sum + cell;
        }
        sum
    }

    /// Moves the magnitude of the weights, whose sum is given, into the ledger.
    fn rescale(&mut self, sum: T) {
        let vanished = sum.partial_cmp(&T::ZERO) != Some(core::cmp::Ordering::Greater);
        if vanished || sum.is_between(RESCALE_BELOW, RESCALE_FROM) {
            return;
        }
        let factor = T::power_of_two(-sum.exponent());
        T::rescale(&mut [sum], sum, &mut self.ledger);
        for cell in self.cells.as_flattened_mut() {
            *cell = *cell * factor;
        }
    }
}

/// The filter of a stream under a hidden semi-Markov model: the likelihood, the states, and how long the present segment has lasted.
///
/// The last segment may be unfinished: it has the weight `P(d >= its length)`, at every prefix.
///
/// State: `N D` reals and a ledger. Work per sample: `2 N D + N^2` multiplications and a row of likelihoods.
#[derive(Debug)]
pub struct SegmentFilter<'m, E: Emission<Weight: Real>, const N: usize, const D: usize> {
    model: &'m SegmentModel<E::Weight, N, D>,
    emission: &'m [E; N],
}

impl<E: Emission<Weight: Real>, const N: usize, const D: usize> Clone
    for SegmentFilter<'_, E, N, D>
{
    fn clone(&self) -> Self {
        *self
    }
}
impl<E: Emission<Weight: Real>, const N: usize, const D: usize> Copy
    for SegmentFilter<'_, E, N, D>
{
}

impl<'m, T: Real, E: Emission<Weight = T>, const N: usize, const D: usize>
    SegmentFilter<'m, E, N, D>
{
    /// The filter of a model and the emissions of its states.
    pub const fn of(model: &'m SegmentModel<T, N, D>, emission: &'m [E; N]) -> Self {
        Self { model, emission }
    }

    /// `p(z_t = i | x_1..t)`, `[state]`; the initial distribution before the first sample, zeros where every string has ended.
    pub fn filtered(&self, state: &SegmentBelief<T, N, D>) -> [T; N] {
        if !state.begun {
            return self.model.initial;
        }
        let (mut row, sum) = ([T::ZERO; N], state.sum());
        if sum <= T::ZERO {
            return row;
        }
        self.model.chain().states_of(state.cells.as_flattened(), &mut row);
        for entry in &mut row {
            *entry = *entry / sum;
        }
        row
    }

    /// The probability that the present segment, or with a final state the string, ends with this sample; zero before the
    /// first sample, and where every string has ended.
    pub fn end_probability(&self, state: &SegmentBelief<T, N, D>) -> T {
        let sum = state.sum();
        if sum > T::ZERO { self.ended(state) / sum } else { T::ZERO }
    }

    /// `log p(x_1..t)` of strings that end here: with the last segment finished, and the final state after it where there is one.
    /// Minus infinity where none can.
    pub fn log_if_ended(&self, state: &SegmentBelief<T, N, D>) -> T {
        let ended = self.ended(state);
        if ended > T::ZERO { T::log(ended, &state.ledger) } else { T::NEG_INFINITY }
    }

    fn ended(&self, state: &SegmentBelief<T, N, D>) -> T {
        let (mut leaving, mut sum) = ([T::ZERO; N], T::ZERO);
        self.model.chain().leaving(state.cells.as_flattened(), &mut leaving);
        for i in 0..N {
            sum = sum + leaving[i] * self.model.end[i];
        }
        sum
    }

    fn advance(&self, state: &mut SegmentBelief<T, N, D>) {
        let chain = self.model.chain();
        if state.begun {
            chain.advance(state.cells.as_flattened_mut(), &mut [T::ZERO; N]);
            let sum = state.sum();
            state.rescale(sum);
        } else {
            chain.begin(state.cells.as_flattened_mut());
            state.begun = true;
        }
    }

    /// Likelihoods relative to the best of the states that can be reached, where a row relative to all underflows.
    #[cold]
    #[inline(never)]
    fn reachable(&self, mass: &[T; N], x: &E::Observation) -> Option<([T; N], T)> {
        let (mut logs, mut best) = ([T::NEG_INFINITY; N], T::NEG_INFINITY);
        for i in 0..N {
            if mass[i] > T::ZERO {
                logs[i] = self.emission[i].log_likelihood(x);
                best = best.max(logs[i]);
            }
        }
        if !best.is_finite() {
            return None;
        }
        for log in &mut logs {
            *log = (*log - best).exp();
        }
        Some((logs, best))
    }
}

impl<T: Real, E: Emission<Weight = T>, const N: usize, const D: usize> Streaming
    for SegmentFilter<'_, E, N, D>
{
    type Observation = E::Observation;
    type State = SegmentBelief<T, N, D>;
    /// `log p(x_1..t)`.
    type Reading = T;
    const ROLLS_BACK: bool = false;

    fn initial_state(&self) -> Self::State {
        SegmentBelief::NEW
    }

    fn step(&self, state: &mut Self::State, x: &E::Observation) -> Result<(), ObservationError> {
        self.advance(state);
        if E::is_missing(x) {
            return Ok(());
        }
        for emission in self.emission {
            emission.check(x)?;
        }
        let chain = self.model.chain();
        let mut mass = [T::ZERO; N];
        chain.states_of(state.cells.as_flattened(), &mut mass);
        let (mut row, mut sum) = (None, T::ZERO);
        if let Some(Row { likelihood, log_scale }) = E::row(self.emission, x) {
            for i in 0..N {
                sum = sum + mass[i] * likelihood[i];
            }
            row = Some((likelihood, log_scale));
        }
        if !sum.is_at_least(UNDERFLOW_EXP) {
            row = self.reachable(&mass, x);
        }
        let Some((likelihood, log_scale)) = row else { return Err(ObservationError::Impossible) };
        let sum = chain.weigh(state.cells.as_flattened_mut(), &likelihood);
        T::add_log_scale(&mut state.ledger, log_scale);
        state.rescale(sum);
        Ok(())
    }

    fn step_missing(&self, state: &mut Self::State) {
        self.advance(state);
    }

    fn read(&self, state: &Self::State) -> T {
        if !state.begun {
            return T::ZERO;
        }
        // What must have ended has no weight left.
        let sum = state.sum();
        if sum > T::ZERO { T::log(sum, &state.ledger) } else { T::NEG_INFINITY }
    }
}
