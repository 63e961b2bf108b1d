//! One trait for what decides, one for what wraps it.

use core::fmt::Debug;

use super::{Calibration, Decision, Output, Prediction, ScoreOutOfRange};
use crate::error::ModelError;
use crate::filter::Streaming;
use crate::front::{Front, Preprocessed};
use crate::lagged::{LagFeatures, Lookback};
use crate::number::{Channel, NumberFormat, Real};

/// A recursion that decides between classes.
///
/// Implementors are [`StreamClassifier`](super::StreamClassifier), [`WithCodebooks`](super::WithCodebooks) and
/// [`KernelMachine`](super::KernelMachine), and every [`Adapter`] around one of them.
pub trait Classifier: Streaming {
    /// Reals of decisions.
    type Real: Real;
    /// Evidence: a log-likelihood `[model]`, or of a kernel machine a decision value `[output]`.
    type Evidence: Copy + Debug + AsRef<[Self::Real]> + IntoIterator<Item = Self::Real>;
    /// Format of the model's numbers.
    const FORMAT: NumberFormat;

    /// Returns the decision on the stream so far.
    ///
    /// # Errors
    /// [`ScoreOutOfRange`], of a kernel machine on scores.
    fn decision(&self, state: &Self::State) -> Result<Decision<Self::Real>, ScoreOutOfRange>;

    /// Returns the evidence behind the decision.
    ///
    /// # Errors
    /// As [`decision`](Self::decision).
    fn evidence(&self, state: &Self::State) -> Result<Self::Evidence, ScoreOutOfRange>;

    /// Returns the number of classes.
    fn classes(&self) -> usize;

    /// Returns the model's size in flash, in bytes.
    fn size_bytes(&self) -> usize;
}

/// A classifier whose outputs are sums over models: further evidence can be added before they are rounded, and
/// predictions have probabilities.
pub trait AdditiveClassifier: Classifier {
    /// Outputs, `[output]`.
    type Outputs: AsRef<[Output<Self::Real>]> + AsMut<[Output<Self::Real>]>;

    /// Returns the evidence for each output, before normalisation and biases.
    fn sums(&self, state: &Self::State) -> Self::Outputs;

    /// Normalises evidence for the length of the stream, and adds the biases.
    fn finish(&self, state: &Self::State, outputs: &mut Self::Outputs);

    /// Returns the log-likelihood of the stream under each model, `[model]`; minus infinity of a model that is ruled out.
    fn log_likelihoods(&self, state: &Self::State) -> Self::Evidence;

    /// Returns the number of samples since the start, missing ones included.
    fn samples(&self, state: &Self::State) -> u64;

    /// Checks every number.
    ///
    /// # Errors
    /// Names the first invalid one. An error inside a model does not name the model.
    fn validate(&self) -> Result<(), ModelError>;

    /// Returns the outputs before they are rounded, `[output]`.
    #[inline]
    fn outputs(&self, state: &Self::State) -> Self::Outputs {
        let mut outputs = self.sums(state);
        self.finish(state, &mut outputs);
        outputs
    }

    /// Returns the decision with its probability, and why it is rejected where it is.
    fn predict(
        &self,
        state: &Self::State,
        calibration: &Calibration<'_, Self::Real>,
    ) -> Prediction<Self::Real> {
        let (logs, samples) = (self.log_likelihoods(state), self.samples(state));
        calibration.believe(self.outputs(state).as_ref(), logs, samples)
    }
}

/// A recursion around a classifier: lags, a front end, a reference. It decides as the classifier inside does.
///
/// A new wrapper implements [`Streaming`] and this trait; [`Classifier`] and [`AdditiveClassifier`] follow. One that
/// counts the samples it passes on:
///
/// ```
/// use fishweir_core::ObservationError;
/// use fishweir_core::classify::{Adapter, AdditiveClassifier, Classifier};
/// use fishweir_core::filter::Streaming;
///
/// struct Counting<C>(C);
///
/// impl<C: Streaming> Streaming for Counting<C> {
///     type Observation = C::Observation;
///     type State = (C::State, u32);
///     type Reading = C::Reading;
///     const ROLLS_BACK: bool = C::ROLLS_BACK;
///
///     fn initial_state(&self) -> Self::State {
///         (self.0.initial_state(), 0)
///     }
///     fn step(&self, (inner, count): &mut Self::State, x: &C::Observation) -> Result<(), ObservationError> {
///         self.0.step(inner, x)?;
///         *count += 1;
///         Ok(())
///     }
///     fn step_missing(&self, (inner, _): &mut Self::State) {
///         self.0.step_missing(inner);
///     }
///     fn read(&self, (inner, _): &Self::State) -> C::Reading {
///         self.0.read(inner)
///     }
/// }
///
/// impl<C: Classifier> Adapter for Counting<C> {
///     type Inner = C;
///     fn inner(&self) -> &C {
///         &self.0
///     }
///     fn inner_state<'s>(&self, (inner, _): &'s Self::State) -> &'s C::State {
///         inner
///     }
/// }
///
/// fn decides<C: AdditiveClassifier>(classifier: &C) -> usize {
///     Counting(classifier).classes() // it is a classifier, and so is a reference to one
/// }
/// ```
pub trait Adapter: Streaming {
    /// The classifier inside.
    type Inner: Classifier + ?Sized;

