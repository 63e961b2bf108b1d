//! The report of `fishweir spot`.

use std::fmt;

use fishweir::data::{Dataset, Marked, Period};
use fishweir::deploy::{Spotter, SpotterCost};
use fishweir::report::{EventFigures, Table, counted, grouped};
use fishweir::spot::{SpotFigures, SpotPlan};
use serde::Serialize;

use super::Failure;

/// An event, as it is listed.
#[derive(Serialize)]
pub(super) struct Spotted {
    series: String,
    class: String,
    start: u64,
    end: u64,
    log_odds_per_sample: f32,
    decided: u64,
}

/// A spotter, how well it finds events, and the events.
#[derive(Serialize)]
pub(super) struct SpotReport {
    pub(super) classes: Vec<String>,
    pub(super) states: usize,
    /// Choice of the penalty; null for a model that was read.
    #[serde(flatten)]
    pub(super) chosen: Option<ChosenSpotter>,
    pub(super) figures: Vec<EventFigures>,
    /// Each class of the series judged, and what was reported wrongly; null where none are marked.
    #[serde(flatten)]
    pub(super) judged: Option<Judged>,
    /// Cost on a device.
    pub(super) cost: SpotterCost,
    pub(super) events: Vec<Spotted>,
    /// The file that the spotter was written to, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<String>,
}

/// How the penalty was chosen.
#[derive(Serialize)]
pub(super) struct ChosenSpotter {
    pub(super) penalty: f64,
    pub(super) folds: usize,
    /// Parts that folds consist of.
    pub(super) parts: &'static str,
}

/// How well the events of marked series are found.
#[derive(Serialize)]
pub(super) struct Judged {
    #[serde(skip)]
    pub(super) figures: SpotFigures,
    by_class: Vec<EventFigures>,
    /// Events that were reported and are none.
    false_reports: usize,
    /// Number of false reports per hour; null without a rate.
    false_reports_per_hour: Option<f64>,
    /// Samples per second; null where the times do not say.
    #[serde(skip)]
    rate: Option<f64>,
    #[serde(skip)]
    samples: usize,
}

impl Judged {
    /// Judges a spotter on marked series.
    pub(super) fn of(plan: &SpotPlan, spotter: &Spotter, marked: &Marked) -> Self {
        let by_class = plan.figures_by_class(spotter, marked);
        let mut figures = SpotFigures::default();
        by_class.iter().for_each(|one| figures.pool(one));
        let data = marked.data();
        let all: Vec<usize> = (0..data.series().len()).collect();
        let rate = Period::of(data, &all).map(|period| period.rate());
        let samples = data.observations();
        let false_reports = figures.reported - figures.found();
        let hours = rate.map(|rate| samples as f64 / rate / 3600.0);
        let named = marked.classes().iter().zip(&by_class);
        Self {
            by_class: named.map(|(class, one)| EventFigures::of(class.as_str(), one)).collect(),
            false_reports,
            false_reports_per_hour: hours.map(|hours| false_reports as f64 / hours),
            rate,
            samples,
            figures,
        }
    }
}

impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (Some(delay), Some(rate)) = (self.figures.median_delay(), self.rate) {
            writeln!(
                f,
                "half of the events found are reported within {:.2} s of their end",
                delay as f64 / rate
            )?;
        }
        write!(
            f,
            "{} in {}",
            counted(self.false_reports, "false report"),
            counted(self.samples, "sample")
        )?;
        match self.false_reports_per_hour.filter(|_| self.false_reports > 0) {
            Some(rate) => writeln!(f, ": {rate:.1} per hour\n")?,
            None => writeln!(f, "\n")?,
        }
        let mut table =
            Table::new(["class", "events", "found", "reported", "precision", "recall", "F1"]);
        for one in &self.by_class {
            let counts = [one.events, one.found, one.reported].map(grouped);
            let shares = [one.precision, one.recall, one.f1].map(|share| format!("{share:.3}"));
            table.row([one.what.clone()].into_iter().chain(counts).chain(shares));
        }
        writeln!(f, "{table}")
    }
}

/// Name of the figures of a penalty that was tried.
pub(super) fn of_penalty(penalty: f64) -> String {
    format!("penalty {penalty}, where it was chosen")
}

/// Events that a spotter finds in each series.
pub(super) fn spotted(spotter: &Spotter, data: &Dataset) -> Vec<Spotted> {
    let mut events = Vec::new();
    for series in data.series() {
        for found in spotter.spot(&series.samples.view()) {
            let event = found.event;
            events.push(Spotted {
                series: series.id.clone(),
                class: spotter.classes()[usize::from(event.class)].clone(),
                start: event.start,
                end: event.end,
                log_odds_per_sample: event.log_odds_per_sample(),
                decided: found.decided,
            });
        }
    }
    events
}

/// Events as CSV.
pub(super) fn listed(events: &[Spotted]) -> Result<String, Failure> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(["series", "class", "start", "end", "log_odds_per_sample", "decided"])?;
    for Spotted { series, class, start, end, log_odds_per_sample, decided } in events {
        let [start, end, decided] = [start, end, decided].map(u64::to_string);
        let confidence = format!("{log_odds_per_sample:.3}");
        table.write_record([series, class, &start, &end, &confidence, &decided])?;
    }
    let bytes = table.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// For people: how well events are found; `{:#}` has every penalty that was tried, and the network.
impl fmt::Display for SpotReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let full = f.alternate();
        write!(f, "{} ({})", counted(self.classes.len(), "class"), self.classes.join(", "))?;
        if full {
            write!(f, ", {} in all", counted(self.states, "state"))?;
        }
        writeln!(f, "\n")?;
        let taken = self.chosen.as_ref().map(|chosen| of_penalty(chosen.penalty));
        let tried = |one: &EventFigures| one.what.ends_with(", where it was chosen");
        for one in &self.figures {
            if full || !tried(one) || taken.as_ref() == Some(&one.what) {
                writeln!(f, "{one}")?;
            }
        }
        if let Some(ChosenSpotter { penalty, folds, parts }) = &self.chosen {
            let chosen = match folds {
                1 => "on the only series, on which the models were trained".to_owned(),
                folds => format!("in {folds} folds of {parts}"),
            };
            writeln!(f, "penalty {penalty} nats for entering an event, chosen {chosen}")?;
        }
        if let Some(judged) = &self.judged {
            write!(f, "{judged}")?;
        }
        let SpotterCost { model_bytes, state_bytes, multiply_adds_per_sample, .. } = self.cost;
        let [flash, ram, work] = [model_bytes, state_bytes, multiply_adds_per_sample].map(grouped);
        writeln!(
            f,
            "on a device: {flash} B of flash, {ram} B of RAM, {work} multiply-adds per sample"
        )?;
        if !self.events.is_empty() {
            write!(f, "\n{}", listed(&self.events).map_err(|_| fmt::Error)?)?;
        }
        match &self.file {
            Some(file) => writeln!(f, "\nspotter written to {file}"),
            None => Ok(()),
        }
    }
}
