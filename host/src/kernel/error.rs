use super::{GramError, InformationError};
use crate::model::NoScore;
use crate::runtime::Observed;

/// Why a kernel could not be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
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
    /// Models and priors do not make classes.
    #[error(
        "log-odds need a model and a prior of two classes at least; {models} and {priors} given"
    )]
    Classes {
        /// Models given.
        models: usize,
        /// Priors given.
        priors: usize,
    },
}

impl KernelError {
    /// The sequence it is about, from 0, where it is about one.
    #[must_use]
    pub fn sequence(&self) -> Option<usize> {
        match self {
            Self::NoScore(none) => Some(none.sequence),
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
