//! Recursions around another.

use super::recursion::Streaming;
use crate::error::{ModelError, ObservationError};

/// A recursion around another: lags, a front end, a reference. It has the reading of the inner one, and if that is a
/// [`Classifier`](crate::classify::Classifier), it decides as that does.
///
/// A new wrapper implements this trait alone: [`Streaming`], and around a classifier `Classifier` and
/// `AdditiveClassifier`, follow. One that counts the samples it passes on:
///
/// ```
/// use fishweir_core::ObservationError;
/// use fishweir_core::classify::{AdditiveClassifier, Classifier};
/// use fishweir_core::filter::{Adapter, Streaming};
///
/// struct Counting<C>(C);
///
/// impl<C: Streaming> Adapter for Counting<C> {
///     type Inner = C;
///     type Observation = C::Observation;
///     type State = (C::State, u32);
///
///     fn inner(&self) -> &C {
///         &self.0
///     }
///     fn inner_state<'s>(&self, (inner, _): &'s Self::State) -> &'s C::State {
///         inner
///     }
///     fn outer_initial_state(&self) -> Self::State {
///         (self.0.initial_state(), 0)
///     }
///     fn outer_step(&self, (inner, count): &mut Self::State, x: &C::Observation) -> Result<(), ObservationError> {
///         self.0.step(inner, x)?;
///         *count += 1;
///         Ok(())
///     }
///     fn outer_step_missing(&self, (inner, _): &mut Self::State) {
///         self.0.step_missing(inner);
///     }
/// }
///
/// fn decides<C: AdditiveClassifier>(classifier: &C) -> usize {
///     Counting(classifier).classes() // it is a classifier, and so is a reference to one
/// }
/// ```
pub trait Adapter {
    /// The recursion inside.
    type Inner: Streaming + ?Sized;
    /// Observation of one sample.
    type Observation: ?Sized;
    /// State on a stream.
    type State: Clone;
    /// `true` if [`outer_step`](Self::outer_step) leaves the state unchanged on an error: see [`Streaming::ROLLS_BACK`].
    ///
    /// The default, that of the inner recursion, is correct if the wrapper changes its own state only after a successful step.
    const ROLLS_BACK: bool = <Self::Inner as Streaming>::ROLLS_BACK;

    /// Returns the recursion inside.
    fn inner(&self) -> &Self::Inner;

    /// Returns the state of the recursion inside.
    fn inner_state<'s>(&self, state: &'s Self::State) -> &'s <Self::Inner as Streaming>::State;

    /// The state before the first sample.
    fn outer_initial_state(&self) -> Self::State;

    /// Makes a state that before the first sample; where states are large, part by part.
    #[inline]
    fn outer_restart(&self, state: &mut Self::State) {
        *state = self.outer_initial_state();
    }

    /// Takes in one sample: see [`Streaming::step`].
    ///
    /// # Errors
    /// An observation that is impossible under the model, or invalid.
    fn outer_step(
        &self,
        state: &mut Self::State,
        x: &Self::Observation,
    ) -> Result<(), ObservationError>;

    /// Takes in a sample that was not observed: time passes, nothing is learnt.
    fn outer_step_missing(&self, state: &mut Self::State);

    /// Checks the wrapper's own numbers.
    ///
    /// # Errors
    /// Names the first invalid one.
    fn validate_own(&self) -> Result<(), ModelError> {
        Ok(())
    }

    /// Returns the size of the wrapper's own parameters in flash, in bytes.
    fn own_bytes(&self) -> usize {
        0
    }
}

impl<A: Adapter> Streaming for A {
    type Observation = A::Observation;
    type State = A::State;
    type Reading = <A::Inner as Streaming>::Reading;
    const ROLLS_BACK: bool = A::ROLLS_BACK;

    #[inline]
    fn initial_state(&self) -> Self::State {
        self.outer_initial_state()
    }
    #[inline]
    fn restart(&self, state: &mut Self::State) {
        self.outer_restart(state);
    }
    #[inline]
    fn step(&self, state: &mut Self::State, x: &Self::Observation) -> Result<(), ObservationError> {
        self.outer_step(state, x)
    }
    #[inline]
    fn step_missing(&self, state: &mut Self::State) {
        self.outer_step_missing(state);
    }
    #[inline]
    fn read(&self, state: &Self::State) -> Self::Reading {
        self.inner().read(self.inner_state(state))
    }
}

/// A reference to a recursion is a recursion.
impl<R: Streaming + ?Sized> Adapter for &R {
    type Inner = R;
    type Observation = R::Observation;
    type State = R::State;

    #[inline]
    fn inner(&self) -> &R {
        self
    }
    #[inline]
    fn inner_state<'s>(&self, state: &'s Self::State) -> &'s R::State {
        state
    }
    #[inline]
    fn outer_initial_state(&self) -> Self::State {
        R::initial_state(self)
    }
    #[inline]
    fn outer_restart(&self, state: &mut Self::State) {
        R::restart(self, state);
    }
    #[inline]
    fn outer_step(
        &self,
        state: &mut Self::State,
        x: &Self::Observation,
    ) -> Result<(), ObservationError> {
        R::step(self, state, x)
    }
    #[inline]
    fn outer_step_missing(&self, state: &mut Self::State) {
        R::step_missing(self, state);
    }
}
