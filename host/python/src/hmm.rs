//! Hidden Markov models by their numbers, for the classes with the names of hmmlearn: expectations, posteriors, paths, draws.

use std::collections::BTreeMap;

use fishweir::batch::{Expectations, ViterbiPath, decode_mixed, log_likelihoods, posteriors};
use fishweir::classifier::{Classifier as Trained, Observations};
use fishweir::data::{Rows, Samples, SamplesView, ShortSeries, Windowing};
use fishweir::estimator::Fitted;
use fishweir::fit::ExpectationStep;
use fishweir::model::{FittedModel, Hmm as Chain};
use fishweir::parts::ExpectedSums as Whole;
use fishweir::runtime::Emissions;
use fishweir::sums::{Digest, LEAF, Sums, digests_of};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::classifier::Classifier;
use crate::error::{raised, refused};
use crate::model::Model;
use crate::request::emission;
use crate::run::released;

/// `[row][column]`.
type Table = Vec<Vec<f64>>;
/// A path, and the log-probability of all of it.
type Paths<'py> = (f64, Bound<'py, PyArray1<i64>>);

/// Sequences of one table of numbers or symbols, end to end.
#[pyclass(frozen, module = "fishweir._fishweir")]
pub(crate) struct Sequences {
    samples: Vec<Samples>,
}

#[pymethods]
impl Sequences {
    /// Sequences of `lengths` rows each; symbols are whole numbers in one column. NaN is missing.
    #[new]
    fn new(
        py: Python<'_>,
        rows: PyReadonlyArray2<'_, f64>,
        lengths: Vec<usize>,
        symbols: bool,
    ) -> PyResult<Self> {
        let rows = rows.as_array();
        let (count, channels) = rows.dim();
        let total = lengths.iter().try_fold(0_usize, |sum, &length| sum.checked_add(length));
        if total != Some(count) {
            return Err(refused(format!("the lengths do not sum to the {count} samples of X")));
        }
        py.detach(|| {
            let mut row = vec![0.0; channels];
            let mut at = 0;
            let mut samples = Vec::with_capacity(lengths.len());
            for &length in &lengths {
                let mut series = Rows::new(channels);
                let mut letters = Vec::new();
                for t in at..at + length {
                    for c in 0..channels {
                        row[c] = rows[[t, c]];
                        if row[c].is_infinite() {
                            return Err(format!("sample {t}, channel {c} is {}", row[c]));
                        }
                    }
                    match symbols {
                        true if row[0].is_nan() => letters.push(None),
                        true => letters.push(Some(row[0] as u16)),
                        false => series.push(Some(&row)),
                    }
                }
                at += length;
                samples.push(match symbols {
                    true => Samples::Symbols(letters),
                    false => Samples::Channels(series),
                });
            }
            Ok(Self { samples })
        })
        .map_err(refused)
    }

    /// Number of sequences.
    fn __len__(&self) -> usize {
        self.samples.len()
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, PickledSequences<'py>)> {
        let (py, samples) = (slf.py(), &slf.get().samples);
        let (mut flat, mut channels) = (Vec::new(), 1);
        for one in samples {
            match one.view() {
                SamplesView::Symbols(symbols) => {
                    flat.extend(symbols.iter().map(|one| one.map_or(f64::NAN, f64::from)));
                }
                SamplesView::Channels(rows) => {
                    channels = rows.dimension();
                    for row in rows.iter_in_part() {
                        match row {
                            Some(row) => flat.extend_from_slice(row),
                            None => flat.resize(flat.len() + channels, f64::NAN),
                        }
                    }
                }
            }
        }
        let symbols = samples.first().is_some_and(|one| one.view().symbols().is_some());
        let lengths = samples.iter().map(|one| one.view().len()).collect();
        let rows = flat.to_pyarray(py).reshape([flat.len() / channels.max(1), channels])?;
        Ok((slf.get_type().into_any(), (rows, lengths, symbols)))
    }

    /// Bytes of the samples, for those who place them in memory.
    fn __sizeof__(&self) -> usize {
        let of = |one: &Samples| match one.view() {
            SamplesView::Symbols(symbols) => size_of_val(symbols),
            SamplesView::Channels(rows) => size_of::<f64>() * rows.dimension() * rows.len(),
        };
        self.samples.iter().map(of).sum()
    }

