//! One error for programs that do not distinguish its sources.

use crate::error::NetworkError;

/// An error of this package or of the library, for programs that do not distinguish its source. Each converts by `?`.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum Error {
    /// An invalid network, or one without an answer.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// A network's file.
    #[error(transparent)]
    File(#[from] crate::NetworkFileError),
    /// A classifier of records that cannot be evaluated.
    #[error(transparent)]
    Evaluate(#[from] crate::NetworkEvaluateError),
    /// A network in BIF.
    #[error(transparent)]
    Bif(#[from] crate::BifError),
    /// Records that cannot be read.
    #[error(transparent)]
    Data(#[from] fishweir::data::DataError),
    /// Any other error of the library.
    #[error(transparent)]
    Library(#[from] fishweir::Error),
}

fishweir::kinds!(Error,
    Self::Network(error) => error,
    Self::File(error) => error,
    Self::Evaluate(error) => error,
    Self::Bif(error) => error,
    Self::Data(error) => error,
    Self::Library(error) => error,
);
