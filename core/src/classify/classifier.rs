//! One trait for all classifiers; a wrapper of one is an [`Adapter`].

use core::fmt::Debug;

use super::{Calibration, Decision, Output, Prediction, ScoreOutOfRange};
use crate::error::ModelError;
use crate::filter::{Adapter, Streaming};
use crate::number::{NumberFormat, Real};

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

impl<A: Adapter<Inner: Classifier>> Classifier for A {
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
