use crate::contract::{Contract, Partial, WindowClock, Windows, WindowsError};
use crate::error::ObservationError;
use crate::filter::{Stream, Streaming};

/// A classifier that decides on windows of a stream, by its [contract](crate::contract::Contract).
///
/// A window begins at samples 0, `hop`, `2 hop`, ... and ends `length` samples later with a decision. The decision is
/// that of a fresh stream over the window, bit for bit: front ends, lags and codebooks start anew in each. Windows that
/// overlap take a state each, staggered by the hop: `STATES` is [`Windows::states`](crate::contract::Windows::states).
///
/// Without windows the stream never ends: one state, and a decision after each sample.
///
/// A refused sample is missing in the windows whose state refuses it. After more than
/// [`longest_gap`](crate::contract::Windows::longest_gap) missing samples in a row the next sample begins a new window.
///
/// | | flash | RAM | work per sample |
/// |---|---|---|---|
/// | `hop >= length`, or no windows | the classifier's, and its contract | its state and 8 bytes | its own, some ten operations, and a new state each window |
/// | `hop < length` | the same | `STATES` times its state and 8 bytes | `length / hop` times its own |
///
/// ```
/// use fishweir_core::classify::{Normalisation, StreamClassifier, WindowClassifier};
/// use fishweir_core::contract::{Contract, Windows};
/// use fishweir_core::emission::Categorical;
/// use fishweir_core::filter::Stream;
/// use fishweir_core::hmm::{Chain, Hmm};
///
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// let fair = Hmm::new(Chain::<f32, 1>::new([1.0], [[1.0]])?, [Categorical::<2>::new([0.5, 0.5])?]);
/// let biased = Hmm::new(*fair.chain(), [Categorical::<2>::new([0.75, 0.25])?]);
/// let coin = StreamClassifier::new([fair, biased], [[-1.0, 1.0]], [0.0], Normalisation::NONE)?;
///
/// // Windows of four tosses, a new one every two: two states.
/// let contract = Contract { windows: Some(Windows::of(4, 2)), ..Contract::NONE };
/// let mut stream = Stream::new(WindowClassifier::<_, 2>::new(&coin, &contract)?);
/// let mut classes = [None; 8];
/// for (toss, class) in [0, 0, 0, 0, 1, 1, 1, 1].iter().zip(&mut classes) {
///     *class = stream.decide(Some(toss)).map(|decision| decision.class);
/// }
/// assert_eq!(classes, [None, None, None, Some(1), None, Some(0), None, Some(0)]);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct WindowClassifier<'a, C, const STATES: usize> {
    classifier: C,
    contract: &'a Contract<'a>,
}

/// The state of a [`WindowClassifier`]: a state for each window that is open at a time, and the schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StaggeredStates<S, const STATES: usize> {
    states: [S; STATES],
    clock: WindowClock,
}

impl<S, const STATES: usize> StaggeredStates<S, STATES> {
    /// State before the first sample, from as many new states of the classifier; usable in constants.
    #[must_use]
    pub const fn from_parts(states: [S; STATES]) -> Self {
        Self { states, clock: WindowClock::NEW }
    }

    /// Position of the stream among its windows.
    pub const fn clock(&self) -> &WindowClock {
        &self.clock
    }
}

impl<C> WindowClassifier<'_, C, 1> {
    /// A classifier on a stream that never ends, whatever its contract: a decision after each sample.
    pub const fn endless(classifier: C) -> Self {
        Self { classifier, contract: &Contract::NONE }
    }
}

impl<'a, C, const STATES: usize> WindowClassifier<'a, C, STATES> {
    /// A classifier on the windows of its contract; without windows, on a stream that never ends.
    ///
    /// # Errors
    /// [`WindowsError`] where a length or hop is out of range, or `STATES` is not what the windows take.
    pub const fn new(classifier: C, contract: &'a Contract<'a>) -> Result<Self, WindowsError>
    where
        C: Copy,
    {
        if let Some(windows) = contract.windows
            && let Err(error) = windows.check()
        {
            return Err(error);
        }
        let wanted = contract.states();
        if wanted != STATES {
            return Err(WindowsError::States { wanted, found: STATES });
        }
        Ok(Self { classifier, contract })
    }

    /// Creates the classifier without checks, for statics and for changing contracts.
    ///
    /// The contract must have been checked, and its windows must take `STATES` states.
    pub const fn from_parts(classifier: C, contract: &'a Contract<'a>) -> Self {
        Self { classifier, contract }
    }

