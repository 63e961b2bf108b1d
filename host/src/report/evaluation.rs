use std::fmt;

use serde::Serialize;

use super::believing::{BelievedFigures, write_calibration, write_rejection};
use super::selection::brief;
use super::table::share;
use super::unknown::write_unknown;
use super::{EmissionSummary, Table, counted, grouped};
use crate::data::{Dataset, Period, Windowing, rate_words};
use crate::evaluate::{
    Calibration, CrossValidation, Figures, FoldFigures, Interval, Latency, RejectionFigures, Roc,
    UnknownClass,
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
            Some(column) => writeln!(f, "{} folds by {column}, none in two of them", self.folds)?,
            None => writeln!(f, "{} folds by series, stratified by class", self.folds)?,
        }
        writeln!(f, "training series: {}", self.varied)?;
        if let Some(words) = self.emission.unusual() {
            writeln!(f, "class models: {words}")?;
        }
        writeln!(f)?;
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
                [format!("by {column}, tested"), String::new(), String::new()]
                    .into_iter()
                    .chain(first.folds.iter().map(|fold| names(&fold.groups))),
            );
        }
        writeln!(f, "{table}")?;
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
        for one in &self.classifiers.0 {
            writeln!(f, "\n{}: all folds together", one.method)?;
            write_figures(f, &one.pooled)?;
            if let Some(calibration) = &one.calibration {
                write_calibration(f, calibration)?;
            }
            if let Some(rejection) = &one.rejection {
                write_rejection(f, rejection)?;
            }
            let chosen: Vec<String> = one
                .folds
                .iter()
                .filter_map(|fold| fold.choice.as_ref())
                .filter(|choice| !choice.candidates.is_empty())
                .map(|choice| choice.setting.to_string())
                .collect();
            let forms: Vec<String> =
                one.folds.iter().filter_map(|fold| fold.form.as_ref()).map(brief).collect();
            if forms.windows(2).any(|two| two[0] != two[1]) || !one.are_plain() {
                writeln!(f, "  models: {}", forms.join("; "))?;
            }
            let floors: Vec<String> = one
                .folds
                .iter()
                .filter_map(|fold| fold.floor)
                .map(|floor| floor.to_string())
                .collect();
            if !floors.is_empty() {
                writeln!(f, "  standard deviations: {}", floors.join("; "))?;
            }
            let copies = one.folds.iter().filter_map(|fold| fold.copies.as_ref());
            let copies: Vec<String> = copies.map(|choice| choice.copies.to_string()).collect();
            if !copies.is_empty() {
                writeln!(f, "  copies of each training series: {}", copies.join("; "))?;
            }
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
    /// Name of the classifier: `bayes`, `fisher`, `gaussian`, ...
    pub classifier: String,
    /// Emissions of the models' hidden states.
    #[serde(flatten)]
    pub emission: EmissionSummary,
    /// Data of the evaluation.
    #[serde(flatten)]
    pub data: DataSummary,
    /// The figures on windows of known classes; null without such a window.
    #[serde(flatten)]
    pub figures: Option<Figures>,
    /// Decisions on classes that the model does not know.
    pub unknown: Vec<UnknownClass>,
    /// Accuracy, with an interval over groups where a column was named, else over series.
    pub interval: Option<Interval>,
    /// Number of samples after which decisions were made.
    pub latency: Option<Latency>,
    /// Detections against false alarms.
    pub roc: Option<Roc>,
    /// Results of the calibration; null for a model without one.
    pub believed: Option<BelievedFigures>,
    /// Column by which figures are split.
    pub group: Option<String>,
    /// Figures by group, where a column was named.
    pub groups: Vec<GroupFigures>,
}

/// Figures on the windows of one group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupFigures {
    /// Name of the group.
    pub group: String,
    /// Number of windows of the group.
    pub windows: usize,
    /// Accuracy.
    pub accuracy: f64,
    /// Macro-F1.
    pub macro_f1: f64,
}

