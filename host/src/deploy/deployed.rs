//! A classifier as a device holds it.

use fishweir_core::ModelError;
use fishweir_core::artefact::Topology;
use fishweir_core::classify::Normalisation;
use fishweir_core::contract::{Windows, WindowsError};

use super::codebooks::DeployedCodebooks;
use super::common::Common;
use super::cost::Cost;
use super::engine::{EngineKind, Format};
use super::error::DeployError;
use super::evaluator::Description;
use super::past::Past;
use super::profiles::{DeployedProfile, ProfileParts};
use super::route::Route;
use super::stream::{Evidence, Stream};
use super::strings::Strings;
use super::systems::Systems;
use super::windows::WindowStream;
use crate::classifier::{Classifier, Codebooks, Contract, DeployedConfidence, Observations};
use crate::data::internals::FrontStream;
use crate::data::{Front, Lags, Values, Windowing};
use crate::model::{FittedModel, ModelSet, NamedModel};
use crate::runtime::family::OF_CHANNELS;
use crate::runtime::{Family, HostReal, Observed, Shape};

/// A classifier as a device holds it: `f32`, tangents attached, in the sensor's own units, and of a
/// kernel machine its support vectors. Over `f64` it is what other formats are made from and measured
/// against.
#[derive(Clone, Debug, PartialEq)]
pub struct Deployed<T: Format = f32> {
    pub(crate) common: Common<T::Number>,
    pub(crate) engine: T::Engine,
}

impl<T: Format> Deployed<T> {
    /// Contract of the training, which the stream keeps to; `None` for an artefact of a version without contracts.
    #[must_use]
    pub fn contract(&self) -> Option<&Contract> {
        self.common.contract.as_ref()
    }

    /// The windows that it decides on; `None` on whole series.
    #[must_use]
    pub fn windows(&self) -> Option<Windows> {
        self.common.windows()
    }

    /// Checks that a stream can decide on its windows: lengths in range, not too many open at a time.
    ///
    /// # Errors
    /// [`WindowsError`] saying which is out of range.
    pub fn check_windows(&self) -> Result<(), WindowsError> {
        self.windows().map_or(Ok(()), |windows| windows.check())
    }

    /// Sets other windows, or a stream that never ends; device and host then keep to it.
    #[must_use]
    pub fn on_windows(mut self, windowing: Option<Windowing>) -> Self {
        self.common.contract.get_or_insert_default().windowing = windowing;
        self
    }

    /// Observations of the models.
    pub fn observations(&self) -> &Observations {
        &self.common.observations
    }

    /// Names of the classes.
    pub fn classes(&self) -> &[String] {
        &self.common.classes
    }

    /// Channels or symbols.
    pub fn size(&self) -> usize {
        self.common.size()
    }

    /// Front end that samples go through first.
    pub fn front(&self) -> &Front {
        self.common.front.front()
    }

    /// Lags at which differences of its channels are further channels of the models.
    pub fn lags(&self) -> &Lags {
        &self.common.lags
    }

    /// Number of outputs: one for two classes, else one per class.
    pub fn outputs(&self) -> usize {
        self.common.outputs()
    }

    /// The bytes of the [basis](fishweir_core::classify::teach::TeachingBasis) that classes can be taught by; `None` if it was
    /// not learnt.
    #[must_use]
    pub fn teaching(&self) -> Option<&[u8]> {
        self.common.teaching.as_deref()
    }

    /// Calibration of the decisions: probabilities and thresholds of rejection; `None` if none was learnt.
    #[must_use]
    pub fn confidence(&self) -> Option<&DeployedConfidence> {
        self.common.confidence.as_ref()
    }
}

impl<T: Format<Number = T> + HostReal> Deployed<T> {
    fn stream_of(&self, evidence: Evidence<T>) -> Stream<T> {
        let Common { front, lags, codebooks, .. } = &self.common;
        let codebooks = codebooks.as_ref().map(DeployedCodebooks::stream);
        let past = Past::new(lags, self.common.channels(), codebooks);
        let front = (!front.is_empty()).then(|| FrontStream::new(front));
        self.common.stream(evidence).behind(front, past)
    }
}

impl Deployed<f64> {
    /// A stream before its first sample.
    pub fn stream(&self) -> Stream<f64> {
        self.stream_of(self.engine.start(&self.common))
    }
}

impl Deployed {
    /// The Bayes classifier of a set of linear dynamical systems, one a class, each as likely beforehand: a bank of
    /// Kalman filters. A channel's mean becomes one more number of the state, which is one for ever.
    ///
    /// # Errors
    /// [`DeployError::Models`] of a set of other models, of fewer than two, of one without a class, and if a number rounded to
    /// `f32` is invalid on the device.
    pub fn of_systems(set: &ModelSet) -> Result<Self, DeployError> {
        let (common, systems) = Systems::of(set)?;
        Ok(Self { common, engine: systems.into() })
    }

    /// The Bayes classifier of a set of models, one a class, each as likely beforehand: of Markov strings, whose contexts may differ
    /// from class to class, or of [linear dynamical systems](Self::of_systems).
    ///
    /// # Errors
    /// [`DeployError::Models`] of a set of other models, of fewer than two, of one without a class, of strings with an event for
    /// their end, which no stream sends, and if a number rounded to `f32` is invalid on the device.
    pub fn of_set(set: &ModelSet) -> Result<Self, DeployError> {
        if !matches!(set.models.first(), Some(NamedModel { model: FittedModel::Markov(_), .. })) {
            return Self::of_systems(set);
        }
        let (common, strings) = Strings::of(set)?;
        Ok(Self { common, engine: strings.into() })
    }