    /// Fingerprints of the leaves, the first of which is leaf `first` of a data set.
    fn marks(&self, py: Python<'_>, first: usize) -> Marks {
        let digests = py.detach(|| digests_of(&self.views(), first));
        digests.nodes().map(|(first, level, digest)| (first, level, digest.to_string())).collect()
    }
}

/// Arguments that sequences are made of again.
type PickledSequences<'py> = (Bound<'py, PyArray2<f64>>, Vec<usize>, bool);

/// Fingerprints of leaves: first leaf, level, digits.
type Marks = Vec<(usize, u32, String)>;

/// Reads fingerprints of leaves.
fn marks_of(marks: Marks) -> Result<Sums<Digest>, String> {
    let mut sums = Sums::new();
    for (first, level, digits) in marks {
        let digest = digits.parse().map_err(str::to_owned)?;
        sums.insert(first, level, digest).map_err(|error| error.to_string())?;
    }
    Ok(sums)
}

/// The fingerprint of a data set by those of its leaves.
#[pyfunction]
pub(crate) fn whole_digest(marks: Marks, sequences: usize) -> PyResult<String> {
    let total = marks_of(marks).map_err(refused)?.total(sequences.div_ceil(LEAF));
    let total = total.map_err(|error| refused(error.to_string()))?;
    let total = total.ok_or_else(|| refused("no sequence"))?;
    Ok(total.to_string())
}

/// Expected statistics of a model over some leaves of a data set.
#[pyclass(frozen, module = "fishweir._fishweir")]
pub(crate) struct ExpectedSums {
    sums: Whole,
}

#[pymethods]
impl ExpectedSums {
    /// The sums in a file of `expect`.
    #[staticmethod]
    fn from_json(bytes: &[u8]) -> PyResult<Self> {
        let sums = Whole::parse("memory", bytes).map_err(|error| refused(error.to_string()))?;
        Ok(Self { sums })
    }

    /// The file that `merge` takes.
    fn to_json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let text = self.sums.to_json().map_err(|error| refused(error.to_string()))?;
        Ok(PyBytes::new(py, text.as_bytes()))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let bytes = slf.get().to_json(slf.py())?;
        Ok((slf.getattr("from_json")?, (bytes,)))
    }

    /// These sums and those over other leaves.
    fn merged(&self, others: Vec<PyRef<'_, Self>>) -> PyResult<Self> {
        let mut sums = self.sums.clone();
        for other in others {
            sums.merge(other.sums.clone()).map_err(|error| refused(error.to_string()))?;
        }
        Ok(Self { sums })
    }
}

impl Sequences {
    fn views(&self) -> Vec<SamplesView<'_>> {
        self.samples.iter().map(Samples::view).collect()
    }
}

/// Name of the family, first states, transitions, and the blocks of the family.
type Numbers = (&'static str, Vec<f64>, Table, BTreeMap<&'static str, Table>);

/// A hidden Markov model, checked.
#[pyclass(frozen, module = "fishweir._fishweir")]
pub(crate) struct Hmm {
    model: Chain,
}

