use fishweir_core::context::ContextError;

use super::NoScore;
use crate::files::FileError;
use crate::fit::FitError;
use crate::runtime::HmmError;

/// Reason why a model without hidden states was refused, or not fitted.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum ContextModelError {
    /// Numbers of the wrong shape or out of range.
    #[error(transparent)]
    Numbers(#[from] HmmError),
    /// An invalid set of contexts.
    #[error("the contexts: {0}")]
    Contexts(#[from] ContextError),
    /// More contexts than can be numbered.
    #[error(
        "there are more than {MOST_CONTEXTS} contexts of {symbols} symbols up to length {longest}; \
         take shorter ones, or fewer"
    )]
    #[strum(serialize = "too-many-contexts")]
    TooMany {
        /// Symbols.
        symbols: usize,
        /// Length of the longest context.
        longest: usize,
    },
    /// A pseudo-count out of range.
    #[error("the pseudo-count {0} is not finite, or negative; give 0 or more")]
    #[strum(serialize = "bad-setting")]
    PseudoCount(f64),
    /// No sequence, or no observation that is present.
    #[error("nothing to fit: all observations are missing")]
    NoData,
    /// A sequence of another length than the first.
    #[error(
        "sequence {sequence} has {found} symbols, and the first has {wanted}; a model of independent positions needs \
         sequences of one length"
    )]
    #[strum(serialize = "wrong-length")]
    Length {
        /// Index of the sequence, from 0.
        sequence: usize,
        /// Length of the sequence.
        found: usize,
        /// The first's.
        wanted: usize,
    },
    /// A sequence that the model to start from makes impossible.
    #[error(transparent)]
    NoScore(#[from] NoScore),
    /// Samples of the wrong kind.
    #[error("{model} is over {wanted}, and the data are {found}")]
    #[strum(serialize = "wrong-observations")]
    Kind {
        /// The model.
        model: &'static str,
        /// Observations of the model.
        wanted: &'static str,
        /// Observations given.
        found: &'static str,
    },
    /// Expectation and maximisation.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// A file of contexts that could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line of a file of contexts.
    #[error("{file}, line {line}: {why}")]
    #[strum(serialize = "bad-contexts")]
    Line {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// Reason.
        why: String,
    },
}

crate::kinds!(ContextModelError,
    Self::Numbers(error) => error,
    Self::Contexts(error) => error,
    Self::NoScore(error) => error,
    Self::Fit(error) => error,
    Self::File(error) => error,
);

/// Contexts that can be numbered.
pub(super) const MOST_CONTEXTS: usize = u16::MAX as usize - 1;

impl ContextModelError {
    /// The sequence it is about, from 0, where it is about one.
    pub fn sequence(&self) -> Option<usize> {
        match self {
            Self::Length { sequence, .. } => Some(*sequence),
            Self::NoScore(none) => Some(none.sequence),
            _ => None,
        }
    }
}
