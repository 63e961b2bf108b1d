//! Model files in memory: bytes of JSON, by which handles are pickled, with every bit.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use serde::Serialize;

use crate::error::{raised, refused};

/// Name of a model file without a path, in errors.
pub(crate) const MODEL: &str = "the model";

/// What a handle is pickled as: `from_json` of its type, and its JSON.
pub(crate) type Pickled<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>,));

/// A model file as bytes.
pub(crate) fn bytes<'py>(
    py: Python<'py>,
    text: Result<String, impl Into<fishweir::Error>>,
) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, text.map_err(raised)?.as_bytes()))
}

/// Pickles a handle of a type by its JSON.
pub(crate) fn pickled<'py>(
    of: &Bound<'py, PyType>,
    json: PyResult<Bound<'py, PyBytes>>,
) -> PyResult<Pickled<'py>> {
    Ok((of.getattr("from_json")?, (json?,)))
}

/// Numbers of a report, as JSON.
pub(crate) fn numbers(of: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(of).map_err(|error| refused(error.to_string()))
}
