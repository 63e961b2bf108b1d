//! Fitted classifiers.

use std::sync::Arc;

use fishweir::classifier::{Classifier as Trained, Observations, Regressor};
use fishweir::data::Kind;
use fishweir::estimator::{Estimator, Fitted};
use fishweir::fishweir_core::classify::RejectionReason;
use fishweir::learn::ClassifierKind;
use numpy::{PyArray1, PyArray2, PyArrayMethods, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rayon::prelude::*;

use crate::arrays::{Series, View};
use crate::dataset::{Dataset, read};
use crate::error::{raised, refused};
use crate::options::given;
use crate::request::Options;
use crate::run::{interruptible, released};
use crate::stored::{Pickled, bytes, numbers, pickled};

/// A fitted classifier, and the numbers that a device would hold of it, which decide here.
#[pyclass(frozen, module = "fishweir._fishweir")]
pub(crate) struct Classifier {
    pub(crate) fitted: Arc<Fitted>,
}

impl From<Fitted> for Classifier {
    fn from(fitted: Fitted) -> Self {
        Self { fitted: Arc::new(fitted) }
    }
}

/// Fits a classifier of a kind: `bayes`, `fisher` and so on. `options` are JSON, by the names of `fishweir fit`.
#[pyfunction]
#[pyo3(signature = (kind, data, options="{}", threads=None))]
pub(crate) fn fit(
    py: Python<'_>,
    kind: &str,
    data: &Dataset,
    options: &str,
    threads: Option<usize>,
) -> PyResult<Classifier> {
    let (request, trust) =
        Options::parse(options).and_then(|o| o.request(kind)).map_err(refused)?;
    let estimator = Estimator { request, trust };
    let data = Arc::clone(&data.data);
    let fitted = interruptible(py, threads, |look| estimator.fit_with(&data, look))?;
    fitted.map(Classifier::from).map_err(raised)
}

/// Options among those of [`fit`] that change nothing for a classifier of this kind, and why.
#[pyfunction]
#[pyo3(signature = (kind, data, options="{}"))]
pub(crate) fn idle(kind: &str, data: &Dataset, options: &str) -> PyResult<Vec<(String, String)>> {
    let given = given(options).map_err(refused)?;
    let (request, _) = Options::parse(options).and_then(|o| o.request(kind)).map_err(refused)?;
    let symbols = matches!(data.data.kind(), Kind::Symbols(_));
    let codebooks = request.varies(data.data.kind()).codebooks;
    let why = |name: &String| {
        let name = name.as_str();
        if !request.kind.reads(name) {
            Some(format!("not used by {}", request.kind))
        } else if symbols && ClassifierKind::OF_CHANNELS.contains(&name) {
            Some("the data are symbols, not channels".to_owned())
        } else if !symbols && !codebooks && ["levels", "codebook_weight"].contains(&name) {
            Some("there are no codebooks: give codebooks".to_owned())
        } else {
            None
        }
    };
    Ok(given.into_iter().filter_map(|name| why(&name).map(|why| (name, why))).collect())
}

#[pymethods]
impl Classifier {
    /// Reads the JSON that `fishweir fit` writes.
    #[staticmethod]
    #[pyo3(signature = (json, name="the model"))]
    fn from_json(json: &[u8], name: &str) -> PyResult<Self> {
        if Regressor::is_one(json) {
            return Err(refused(format!(
                "{name}: this model estimates numbers and decides between no classes; the command takes it"
            )));
        }
        let read = Trained::parse(name, json).map_err(raised)?;
        Fitted::try_from(read).map(Self::from).map_err(raised)
    }

    /// The JSON that the command reads.
    fn to_json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes(py, self.fitted.trained().classifier.to_json())
    }

    /// Pickled as its JSON, which keeps every bit.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        pickled(&slf.get_type(), slf.get().to_json(slf.py()))
    }

    /// Cost on a device, as JSON.
    fn cost(&self) -> PyResult<String> {
        numbers(&self.fitted.deployed().cost())
    }

    /// Names of the classes.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.fitted.classes().to_vec()
    }

    /// Names of the channels; `None` of symbols.
    #[getter]
    fn channels(&self) -> Option<Vec<String>> {
        match self.fitted.deployed().observations() {
            Observations::Channels(names) => Some(names.clone()),
            Observations::Symbols(_) => None,
        }
    }

    /// The symbols in order; `None` of channels.
    #[getter]
    fn alphabet(&self) -> Option<String> {
        match self.fitted.deployed().observations() {
            Observations::Channels(_) => None,
            Observations::Symbols(symbols) => Some(symbols.clone()),
        }
    }

    /// Samples of a window and from one to the next; `None` of whole series.
    #[getter]
    fn windows(&self) -> Option<(u32, u32)> {
        self.fitted.deployed().windows().map(|windows| (windows.length, windows.hop))
    }

    /// Name of the method, such as `fisher`.
    #[getter]
    fn method(&self) -> String {
        self.fitted.trained().classifier.method.clone()
    }

    /// Accuracy on the series, or the windows, of a data set with classes.
    fn accuracy(&self, py: Python<'_>, data: &Dataset, threads: Option<usize>) -> PyResult<f64> {
        released(py, threads, || self.fitted.accuracy(&data.data))?.map_err(raised)
    }

    /// Windows of each series: first sample, sample after the last, index of the class.
    fn predict_windows(
        &self,
        series: &Bound<'_, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<Vec<Vec<(u64, u64, usize)>>> {
        let held = Series::of(series)?;
        let views = held.views();
        let kind = self.fitted.deployed().observations().kind().map_err(raised)?;
        let classes = self.fitted.classes();
        let one = |view: &View<'_>| -> Result<Vec<(u64, u64, usize)>, String> {
            let (_, samples) = read(std::slice::from_ref(view), Some(&kind))?;
            let samples = samples.first().ok_or("no series")?;
            let windows = self.fitted.predict_windows(samples).map_err(|e| e.to_string())?;
            let index = |name: &str| classes.iter().position(|class| class == name);
            let of = |(range, name): (std::ops::Range<u64>, &str)| {
                (range.start, range.end, index(name).unwrap_or_default())
            };
            Ok(windows.into_iter().map(of).collect())
        };
        let found = released(series.py(), threads, || {
            views.par_iter().map(one).collect::<Result<Vec<_>, _>>()
        })?;
        found.map_err(refused)
    }

    /// Index of the class of each series, and how many samples were refused.
    #[pyo3(signature = (series, threads=None))]
    fn predict<'py>(
        &self,
        series: &Bound<'py, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<(Bound<'py, PyArray1<i64>>, usize)> {
        let class = |stream: &_| stream_decision(stream).map(|class| class as i64);
        let (classes, refused) = self.each(series, threads, &class)?;
        Ok((classes.to_pyarray(series.py()), refused))
    }

    /// Margin of each class over the best of the others, `[series][class]`, and how many samples were refused.
    #[pyo3(signature = (series, threads=None))]
    fn margins<'py>(
        &self,
        series: &Bound<'py, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, usize)> {
        let leads = |stream: &fishweir::deploy::Stream| {
            let leads = stream.leads().map_err(fishweir::Error::from)?;
            Ok(leads.into_iter().map(f64::from).collect())
        };
        let (rows, refused) = self.each(series, threads, &leads)?;
        Ok((self.table(series.py(), &rows)?, refused))
    }

    /// Probability of each class, `[series][class]`, and how many samples were refused.
    #[pyo3(signature = (series, threads=None))]
    fn probabilities<'py>(
        &self,
        series: &Bound<'py, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, usize)> {
        let shares = |stream: &_| self.fitted.probabilities(stream);
        let (rows, refused) = self.each(series, threads, &shares)?;
        Ok((self.table(series.py(), &rows)?, refused))
    }

    /// Reason to doubt the decision on each series; `None` where it is accepted.
    #[pyo3(signature = (series, threads=None))]
    fn doubts(
        &self,
        series: &Bound<'_, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<Vec<Option<&'static str>>> {
        let doubt = |stream: &_| Ok(self.fitted.doubt(stream).map(word));
        Ok(self.each(series, threads, &doubt)?.0)
    }
}

