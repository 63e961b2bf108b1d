use std::fmt;

use serde::Serialize;

use super::{Table, counted, grouped};
use crate::data::{Dataset, Windowing};
use crate::evaluate::{CrossValidation, Figures, FoldFigures};

/// The data that a report is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DataSummary {
    /// The file.
    pub data: String,
    /// Its series.
    pub series: usize,
    /// Their samples, missing ones included.
    pub samples: usize,
    /// Of these, missing.
    pub missing: usize,
    /// Samples a window; null for whole series.
    pub window: Option<usize>,
    /// Samples from window to window.
    pub hop: Option<usize>,
}

impl DataSummary {
    /// Of a data set, or of the part of it that `series` are, cut into windows.
    #[must_use]
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
            window: windowing.map(|by| by.length.get()),
            hop: windowing.map(|by| by.hop.get()),
        }
    }
}

impl fmt::Display for DataSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { data, series, samples, missing, window, hop } = self;
        write!(f, "{data}: {}, ", counted(*series, "series"))?;
        write!(f, "{}", counted(*samples, "sample"))?;
        if *missing > 0 {
            write!(f, " ({} missing)", grouped(*missing))?;
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
    /// What on.
    #[serde(flatten)]
    pub data: DataSummary,
    /// Column whose values never straddle folds.
    pub group: Option<String>,
    /// Folds.
    pub folds: usize,
    /// A classifier each, by name.
    pub classifiers: Validated,
}

/// Cross-validations by the name of the classifier.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Validated(pub Vec<CrossValidation>);

/// What is written of a cross-validation: its figures, then its folds.
#[derive(Serialize)]
struct WithFolds<'a> {
    #[serde(flatten)]
    figures: &'a Figures,
    folds: &'a [FoldFigures],
}

impl Serialize for Validated {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(
            self.0
                .iter()
                .map(|one| (&one.method, WithFolds { figures: &one.pooled, folds: &one.folds })),
        )
    }
}

impl fmt::Display for CrossValidationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.data)?;
        match &self.group {
            Some(column) => writeln!(f, "{} folds by {column}, none in two of them\n", self.folds)?,
            None => writeln!(f, "{} folds by series, stratified by class\n", self.folds)?,
        }
        let heads = ["classifier", "accuracy", "macro-F1"].map(String::from).into_iter();
        let mut table = Table::new(heads.chain((1..=self.folds).map(|n| format!("fold {n}"))));
        for one in &self.classifiers.0 {
            let pooled = [one.pooled.accuracy, one.pooled.macro_f1];
            let folds = one.folds.iter().map(|fold| fold.accuracy);
            let cells = pooled.into_iter().chain(folds).map(share);
            table.row([one.method.clone()].into_iter().chain(cells));
        }
        let Some(first) = self.classifiers.0.first() else { return Ok(()) };
        table.row(
            ["windows".to_owned(), grouped(first.pooled.windows), String::new()]
                .into_iter()
                .chain(first.folds.iter().map(|fold| grouped(fold.windows))),
        );
        if let Some(column) = &self.group {
            table.row(
                [format!("{column}s tested"), String::new(), String::new()]
                    .into_iter()
                    .chain(first.folds.iter().map(|fold| fold.groups.join(","))),
            );
        }
        write!(f, "{table}")?;
        for one in &self.classifiers.0 {
            writeln!(f, "\n{}: all folds together", one.method)?;
            write_figures(f, &one.pooled)?;
            let chosen: Vec<String> = one
                .folds
                .iter()
                .filter_map(|fold| fold.choice.as_ref())
                .map(|choice| format!("{} C={}", choice.scaling.name(), choice.c))
                .collect();
            if !chosen.is_empty() {
                writeln!(f, "  chosen within the training folds: {}", chosen.join("; "))?;
            }
        }
        Ok(())
    }
}

/// A fitted model's figures on a labelled file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelEvaluation {
    /// The model's file.
    pub model: String,
    /// `bayes` or `fisher`.
    pub classifier: String,
    /// What on.
    #[serde(flatten)]
    pub data: DataSummary,
    /// The figures.
    #[serde(flatten)]
    pub figures: Figures,
    /// Column by which figures are split.
    pub group: Option<String>,
    /// Figures by group, where a column was named.
    pub groups: Vec<GroupFigures>,
}

/// Figures on the windows of one group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupFigures {
    /// Its name.
    pub group: String,
    /// Its windows.
    pub windows: usize,
    /// Accuracy.
    pub accuracy: f64,
    /// Macro-F1.
    pub macro_f1: f64,
}

impl fmt::Display for ModelEvaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n{} ({})\n", self.data, self.model, self.classifier)?;
        let mut table = Table::new(["", "accuracy", "macro-F1", "windows"]);
        let mut row = |name: &str, accuracy, macro_f1, windows| {
            table.row([name.to_owned(), share(accuracy), share(macro_f1), grouped(windows)]);
        };
        row("all", self.figures.accuracy, self.figures.macro_f1, self.figures.windows);
        for one in &self.groups {
            let name = format!("{} {}", self.group.as_deref().unwrap_or("group"), one.group);
            row(&name, one.accuracy, one.macro_f1, one.windows);
        }
        writeln!(f, "{table}")?;
        write_figures(f, &self.figures)
    }
}

/// The confusion matrix with the figures of each class beside it.
fn write_figures(f: &mut fmt::Formatter<'_>, figures: &Figures) -> fmt::Result {
    writeln!(f, "  rows are true classes, columns decisions")?;
    let heads = ["precision", "recall", "F1", "windows"].map(String::from);
    let mut table =
        Table::new([String::new()].into_iter().chain(figures.classes.clone()).chain(heads));
    for (class, row) in figures.per_class.iter().zip(&figures.confusion) {
        let count = |&count: &usize| if count == 0 { ".".to_owned() } else { count.to_string() };
        let figures = [class.precision, class.recall, class.f1].map(share);
        table.row(
            [class.class.clone()]
                .into_iter()
                .chain(row.iter().map(count))
                .chain(figures)
                .chain([grouped(class.windows)]),
        );
    }
    write!(f, "{table}")?;
    if figures.refused_samples > 0 || figures.undecided > 0 {
        writeln!(
            f,
            "  {} impossible under a model and skipped; {} without any left, judged wrong",
            counted(figures.refused_samples, "sample"),
            counted(figures.undecided, "window")
        )?;
    }
    Ok(())
}

fn share(share: f64) -> String {
    format!("{share:.3}")
}
