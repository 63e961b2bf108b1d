//! Fitted models of one distribution.

use std::sync::Arc;

use fishweir::model::FittedModel;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::refused;
use crate::stored::{Pickled, pickled};

/// A fitted model of any kind: for kernels between models, and for what a model answers.
#[pyclass(frozen, module = "fishweir._fishweir")]
pub(crate) struct Model {
    pub(crate) model: Arc<FittedModel>,
}

impl From<FittedModel> for Model {
    fn from(model: FittedModel) -> Self {
        Self { model: Arc::new(model) }
    }
}

#[pymethods]
impl Model {
    /// Reads what [`to_json`](Self::to_json) writes.
    #[staticmethod]
    fn from_json(bytes: &[u8]) -> PyResult<Self> {
        let read: Result<FittedModel, _> = serde_json::from_slice(bytes);
        read.map(Self::from).map_err(|error| refused(format!("no model: {error}")))
    }

    /// The model as JSON, which keeps every bit.
    fn to_json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let text = serde_json::to_vec(&*self.model).map_err(|error| refused(error.to_string()))?;
        Ok(PyBytes::new(py, &text))
    }

    /// Pickled as its JSON.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        pickled(&slf.get_type(), slf.get().to_json(slf.py()))
    }

    /// Noun for the kind of model.
    #[getter]
    fn noun(&self) -> &'static str {
        self.model.any().noun()
    }
}
