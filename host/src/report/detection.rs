use std::fmt;

use serde::Serialize;

use super::{ClassFit, DataSummary, EmissionSummary, Floored, Table, counted, grouped};
use crate::data::Kind;
use crate::deploy::{Calibration, DetectorCost};
use crate::detect;
use crate::detect::{Delays, DetectorTrial, FalseAlarms};

/// A detector of change, and its results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DetectionReport {
    /// The normal series.
    #[serde(flatten)]
    pub data: DataSummary,
    /// Description of the observations.
    pub observes: String,
    /// Emissions of the model.
    #[serde(flatten)]
    pub emission: EmissionSummary,
    /// Hidden states of the model.
    pub states: usize,
    /// Summary of the fit; its class is `normal`.
    pub fit: ClassFit,
    /// Log-likelihood of an observed sample that the model was fitted to, in nats.
    pub log_likelihood_per_sample: f64,
    /// The memory, in samples.
    pub memory: f64,
    /// Samples wanted between false alarms.
    pub mean_time: f64,
    /// The change looked for, in words.
    pub change: String,
    /// Alarms where the limits were set.
    pub calibrated: Alarms,
    /// Alarms on series that neither model nor limits have seen.
    pub unseen: Alarms,
    /// Delays of changes; null if none is looked for.
    pub changes: Option<Changes>,
    /// Cost on a device.
    pub cost: DetectorCost,
    /// File that keeps the detector; null if not requested.
    pub file: Option<String>,
    /// File with the detector's source; null if not requested.
    pub detector: Option<String>,
    /// The folder with a C library around it; null if not requested.
    pub c_library: Option<String>,
}

/// False alarms.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Alarms {
    /// Number of alarms.
    pub alarms: usize,
    /// Number of samples.
    pub samples: usize,
    /// Samples an alarm; null without one.
    pub one_in: Option<f64>,
}

/// Delays of changes, and alarms over as many samples without a change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Changes {
    /// Series that change.
    pub changed: Seen,
    /// Series that do not.
    pub unchanged: Seen,
}

/// Series with an alarm.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Seen {
    /// Series in all.
    pub series: usize,
    /// Number of series with an alarm after the place where a change is or would be.
    pub alarmed: usize,
    /// Samples up to the alarm, within which half of the series have one; null if fewer than half do.
    pub median_delay: Option<usize>,
    /// The longest delay of those with an alarm.
    pub longest_delay: Option<usize>,
}

impl From<FalseAlarms> for Alarms {
    fn from(FalseAlarms { alarms, samples }: FalseAlarms) -> Self {
        Self { alarms, samples, one_in: (alarms > 0).then(|| samples as f64 / alarms as f64) }
    }
}

impl From<&detect::Changes> for Changes {
    fn from(detect::Changes { changed, unchanged }: &detect::Changes) -> Self {
        Self { changed: changed.into(), unchanged: unchanged.into() }
    }
}

impl From<&Delays> for Seen {
    fn from(delays: &Delays) -> Self {
        Self {
            series: delays.series,
            alarmed: delays.samples.len(),
            median_delay: delays.median(),
            longest_delay: delays.samples.last().copied(),
        }
    }
}

impl DetectionReport {
    /// Report of a trial on these data.
    pub fn of(
        data: DataSummary,
        kind: &Kind,
        trial: &DetectorTrial,
        calibration: Calibration,
        change: String,
    ) -> Self {
        let DetectorTrial { detector, fit, calibrated, unseen, changes, .. } = trial;
        let emission = &fit.model.emission;
        let observed: f64 = fit.occupancy.iter().sum();
        Self {
            data,
            observes: detector.observations().to_string(),
            emission: EmissionSummary::of(emission.family(), emission.shape()),
            states: detector.states(),
            fit: ClassFit::of("normal", kind, fit),
            log_likelihood_per_sample: fit.last() / observed,
            memory: calibration.memory,
            mean_time: calibration.mean_time,
            change,
            calibrated: (*calibrated).into(),
            unseen: (*unseen).into(),
            changes: changes.as_ref().map(Into::into),
            cost: detector.cost(),
            file: None,
            detector: None,
            c_library: None,
        }
    }

    /// Returns true if the detector is not written to any file.
    #[must_use]
    pub fn is_unwritten(&self) -> bool {
        self.file.is_none() && self.detector.is_none() && self.c_library.is_none()
    }
}

impl fmt::Display for DetectionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let samples = |count: f64| grouped(count.round() as usize);
        writeln!(f, "{}", self.data)?;
        let full = f.alternate();
        if full {
            self.write_fit(f)?;
        }
        writeln!(
            f,
            "memory {} samples; wanted: one false alarm in {}; looked for: {}\n",
            samples(self.memory),
            samples(self.mean_time),
            self.change
        )?;
        let mut table = Table::new(["nothing changes", "samples", "alarms", "one in"]);
        let unseen = ("unseen", self.unseen);
        let parts =
            if full { vec![("limits set there", self.calibrated), unseen] } else { vec![unseen] };
        for (part, Alarms { alarms, samples: all, one_in }) in parts {
            let one_in = one_in.map_or_else(|| "-".to_owned(), samples);
            table.row([part.to_owned(), grouped(all), grouped(alarms), one_in]);
        }
        writeln!(f, "{table}")?;
        if let Some(Changes { changed, unchanged }) = &self.changes {
            writeln!(f, "after the change: {changed}")?;
            writeln!(f, "without a change, in as many samples: {unchanged}\n")?;
        }
        let DetectorCost { model_bytes, state_bytes, multiply_adds_per_sample, .. } = self.cost;
        let (flash, ram) = (grouped(model_bytes), grouped(state_bytes));
        let work = grouped(multiply_adds_per_sample);
        writeln!(
            f,
            "on a device: {flash} B of flash, {ram} B of RAM, {work} multiply-adds per sample"
        )?;
        if self.is_unwritten() {
            writeln!(f, "not written")?;
        }
        for file in self.file.iter().chain(&self.detector) {
            writeln!(f, "detector written to {file}")?;
        }
        if let Some(folder) = &self.c_library {
            writeln!(f, "C library written to {folder}")?;
        }
        Ok(())
    }
}

impl DetectionReport {
    /// Writes the fit of the model.
    fn write_fit(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} over {}: {}, {:.3} nats per sample, {} after {}",
            self.emission.to_string().replace(" emissions", ""),
            self.observes,
            counted(self.states, "hidden state"),
            self.log_likelihood_per_sample,
            if self.fit.converged { "converged" } else { "stopped" },
            counted(self.fit.passes, "pass")
        )?;
        let held = self.fit.floored.iter();
        let held = held.map(|Floored { channel, states }| {
            format!("{channel} in {}", counted(*states, "state"))
        });
        let held: Vec<String> = held.collect();
        if !held.is_empty() {
            writeln!(f, "states at the floor of standard deviations: {}", held.join(", "))?;
        }
        if self.fit.dead_states > 0 {
            writeln!(f, "unused states: {}; fewer suffice", self.fit.dead_states)?;
        }
        Ok(())
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { series, alarmed, median_delay, longest_delay } = self;
        write!(f, "an alarm in {} of {}", grouped(*alarmed), counted(*series, "series"))?;
        if let Some(median) = median_delay {
            write!(f, ", half of them within {}", counted(*median, "sample"))?;
        }
        if let Some(longest) = longest_delay {
            write!(f, ", the last after {}", grouped(*longest))?;
        }
        Ok(())
    }
}
