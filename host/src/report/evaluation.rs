use std::fmt;

use serde::Serialize;

use super::believing::{write_calibration, write_rejection};
use super::figures::{Beside, interval_words, write_beside, write_doubts, write_figures};
use super::selection::brief;
use super::table::{share, write_cost};
use super::{EmissionSummary, Table, counted, grouped};
use crate::data::{Dataset, Period, TableCounts, Windowing, rate_words};
use crate::evaluate::{
    Calibration, CrossValidation, Figures, FoldFigures, Interval, Latency, RejectionFigures, Roc,
};

/// The data that a report is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DataSummary {
    /// The file.
    pub data: String,
    /// Number of series.
    pub series: usize,
    /// Number of samples, missing ones included.
    pub samples: usize,
    /// Number of missing samples among them.
    pub missing: usize,
    /// Samples per second; null if the data do not give them.
    pub rate: Option<f64>,
    /// Samples per window; null for whole series.
    pub window: Option<usize>,
    /// Samples from window to window.
    pub hop: Option<usize>,
}

impl DataSummary {
    /// Summary of a data set, or of its part `series`, cut into windows.
    pub fn of(data: &Dataset, series: Option<&[usize]>, windowing: Option<&Windowing>) -> Self {
        let all: Vec<usize> = (0..data.series().len()).collect();
        let series = series.unwrap_or(&all);
        let views = || series.iter().map(|&index| data.series()[index].samples.view());
        let samples = views().map(|view| view.len()).sum();
        Self {
            data: data.source().to_owned(),
            series: series.len(),
            samples,
            missing: samples - views().map(|view| view.observed()).sum::<usize>(),
            rate: Period::of(data, series).map(|period| period.rate()),
            window: windowing.map(|by| by.length.get()),
            hop: windowing.map(|by| by.hop.get()),
        }
    }
}

impl DataSummary {
    /// Summary of a table of which a sample was summarised.
    #[must_use]
    pub fn of_table(self, counts: &TableCounts) -> Self {
        let TableCounts { series, samples, missing, .. } = *counts;
        Self { series, samples, missing, ..self }
    }
}

impl fmt::Display for DataSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { data, series, samples, missing, rate, window, hop } = self;
        write!(f, "{data}: {}, ", counted(*series, "series"))?;
        write!(f, "{}", counted(*samples, "sample"))?;
        if *missing > 0 {
            write!(f, " ({} missing)", grouped(*missing))?;
        }
        if let Some(rate) = rate {
            write!(f, " at {}", rate_words(1.0 / rate))?;
        }
        match (window, hop) {
            (Some(window), Some(hop)) => {
                write!(f, ", windows of {} every {}", grouped(*window), grouped(*hop))
            }
            _ => f.write_str(", in whole"),
        }
    }
}

/// The cross-validation of one or several classifiers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CrossValidationReport {
    /// Data of the evaluation.
    #[serde(flatten)]
    pub data: DataSummary,
    /// Column whose values stay in one fold.
    pub group: Option<String>,
    /// Folds.
    pub folds: usize,
    /// Description of the augmentation.
    pub varied: String,
    /// Emissions of the hidden states of class models.
    #[serde(flatten)]
    pub emission: EmissionSummary,
    /// A classifier each, by name.
    pub classifiers: Validated,
}

/// Cross-validations by the name of the classifier.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Validated(pub Vec<CrossValidation>);

/// Cross-validation as JSON: its figures, then its folds.
#[derive(Serialize)]
struct WithFolds<'a> {
    #[serde(flatten)]
    figures: &'a Figures,
    interval: Option<Interval>,
    gain: Option<Interval>,
    latency: Option<Latency>,
    roc: Option<&'a Roc>,
    roc_area_by_fold: Option<f64>,
    calibration: Option<&'a Calibration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rejection: Option<&'a RejectionFigures>,
    folds: &'a [FoldFigures],
}

impl<'a> WithFolds<'a> {
    fn of(one: &'a CrossValidation, first: Option<&CrossValidation>) -> Self {
        Self {
            figures: &one.pooled,
            interval: one.accuracy,
            gain: first.and_then(|first| one.gain_over(first)),
            latency: one.latency,
            roc: one.roc.as_ref(),
            roc_area_by_fold: one.roc_area_by_fold,
            calibration: one.calibration.as_ref(),
            rejection: one.rejection.as_ref(),
            folds: &one.folds,
        }
    }
}

impl Serialize for Validated {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let first = |index| self.0.first().filter(|_| index > 0);
        let named = self.0.iter().enumerate();
        serializer.collect_map(named.map(|(n, one)| (&one.method, WithFolds::of(one, first(n)))))
    }
}

