//! A report as a document: the JSON that the page of `fishweir-web` draws.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{ModelCard, Report};
use crate::data::{Dataset, Period, Series};
use crate::evaluate::{Judged, Roc};

/// Numbers of all series in a document together: their lines are drawn, not computed with.
const MOST_NUMBERS: usize = 60_000;

/// Points of a series in a document: more than a chart has pixels are not drawn.
const MOST_POINTS: usize = 800;

/// A command's results, with what is drawn beside them. Parts that a command has nothing for are empty.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Document {
    /// The command: `fit`, `evaluate`, `run`, ...
    pub command: String,
    /// Version of the program.
    pub version: &'static str,
    /// The results, as `--json` prints them.
    pub results: Value,
    /// The results for people, in full.
    pub text: String,
    /// Decisions on windows whose class is known, of each classifier that was judged.
    pub judged: Vec<JudgedWindows>,
    /// Series, by their index in the data.
    pub series: Vec<DocumentSeries>,
    /// Names of the channels of the series.
    pub channels: Vec<String>,
    /// Samples per second; null if the data do not give them.
    pub rate: Option<f64>,
    /// Names of all series, by their index in the data, with their classes where they are labelled.
    pub names: Vec<[String; 2]>,
    /// Decisions of the model on windows of the series.
    pub decisions: Vec<WindowDecision>,
    /// Events that a spotter found, as `--json` lists them; null without a spotter.
    pub events: Value,
    /// True events of marked series.
    pub marks: Vec<MarkedEvent>,
    /// The model's file, as it is; null if it is not JSON, or there is none.
    pub model: Option<Box<RawValue>>,
    /// The model's cost, as `info --json` prints it; null without a model.
    pub inspection: Value,
    /// The model's card; null without a model.
    pub card: Option<ModelCard>,
}

/// Decisions on held-out windows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgedWindows {
    /// Name of the classifier, or file of the model.
    pub name: String,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Detections against false alarms: `(false alarms, detected)`.
    pub roc: Vec<(f64, f64)>,
    /// A row per window: series, first sample, true class, decided class (null if none) and margin.
    pub windows: Vec<(usize, usize, usize, Option<usize>, f32)>,
}

/// A series of a document.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DocumentSeries {
    /// Index in the data.
    pub series: usize,
    /// Samples.
    pub length: usize,
    /// Samples from one point of the lines to the next.
    pub step: usize,
    /// Points `[channel][point]`; null where missing.
    pub lines: Vec<Vec<Option<f32>>>,
}

/// A true event of a marked series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MarkedEvent {
    /// Name of the series.
    pub series: String,
    /// Its class.
    pub class: Option<String>,
    /// Index of its first sample.
    pub start: usize,
    /// Index after its last sample.
    pub end: usize,
}

/// A model's decision on a window.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WindowDecision {
    /// Index of the series in the data.
    pub series: usize,
    /// Index of the window's first sample.
    pub start: usize,
    /// Index after its last sample.
    pub end: usize,
    /// The class decided for; null if none.
    pub class: Option<String>,
    /// Margin over the runner-up.
    pub margin: f32,
}

impl Document {
    /// A document of a report alone.
    ///
    /// # Errors
    /// A report with a number that JSON has no word for.
    pub fn new(command: &str, report: &impl Report) -> Result<Self, serde_json::Error> {
        Ok(Self {
            command: command.to_owned(),
            version: env!("CARGO_PKG_VERSION"),
            results: serde_json::to_value(report)?,
            text: format!("{report:#}"),
            ..Self::default()
        })
    }

    /// Takes over the series and the judged windows of another document.
    pub fn take_figures_of(&mut self, other: Self) {
        let Self { judged, series, channels, rate, names, .. } = other;
        (self.judged, self.series, self.channels) = (judged, series, channels);
        (self.rate, self.names) = (rate, names);
    }

    /// Adds the names of all series, and the lines of some: of each class in turn, as many as there is room for.
    #[must_use]
    pub fn with_data(mut self, data: &Dataset) -> Self {
        let all: Vec<usize> = (0..data.series().len()).collect();
        let label = |one: &Series| one.label.and_then(|label| data.classes().get(label)).cloned();
        let name = |one: &Series| [one.id.clone(), label(one).unwrap_or_default()];
        self.names = data.series().iter().map(name).collect();
        self.rate = Period::of(data, &all).map(|period| period.rate());
        let crate::data::Kind::Channels(channels) = data.kind() else { return self };
        self.channels = channels.clone();
        let mut of_class = vec![Vec::new(); data.classes().len() + 1];
        for (index, one) in data.series().iter().enumerate() {
            of_class[one.label.map_or(0, |label| label + 1)].push(index);
        }
        let longest = of_class.iter().map(Vec::len).max().unwrap_or(0);
        let in_turn = (0..longest).flat_map(|n| of_class.iter().filter_map(move |all| all.get(n)));
        let mut room = MOST_NUMBERS;
        for &index in in_turn {
            let one = DocumentSeries::of(data, index);
            let numbers = one.lines.iter().map(Vec::len).sum::<usize>();
            if numbers > room {
                break;
            }
            room -= numbers;
            self.series.push(one);
        }
        self.series.sort_by_key(|one| one.series);
        self
    }

    /// Adds a classifier's decisions on windows, `[window]`.
    pub fn judge<'a>(
        &mut self,
        name: &str,
        classes: &[String],
        roc: Option<&Roc>,
        windows: impl Iterator<Item = &'a Judged>,
    ) {
        let row = |one: &Judged| (one.series, one.start, one.label, one.decision, one.margin);
        self.judged.push(JudgedWindows {
            name: name.to_owned(),
            classes: classes.to_vec(),
            roc: roc.map_or_else(Vec::new, |roc| roc.points.clone()),
            windows: windows.map(row).collect(),
        });
    }

    /// Adds a model's decisions on the windows of the data, in the order of the windows.
    pub fn decide(
        &mut self,
        data: &Dataset,
        windowing: Option<&crate::data::Windowing>,
        classes: &[String],
        judged: &[Judged],
    ) {
        let windows = data.windows(windowing);
        let decided = windows.all().iter().zip(judged);
        self.decisions.extend(decided.map(|(window, one)| WindowDecision {
            series: window.series,
            start: window.start,
            end: window.start + window.samples.len(),
            class: one.decision.and_then(|class| classes.get(class)).cloned(),
            margin: one.margin,
        }));
    }
}

/// A number to the four digits that a chart shows; `None` for one that is not finite.
fn drawn(value: f64) -> Option<f32> {
    format!("{value:.3e}").parse().ok().filter(|value: &f32| value.is_finite())
}

impl DocumentSeries {
    fn of(data: &Dataset, index: usize) -> Self {
        let view = data.series()[index].samples.view();
        let step = view.len().div_ceil(MOST_POINTS).max(1);
        let mut lines = vec![Vec::new(); data.kind().dimension().unwrap_or(0)];
        if let Some(rows) = view.rows() {
            for row in rows.iter_in_part().step_by(step) {
                for (channel, line) in lines.iter_mut().enumerate() {
                    line.push(row.and_then(|row| drawn(row[channel])));
                }
            }
        }
        Self { series: index, length: view.len(), step, lines }
    }
}
