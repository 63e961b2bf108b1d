//! Detectors of change and spotters of events.

use std::fmt::Write as _;
use std::sync::Arc;

use fishweir::data::{Kind, Marked, ReadOptions, Samples};
use fishweir::deploy::{Calibration, Detector as Watching, DetectorModel, Spotter, SpotterModel};
use fishweir::detect::{Change, DetectorPlan};
use fishweir::fishweir_core::classify::Statistic;
use fishweir::fit::BaumWelch;
use fishweir::report::grouped;
use fishweir::spot::SpotPlan;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays::Series;
use crate::dataset::{ARRAYS, Dataset, read};
use crate::error::{raised, refused};
use crate::request::emission;
use crate::run::{interruptible, released};
use crate::stored::{MODEL, Pickled, bytes, numbers, pickled};

/// The fit of a model of normal, or of events.
fn fit_of(states: usize, family: Option<&str>, seed: u64) -> Result<BaumWelch, String> {
    let emission = family.map(emission).transpose()?;
    let fit = BaumWelch { states, emission, seed, ..BaumWelch::default() };
    fit.validate().map_err(|error| error.to_string())?;
    Ok(fit)
}

/// Sample, statistic (`unlikely` or `change`) and value.
type Alarm = (usize, &'static str, f32);
/// Class, first sample, sample after the last, log odds per sample, sample of the decision.
type SpottedEvent = (String, u64, u64, f32, u64);

/// A detector of change, learnt from what is normal.
#[pyclass(frozen, module = "fishweir._fishweir")]
pub(crate) struct Detector {
    model: DetectorModel,
    detector: Arc<Watching>,
}

#[pymethods]
impl Detector {
    /// Learns from normal series; `mean_time` is the wanted number of samples between false alarms.
    #[staticmethod]
    #[pyo3(signature = (data, mean_time, memory=50.0, states=4, family=None, seed=1, changed=None))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn fit(
        py: Python<'_>,
        data: &Dataset,
        mean_time: f64,
        memory: f64,
        states: usize,
        family: Option<&str>,
        seed: u64,
        changed: Option<&Dataset>,
    ) -> PyResult<(Self, String)> {
        let baum_welch = fit_of(states, family, seed).map_err(refused)?;
        let change = changed.map_or(Change::Unknown, |changed| Change::Recorded(&changed.data));
        let calibration = Calibration { memory, mean_time };
        let plan = DetectorPlan { baum_welch, calibration, change };
        let trial =
            interruptible(py, None, |look| plan.carry_out(&data.data, look))?.map_err(raised)?;
        let unseen = &trial.unseen;
        let words = format!(
            "{} false alarms in {} samples that neither the model nor its limits have seen",
            unseen.alarms,
            grouped(unseen.samples)
        );
        Ok((Self { model: trial.model, detector: Arc::new(trial.detector) }, words))
    }

    /// Reads what [`to_json`](Self::to_json) writes.
    #[staticmethod]
    fn from_json(json: &[u8]) -> PyResult<Self> {
        let model = DetectorModel::parse(MODEL, json).map_err(raised)?;
        let detector = Arc::new(model.deploy().map_err(raised)?);
        Ok(Self { model, detector })
    }

    /// The model's file.
    fn to_json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes(py, self.model.to_json())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        pickled(&slf.get_type(), slf.get().to_json(slf.py()))
    }

    /// Alarms in each series: sample, statistic (`unlikely` or `change`), value.
    fn alarms(&self, series: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<Alarm>>> {
        let held = Series::of(series)?;
        let kind = self.model.observations.kind().map_err(raised)?;
        let (_, samples) = read(&held.views(), Some(&kind)).map_err(refused)?;
        let alarms = |samples: &Samples| {
            let mut stream = self.detector.stream();
            let mut found = Vec::new();
            for (at, sample) in samples.view().iter().enumerate() {
                let reading = stream.watch(sample);
                let Some(alarm) = reading.alarm else { continue };
                let word = if alarm == Statistic::Fit { "unlikely" } else { "change" };
                found.push((at, word, reading.value(alarm).unwrap_or_default()));
            }
            found
        };
        released(series.py(), None, || samples.iter().map(alarms).collect())
    }

    /// Rust source for a device.
    fn rust_source(&self) -> String {
        self.detector.to_source()
    }

    /// Cost on a device, as JSON.
    fn cost(&self) -> PyResult<String> {
        numbers(&self.detector.cost())
    }
}

/// A spotter of events in continuous streams.
#[pyclass(frozen, module = "fishweir._fishweir")]
pub(crate) struct EventSpotter {
    model: SpotterModel,
    spotter: Arc<Spotter>,
}