/// Name of the reason for rejecting a decision.
pub(crate) fn word(doubt: RejectionReason) -> &'static str {
    match doubt {
        RejectionReason::LowMargin => "close call",
        RejectionReason::LowLikelihood => "unlikely",
        RejectionReason::HighLikelihood => "too likely",
        _ => "doubted",
    }
}

fn stream_decision(stream: &fishweir::deploy::Stream) -> Result<usize, fishweir::Error> {
    Ok(stream.decision()?.class)
}

/// What is read off a stream after a series.
type Reading<'r, R> = &'r (dyn Fn(&fishweir::deploy::Stream) -> Result<R, fishweir::Error> + Sync);

impl Classifier {
    /// Reads a result off the stream of each series, and counts the refused samples.
    fn each<R: Send>(
        &self,
        series: &Bound<'_, PyAny>,
        threads: Option<usize>,
        reading: Reading<'_, R>,
    ) -> PyResult<(Vec<R>, usize)> {
        let held = Series::of(series)?;
        let views = held.views();
        let kind = self.fitted.deployed().observations().kind().map_err(raised)?;
        let one = |index: usize| {
            let view: &[View<'_>] = std::slice::from_ref(&views[index]);
            let (_, mut samples) = read(view, Some(&kind)).map_err(Failed::Series)?;
            samples.pop().ok_or_else(|| Failed::Series("no series".to_owned()))
        };
        let result = |stream: &_, refused| Ok((reading(stream)?, refused));
        let task = || self.fitted.each(views.len(), &one, &result);
        let threads = if views.len() < 32 { Some(1) } else { threads };
        let results = released(series.py(), threads, task)?;
        let results = results.map_err(|(index, failed)| {
            let what = match failed {
                Failed::Series(what) => what,
                Failed::Library(error) => error.to_string(),
            };
            refused(what.replacen("series 0", &format!("series {index}"), 1))
        })?;
        let refused = results.iter().map(|(_, refused)| refused).sum();
        Ok((results.into_iter().map(|(result, _)| result).collect(), refused))
    }

    fn table<'py>(
        &self,
        py: Python<'py>,
        rows: &[Vec<f64>],
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let columns = self.fitted.classes().len();
        let flat: Vec<f64> = rows.iter().flatten().copied().collect();
        flat.to_pyarray(py).reshape([rows.len(), columns])
    }
}

/// Why a series has no result.
enum Failed {
    Series(String),
    Library(fishweir::Error),
}

impl From<fishweir::Error> for Failed {
    fn from(error: fishweir::Error) -> Self {
        Self::Library(error)
    }
}