/// Expected statistics as Python has them: the log-likelihood, first states, transitions, and the blocks of the family.
type Expected = (f64, Vec<f64>, Table, BTreeMap<&'static str, Table>);

#[pymethods]
impl Hmm {
    /// A model from its numbers: `parts` are the blocks of the family by name, `[state][entry]`.
    #[new]
    fn new(
        family: &str,
        initial: Vec<f64>,
        transition: Table,
        mut parts: BTreeMap<String, Table>,
    ) -> PyResult<Self> {
        let family = emission(family).map_err(refused)?;
        let mut blocks = Vec::new();
        for block in family.parts() {
            let rows = parts.remove(block.name);
            blocks.push(rows.ok_or_else(|| refused(format!("{} is missing", block.name)))?);
        }
        let model = Chain { initial, transition, emission: Emissions::new(family, blocks) };
        model.validate().map_err(|error| refused(error.to_string()))?;
        Ok(Self { model })
    }

    /// A model of hidden Markov models that was fitted.
    #[staticmethod]
    fn of_model(model: &Model) -> PyResult<Self> {
        let model = model.model.hidden_markov();
        let model = model.ok_or_else(|| refused("the model has no hidden states"))?;
        Ok(Self { model: model.clone() })
    }

    /// The model for kernels between models, and for files.
    fn to_model(&self) -> Model {
        FittedModel::from(self.model.clone()).into()
    }

    /// The numbers: name of the family, first states, transitions, and the blocks of the family.
    fn numbers(&self) -> Numbers {
        let emission = &self.model.emission;
        let family = emission.family();
        let block = |name| Some((name, emission.part(name)?.to_vec()));
        let blocks = family.parts().iter().filter_map(|one| block(one.name)).collect();
        (family.name(), self.model.initial.clone(), self.model.transition.clone(), blocks)
    }

    /// Expectation maximisation: `maximise` takes the expected statistics under a model, and returns the next one, or `None`
    /// to stop.
    #[pyo3(signature = (sequences, maximise, threads=None))]
    fn fit(
        &self,
        py: Python<'_>,
        sequences: &Sequences,
        maximise: &Bound<'_, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<()> {
        let views = sequences.views();
        let step = ExpectationStep::new(&views);
        let mut model = self.model.clone();
        loop {
            let expected = released(py, threads, || step.expectations(&model))?;
            let expected = expected.map_err(|error| refused(error.to_string()))?;
            let next = maximise.call1((stated(&model, expected),))?;
            if next.is_none() {
                return Ok(());
            }
            model = next.cast::<Self>()?.get().model.clone();
        }
    }

    /// The sums over sequences that begin at leaf `first` of a data set of `count` sequences with the fingerprint `data`.
    #[pyo3(signature = (sequences, first, marks, data, count, threads=None))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn sums(
        &self,
        py: Python<'_>,
        sequences: &Sequences,
        first: usize,
        marks: Marks,
        data: &str,
        count: usize,
        threads: Option<usize>,
    ) -> PyResult<ExpectedSums> {
        let marks = marks_of(marks).map_err(refused)?;
        let data = data.parse().map_err(|error: &str| refused(error))?;
        let views = sequences.views();
        let sums = released(py, threads, || {
            Whole::of_model(("all", &self.model), (first, &views), &marks, (data, count))
        })?;
        Ok(ExpectedSums { sums: sums.map_err(|error| refused(error.to_string()))? })
    }

    /// The expected statistics that the sums of all leaves are.
    fn expected(&self, sums: &ExpectedSums) -> PyResult<Expected> {
        let total = sums.sums.total_of(&self.model);
        Ok(stated(&self.model, total.map_err(|error| refused(error.to_string()))?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, Numbers) {
        (slf.get_type().into_any(), slf.get().numbers())
    }

    /// The log-likelihood of each sequence; minus infinity of one that is impossible.
    #[pyo3(signature = (sequences, threads=None))]
    fn log_likelihoods<'py>(
        &self,
        py: Python<'py>,
        sequences: &Sequences,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let views = sequences.views();
        let found = released(py, threads, || log_likelihoods::<f64>(&self.model, &views))?;
        let found = found.map_err(|error| refused(error.to_string()))?;
        let logs: Vec<f64> =
            found.into_iter().map(|one| one.unwrap_or(f64::NEG_INFINITY)).collect();
        Ok(logs.to_pyarray(py))
    }

    /// The log-likelihood of all sequences, and the probability of each state at each sample.
    #[pyo3(signature = (sequences, threads=None))]
    fn posteriors<'py>(
        &self,
        py: Python<'py>,
        sequences: &Sequences,
        threads: Option<usize>,
    ) -> PyResult<(f64, Bound<'py, PyArray2<f64>>)> {
        let views = sequences.views();
        let found = released(py, threads, || posteriors(&self.model, &views))?;
        let found = found.map_err(|error| refused(error.to_string()))?;
        let (mut log, mut rows) = (0.0, Vec::new());
        for (index, one) in found.into_iter().enumerate() {
            let one = one.map_err(|error| refused(format!("sequence {index}: {error}")))?;
            log += one.log_likelihood;
            rows.extend(one.smoothed);
        }
        let states = self.model.states();
        Ok((log, rows.to_pyarray(py).reshape([rows.len() / states, states])?))
    }

    /// The likeliest path of each sequence, end to end, and their log-probability.
    fn decode<'py>(&self, py: Python<'py>, sequences: &Sequences) -> PyResult<Paths<'py>> {
        paths(py, sequences, |view| self.model.decode(view))
    }

    /// The likeliest path of states that mix the states of this model: `weights[i]` are those of state `i`.
    fn decode_mixed<'py>(
        &self,
        py: Python<'py>,
        sequences: &Sequences,
        initial: Vec<f64>,
        transition: Table,
        weights: Table,
    ) -> PyResult<Paths<'py>> {
        let chain = (initial.as_slice(), transition.as_slice());
        paths(py, sequences, |view| decode_mixed(chain, &weights, &self.model.emission, view))
    }

    /// A series of a seed, `[time][channel]`, and the states that it was drawn from.
    fn simulate<'py>(
        &self,
        py: Python<'py>,
        length: usize,
        seed: u64,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Vec<usize>)> {
        let (samples, states) = py.detach(|| self.model.simulate_path(length, seed));
        let (flat, channels): (Vec<f64>, usize) = match &samples {
            Samples::Symbols(symbols) => {
                (symbols.iter().map(|one| one.map_or(f64::NAN, f64::from)).collect(), 1)
            }
            Samples::Channels(rows) => {
                let rows = rows.view();
                (rows.iter_in_part().flatten().flatten().copied().collect(), rows.dimension())
            }
        };
        Ok((flat.to_pyarray(py).reshape([length, channels])?, states))
    }
}

