use std::fmt;

use serde::Serialize;

use crate::data::{Dataset, Finding, Kind, Period, SamplesView, rate_words};

use super::{counted, grouped};

/// Series that are shown.
const SHOWN: usize = 3;

/// Rows of each that are shown.
const ROWS: usize = 3;

/// Report of how data are read: the inferred facts, and the first rows as they are understood.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SourceReport {
    /// The file or files.
    pub data: String,
    /// Facts that were inferred: the topic, and the finding.
    pub found: Vec<[String; 2]>,
    /// Names of the channels, the words, or one alphabet of letters.
    pub observed: Vec<String>,
    /// Further columns, of whole series.
    pub columns: Vec<String>,
    /// Samples per second, where times say it.
    pub rate: Option<f64>,
    /// Names of the classes, and the series of each.
    pub classes: Vec<(String, usize)>,
    /// Series without a label.
    pub unlabelled: usize,
    /// Series.
    pub series: usize,
    /// Samples in all.
    pub samples: usize,
    /// Samples of these that are missing, whole or in part.
    pub missing: usize,
    /// The first series.
    pub first: Vec<ShownSeries>,
}

/// A series as it is understood.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShownSeries {
    /// Identifier of the series.
    pub id: String,
    /// Label of the series.
    pub label: Option<String>,
    /// Further columns of the series.
    pub columns: Vec<String>,
    /// Number of samples of the series.
    pub samples: usize,
    /// The first times and rows, empty where missing; of strings the first symbols.
    pub rows: Vec<Vec<String>>,
}

impl SourceReport {
    /// Report of data that were read.
    #[must_use]
    pub fn new(data: &Dataset) -> Self {
        let about = |about: Finding| format!("{about:?}").to_lowercase();
        let all: Vec<usize> = (0..data.series().len()).collect();
        let count =
            |class: usize| data.series().iter().filter(|one| one.label == Some(class)).count();
        let shown = data.series().iter().take(SHOWN).map(|one| ShownSeries {
            id: one.id.clone(),
            label: one.label.map(|label| data.classes()[label].clone()),
            columns: one.columns.clone(),
            samples: one.samples.view().len(),
            rows: rows(one.samples.view(), &one.times, data.kind()),
        });
        Self {
            data: data.source().to_owned(),
            found: data.findings().iter().map(|one| [about(one.about), one.what.clone()]).collect(),
            observed: match data.kind() {
                Kind::Channels(names) => names.clone(),
                Kind::Symbols(alphabet) if !alphabet.words().is_empty() => {
                    alphabet.words().to_vec()
                }
                Kind::Symbols(alphabet) => vec![alphabet.to_string()],
            },
            columns: data.columns().to_vec(),
            rate: Period::of(data, &all).map(|period| period.rate()),
            classes: (0..)
                .zip(data.classes())
                .map(|(class, name)| (name.clone(), count(class)))
                .collect(),
            unlabelled: data.series().iter().filter(|one| one.label.is_none()).count(),
            series: data.series().len(),
            samples: data.observations(),
            missing: data.missing().observations + data.missing().partial,
            first: shown.collect(),
        }
    }
}

/// The first rows of a series, in words.
fn rows(view: SamplesView<'_>, times: &[f64], kind: &Kind) -> Vec<Vec<String>> {
    match (view, kind) {
        (SamplesView::Channels(rows), _) => {
            let of = |(t, row): (usize, Option<&[f64]>)| {
                let time = times.get(t).map(f64::to_string);
                let values = row.unwrap_or_default().iter().map(f64::to_string);
                time.into_iter().chain(values).collect()
            };
            rows.iter_in_part().take(ROWS).enumerate().map(of).collect()
        }
        (SamplesView::Symbols(symbols), Kind::Symbols(alphabet)) => {
            let shown = if alphabet.words().is_empty() { 60 } else { 12 };
            vec![vec![alphabet.spell(&symbols[..symbols.len().min(shown)])]]
        }
        (SamplesView::Symbols(_), Kind::Channels(_)) => Vec::new(),
    }
}

impl fmt::Display for SourceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (series, samples) = (counted(self.series, "series"), counted(self.samples, "sample"));
        writeln!(f, "{}: {series} of {samples}, {} missing", self.data, grouped(self.missing))?;
        writeln!(f, "observed: {}", self.observed.join(", "))?;
        match self.rate {
            Some(rate) => writeln!(f, "rate: {}", rate_words(1.0 / rate))?,
            None => writeln!(f, "rate: not known")?,
        }
        let classes: Vec<String> = self
            .classes
            .iter()
            .map(|(name, count)| format!("{name} ({})", grouped(*count)))
            .collect();
        let classes = if classes.is_empty() { "none".to_owned() } else { classes.join(", ") };
        writeln!(f, "classes: {classes}; {} without a label", counted(self.unlabelled, "series"))?;
        if !self.columns.is_empty() {
            writeln!(f, "of each series: {}", self.columns.join(", "))?;
        }
        for [about, what] in &self.found {
            writeln!(f, "found, {about}: {what}")?;
        }
        for one in &self.first {
            let label = one.label.as_deref().unwrap_or("no label");
            writeln!(f, "\n{} ({label}), {}", one.id, counted(one.samples, "sample"))?;
            for row in &one.rows {
                let row = if row.is_empty() { "missing".to_owned() } else { row.join("  ") };
                writeln!(f, "  {row}")?;
            }
        }
        Ok(())
    }
}
