//! Kernels by name: between series, and between models.

use std::sync::Arc;

use fishweir::data::{Kind, SamplesView};
use fishweir::fishweir_core::emission::Parametrisation;
use fishweir::kernel::parameter::{KernelParameter, Settings};
use fishweir::kernel::registry::{Compares, Entry, KERNELS, OfModels, kernel};
use fishweir::kernel::{Expected, FisherKernel, Metric};
use fishweir::learn::fit_one;
use fishweir::model::{FittedModel, Hmm, ModelFamily, Scored};
use fishweir::{fit::BaumWelch, fit::Topology};
use numpy::{PyArray2, PyArrayMethods, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Deserialize;

use crate::arrays::Series;
use crate::dataset::{Dataset, read};
use crate::error::refused;
use crate::model::Model;
use crate::options;
use crate::request::emission;
use crate::run::{interruptible, released};

/// Options of a kernel and of the models under it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Options {
    states: usize,
    emission: Option<String>,
    components: Option<usize>,
    restarts: usize,
    seed: u64,
    iterations: usize,
    std_floor: f64,
    /// One model per class, instead of one of all series.
    per_class: bool,
    parametrisation: String,
    /// `sampled`, `exact`, `empirical` or `diagonal`.
    information: Option<String>,
    ridge: f64,
    draws: usize,
    normalise: bool,
    /// Numbers of the kernel by name.
    numbers: std::collections::BTreeMap<String, f64>,
}

impl Default for Options {
    fn default() -> Self {
        let fit = BaumWelch::default();
        Self {
            states: fit.states,
            emission: None,
            components: None,
            restarts: fit.restarts,
            seed: fit.seed,
            iterations: fit.iterations,
            std_floor: fit.std_floor,
            per_class: false,
            parametrisation: "softmax".to_owned(),
            information: None,
            ridge: 0.0,
            draws: 2000,
            normalise: false,
            numbers: Default::default(),
        }
    }
}

impl Options {
    fn parse(text: &str) -> Result<Self, String> {
        options::parse(text)
    }

    fn baum_welch(&self) -> Result<BaumWelch, String> {
        let defaults = BaumWelch::default();
        let fit = BaumWelch {
            states: self.states,
            topology: Topology::Ergodic,
            emission: self.emission.as_deref().map(emission).transpose()?,
            components: self.components.unwrap_or(defaults.components),
            restarts: self.restarts,
            seed: self.seed,
            iterations: self.iterations,
            std_floor: self.std_floor,
            ..defaults
        };
        fit.validate().map_err(|error| error.to_string())?;
        Ok(fit)
    }

    fn settings(&self, entry: &Entry, length: usize) -> Result<Settings, String> {
        let parametrisation = match self.parametrisation.as_str() {
            "softmax" => Parametrisation::SOFTMAX,
            "ratio" => Parametrisation::RATIO,
            other => {
                return Err(format!(
                    "parametrisation: `{other}` is unknown; one of softmax, ratio"
                ));
            }
        };
        let usual = (entry.name == "invariant").then_some("sampled");
        let metric = match self.information.as_deref().or(usual) {
            None => Metric::Practical,
            Some(whose) => {
                let (count, seed) = (self.draws, self.seed);
                let expected = match whose {
                    "sampled" => Expected::Sampled { count, seed },
                    "exact" => Expected::Exact { length },
                    "empirical" | "diagonal" => Expected::Empirical,
                    other => {
                        return Err(format!(
                            "information: `{other}` is unknown; one of sampled, exact, empirical, diagonal"
                        ));
                    }
                };
                Metric::Information { expected, diagonal: whose == "diagonal", ridge: self.ridge }
            }
        };
        let mut settings = Settings::new(parametrisation, metric);
        for (name, &value) in &self.numbers {
            let found = entry.takes.iter().find_map(|one| match one {
                KernelParameter::Number(number) if number.name == name => Some(*number),
                _ => None,
            });
            let Some(number) = found else {
                let names: Vec<_> = entry.takes.iter().map(|one| one.name()).collect();
                let kernel = entry.name;
                return Err(format!("kernel {kernel} has no {name}, only {}", names.join(", ")));
            };
            if !number.range.contains(value) {
                return Err(format!("{name} is {value}: it must be {}", number.range.describe()));
            }
            settings = settings.with(number, value);
        }
        Ok(settings)
    }
}

