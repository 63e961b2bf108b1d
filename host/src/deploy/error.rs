//! Errors of deploying a classifier, and of pushing a sample.

use fishweir_core::{ModelError, ObservationError};

/// Reason why a classifier was not deployed.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum DeployError {
    /// A table with another number of entries than the rest implies.
    #[error("{part} has {found} entries, and {wanted} are needed")]
    #[strum(serialize = "wrong-shape")]
    Shape {
        /// Name of the table.
        part: String,
        /// Entries found.
        found: usize,
        /// Entries needed.
        wanted: usize,
    },
    /// Models that are invalid, or do not fit each other or the observations, described in words.
    #[error("{0}")]
    #[strum(serialize = "bad-models")]
    Models(String),
    /// Models that are not one per class, described in words.
    #[error("{0}; fit one model per class")]
    #[strum(serialize = "bad-models")]
    NotOnePerClass(String),
    /// Emissions that kernel machines are not compiled for.
    #[error(
        "model {model} has {family} emissions; kernel machines are of categorical and gaussian ones"
    )]
    #[strum(serialize = "wrong-emissions")]
    Emission {
        /// Index of the model.
        model: usize,
        /// Name of the emission family.
        family: &'static str,
    },
    /// A number that is not finite, or that `f32` does not hold.
    #[error("{part} [{row}][{entry}] is {value:e}, beyond the range of f32")]
    #[strum(serialize = "not-finite")]
    Number {
        /// Name of the part.
        part: &'static str,
        /// Row of the number.
        row: usize,
        /// Entry of the number.
        entry: usize,
        /// Value of the number.
        value: f64,
    },
    /// A kernel of sequences whose items are channels.
    #[error("the fixed-length kernel is deployed over symbols, not over channels")]
    #[strum(serialize = "kernel-of-symbols")]
    Channels,
    /// Nothing has a coefficient.
    #[error("all coefficients are zero, so the machine always decides the same")]
    #[strum(serialize = "no-coefficient")]
    Empty,
    /// An item that the model makes impossible.
    #[error("item {0} has probability zero under the kernel's model, so it cannot be normalised")]
    Impossible(usize),
    /// More than the recursions on scores are compiled for.
    #[error(
        "{states} states over {size} {kind}: scores are compiled for up to 8 states, 32 symbols or \
         9 channels"
    )]
    #[strum(serialize = "too-large")]
    Size {
        /// States.
        states: usize,
        /// Symbols or channels.
        size: usize,
        /// `symbols` or `channels`.
        kind: &'static str,
    },
    /// An invalid parameter of a kernel.
    #[error("{0}")]
    Parameter(ModelError),
    /// A kernel machine where directions are wanted.
    #[error("a kernel machine is exported in f32, not in fixed point")]
    #[strum(serialize = "kernel-machine")]
    Expansion,
    /// A number of a model that the format does not hold.
    #[error(
        "{model}: the {part} of channel {channel} does not fit in the number format ({value:e}); {advice}"
    )]
    OutOfRange {
        /// Name of the model, by its class if it has one.
        model: String,
        /// Name of the part.
        part: &'static str,
        /// Name or number of the channel.
        channel: String,
        /// Value of the number.
        value: f64,
        /// Remedy.
        advice: &'static str,
    },
    /// A direction whose emission part is of another family than the model's.
    #[error("{0}: its direction is for another emission family")]
    #[strum(serialize = "mixed-emissions")]
    Direction(String),
    /// A number that the device refuses after rounding.
    #[error("{place} is invalid in the number format of a device: {source}; {advice}")]
    Rounded {
        /// Name of the model, and of the channel if known.
        place: String,
        /// Fault of the number.
        source: ModelError,
        /// Remedy.
        advice: &'static str,
    },
}

crate::kinds!(DeployError,
    Self::Parameter(error) => error,
    Self::Rounded { source: error, .. } => error,
);

/// Reason why a sample was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum PushError {
    /// The models refuse it.
    #[error(transparent)]
    Observation(#[from] ObservationError),
    /// A row where a symbol is wanted, or the other way round, or a row of another length.
    #[error("the sample is of another kind than those that the classifier observes")]
    #[strum(serialize = "wrong-observations")]
    Kind,
}

crate::kinds!(PushError,
    Self::Observation(error) => error,
);
