//! A spotter: class models and a background as one network, in the numbers of a device.

mod cost;
mod model;
mod source;
mod stream;

pub use cost::SpotterCost;
pub use model::{SpottedClass, SpotterModel};
pub use stream::{Found, SpotterStream};

use fishweir_core::ModelError;

use super::error::DeployError;
use super::model::DeployedModel;
use crate::classifier::Observations;
use crate::data::Values;
use crate::runtime::{HmmError, Observed};

/// Number of states of a background: smaller ones are padded.
pub(crate) const BACKGROUND_STATES: usize = 4;
/// Events that a path carries undecided.
pub(crate) const PENDING: usize = 4;

/// A spotter as a device holds it: the core's `Spotter`, in `f32`, in the sensor's own units.
#[derive(Clone, Debug, PartialEq)]
pub struct Spotter {
    observations: Observations,
    classes: Vec<String>,
    network: DeployedModel,
    background: DeployedModel,
    /// The class of each state.
    class: Vec<u8>,
    lag: u32,
    /// True if a sample may lack some of its channels.
    in_part: bool,
}

/// Reason why models make no spotter.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum SpotterError {
    /// An invalid model, or more states in total than there are sizes for.
    #[error("{of}: {error}")]
    Model {
        /// Name of the class, or `background`.
        of: String,
        /// Fault of the model.
        error: HmmError,
    },
    /// A number that a device cannot hold.
    #[error(transparent)]
    Compile(#[from] DeployError),
    /// A network that is invalid after rounding.
    #[error("the network is invalid in f32: {0}; fit it again")]
    Rounded(ModelError),
    /// A background with too many states.
    #[error("background: it has {0} states, {BACKGROUND_STATES} are the most")]
    #[strum(serialize = "bad-background")]
    Background(usize),
    /// Models that do not go together.
    #[error("class `{class}`: its model {what}; both must have the same")]
    #[strum(serialize = "mixed-emissions")]
    Emission {
        /// Name of the class.
        class: String,
        /// Difference from the background's model.
        what: String,
    },
    /// Emissions that a spotter does not support, or of another kind than the observations.
    #[error("background: a spotter cannot use {0} emissions")]
    #[strum(serialize = "wrong-emissions")]
    Observed(&'static str),
    /// No class, or more than there are names for.
    #[error("{0} classes: a spotter needs between 1 and 255")]
    #[strum(serialize = "wrong-classes")]
    Classes(usize),
    /// Two classes of one name, or a name that does not fit on a line.
    #[error("class `{}`: names must differ and have no control characters", .0.escape_debug())]
    #[strum(serialize = "bad-name")]
    Name(String),
    /// An invalid probability, or entries that leave nothing for the background.
    #[error(
        "class `{class}`: `{entry}` is {value}; a probability lies between 0 and 1, and those of \
         entries are below 1 in all"
    )]
    #[strum(serialize = "bad-probability")]
    Probability {
        /// Name of the class.
        class: String,
        /// `entry` or `exit`.
        entry: &'static str,
        /// Value of the probability.
        value: f64,
    },
}

crate::kinds!(SpotterError,
    Self::Model { error, .. } => error,
    Self::Compile(error) => error,
    Self::Rounded(error) => error,
);

impl Spotter {
    /// Observations of the spotter.
    pub fn observations(&self) -> &Observations {
        &self.observations
    }

    /// The names of the classes.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// States of the network, the background's padding among them.
    pub fn states(&self) -> usize {
        self.class.len()
    }

    /// Returns true if a sample may lack some of its channels; otherwise a sample that lacks one is missing.
    pub fn lacks_some(&self) -> bool {
        self.in_part
    }

    /// The joined network.
    pub(super) const fn network(&self) -> &DeployedModel {
        &self.network
    }

    /// The background alone.
    pub(super) const fn background(&self) -> &DeployedModel {
        &self.background
    }

    /// The class of each state.
    pub(super) fn class(&self) -> &[u8] {
        &self.class
    }

    /// Samples after its end within which an event is decided.
    pub fn lag(&self) -> u32 {
        self.lag
    }

    /// Constraints on the numbers of the channels.
    pub fn values(&self) -> Values {
        match self.network.emission.first().map(|emission| emission.family.observes()) {
            Some(Observed::Channels(values)) => values,
            _ => Values::Reals,
        }
    }
}
