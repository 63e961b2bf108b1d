//! The Python package `fishweir`: handles over the library's values, which `fishweir/*.py` gives the names that Python
//! users know.
//!
//! Nothing is computed here. Arrays are read ([`arrays`]), the library is called without the interpreter's lock ([`run`]), and
//! its errors become exceptions ([`error`]).

mod arrays;
mod classifier;
mod dataset;
mod deploy;
mod error;
mod gram;
mod hmm;
mod model;
mod options;
mod records;
mod request;
mod run;
mod stream;
mod watch;

use pyo3::prelude::*;

/// The native part of the package.
#[pymodule(gil_used = false)]
fn _fishweir(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("FishweirError", module.py().get_type::<error::FishweirError>())?;
    module.add_class::<dataset::Dataset>()?;
    module.add_class::<classifier::Classifier>()?;
    module.add_class::<model::Model>()?;
    module.add_function(wrap_pyfunction!(classifier::fit, module)?)?;
    module.add_class::<gram::Kernel>()?;
    module.add_function(wrap_pyfunction!(gram::kernels, module)?)?;
    module.add_function(wrap_pyfunction!(gram::gram, module)?)?;
    module.add_function(wrap_pyfunction!(dataset::read_files, module)?)?;
    module.add_class::<watch::Detector>()?;
    module.add_class::<watch::EventSpotter>()?;
    module.add_class::<records::RecordClassifier>()?;
    module.add_class::<records::Profile>()?;
    module.add_class::<stream::Stream>()?;
    module.add_class::<stream::Decision>()?;
    module.add_function(wrap_pyfunction!(deploy::cost, module)?)?;
    module.add_function(wrap_pyfunction!(deploy::inspect, module)?)?;
    module.add_function(wrap_pyfunction!(deploy::rust_source, module)?)?;
    module.add_function(wrap_pyfunction!(deploy::artefact, module)?)?;
    module.add_function(wrap_pyfunction!(deploy::c_library, module)?)?;
    module.add_function(wrap_pyfunction!(deploy::project, module)?)?;
    module.add_function(wrap_pyfunction!(deploy::run, module)?)?;
    module.add_class::<hmm::Hmm>()?;
    module.add_class::<hmm::Sequences>()?;
    module.add_class::<hmm::ExpectedSums>()?;
    module.add_function(wrap_pyfunction!(hmm::whole_digest, module)?)?;
    module.add("LEAF", fishweir::sums::LEAF)?;
    module.add_function(wrap_pyfunction!(hmm::classifier_of, module)?)?;
    Ok(())
}