    /// Returns the classifier inside.
    fn inner(&self) -> &Self::Inner;

    /// Returns the state of the classifier inside.
    fn inner_state<'s>(&self, state: &'s Self::State) -> &'s <Self::Inner as Streaming>::State;

    /// Checks the wrapper's own numbers.
    ///
    /// # Errors
    /// Names the first invalid one.
    fn validate_own(&self) -> Result<(), ModelError> {
        Ok(())
    }

    /// Returns the size of what the wrapper adds to the model in flash, in bytes.
    fn own_bytes(&self) -> usize {
        0
    }
}

impl<A: Adapter> Classifier for A {
    type Real = <A::Inner as Classifier>::Real;
    type Evidence = <A::Inner as Classifier>::Evidence;
    const FORMAT: NumberFormat = <A::Inner as Classifier>::FORMAT;

    #[inline]
    fn decision(&self, state: &Self::State) -> Result<Decision<Self::Real>, ScoreOutOfRange> {
        self.inner().decision(self.inner_state(state))
    }
    #[inline]
    fn evidence(&self, state: &Self::State) -> Result<Self::Evidence, ScoreOutOfRange> {
        self.inner().evidence(self.inner_state(state))
    }
    #[inline]
    fn classes(&self) -> usize {
        self.inner().classes()
    }
    #[inline]
    fn size_bytes(&self) -> usize {
        self.inner().size_bytes() + self.own_bytes()
    }
}

impl<A: Adapter<Inner: AdditiveClassifier>> AdditiveClassifier for A {
    type Outputs = <A::Inner as AdditiveClassifier>::Outputs;

    #[inline]
    fn sums(&self, state: &Self::State) -> Self::Outputs {
        self.inner().sums(self.inner_state(state))
    }
    #[inline]
    fn finish(&self, state: &Self::State, outputs: &mut Self::Outputs) {
        self.inner().finish(self.inner_state(state), outputs);
    }
    #[inline]
    fn log_likelihoods(&self, state: &Self::State) -> Self::Evidence {
        self.inner().log_likelihoods(self.inner_state(state))
    }
    #[inline]
    fn samples(&self, state: &Self::State) -> u64 {
        self.inner().samples(self.inner_state(state))
    }
    fn validate(&self) -> Result<(), ModelError> {
        self.validate_own()?;
        self.inner().validate()
    }
}

impl<C: Classifier + ?Sized> Adapter for &C {
    type Inner = C;

    #[inline]
    fn inner(&self) -> &C {
        self
    }
    #[inline]
    fn inner_state<'s>(&self, state: &'s Self::State) -> &'s C::State {
        state
    }
}

impl<
    T: Channel,
    R,
    const D: usize,
    const E: usize,
    const K: usize,
    const PAST: bool,
    const L: usize,
> Adapter for LagFeatures<R, Lookback<D, K, PAST>, L>
where
    R: Classifier<Observation = [T; E]>,
{
    type Inner = R;

    #[inline]
    fn inner(&self) -> &R {
        self.recursion()
    }
    #[inline]
    fn inner_state<'s>(&self, state: &'s Self::State) -> &'s R::State {
        state.inner()
    }
    fn validate_own(&self) -> Result<(), ModelError> {
        self.validate_lags()
    }
    fn own_bytes(&self) -> usize {
        size_of_val(self.lags())
    }
}

impl<F: Front<R::Observation>, R: Classifier<Observation: Sized>> Adapter for Preprocessed<F, R> {
    type Inner = R;

    #[inline]
    fn inner(&self) -> &R {
        self.recursion()
    }
    #[inline]
    fn inner_state<'s>(&self, state: &'s Self::State) -> &'s R::State {
        state.inner()
    }
    fn validate_own(&self) -> Result<(), ModelError> {
        self.front().validate()
    }
    fn own_bytes(&self) -> usize {
        size_of_val(self.front())
    }
}
