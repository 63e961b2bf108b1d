//! Errors in a model or in the items to compare.

use fishweir_core::kernel::KernelError;

use crate::files::FileError;
use crate::runtime::HmmError;

/// Reason why a kernel by marginalisation cannot be computed.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum MarginalError {
    /// A model's file that cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A model's file that is not one.
    #[error("{file}, line {line}, column {column}: {what}")]
    #[strum(serialize = "bad-syntax")]
    Syntax {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// Fault and remedy.
        what: String,
    },
    /// An entry of a model's file that does not go with the others.
    #[error("{file}: {error}")]
    Entry {
        /// The file.
        file: String,
        /// The entry, and the remedy.
        error: ModelError,
    },
    /// An invalid model made in memory.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// An item that the model cannot compare.
    #[error("item {item}: {error}")]
    Item {
        /// Index of the item, from 0; of two lists, in its own.
        item: usize,
        /// Fault of the item.
        error: ItemError,
    },
}

crate::kinds!(MarginalError,
    Self::File(error) => error,
    Self::Entry { error, .. } => error,
    Self::Model(error) => error,
    Self::Item { error, .. } => error,
);

/// An entry of a model that is wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{entry}: {what}")]
pub struct ModelError {
    /// The entry, as the file names it.
    pub entry: String,
    /// Fault and remedy.
    pub what: String,
}

impl crate::StableKind for ModelError {
    fn kind(&self) -> &'static str {
        "bad-kernel-model"
    }
}

impl ModelError {
    pub(super) fn new(entry: impl Into<String>, what: impl Into<String>) -> Self {
        Self { entry: entry.into(), what: what.into() }
    }

    /// Prefixes the entry with that which contains it.
    pub(super) fn within(self, outer: &str) -> Self {
        Self { entry: format!("{outer}.{}", self.entry), what: self.what }
    }
}

impl From<HmmError> for ModelError {
    fn from(error: HmmError) -> Self {
        Self::new("hmm", error.to_string())
    }
}

/// Reason why a sequence cannot be compared with others.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum ItemError {
    /// Channels where the model is of symbols, or symbols where it is of channels.
    #[error("has {found}, and the model is of {expected}; read it as the model says")]
    #[strum(serialize = "wrong-observations")]
    Kind {
        /// Observations of the item.
        found: &'static str,
        /// Observations of the model.
        expected: &'static str,
    },
    /// Rows of another number of channels.
    #[error("has {found} channels, and the model has {expected}")]
    #[strum(serialize = "wrong-channels")]
    Channels {
        /// Number of channels of the item.
        found: usize,
        /// The model's.
        expected: usize,
    },
    /// A sequence of the wrong length.
    #[error(
        "has {found} symbols, and {expected} are needed: {why}; cut or pad it, or take the pair-hmm kernel"
    )]
    #[strum(serialize = "wrong-length")]
    Length {
        /// Length of the item.
        found: usize,
        /// The length that is compared.
        expected: usize,
        /// Reason for the expected length.
        why: &'static str,
    },
    /// An error of the core.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// A sample that the model does not know.
    #[error("position {position}: {error}")]
    Sample {
        /// The position.
        position: usize,
        /// Fault of the observation.
        error: fishweir_core::ObservationError,
    },
}

crate::kinds!(ItemError,
    Self::Kernel(error) => error,
    Self::Sample { error, .. } => error,
);
