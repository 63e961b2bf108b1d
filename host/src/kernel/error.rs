use super::{GramError, InformationError};
use crate::model::NoScore;
use crate::runtime::{HmmError, Observed};

/// Features of an empirical map at most: one per word.
pub const WORDS_AT_MOST: usize = 1 << 20;

/// Reason why a kernel could not be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum KernelError {
    /// A sequence has no score, because a model makes it impossible.
    #[error(transparent)]
    NoScore(#[from] NoScore),
    /// The information matrix.
    #[error(transparent)]
    Information(InformationError),
    /// The matrix of kernel values.
    #[error(transparent)]
    Gram(#[from] GramError),
    /// A kernel that counts symbols, and a model of channels.
    #[error("only symbols can be counted; the model observes {0}")]
    NotSymbols(Observed),
    /// A parameter of the kernel is out of range.
    #[error("{name} is {value}; it must be {range}")]
    #[strum(serialize = "bad-setting")]
    Parameter {
        /// `lambda`, `nu`, ...
        name: &'static str,
        /// Value of the parameter.
        value: f64,
        /// Description of the valid range.
        range: &'static str,
    },
    /// Features of words, and sequences of channels.
    #[error("windows of channels have no explicit features; compute the matrix of all pairs")]
    NoFeatures,
    /// A sequence without a window.
    #[error(
        "its length of {length} is less than a window's, {window}; take a lower order, or leave the sequence out"
    )]
    TooShort {
        /// The sequence, from 0.
        sequence: usize,
        /// Number of samples.
        length: usize,
        /// Number of samples of a window.
        window: usize,
    },
    /// Too many words for features.
    #[error(
        "{symbols} symbols have more than {WORDS_AT_MOST} words of length {length}; take a lower order, or compute \
         the matrix of all pairs, which needs no features"
    )]
    TooManyWords {
        /// Symbols.
        symbols: usize,
        /// Symbols of a word.
        length: usize,
    },
    /// Sequences of symbols and of channels together, or of channels with a model of symbols.
    #[error(
        "sequences of symbols and of channels cannot be compared; give either kind, and models of that kind"
    )]
    #[strum(serialize = "mixed-observations")]
    Mixed,
    /// An invalid model.
    #[error(transparent)]
    Model(HmmError),
    /// Models and priors do not make classes.
    #[error(
        "log-odds need models and priors of at least two classes; {models} and {priors} were given"
    )]
    #[strum(serialize = "wrong-classes")]
    Classes {
        /// Models given.
        models: usize,
        /// Priors given.
        priors: usize,
    },
}

crate::kinds!(KernelError,
    Self::NoScore(error) => error,
    Self::Information(error) => error,
    Self::Gram(error) => error,
    Self::Model(error) => error,
);

impl KernelError {
    /// The sequence it is about, from 0, where it is about one.
    pub fn sequence(&self) -> Option<usize> {
        match self {
            Self::NoScore(none) => Some(none.sequence),
            Self::TooShort { sequence, .. } => Some(*sequence),
            _ => None,
        }
    }
}

impl From<InformationError> for KernelError {
    fn from(error: InformationError) -> Self {
        match error {
            InformationError::NoScore(none) => Self::NoScore(none),
            InformationError::Matrix(error) => Self::Gram(error),
            other => Self::Information(other),
        }
    }
}
