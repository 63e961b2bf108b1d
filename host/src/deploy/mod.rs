//! Deployment: a trained classifier as the `f32` numbers that a device holds, and what runs them.
//!
//! ```text
//! Classifier (f64) --deploy--> Deployed (f32) --+--> Stream, the host's run of it
//!         |                                     +--> Rust source with a `static`
//!         |                                     +--> binary artefact, read in place; update for the field
//!         |                                     +--> cost: RAM, flash, multiply-adds
//!         +--quantise--> FixedPoint (Q15)
//! ProfileParts (f64) --> Deployed, one profile: its log-odds, along a direction or alone
//! ModelSet of linear dynamical systems, one a class --> Deployed, by their likelihoods
//! Hmm (f64), direction, normal streams --calibrate--> Detector (f32): alarms of an unlabelled stream
//! SpotterModel (f64) --deploy--> Spotter (f32): events of a continuous stream; Rust source
//! ```
//!
//! The stream runs the core's recursions over the same numbers in the same order as the device, so
//! its decisions, margins and log-likelihoods are the device's, bit for bit.

mod artefact;
mod bank;
mod block;
mod codebooks;
mod compile;
mod cost;
mod detector;
mod error;
mod explain;
mod fixed;
mod front;
mod lags;
mod machine;
mod narrowed;
mod pace;
mod past;
mod profiles;
mod route;
mod signing;
mod source;
mod spotter;
mod steps;
mod stream;
mod systems;
mod update;
mod validate;
mod windows;
mod words;

pub use artefact::ArtefactFileError;
pub use cost::Cost;
pub(crate) use cost::Priced;
pub use detector::{Calibration, CalibrationError, Detector, DetectorStream};
pub use error::DeployError;
pub use explain::{ByChannel, ChannelParts, Explanation};
pub use fixed::{
    Codewords, Deviation, DeviationBound, FixedPoint, Limits, MeasureError, QuantiseError,
};
pub(crate) use machine::{check_size, has_machines};
pub use pace::{CLOCKS, CORES, Core, Currents, Enough, Pace, Setting, Takes, Work};
use profiles::DeployedProfile;
pub use profiles::ProfileParts;
pub use route::Route;
pub use signing::{UpdateKey, UpdateKeyError, is_to_be_signed};
pub(crate) use spotter::BACKGROUND_STATES;
pub use spotter::{
    Found, SpottedClass, Spotter, SpotterCost, SpotterError, SpotterModel, SpotterStream,
};
pub(crate) use stream::leads;
pub use stream::{PushError, Stream};
use systems::DeployedSystem;
pub use update::{SELF_TEST_SAMPLES, UpdateFileError};
pub use windows::{OpenWindow, WindowStream};

use fishweir_core::classify::Normalisation;
use fishweir_core::contract::{Windows, WindowsError};

use crate::classifier::{Classifier, Codebooks, Contract, DeployedConfidence, Observations};
use crate::data::{Front, FrontEnd, Lags, Values, Windowing};
use crate::runtime::family::OF_SYMBOLS;
pub(crate) use crate::runtime::family::{DeployedEmission, Weight};
use crate::runtime::{Family, Observed, Shape};
use codebooks::DeployedCodebooks;
use machine::StoredKernel;
use source::EmissionType;

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

/// A classifier as a device holds it: `f32`, tangents attached, in the sensor's own units, and of a
/// kernel machine its support vectors. Over `f64` it is what other formats are made from and measured
/// against.
#[derive(Clone, Debug, PartialEq)]
pub struct Deployed<T = f32> {
    pub(crate) observations: Observations,
    pub(crate) classes: Vec<String>,
    /// What samples go through before models see them.
    pub(crate) front: FrontEnd,
    /// Lags at which differences of the channels are further channels of what models see.
    pub(crate) lags: Lags,
    pub(crate) models: Vec<DeployedModel<T>>,
    /// Linear dynamical systems, where they are the models.
    pub(crate) systems: Vec<DeployedSystem>,
    /// A profile, where it is the one model.
    pub(crate) profile: Option<DeployedProfile>,
    /// How many symbols are the context of the next, where emissions are a row a context and nothing is
    /// hidden.
    pub(crate) order: Option<usize>,
    /// Whose values with stored items are weighed; `None` where the models' evidence is.
    pub(crate) kernel: Option<StoredKernel>,
    /// Codebooks beside the models, and what their codewords weigh.
    pub(crate) codebooks: Option<DeployedCodebooks<T>>,
    /// `[output][model]`, or of a kernel `[output][item]`.
    pub(crate) weights: Vec<Vec<T>>,
    /// `[output]`.
    pub(crate) biases: Vec<T>,
    pub(crate) normalisation: Normalisation,
    /// How far decisions are to be believed, where that was learnt.
    pub(crate) confidence: Option<DeployedConfidence>,
    /// What it was trained on; `None` of an artefact of before contracts.
    pub(crate) contract: Option<Contract>,
}

impl<T> Deployed<T> {
    /// What it was trained on, and keeps to; `None` of an artefact that an earlier program wrote, which does not say.
    #[must_use]
    pub fn contract(&self) -> Option<&Contract> {
        self.contract.as_ref()
    }

    /// The windows that it decides on; `None` on whole series.
    #[must_use]
    pub fn windows(&self) -> Option<Windows> {
        self.contract.as_ref().and_then(Contract::windows)
    }