    /// The classifier.
    pub const fn classifier(&self) -> &C {
        &self.classifier
    }

    /// Contract of the training data.
    pub const fn contract(&self) -> &'a Contract<'a> {
        self.contract
    }

    /// Returns the state of the window that the last sample filled: a decision is due. Without windows, the state after any
    /// sample. `None` where no decision is due.
    #[must_use]
    pub fn decided<'s, S>(&self, state: &'s StaggeredStates<S, STATES>) -> Option<&'s S> {
        match &self.contract.windows {
            Some(windows) => state.states.get(state.clock.ended(windows, STATES)?),
            None => state.states.first().filter(|_| state.clock != WindowClock::NEW),
        }
    }

    /// The state of the oldest window that is open, or just filled. `None` before the first sample, between windows, and in
    /// a gap that is too long.
    #[must_use]
    pub fn open<'s, S>(&self, state: &'s StaggeredStates<S, STATES>) -> Option<&'s S> {
        match &self.contract.windows {
            Some(windows) => state.states.get(state.clock.oldest(windows, STATES)?.0),
            None => self.decided(state),
        }
    }

    /// Returns the state of the oldest open window, if such a window may decide.
    ///
    /// Where the contract allows no decision on a partly filled window ([`Partial::Never`]), it is [`decided`](Self::decided).
    #[must_use]
    pub fn so_far<'s, S>(&self, state: &'s StaggeredStates<S, STATES>) -> Option<&'s S> {
        match &self.contract.windows {
            Some(Windows { partial: Partial::Never, .. }) => self.decided(state),
            _ => self.open(state),
        }
    }
}

impl<C: Streaming, const STATES: usize> WindowClassifier<'_, C, STATES> {
    /// Takes in a sample, `None` for a missing one. What a state refuses is missing there.
    #[inline]
    fn take(
        &self,
        state: &mut StaggeredStates<C::State, STATES>,
        x: Option<&C::Observation>,
    ) -> Result<(), ObservationError> {
        let StaggeredStates { states, clock } = state;
        let push = |state: &mut C::State| self.classifier.push(state, x);
        let renew = |state: &mut C::State| self.classifier.restart(state);
        clock.step(self.contract.windows.as_ref(), x.is_some(), states, renew, push)
    }
}

/// Reads a decision where one is due. A sample is pushed to the state of each window that is open; one that a state
/// refuses is missing there, and the error says so.
impl<C: Streaming, const STATES: usize> Streaming for WindowClassifier<'_, C, STATES> {
    type Observation = C::Observation;
    type State = StaggeredStates<C::State, STATES>;
    type Reading = Option<C::Reading>;
    const ROLLS_BACK: bool = false;

    fn initial_state(&self) -> Self::State {
        StaggeredStates::from_parts(core::array::from_fn(|_| self.classifier.initial_state()))
    }

    fn restart(&self, state: &mut Self::State) {
        state.states.iter_mut().for_each(|state| self.classifier.restart(state));
        state.clock = WindowClock::NEW;
    }

    #[inline]
    fn step(&self, state: &mut Self::State, x: &C::Observation) -> Result<(), ObservationError> {
        self.take(state, Some(x))
    }

    fn step_missing(&self, state: &mut Self::State) {
        // Only an observation can be refused.
        let _ = self.take(state, None);
    }

    fn read(&self, state: &Self::State) -> Option<C::Reading> {
        self.decided(state).map(|state| self.classifier.read(state))
    }
}

impl<C: Streaming, const STATES: usize> Stream<WindowClassifier<'_, C, STATES>> {
    /// Takes in a sample, `None` for a missing one, and returns the decision where one is due: at the end of each
    /// window, or without windows after each sample. A refused sample is missing.
    #[inline]
    pub fn decide(&mut self, x: Option<&C::Observation>) -> Option<C::Reading> {
        // A refused sample is missing.
        let _ = self.push(x);
        self.read()
    }

    /// The state that a decision is due of, for readings of its own: see [`WindowClassifier::decided`].
    pub fn decided(&self) -> Option<&C::State> {
        self.recursion().decided(self.state())
    }

    /// The state of the oldest open window: see [`WindowClassifier::open`].
    pub fn open(&self) -> Option<&C::State> {
        self.recursion().open(self.state())
    }

    /// The state of the oldest open window, where it may decide: see [`WindowClassifier::so_far`].
    pub fn so_far(&self) -> Option<&C::State> {
        self.recursion().so_far(self.state())
    }
}