/// Names of the kernels, and a line about each.
#[pyfunction]
pub(crate) fn kernels() -> Vec<(&'static str, &'static str)> {
    let here = |entry: &&Entry| !matches!(entry.compares, Compares::Marginal);
    KERNELS.iter().filter(here).map(|entry| (entry.name, entry.about)).collect()
}

fn entry_of(name: &str) -> Result<&'static Entry, String> {
    kernel(name).ok_or_else(|| {
        let names: Vec<_> = kernels().into_iter().map(|(name, _)| name).collect();
        format!("kernel `{name}` is unknown; one of {}", names.join(", "))
    })
}

/// A kernel with the models and the series that it was fitted to.
#[pyclass(frozen, module = "fishweir._fishweir")]
pub(crate) struct Kernel {
    name: String,
    text: String,
    options: Options,
    entry: &'static Entry,
    /// Shared models; of a kernel between models one per series.
    models: Vec<FittedModel>,
    data: Dataset,
}

#[pymethods]
impl Kernel {
    /// Fits the models under a kernel: one of all series, one per class, or one per series for kernels between models.
    #[new]
    #[pyo3(signature = (name, data, options="{}", threads=None, models=None))]
    fn new(
        py: Python<'_>,
        name: &str,
        data: &Dataset,
        options: &str,
        threads: Option<usize>,
        models: Option<&[u8]>,
    ) -> PyResult<Self> {
        let (text, name) = (options.to_owned(), name.to_owned());
        let options = Options::parse(options).map_err(refused)?;
        let entry = entry_of(&name).map_err(refused)?;
        options.settings(entry, length(data)).map_err(refused)?;
        let data = data.clone();
        let models = match models {
            Some(models) => serde_json::from_slice(models).map_err(|e| refused(e.to_string()))?,
            None => {
                let task = |look: &(dyn Fn() + Sync)| fitted(entry, &options, &data, look);
                interruptible(py, threads, task)?.map_err(refused)?
            }
        };
        Ok(Self { name, text, options, entry, models, data })
    }

