use std::fmt;

use serde::Serialize;

use super::{Table, counted, grouped};
use crate::data::Marked;
use crate::spot::{SpotFigures, SpotValidation};

/// Results of finding events, and the method.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EventFigures {
    /// Method that found the events, or the class.
    pub what: String,
    /// Events that there are.
    pub events: usize,
    /// Events that were reported.
    pub reported: usize,
    /// Events that were found.
    pub found: usize,
    /// Precision: the share of the reported events that are right.
    pub precision: f64,
    /// Recall: the share of the events that were found.
    pub recall: f64,
    /// Harmonic mean of precision and recall.
    pub f1: f64,
    /// Samples from the end of an event to its decision, of half of those found at most; null of none.
    pub median_delay: Option<i64>,
}

impl EventFigures {
    /// Creates figures under a name.
    pub fn of(what: impl Into<String>, figures: &SpotFigures) -> Self {
        Self {
            what: what.into(),
            events: figures.events,
            reported: figures.reported,
            found: figures.found(),
            precision: figures.precision(),
            recall: figures.recall(),
            f1: figures.f1(),
            median_delay: figures.median_delay(),
        }
    }
}

impl fmt::Display for EventFigures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, events, reported, found, precision, recall, f1, median_delay } = self;
        let (found, reported) = (grouped(*found), grouped(*reported));
        write!(f, "{what}: {found} of {} found, {reported} reported; ", counted(*events, "event"))?;
        write!(f, "precision {precision:.3}, recall {recall:.3}, F1 {f1:.3}")?;
        match median_delay {
            Some(delay) => write!(f, ", median delay {delay} samples"),
            None => Ok(()),
        }
    }
}

/// A cross-validated spotter beside windows that were cross-validated on the same folds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SpotValidationReport {
    /// The file.
    pub data: String,
    /// Series in it.
    pub series: usize,
    /// Classes of events.
    pub classes: Vec<String>,
    /// The column that folds keep together; null where they are of series.
    pub group: Option<String>,
    /// Events of all folds: spotted, and by windows.
    pub figures: [EventFigures; 2],
    /// Each fold.
    pub folds: Vec<SpotFoldReport>,
}

/// One fold.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SpotFoldReport {
    /// Names of the series that were judged.
    pub test: Vec<String>,
    /// The penalty chosen on the others, in nats.
    pub penalty: f64,
    /// Samples of a window.
    pub window: usize,
    /// Results for events: spotted, and by windows.
    pub figures: [EventFigures; 2],
}

impl SpotValidationReport {
    /// Report of marked series, whose folds keep a `group` together.
    pub fn new(marked: &Marked, group: Option<String>, validated: &SpotValidation) -> Self {
        let data = marked.data();
        let both = |spotted: &SpotFigures, windowed: &SpotFigures| {
            [EventFigures::of("spotted", spotted), EventFigures::of("windows", windowed)]
        };
        let folds = validated.folds.iter().map(|fold| SpotFoldReport {
            test: fold.test.iter().map(|&one| data.series()[one].id.clone()).collect(),
            penalty: fold.penalty,
            window: fold.windowed.window,
            figures: both(&fold.spotted, &fold.windowed.figures),
        });
        Self {
            data: data.source().to_owned(),
            series: data.series().len(),
            classes: marked.classes().to_vec(),
            group,
            figures: both(&validated.spotted(), &validated.windowed()),
            folds: folds.collect(),
        }
    }
}

impl fmt::Display for SpotValidationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let events = self.figures[0].events;
        writeln!(
            f,
            "{}: {}, {} of {} ({})",
            self.data,
            counted(self.series, "series"),
            counted(events, "event"),
            counted(self.classes.len(), "class"),
            self.classes.join(", ")
        )?;
        let of = self.group.as_ref().map_or_else(String::new, |group| format!(", by {group}"));
        writeln!(
            f,
            "{}{of}; models, penalty and windows are of the series outside each\n",
            counted(self.folds.len(), "fold")
        )?;
        for one in &self.figures {
            writeln!(f, "{one}")?;
        }
        let heads = ["penalty", "events", "F1 spotted", "delay", "window", "F1 windows", "delay"];
        let mut table = Table::new([""].into_iter().chain(heads));
        for (number, fold) in self.folds.iter().enumerate() {
            let [spotted, windows] = &fold.figures;
            let delay = |one: &EventFigures| one.median_delay.map_or("-".into(), |d| d.to_string());
            table.row([
                format!("fold {}", number + 1),
                fold.penalty.to_string(),
                grouped(spotted.events),
                format!("{:.3}", spotted.f1),
                delay(spotted),
                grouped(fold.window),
                format!("{:.3}", windows.f1),
                delay(windows),
            ]);
        }
        write!(f, "\n{table}")
    }
}
