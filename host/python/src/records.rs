//! Classifiers of records of categories, and profiles of sequence families.

use std::path::Path;
use std::sync::Arc;

use fishweir_networks::learn::{HillClimb, Prior};
use fishweir_networks::records::{Binning, Schema, TextTable};
use fishweir_networks::{
    ClassifierPlan, DeployedEvents, DeployedSum, Method, NetworkClassifier, NetworkFile,
    NetworkModel,
};
use fishweir_profiles::{Mode, Profile as Family, SearchProfile};
use numpy::{PyArray2, PyArrayMethods, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{raised, refused};
use crate::run::released;
use crate::stored::{MODEL, Pickled, numbers, pickled};

/// Name of a table of records in errors.
const RECORDS: &str = "the records";

/// A classifier of records: a Bayesian network, and how tables are read for it.
#[pyclass(frozen, module = "fishweir._fishweir")]
pub(crate) struct RecordClassifier {
    columns: Schema,
    classifier: NetworkClassifier,
}

#[pymethods]
impl RecordClassifier {
    /// Learns the column `class` of a table, which is text as in a file.
    #[staticmethod]
    #[pyo3(signature = (table, class, method="naive-bayes", parents=2, pseudo_count=1.0))]
    fn fit(
        py: Python<'_>,
        table: &[u8],
        class: &str,
        method: &str,
        parents: usize,
        pseudo_count: f64,
    ) -> PyResult<Self> {
        let method = match method {
            "naive-bayes" => Method::NaiveBayes,
            "tan" => Method::TreeAugmented,
            "kdb" => Method::KDependence(parents),
            "climbed" => Method::Climbed,
            "fisher-tree" => Method::FisherTree,
            "fisher-climbed" => Method::FisherClimbed,
            "top-tan" => Method::TopTree,
            "top-kdb" => Method::TopKDependence(parents),
            other => {
                let names =
                    "naive-bayes, tan, kdb, climbed, fisher-tree, fisher-climbed, top-tan, top-kdb";
                return Err(refused(format!("method `{other}` is unknown; one of {names}")));
            }
        };
        let fitted = released(py, None, || -> Result<Self, String> {
            let said = |error: fishweir::data::DataError| error.to_string();
            let table = TextTable::parse(RECORDS, table).map_err(said)?;
            let at = table.column(class).map_err(said)?;
            let all: Vec<usize> = (0..table.len()).collect();
            let columns =
                Schema::learn(&table, &all, Some(at), &Binning::default()).map_err(said)?;
            let records = columns.records(&table).map_err(said)?;
            let (prior, climb) = (Prior::PseudoCount(pseudo_count), HillClimb::default());
            let plan = ClassifierPlan { method, prior, climb };
            let classifier = plan.train(&columns.variables(), &records, at);
            Ok(Self { columns, classifier: classifier.map_err(|error| error.to_string())? })
        })?;
        fitted.map_err(refused)
    }

    /// Reads the file that `fishweir network fit` writes.
    #[staticmethod]
    fn from_json(json: &[u8]) -> PyResult<Self> {
        let file = NetworkFile::parse(MODEL, json).map_err(|e| refused(e.to_string()))?;
        match file.model {
            NetworkModel::Classifier(classifier) => Ok(Self { columns: file.columns, classifier }),
            NetworkModel::Network(_) => Err(refused("this is a network, not a classifier")),
        }
    }

    /// The file of the model.
    fn to_json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let (columns, model) = (self.columns.clone(), self.classifier.clone());
        let model = NetworkModel::Classifier(model);
        let file = NetworkFile { columns, model, provenance: None };
        let bytes = file.bytes_for(Path::new("model.json")).map_err(raised)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        pickled(&slf.get_type(), slf.get().to_json(slf.py()))
    }

    /// Names of the classes.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.classifier.class().states.clone()
    }

    /// Output values of each record of a table, `[record][output]`: one for two classes of a linear machine.
    fn values<'py>(&self, py: Python<'py>, table: &[u8]) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let values = released(py, None, || -> Result<Vec<Vec<f64>>, String> {
            let table = TextTable::parse(RECORDS, table).map_err(|error| error.to_string())?;
            let records = self.columns.records(&table).map_err(|error| error.to_string())?;
            self.classifier.values(&records).map_err(|error| error.to_string())
        })?;
        let rows = values.map_err(refused)?;
        let flat: Vec<f64> = rows.iter().flatten().copied().collect();
        flat.to_pyarray(py).reshape([rows.len(), rows.first().map_or(0, Vec::len)])
    }

    /// Rust source for a device.
    fn rust_source(&self) -> PyResult<String> {
        Ok(self.deployed()?.to_source())
    }

    /// Cost on a device, as JSON.
    fn cost(&self) -> PyResult<String> {
        numbers(&self.deployed()?.cost())
    }
}

impl RecordClassifier {
    fn deployed(&self) -> PyResult<DeployedEvents> {
        let sum = DeployedSum::of(&self.classifier).map_err(|error| refused(error.to_string()))?;
        Ok(DeployedEvents::Sum(sum))
    }
}

/// A profile hidden Markov model of a sequence family.
#[pyclass(frozen, module = "fishweir._fishweir")]
pub(crate) struct Profile {
    profile: Arc<Family>,
    search: Arc<SearchProfile>,
}

#[pymethods]
impl Profile {
    /// Reads a profile in the text of HMMER3.
    #[staticmethod]
    #[pyo3(signature = (text, name="the profile"))]
    fn parse(text: &str, name: &str) -> PyResult<Self> {
        let profile = Family::parse(name, text).map_err(|error| refused(error.to_string()))?;
        let search =
            SearchProfile::new(&profile, Mode::SEARCH).map_err(|e| refused(e.to_string()))?;
        Ok(Self { profile: Arc::new(profile), search: Arc::new(search) })
    }

    /// The profile in the text of HMMER3.
    fn to_hmmer(&self) -> String {
        self.profile.to_hmmer()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((slf.get_type().getattr("parse")?, (slf.get().to_hmmer(),)))
    }

    /// Number of positions.
    fn __len__(&self) -> usize {
        self.search.positions()
    }

    /// Score of each sequence in bits, by Forward.
    fn scores(&self, py: Python<'_>, sequences: Vec<String>) -> PyResult<Vec<f64>> {
        let scores = released(py, None, || -> Result<Vec<f64>, String> {
            let encode = |(index, sequence): (usize, &String)| {
                self.search.residues().encode_searched(&format!("sequence {index}"), sequence)
            };
            let symbols: Result<Vec<_>, _> = sequences.iter().enumerate().map(encode).collect();
            let symbols = symbols.map_err(|error| error.to_string())?;
            self.search.scores(&symbols).map_err(|error| error.to_string())
        })?;
        scores.map_err(refused)
    }
}