impl fmt::Display for ModelEvaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n{} ({})\n", self.data, self.model, self.which())?;
        let Some(figures) = &self.figures else {
            return write_unknown(f, &self.unknown);
        };
        writeln!(f, "{}", self.by_group())?;
        write_beside(f, "", [self.beside(None)].into_iter())?;
        writeln!(f, "  {}\n", interval_words(self.group.as_deref(), false))?;
        write_figures(f, figures)?;
        write_unknown(f, &self.unknown)?;
        self.believed.iter().try_for_each(|one| write!(f, "{one}"))
    }
}

impl ModelEvaluation {
    /// Describes the classifier, with its emissions if they are unusual.
    fn which(&self) -> String {
        let emission = self.emission.unusual().map(|words| format!(", {words}"));
        format!("{}{}", self.classifier, emission.unwrap_or_default())
    }

    /// Accuracy over all windows, and over those of each group.
    fn by_group(&self) -> Table {
        let mut table = Table::new(["", "accuracy", "macro-F1", "windows"]);
        let mut row = |name: String, accuracy, macro_f1, windows| {
            table.row([name, share(accuracy), share(macro_f1), grouped(windows)]);
        };
        if let Some(figures) = &self.figures {
            row("all".to_owned(), figures.accuracy, figures.macro_f1, figures.windows);
        }
        for one in &self.groups {
            let name = format!("{} {}", self.group.as_deref().unwrap_or("group"), one.group);
            row(name, one.accuracy, one.macro_f1, one.windows);
        }
        table
    }

    fn beside(&self, gain: Option<Interval>) -> Beside<'_> {
        Beside {
            name: &self.model,
            accuracy: self.figures.as_ref().map(|figures| figures.accuracy),
            interval: self.interval,
            gain,
            roc: self.roc.as_ref(),
            roc_area_by_fold: None,
            latency: self.latency,
        }
    }
}

/// Several fitted models on the same windows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelComparison {
    /// Each by itself.
    pub models: Vec<ModelEvaluation>,
    /// Gain in accuracy of the second, the third, ... over the first.
    pub gains: Vec<Option<Interval>>,
}

impl fmt::Display for ModelComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.models.first() else { return Ok(()) };
        writeln!(f, "{}\n", first.data)?;
        let gains = [None].into_iter().chain(self.gains.iter().copied());
        let beside = self.models.iter().zip(gains).map(|(model, gain)| model.beside(gain));
        write_beside(f, "the first", beside)?;
        writeln!(f, "  {}", interval_words(first.group.as_deref(), self.models.len() > 1))?;
        for model in &self.models {
            writeln!(f, "\n{} ({})", model.model, model.which())?;
            if !model.groups.is_empty() {
                writeln!(f, "{}", model.by_group())?;
            }
            model.figures.iter().try_for_each(|figures| write_figures(f, figures))?;
            write_unknown(f, &model.unknown)?;
            model.believed.iter().try_for_each(|one| write!(f, "{one}"))?;
        }
        Ok(())
    }
}

/// Rows of a table that compares several classifiers.
struct Beside<'a> {
    name: &'a str,
    accuracy: Option<f64>,
    interval: Option<Interval>,
    gain: Option<Interval>,
    roc: Option<&'a Roc>,
    roc_area_by_fold: Option<f64>,
    latency: Option<Latency>,
}

/// Describes the intervals and their units; also those of the gains if classifiers are compared.
fn interval_words(group: Option<&str>, compared: bool) -> String {
    let gains = if compared { ", of what is gained Student's," } else { "" };
    let over = group.unwrap_or("series");
    format!("95 %: Wilson's interval{gains} over {over}, whose windows go together")
}

