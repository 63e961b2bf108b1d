use fishweir_core::{ModelError, ObservationError};

use crate::runtime::HmmError;

/// Largest number of numbers of a state.
pub const MOST_STATES: usize = 64;

/// Reason why a system was refused, or has no result for a series.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum SystemError {
    /// A size that no filter is compiled for.
    #[error("a state of {0} numbers: a system has between 1 and {MOST_STATES}")]
    #[strum(serialize = "wrong-states")]
    States(usize),
    /// No channel, mode or variable.
    #[error("a model without {0}")]
    #[strum(serialize = "empty-model")]
    Empty(&'static str),
    /// A part of another size, or a number out of range.
    #[error(transparent)]
    Part(#[from] HmmError),
    /// An invalid covariance.
    #[error("row {row} of {part}: {why}")]
    #[strum(serialize = "bad-covariance")]
    Covariance {
        /// `state_noise`, `state_noise[mode]`, ...
        part: String,
        /// Index of the row, from 0.
        row: usize,
        /// Fault and remedy.
        why: &'static str,
    },
    /// Weights of a network that are not of earlier variables alone.
    #[error("weights[{row}][{column}] must be zero: a variable depends only on those before it")]
    #[strum(serialize = "not-a-network")]
    Order {
        /// The variable, from 0.
        row: usize,
        /// Variable that comes after it.
        column: usize,
    },
    /// An observed variable that is unknown, or listed twice.
    #[error("observed[{0}] is no variable of the network, or one named before")]
    #[strum(serialize = "unknown-variable")]
    Observed(usize),
    /// A series of other observations than the model's.
    #[error("the series is not of {0} channels")]
    #[strum(serialize = "wrong-channels")]
    Channels(usize),
    /// A sample that is refused.
    #[error("sample {sample}: {why}")]
    Sample {
        /// Index of the sample, from 0.
        sample: usize,
        /// Reason.
        why: ObservationError,
    },
    /// A matrix that has to be inverted, and cannot.
    #[error("{0} is singular: there is no score along it; raise its variances")]
    Singular(&'static str),
    /// A path without exactly one mode per sample.
    #[error("a path of {found} modes for {wanted} samples, or with an unknown mode")]
    #[strum(serialize = "bad-path")]
    Path {
        /// Length of the path.
        found: usize,
        /// Length of the series.
        wanted: usize,
    },
}

crate::kinds!(SystemError,
    Self::Part(error) => error,
    Self::Sample { why: error, .. } => error,
);

impl SystemError {
    /// Converts the core's error about a covariance.
    pub(crate) fn covariance(part: impl Into<String>, error: ModelError) -> Self {
        use fishweir_core::ErrorKind;
        let why = match error.kind {
            ErrorKind::NotFinite => "not finite",
            ErrorKind::NotSymmetric => "it is not symmetric, as a covariance must be",
            ErrorKind::NotPositiveDefinite => {
                "depends on the rows before it; every channel needs noise of its own"
            }
            _ => "a variance is negative; a covariance is positive semi-definite",
        };
        Self::Covariance { part: part.into(), row: error.row, why }
    }
}