    /// The values between each of some series and each series of the training.
    #[pyo3(signature = (series, threads=None))]
    fn cross<'py>(
        &self,
        series: &Bound<'py, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let py = series.py();
        let held = Series::of(series)?;
        let views = held.views();
        let of = self.data.data.series().len();
        let table = interruptible(py, threads, |look| -> Result<Vec<f64>, String> {
            let (_, samples) = read(&views, Some(self.data.data.kind()))?;
            let mut table = Vec::with_capacity(samples.len() * of);
            // As many at a time as there are in training: the matrix holds all pairs of both.
            for part in samples.chunks(of.max(64)) {
                let own = self.data.data.series().iter().map(|one| one.samples.view());
                let all: Vec<SamplesView<'_>> =
                    own.chain(part.iter().map(|samples| samples.view())).collect();
                look();
                let gram = self.gram_of(&all, of, look)?;
                for row in 0..part.len() {
                    table.extend((0..of).map(|column| gram.get(of + row, column)));
                }
            }
            Ok(table)
        })?;
        let table = table.map_err(refused)?;
        table.to_pyarray(py).reshape([table.len() / of.max(1), of])
    }

    /// Fisher scores of some series, whitened by the information of the training where the options say so.
    #[pyo3(signature = (series, threads=None))]
    fn scores<'py>(
        &self,
        series: &Bound<'py, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let py = series.py();
        let held = Series::of(series)?;
        let views = held.views();
        let count = views.len();
        let rows = released(py, threads, || -> Result<Vec<Vec<f64>>, String> {
            let (_, samples) = read(&views, Some(self.data.data.kind()))?;
            let own = self.data.data.series();
            let settings = self.options.settings(self.entry, length(&self.data))?;
            let models: Vec<&dyn Scored> =
                self.models.iter().map(|model| model.any() as &dyn Scored).collect();
            let Settings { parametrisation, metric, .. } = settings;
            let kernel = FisherKernel { models: &models, parametrisation, metric, form: None };
            // What is not whitened does not read the series of the training.
            let training = if metric == Metric::Practical { 0 } else { own.len() };
            let all: Vec<SamplesView<'_>> = own[..training]
                .iter()
                .map(|one| one.samples.view())
                .chain(samples.iter().map(|samples| samples.view()))
                .collect();
            let informing: Vec<usize> = (0..training).collect();
            let (features, _) =
                kernel.features_by(&all, &informing).map_err(|error| error.to_string())?;
            Ok(features.into_iter().skip(training).collect())
        })?;
        let rows = rows.map_err(refused)?;
        let flat: Vec<f64> = rows.iter().flatten().copied().collect();
        flat.to_pyarray(py).reshape([count, rows.first().map_or(0, Vec::len)])
    }

    /// The models under the kernel.
    fn models(&self) -> Vec<Model> {
        self.models.iter().cloned().map(Model::from).collect()
    }

    /// Name of each parameter of the models, in the order of scores that are not whitened.
    fn parameter_names(&self) -> Vec<String> {
        let classes = self.data.data.classes();
        let several = self.models.len() > 1;
        let names = self.models.iter().enumerate().flat_map(|(index, model)| {
            let class = classes.get(index).filter(|_| several).cloned();
            let names = model.any().parameter_names().into_iter();
            names.map(move |name| match &class {
                Some(class) => format!("{class}.{name}"),
                None => name,
            })
        });
        names.collect()
    }

    /// Pickled with its models, and the series of the training.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, PickledParts<'py>)> {
        let own = slf.get();
        let models = serde_json::to_vec(&own.models).map_err(|e| refused(e.to_string()))?;
        let models = PyBytes::new(slf.py(), &models);
        let data = Bound::new(slf.py(), own.data.clone())?;
        let kept = (own.name.clone(), data, own.text.clone(), None, models);
        Ok((slf.get_type().into_any(), kept))
    }
}

/// Arguments that a kernel is made of again.
type PickledParts<'py> = (String, Bound<'py, Dataset>, String, Option<usize>, Bound<'py, PyBytes>);

