//! Deployment: a trained classifier as the `f32` numbers that a device holds, and what runs them.
//!
//! ```text
//! Classifier (f64) --compile--> Deployed (f32) --+--> Stream, the host's run of it
//!                                                +--> Rust source with a `static`
//!                                                +--> binary artefact, read in place
//!                                                +--> cost: RAM, flash, multiply-adds
//! Expansion (f64) --deploy--> Machine (f32): what does not compile, support vectors in flash
//! ModelKind (f64) --deploy--> DeployedKind (f32): whichever of the two; DeployedClassifier, DecisionStream
//! Hmm (f64), direction, normal streams --calibrate--> Detector (f32): alarms of an unlabelled stream
//! ```
//!
//! The stream runs the core's recursions over the same numbers in the same order as the device, so
//! its decisions, margins and log-likelihoods are the device's, bit for bit.

mod artefact;
mod block;
mod compile;
mod cost;
mod detector;
mod fixed;
mod kind;
mod machine;
mod route;
mod source;
mod steps;
mod stream;
mod words;

pub use artefact::ArtefactFileError;
pub use compile::CompileError;
pub use cost::Cost;
pub use detector::{Calibration, CalibrationError, Detector, DetectorStream};
pub use fixed::{Deviation, FixedPoint, Limits, MeasureError, QuantiseError};
pub use kind::{DecisionStream, DeployedClassifier, DeployedKind, ModelKind};
pub use machine::{
    Expansion, ExpansionError, ExpansionKernel, Machine, MachineStream, WhiteningRows,
};
pub(crate) use machine::{check_size, has_machines, unit_length};
pub use route::Route;
pub(crate) use stream::leads;
pub use stream::{PushError, Stream};

use fishweir_core::classify::Normalisation;

use crate::classifier::Observations;
use crate::data::Values;
use crate::runtime::Observed;
pub(crate) use crate::runtime::family::{DeployedEmission, Weight};

/// A deployed model; all models of a bank have the same number of states.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DeployedModel<T = f32> {
    /// `[state]`.
    pub(crate) initial: Vec<Weight<T>>,
    /// `[from][to]`.
    pub(crate) transition: Vec<Vec<Weight<T>>>,
    /// `[state]`.
    pub(crate) emission: Vec<DeployedEmission<T>>,
}

impl<T> DeployedModel<T> {
    pub(crate) fn is_over_symbols(&self) -> bool {
        let first = self.emission.first();
        first.is_some_and(|emission| emission.family.observes() == Observed::Symbol)
    }
}

/// A classifier as a device holds it: `f32`, tangents attached, in the sensor's own units. Over
/// `f64` it is what other formats are made from and measured against.
#[derive(Clone, Debug, PartialEq)]
pub struct Deployed<T = f32> {
    pub(crate) observations: Observations,
    pub(crate) classes: Vec<String>,
    pub(crate) models: Vec<DeployedModel<T>>,
    /// How many symbols are the context of the next, where emissions are a row a context and nothing is
    /// hidden.
    pub(crate) order: Option<usize>,
    /// `[output][model]`.
    pub(crate) weights: Vec<Vec<T>>,
    /// `[output]`.
    pub(crate) biases: Vec<T>,
    pub(crate) normalisation: Normalisation,
}

impl<T> Deployed<T> {
    /// What it observes.
    #[must_use]
    pub fn observations(&self) -> &Observations {
        &self.observations
    }

    /// Names of the classes.
    #[must_use]
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// What the numbers of its channels must be.
    #[must_use]
    pub fn values(&self) -> Values {
        let first = self.models.first().and_then(|model| model.emission.first());
        match first.map(|emission| emission.family.observes()) {
            Some(Observed::Channels(values)) => values,
            _ => Values::Reals,
        }
    }

    /// Number of models.
    #[must_use]
    pub fn models(&self) -> usize {
        self.models.len()
    }

    /// Hidden states of each model, or its contexts.
    #[must_use]
    pub fn states(&self) -> usize {
        self.models.first().map_or(0, |model| model.emission.len())
    }

    /// How many symbols are the context of the next, of what weighs words of symbols.
    #[must_use]
    pub fn order(&self) -> Option<usize> {
        self.order
    }

    /// Channels or symbols.
    #[must_use]
    pub fn size(&self) -> usize {
        self.observations.size()
    }

    /// Number of outputs: one for two classes, else one a class.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.biases.len()
    }

    /// How evidence grows with length.
    #[must_use]
    pub fn normalisation(&self) -> Normalisation {
        self.normalisation
    }

    /// Directions that each model carries: one an output, or none.
    #[must_use]
    pub fn directions(&self) -> usize {
        let first = self.models.first().and_then(|model| model.initial.first());
        first.map_or(0, |weight| weight.tangent.len())
    }
}