#[pymethods]
impl EventSpotter {
    /// Learns from series whose samples are marked, `""` between events.
    #[staticmethod]
    #[pyo3(signature = (series, marks, channels, states=4, family=None, seed=1, lag=500))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn fit(
        py: Python<'_>,
        series: &Bound<'_, PyAny>,
        marks: Vec<Vec<String>>,
        channels: Vec<String>,
        states: usize,
        family: Option<&str>,
        seed: u64,
        lag: u32,
    ) -> PyResult<(Self, String)> {
        let baum_welch = fit_of(states, family, seed).map_err(refused)?;
        let held = Series::of(series)?;
        let kind = Kind::Channels(channels.clone());
        let (_, samples) = read(&held.views(), Some(&kind)).map_err(refused)?;
        let text = marked(&samples, &marks, &channels).map_err(refused)?;
        let plan = SpotPlan { baum_welch, lag, ..SpotPlan::default() };
        let trial = interruptible(py, None, |look| -> Result<_, String> {
            let options = ReadOptions::default();
            let marked = Marked::parse(ARRAYS, text.as_bytes(), "mark", None, &options);
            let marked = marked.map_err(|error| error.to_string())?;
            plan.carry_out(&marked, look).map_err(|error| error.to_string())
        })?;
        let trial = trial.map_err(refused)?;
        let best = trial.tried.iter().find(|(penalty, _)| *penalty == trial.penalty);
        let f1 = best.map_or(f64::NAN, |(_, figures)| figures.f1());
        let words = format!("F1 {f1:.3} at penalty {} in {} folds", trial.penalty, trial.folds);
        Ok((Self { model: trial.model, spotter: Arc::new(trial.spotter) }, words))
    }

    /// Reads what [`to_json`](Self::to_json) writes.
    #[staticmethod]
    fn from_json(json: &[u8]) -> PyResult<Self> {
        let model = SpotterModel::parse(MODEL, json).map_err(raised)?;
        let spotter = Arc::new(model.deploy().map_err(|error| refused(error.to_string()))?);
        Ok(Self { model, spotter })
    }

    /// The model's file.
    fn to_json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes(py, self.model.to_json())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        pickled(&slf.get_type(), slf.get().to_json(slf.py()))
    }

    /// Events in each series: class, first sample, sample after the last, log odds per sample, sample of the decision.
    fn spot(&self, series: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<SpottedEvent>>> {
        let held = Series::of(series)?;
        let kind = self.model.observations.kind().map_err(raised)?;
        let (_, samples) = read(&held.views(), Some(&kind)).map_err(refused)?;
        let spot = |samples: &Samples| {
            let found = self.spotter.spot(&samples.view()).into_iter();
            let event = |found: fishweir::deploy::Found| {
                let event = found.event;
                let class = self.spotter.classes()[usize::from(event.class)].clone();
                (class, event.start, event.end, event.log_odds_per_sample(), found.decided)
            };
            found.map(event).collect()
        };
        released(series.py(), None, || samples.iter().map(spot).collect())
    }

    /// Rust source for a device.
    fn rust_source(&self) -> String {
        self.spotter.to_source()
    }

    /// Cost on a device, as JSON.
    fn cost(&self) -> PyResult<String> {
        numbers(&self.spotter.cost())
    }
}

/// Series and marks as the table that is read from files.
fn marked(
    samples: &[Samples],
    marks: &[Vec<String>],
    channels: &[String],
) -> Result<String, String> {
    if samples.len() != marks.len() {
        return Err(format!("{} series and marks of {}", samples.len(), marks.len()));
    }
    let mut text = format!("series,t,mark,{}\n", channels.join(","));
    for (index, (one, marks)) in samples.iter().zip(marks).enumerate() {
        let view = one.view();
        let Some(rows) = view.rows() else { return Err("marks are of channels".to_owned()) };
        if rows.len() != marks.len() {
            let (samples, marks) = (rows.len(), marks.len());
            return Err(format!("series {index} has {samples} samples and {marks} marks"));
        }
        for (t, (row, mark)) in rows.iter_in_part().zip(marks).enumerate() {
            if mark.contains([',', '"', '\n', '\r']) {
                return Err(format!("mark `{mark}`: it has a comma, a quote or a line break"));
            }
            let _ = write!(text, "s{index},{t},{mark}");
            for channel in 0..channels.len() {
                let value = row.map_or(f64::NAN, |row| row[channel]);
                let _ = if value.is_nan() { write!(text, ",") } else { write!(text, ",{value}") };
            }
            text.push('\n');
        }
    }
    Ok(text)
}