impl fmt::Display for CrossValidationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.data)?;
        match &self.group {
            Some(column) => {
                writeln!(f, "{} folds by {column}; no {column} is in two folds", self.folds)?
            }
            None => writeln!(f, "{} folds by series, stratified by class", self.folds)?,
        }
        let full = f.alternate();
        if full {
            writeln!(f, "training series: {}", self.varied)?;
            if let Some(words) = self.emission.unusual() {
                writeln!(f, "class models: {words}")?;
            }
        }
        writeln!(f)?;
        let Some(first) = self.classifiers.0.first() else { return Ok(()) };
        if full {
            self.write_folds(f, first)?;
        }
        let beside = self.classifiers.0.iter().enumerate().map(|(index, one)| Beside {
            name: &one.method,
            accuracy: Some(one.pooled.accuracy),
            interval: one.accuracy,
            gain: if index > 0 { one.gain_over(first) } else { None },
            roc: one.roc.as_ref(),
            roc_area_by_fold: one.roc_area_by_fold,
            latency: one.latency,
        });
        write_beside(f, &first.method, beside)?;
        let compared = self.classifiers.0.len() > 1;
        writeln!(f, "  {}", interval_words(self.group.as_deref(), compared))?;
        let best = self.best().map(|best| &best.method);
        for one in &self.classifiers.0 {
            if full || best == Some(&one.method) {
                writeln!(f, "\n{}: all folds together", one.method)?;
                write_figures(f, &one.pooled)?;
            } else if one.pooled.has_doubts() || one.rejection.is_some() {
                writeln!(f, "\n{}", one.method)?;
                write_doubts(f, &one.pooled)?;
            }
            if full && let Some(calibration) = &one.calibration {
                write_calibration(f, calibration)?;
            }
            if let Some(rejection) = &one.rejection {
                write_rejection(f, rejection)?;
            }
            if full {
                write_choices(f, one)?;
            }
            if full || best == Some(&one.method) {
                let costs = one.folds.iter().filter_map(|fold| fold.cost.as_ref());
                let largest = costs.max_by_key(|cost| cost.cost.model_bytes);
                largest.iter().try_for_each(|cost| {
                    write_cost(f, "  on a device, the largest fold\u{2019}s model", cost)
                })?;
            }
        }
        Ok(())
    }
}

impl CrossValidationReport {
    /// The most accurate classifier, of equals the first.
    pub fn best(&self) -> Option<&CrossValidation> {
        let ranked = self.classifiers.0.iter().rev();
        ranked.max_by(|one, other| one.pooled.accuracy.total_cmp(&other.pooled.accuracy))
    }

    /// Writes the accuracies of folds, with their windows and groups.
    fn write_folds(&self, f: &mut fmt::Formatter<'_>, first: &CrossValidation) -> fmt::Result {
        let heads = ["classifier", "accuracy", "macro-F1"].map(String::from).into_iter();
        let mut table = Table::new(heads.chain((1..=self.folds).map(|n| format!("fold {n}"))));
        for one in &self.classifiers.0 {
            let pooled = [one.pooled.accuracy, one.pooled.macro_f1];
            let folds = one.folds.iter().map(|fold| fold.accuracy);
            let cells = pooled.into_iter().chain(folds).map(share);
            table.row([one.method.clone()].into_iter().chain(cells));
        }
        table.row(
            ["windows".to_owned(), grouped(first.pooled.windows), String::new()]
                .into_iter()
                .chain(first.folds.iter().map(|fold| grouped(fold.windows))),
        );
        if let Some(column) = &self.group {
            table.row(
                [format!("by {column}, tested"), String::new(), String::new()]
                    .into_iter()
                    .chain(first.folds.iter().map(|fold| names(&fold.groups))),
            );
        }
        writeln!(f, "{table}")
    }
}

/// Writes the choices of each fold.
fn write_choices(f: &mut fmt::Formatter<'_>, one: &CrossValidation) -> fmt::Result {
    let folds = || one.folds.iter();
    let forms: Vec<String> = folds().filter_map(|fold| fold.form.as_ref()).map(brief).collect();
    if forms.windows(2).any(|two| two[0] != two[1]) || !one.are_plain() {
        writeln!(f, "  models: {}", forms.join("; "))?;
    }
    let floors: Vec<String> =
        folds().filter_map(|fold| fold.floor).map(|floor| floor.to_string()).collect();
    let copies = folds().filter_map(|fold| fold.copies.as_ref());
    let copies: Vec<String> = copies.map(|choice| choice.copies.to_string()).collect();
    let chosen: Vec<String> = folds()
        .filter_map(|fold| fold.choice.as_ref())
        .filter(|choice| !choice.candidates.is_empty())
        .map(|choice| choice.setting.to_string())
        .collect();
    for (what, all) in [
        ("standard deviations", floors),
        ("copies of each training series", copies),
        ("chosen within the training folds", chosen),
    ] {
        if !all.is_empty() {
            writeln!(f, "  {what}: {}", all.join("; "))?;
        }
    }
    Ok(())
}

/// Names if they are few, else their number.
fn names(names: &[String]) -> String {
    if names.len() <= 6 { names.join(",") } else { grouped(names.len()) }
}