/// Expected statistics, with the names of their blocks.
fn stated(model: &Chain, expected: Expectations) -> Expected {
    let family = model.emission.family();
    let block = |name: &'static str| Some((name, expected.emission.get(name)?.to_vec()));
    let blocks = family.statistics().iter().filter_map(|one| block(one.name)).collect();
    (expected.log_likelihood, expected.initial, expected.pairs, blocks)
}

fn paths<'py, E: std::fmt::Display + Send>(
    py: Python<'py>,
    sequences: &Sequences,
    path: impl Fn(SamplesView<'_>) -> Result<ViterbiPath, E> + Sync,
) -> PyResult<Paths<'py>> {
    let found = py.detach(|| {
        let (mut log, mut states) = (0.0, Vec::new());
        for (index, view) in sequences.views().into_iter().enumerate() {
            let one = path(view).map_err(|error| format!("sequence {index}: {error}"))?;
            log += one.log_probability;
            states.extend(one.states.into_iter().map(|state| state as i64));
        }
        Ok::<_, String>((log, states))
    });
    let (log, states) = found.map_err(refused)?;
    Ok((log, states.to_pyarray(py)))
}

/// The Bayes classifier over models that are there already, one per class.
#[pyfunction]
#[pyo3(signature = (models, classes, priors, channels=None, alphabet=None, window=None, hop=None))]
pub(crate) fn classifier_of(
    models: Vec<PyRef<'_, Hmm>>,
    classes: Vec<String>,
    priors: Vec<f64>,
    channels: Option<Vec<String>>,
    alphabet: Option<String>,
    window: Option<usize>,
    hop: Option<usize>,
) -> PyResult<Classifier> {
    let observations = match (channels, alphabet) {
        (Some(channels), None) => Observations::Channels(channels),
        (None, Some(alphabet)) => Observations::Symbols(alphabet),
        _ => return Err(refused("give the names of the channels, or the alphabet")),
    };
    let sized =
        |size| std::num::NonZeroUsize::new(size).ok_or_else(|| refused("a window is 1 or more"));
    let windowing = match window {
        None => None,
        Some(length) => Some(Windowing {
            length: sized(length)?,
            hop: sized(hop.unwrap_or(length))?,
            short: ShortSeries::default(),
        }),
    };
    let models = models.iter().map(|one| one.model.clone()).collect();
    let trained = Trained::of_models(observations, classes, models, &priors, windowing);
    let fitted = trained.map_err(raised).and_then(|one| Fitted::try_from(one).map_err(raised))?;
    Ok(fitted.into())
}