impl Kernel {
    /// Values of all pairs; the first `training` series inform.
    fn gram_of(
        &self,
        views: &[SamplesView<'_>],
        training: usize,
        look: &(dyn Fn() + Sync),
    ) -> Result<fishweir::kernel::Gram, String> {
        let settings = self.options.settings(self.entry, length(&self.data))?;
        let informing: Vec<usize> = (0..training).collect();
        let said = |error: fishweir::kernel::KernelError| error.to_string();
        let gram = match self.entry.compares {
            Compares::Sequences(compute) => compute(&settings, views).map_err(said)?,
            Compares::Scores(compute) => {
                let models: Vec<&dyn fishweir::model::Model> =
                    self.models.iter().map(FittedModel::any).collect();
                compute(&settings, &models, views, &informing).map_err(said)?.computed().gram
            }
            Compares::States(compute) => {
                let models = self.models.iter().map(|model| model.hidden_markov().cloned());
                let models: Option<Vec<Hmm>> = models.collect();
                let models = models.ok_or("the models have no hidden states")?;
                compute(&settings, &models, views).map_err(said)?.computed().gram
            }
            Compares::Models(compute, _) => {
                let of_new =
                    of_each(&self.options, self.data.data.kind(), &views[training..], look)?;
                let all: Vec<FittedModel> = self.models.iter().cloned().chain(of_new).collect();
                return between_models(compute, &settings, &all, self.options.normalise);
            }
            Compares::Marginal => {
                return Err(OF_A_FILE.to_owned());
            }
        };
        Ok(if self.options.normalise { gram.normalised() } else { gram })
    }
}

/// Why a kernel of numbers that are in a file is refused.
const OF_A_FILE: &str = "this kernel reads its numbers from a file: use the command";

/// Models that a kernel compares series by.
fn fitted(
    entry: &Entry,
    options: &Options,
    data: &Dataset,
    look: &(dyn Fn() + Sync),
) -> Result<Vec<FittedModel>, String> {
    let data = &data.data;
    let all: Vec<usize> = (0..data.series().len()).collect();
    let of = |series: &[usize]| {
        let fit = fit_one(data, series, &options.baum_welch()?, look);
        fit.map(|fit| FittedModel::from(fit.model)).map_err(|error| error.to_string())
    };
    match entry.compares {
        Compares::Sequences(_) => Ok(Vec::new()),
        Compares::Marginal => Err(OF_A_FILE.to_owned()),
        Compares::Models(..) => {
            let views: Vec<SamplesView<'_>> =
                data.series().iter().map(|one| one.samples.view()).collect();
            of_each(options, data.kind(), &views, look)
        }
        _ if options.per_class => {
            let labels = data.labels().map_err(|error| error.to_string())?;
            let class = |class: usize| {
                let own: Vec<usize> =
                    all.iter().copied().filter(|&one| labels[one] == class).collect();
                of(&own)
            };
            (0..data.classes().len()).map(class).collect()
        }
        _ => Ok(vec![of(&all)?]),
    }
}

/// One model per series.
fn of_each(
    options: &Options,
    kind: &Kind,
    views: &[SamplesView<'_>],
    look: &(dyn Fn() + Sync),
) -> Result<Vec<FittedModel>, String> {
    let family = ModelFamily::HiddenMarkov(options.baum_welch()?);
    let fit = |(index, view): (usize, &SamplesView<'_>)| {
        look();
        let views = std::slice::from_ref(view);
        let scale = fishweir::data::scale_of(kind, views);
        family.fit(kind, views, &scale).map_err(|error| format!("series {index}: {error}"))
    };
    use rayon::prelude::*;
    views.par_iter().enumerate().map(fit).collect()
}

/// The common length of the series of the training; zero where there are several.
fn length(data: &Dataset) -> usize {
    let mut lengths = data.data.series().iter().map(|one| one.samples.view().len());
    let first = lengths.next().unwrap_or(0);
    if lengths.all(|length| length == first) { first } else { 0 }
}

fn between_models(
    compute: OfModels,
    settings: &Settings,
    models: &[FittedModel],
    normalise: bool,
) -> Result<fishweir::kernel::Gram, String> {
    let logs = compute(settings, models)
        .map_err(|error| format!("models {} and {}: {}", error.row, error.column, error.why))?;
    Ok(if normalise { logs.normalised() } else { logs.kernels() })
}

/// The values of a kernel between each two of some models.
#[pyfunction]
#[pyo3(signature = (models, kernel="bhattacharyya", options="{}"))]
pub(crate) fn gram<'py>(
    py: Python<'py>,
    models: Vec<PyRef<'py, Model>>,
    kernel: &str,
    options: &str,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let options = Options::parse(options).map_err(refused)?;
    let entry = entry_of(kernel).map_err(refused)?;
    let Compares::Models(compute, _) = entry.compares else {
        return Err(refused(format!("kernel {kernel} compares series, not models")));
    };
    let settings = options.settings(entry, 0).map_err(refused)?;
    let models: Vec<Arc<FittedModel>> = models.iter().map(|one| Arc::clone(&one.model)).collect();
    let count = models.len();
    let gram = released(py, None, || {
        let models: Vec<FittedModel> = models.iter().map(|one| (**one).clone()).collect();
        between_models(compute, &settings, &models, options.normalise)
    })?
    .map_err(refused)?;
    let flat: Vec<f64> = (0..count)
        .flat_map(|row| (0..count).map(move |column| (row, column)))
        .map(|(r, c)| gram.get(r, c))
        .collect();
    flat.to_pyarray(py).reshape([count, count])
}