    /// Checks that a stream can decide on its windows: lengths in range, not too many open at a time.
    ///
    /// # Errors
    /// [`WindowsError`] saying which is out of range.
    pub fn check_windows(&self) -> Result<(), WindowsError> {
        self.windows().map_or(Ok(()), |windows| windows.check())
    }

    /// The same on other windows, or on a stream that never ends: what device and host then keep to.
    #[must_use]
    pub fn on_windows(mut self, windowing: Option<Windowing>) -> Self {
        let contract = self.contract.take().unwrap_or_default();
        self.contract = Some(Contract { windowing, ..contract });
        self
    }

    /// What it observes.
    pub fn observations(&self) -> &Observations {
        &self.observations
    }

    /// Names of the classes.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// What the numbers of its channels must be.
    pub fn values(&self) -> Values {
        match self.emission().0.observes() {
            Observed::Channels(values) => values,
            Observed::Symbol => Values::Reals,
        }
    }

    /// Number of models.
    pub fn models(&self) -> usize {
        self.models.len() + self.systems.len() + usize::from(self.profile.is_some())
    }

    /// Hidden states of each model, its contexts, the numbers of a system's state, or a profile's positions.
    pub fn states(&self) -> usize {
        let of_systems = self.systems.first().map_or(0, DeployedSystem::states);
        let of_others = self.profile.as_ref().map_or(of_systems, DeployedProfile::positions);
        self.models.first().map_or(of_others, |model| model.emission.len())
    }

    /// Whether its one model is a profile.
    #[must_use]
    pub fn has_profile(&self) -> bool {
        self.profile.is_some()
    }

    /// Whether its models are linear dynamical systems.
    #[must_use]
    pub fn has_systems(&self) -> bool {
        !self.systems.is_empty()
    }

    /// How many symbols are the context of the next, of what weighs words of symbols.
    #[must_use]
    pub fn order(&self) -> Option<usize> {
        self.order
    }

    /// Channels or symbols.
    pub fn size(&self) -> usize {
        self.observations.size()
    }

    /// What samples go through before models see them.
    pub fn front(&self) -> &Front {
        self.front.front()
    }

    /// The lags at which differences of its channels are channels of what models see.
    pub fn lags(&self) -> &Lags {
        &self.lags
    }

    /// The columns of a row that a model sees; `None` for all of them.
    pub(crate) fn columns(&self, model: usize) -> Option<Vec<usize>> {
        self.lags.columns(model, self.front.width(self.size()))
    }

    /// Codebooks beside the models.
    pub fn codebooks(&self) -> Option<&Codebooks> {
        self.codebooks.as_ref().map(DeployedCodebooks::books)
    }

    /// Number of outputs: one for two classes, else one a class.
    pub fn outputs(&self) -> usize {
        self.biases.len()
    }

    /// How evidence, or scores, are scaled by the length; `None` for a kernel by marginalisation.
    pub fn normalisation(&self) -> Option<Normalisation> {
        let scaled = self.kernel.as_ref().is_none_or(StoredKernel::on_scores);
        scaled.then_some(self.normalisation)
    }

    /// How far its decisions are to be believed: probabilities, and when they are rejected; `None` where that was
    /// not learnt.
    #[must_use]
    pub fn confidence(&self) -> Option<&DeployedConfidence> {
        self.confidence.as_ref()
    }

    /// Stored items of a kernel machine: those with a coefficient that is not zero.
    pub fn items(&self) -> usize {
        if self.kernel.is_some() { self.weights.first().map_or(0, Vec::len) } else { 0 }
    }

    /// Entries of a stored item: symbols, or score entries.
    pub fn entries(&self) -> usize {
        self.kernel.as_ref().map_or(0, StoredKernel::entries)
    }

    /// A kernel machine's kernel, in words.
    pub fn kernel_name(&self) -> Option<String> {
        self.kernel.as_ref().map(StoredKernel::name)
    }

    /// Whether a decision costs no more than samples do, so that one a sample may be asked for.
    /// Reading a kernel machine takes a kernel value an item.
    pub fn decides_at_every_sample(&self) -> bool {
        self.kernel.is_none()
    }

    /// What [`Stream::evidence`] is, in words.
    pub fn evidence_name(&self) -> &'static str {
        if self.kernel.is_some() { "decision values" } else { "log-likelihoods" }
    }

    /// How its models' hidden states emit: the family and its sizes.
    pub fn emission(&self) -> (&'static dyn Family, Shape) {
        let EmissionType { family, shape } = EmissionType::of(&self.models);
        if self.has_profile() {
            return (OF_SYMBOLS, Shape { size: self.size(), components: 1 });
        }
        (family, shape)
    }

    /// Directions that each model carries: one an output, or none.
    pub fn directions(&self) -> usize {
        let first = self.models.first().and_then(|model| model.initial.first());
        let of_profile = self.profile.as_ref().map_or(0, DeployedProfile::directions);
        first.map_or(of_profile, |weight| weight.tangent.len())
    }
}

impl Deployed {
    /// Which classifier it is, by what was fitted; an artefact, which was not, tells only whether it
    /// uses scores.
    pub fn method<'a>(&self, fitted: Option<&'a Classifier>) -> &'a str {
        match fitted {
            Some(fitted) => &fitted.method,
            None if self.directions() == 0 => "bayes",
            None => "fisher",
        }
    }
}
