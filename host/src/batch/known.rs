//! Chains whose states are known: one path, whatever is observed, along which all that is expected is counted. Of symbols
//! alone: their likelihoods are not relative to the likeliest state's, so that the bits are those of the filter.

use std::marker::PhantomData;

use fishweir_core::ObservationError;
use fishweir_core::emission::{Emission, Row};
use fishweir_core::filter::{Forward, Streaming};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::number::{Parameter, Real};
use fishweir_core::smooth::SequenceError;

/// The only path of a chain that begins in one state and follows each by one alone, for certain.
pub(super) struct KnownPath {
    first: usize,
    /// The state after each; itself where the path never comes.
    next: Vec<usize>,
}

/// Smallest number of states for this method; with fewer a group's lanes are as fast.
const FEWEST_STATES: usize = 32;

impl KnownPath {
    /// The path of a chain that has but one, and states enough.
    pub(super) fn of<T: Real, const N: usize>(chain: &Chain<T, N>) -> Option<Self> {
        if N < FEWEST_STATES {
            return None;
        }
        let certain = |row: &[T; N]| {
            let state = row.iter().position(|&p| p == T::ONE)?;
            let others = row.iter().enumerate().filter(|&(other, _)| other != state);
            others.into_iter().all(|(_, &p)| p == T::ZERO).then_some(state)
        };
        let first = certain(chain.initial())?;
        let mut next: Vec<usize> = (0..N).collect();
        let mut state = first;
        // After as many steps as there are states the path comes to none that is new.
        for _ in 0..N {
            next[state] = certain(&chain.transition()[state])?;
            state = next[state];
        }
        Some(Self { first, next })
    }

    /// The state at each time.
    fn states(&self) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(self.first), |&state| Some(self.next[state]))
    }

    /// Log-likelihood of a sequence under emissions of each state; calls `see` with each time's state.
    ///
    /// Work: a likelihood per sample.
    ///
    /// # Errors
    /// The first impossible or invalid observation.
    pub(super) fn walk<'x, T: Real, E: Emission<Weight = T, Observation: 'x>>(
        &self,
        states: &[E],
        samples: impl Iterator<Item = Option<&'x E::Observation>>,
        mut see: impl FnMut(usize),
    ) -> Result<T, SequenceError> {
        // The filter of one state, which is another at every time.
        let alone = Chain::<T, 1>::from_parts([T::ONE], [[T::ONE]]);
        let hmm = Hmm::new(alone, [EachState { states, seen: PhantomData }]);
        let forward = Forward::of(&hmm);
        let mut belief = forward.initial_state();
        for (time, (x, state)) in samples.zip(self.states()).enumerate() {
            match x {
                Some(x) => forward
                    .step(&mut belief, &KnownObservation { state, x })
                    .map_err(|error| SequenceError::Observation { time, error })?,
                None => forward.step_missing(&mut belief),
            }
            see(state);
        }
        Ok(forward.log_likelihood(&belief))
    }
}

/// Emissions of all states as one that receives the current state.
struct EachState<'m, 'x, E> {
    states: &'m [E],
    seen: PhantomData<&'x ()>,
}

/// An observation in a state that is known.
struct KnownObservation<'x, X: ?Sized> {
    state: usize,
    x: &'x X,
}

impl<'x, T: Real, E: Emission<Weight = T, Observation: 'x>> Emission for EachState<'_, 'x, E> {
    type Weight = T;
    type Observation = KnownObservation<'x, E::Observation>;

    const SCALED: bool = E::SCALED;

    fn log_likelihood(&self, seen: &Self::Observation) -> <T as Parameter>::Log {
        self.states[seen.state].log_likelihood(seen.x)
    }

    #[inline(always)]
    fn row<const N: usize>(states: &[Self; N], seen: &Self::Observation) -> Option<Row<T, N>> {
        let Row { likelihood: [likelihood], log_scale } =
            E::row(std::array::from_ref(&states[0].states[seen.state]), seen.x)?;
        Some(Row { likelihood: [likelihood; N], log_scale })
    }

    fn check(&self, seen: &Self::Observation) -> Result<(), ObservationError> {
        self.states[seen.state].check(seen.x)
    }

    fn validate(&self) -> Result<(), fishweir_core::ModelError> {
        self.states.iter().try_for_each(E::validate)
    }
}
