//! Errors of the library as exceptions of Python.

use pyo3::PyErr;
use pyo3::exceptions::PyValueError;

pyo3::create_exception!(
    fishweir,
    FishweirError,
    PyValueError,
    "Data, settings or a file that fishweir cannot take. The message says where and what to do."
);

/// Converts any error of the library by its message.
pub(crate) fn raised(error: impl Into<fishweir::Error>) -> PyErr {
    FishweirError::new_err(error.into().to_string())
}

/// An exception with a message of this package.
pub(crate) fn refused(message: impl Into<String>) -> PyErr {
    FishweirError::new_err(message.into())
}