fn write_beside<'a>(
    f: &mut fmt::Formatter<'_>,
    first: &str,
    classifiers: impl Iterator<Item = Beside<'a>>,
) -> fmt::Result {
    let classifiers: Vec<Beside<'_>> = classifiers.collect();
    let compared = classifiers.len() > 1;
    let in_folds = classifiers.iter().any(|one| one.roc_area_by_fold.is_some());
    let more_than = format!("more than {first}");
    let heads = ["", "accuracy", "95 %"].into_iter();
    let heads = heads.chain([more_than.as_str(), "95 %"].into_iter().filter(|_| compared));
    let heads = heads.chain(["ROC area"]).chain(["by fold"].into_iter().filter(|_| in_folds));
    let mut table = Table::new(heads.chain(["decided after", "9 in 10"]));
    for one in &classifiers {
        let mut cells = vec![one.name.to_owned()];
        let mut accuracy = of_interval(one.interval, share);
        // Of one series or group it has no interval.
        if one.interval.is_none() {
            accuracy[0] = one.accuracy.map_or_else(String::new, share);
        }
        cells.extend(accuracy);
        if compared {
            cells.extend(of_interval(one.gain, |gain| format!("{gain:+.3}")));
        }
        cells.push(one.roc.map_or_else(String::new, |roc| share(roc.area)));
        if in_folds {
            cells.push(one.roc_area_by_fold.map_or_else(String::new, share));
        }
        let samples = one.latency.map(|latency| [latency.median, latency.ninetieth].map(grouped));
        cells.extend(samples.unwrap_or_default());
        table.row(cells);
    }
    write!(f, "{table}")?;
    writeln!(
        f,
        "  decided after: samples from which on a right decision stayed as it was (median, 9 in 10)"
    )
}

/// A figure and its interval.
fn of_interval(interval: Option<Interval>, show: impl Fn(f64) -> String) -> [String; 2] {
    let text = |Interval { mean, low, high }: Interval| {
        [show(mean), format!("{} to {}", show(low), show(high))]
    };
    interval.map(text).unwrap_or_default()
}

/// Names if they are few, else their number.
fn names(names: &[String]) -> String {
    if names.len() <= 6 { names.join(",") } else { grouped(names.len()) }
}

/// Writes the confusion matrix with the metrics of each class.
fn write_figures(f: &mut fmt::Formatter<'_>, figures: &Figures) -> fmt::Result {
    writeln!(f, "  rows are true classes, columns decisions")?;
    let heads = ["precision", "recall", "F1", "windows"].map(String::from);
    let mut table =
        Table::new([String::new()].into_iter().chain(figures.classes.clone()).chain(heads));
    let mut absent = Vec::new();
    for (index, (class, row)) in figures.per_class.iter().zip(&figures.confusion).enumerate() {
        let count = |&count: &usize| if count == 0 { ".".to_owned() } else { grouped(count) };
        let mut told = [class.precision, class.recall, class.f1].map(share);
        if class.windows == 0 {
            // Nothing of it could be found; that it was decided for is wrong, and counts.
            told[1] = ".".to_owned();
            let decided = figures.confusion.iter().any(|row| row[index] > 0);
            if !decided {
                told.fill(".".to_owned());
            }
            absent.push((&class.class, decided));
        }
        table.row(
            [class.class.clone()]
                .into_iter()
                .chain(row.iter().map(count))
                .chain(told)
                .chain([grouped(class.windows)]),
        );
    }
    write!(f, "{table}")?;
    for (class, decided) in absent {
        let so = match decided {
            true => "decisions for it are wrong, and macro-F1 counts them as an F1 of 0",
            false => "it is in no average",
        };
        writeln!(f, "  {class}: no window here; {so}")?;
    }
    if figures.refused_samples > 0 || figures.undecided > 0 {
        writeln!(
            f,
            "  {} impossible under all models left and taken as missing; {} without a decision, judged wrong",
            counted(figures.refused_samples, "sample"),
            counted(figures.undecided, "window")
        )?;
    }
    Ok(())
}