    /// The classifier of a profile: one output, whose sign decides between the family and all else.
    ///
    /// # Errors
    /// [`DeployError::Models`] where sizes do not agree, and [`DeployError::Rounded`] where a number rounded to `f32` is
    /// refused by the device.
    pub fn from_profile(parts: &ProfileParts) -> Result<Self, DeployError> {
        let (common, profile) = DeployedProfile::of(parts)?;
        Ok(Self { common, engine: profile.into() })
    }

    /// The codebooks, if it has any.
    pub fn codebooks(&self) -> Option<&Codebooks> {
        self.common.codebooks.as_ref().map(DeployedCodebooks::books)
    }

    /// Kind of its engine.
    #[must_use]
    pub fn kind(&self) -> EngineKind {
        self.engine.kind()
    }

    /// Description of its engine.
    #[must_use]
    pub fn description(&self) -> Description {
        self.engine.evaluator().description()
    }

    /// Constraints on the numbers of the channels.
    pub fn values(&self) -> Values {
        match self.emission().0.observes() {
            Observed::Channels(values) => values,
            Observed::Symbol => Values::Reals,
        }
    }

    /// Number of models.
    pub fn models(&self) -> usize {
        self.description().models
    }

    /// Hidden states of each model, its contexts, the numbers of a system's state, or a profile's positions.
    pub fn states(&self) -> usize {
        self.description().states
    }

    /// Number of directions of each model: one per output, or 0.
    pub fn directions(&self) -> usize {
        self.description().directions
    }

    /// Number of symbols of context, for a classifier that weighs words of symbols.
    #[must_use]
    pub fn order(&self) -> Option<usize> {
        self.description().order
    }

    /// Transitions between the states of the models. If they are known for all of them, the device
    /// holds no chain and sums over no states. (A single state has nothing to follow, and is held as a
    /// chain.)
    pub fn topology(&self) -> Topology {
        self.description().topology
    }

    /// Emissions of the models' hidden states: the family and its sizes.
    pub fn emission(&self) -> (&'static dyn Family, Shape) {
        self.description().emission.unwrap_or((OF_CHANNELS, Shape::default()))
    }

    /// Normalisation of evidence, or scores, by the length; `None` for a kernel by marginalisation.
    pub fn normalisation(&self) -> Option<Normalisation> {
        let scaled = self.description().items.is_none_or(|items| items.on_scores);
        scaled.then_some(self.common.normalisation)
    }

    /// Stored items of a kernel machine: those with a coefficient that is not zero.
    pub fn items(&self) -> usize {
        self.description().items.map_or(0, |items| items.count)
    }

    /// A kernel machine's kernel, in words.
    pub fn kernel_name(&self) -> Option<String> {
        self.description().items.map(|items| items.kernel)
    }

    /// Returns whether a decision costs no more than a sample, so that one per sample is affordable.
    ///
    /// Reading a kernel machine takes a kernel value per item.
    pub fn decides_at_every_sample(&self) -> bool {
        self.description().items.is_none()
    }

    /// Name of the values in [`Stream::evidence`].
    pub fn evidence_name(&self) -> &'static str {
        if self.decides_at_every_sample() { "log-likelihoods" } else { "decision values" }
    }

    /// Name of the classifier, as it was fitted.
    ///
    /// An artefact was not fitted: it shows only whether the classifier uses scores.
    pub fn method<'a>(&self, fitted: Option<&'a Classifier>) -> &'a str {
        match fitted {
            Some(fitted) => &fitted.method,
            None if self.directions() == 0 => "bayes",
            None => "fisher",
        }
    }

    /// Checks every number by the core's own checks.
    ///
    /// # Errors
    /// The core's name for the first that is wrong.
    pub fn validate(&self) -> Result<(), ModelError> {
        self.engine.evaluator().validate()?;
        self.common.validate()
    }

    /// Cost on a device, on the windows of the contract: a state, and a sample's work, for each open window.
    pub fn cost(&self) -> Cost {
        self.engine.evaluator().cost(&self.common).on(self.windows())
    }

    /// The ways there are to evaluate it, the one taken first.
    pub fn routes(&self) -> Vec<Route> {
        self.engine.evaluator().routes(&self.common)
    }

    /// The bytes of the core's `StreamClassifier` with these numbers, its fields in order, of the lags of
    /// `LagFeatures`, and of the codebooks of `WithCodebooks`. Of words the table
    /// of contexts is left blank, for no artefact holds it; of a kernel machine, which is another type, these are
    /// the models and what they are weighed by.
    pub fn payload(&self) -> Vec<u8> {
        self.engine.evaluator().payload(&self.common)
    }

    /// A stream before its first sample: the arithmetic of the device, and its bits.
    pub fn stream(&self) -> Stream {
        self.stream_of(self.engine.evaluator().stream(&self.common))
    }

    /// A stream that decides on windows, as a device does, before its first sample.
    pub fn window_stream(&self) -> WindowStream {
        WindowStream::new(self.windows(), || self.stream())
    }
}
