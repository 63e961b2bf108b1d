//! Fitted models, judged on a labelled file.

use std::fmt;

use serde::Serialize;

use super::believing::{BelievedFigures, write_calibration, write_rejection};
use super::evaluation::DataSummary;
use super::figures::{Beside, interval_words, write_beside, write_figures};
use super::table::{share, write_cost};
use super::unknown::write_unknown;
use super::{EmissionSummary, OutOfCoreSummary, Table, grouped};
use crate::deploy::DeviceCost;
use crate::evaluate::{Figures, Interval, Latency, Roc, UnknownClass};

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
    /// Cost on a device.
    pub cost: DeviceCost,
    /// Column by which figures are split.
    pub group: Option<String>,
    /// Figures by group, where a column was named.
    pub groups: Vec<GroupFigures>,
    /// How the table was read in chunks; left out of one that was read whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_of_core: Option<OutOfCoreSummary>,
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
        writeln!(f, "{}", self.data)?;
        self.out_of_core.iter().try_for_each(|how| writeln!(f, "{how}"))?;
        writeln!(f, "{} ({})\n", self.model, self.which())?;
        if self.figures.is_some() {
            if f.alternate() || !self.groups.is_empty() {
                writeln!(f, "{}", self.by_group())?;
            }
            write_beside(f, "", [self.beside(None)].into_iter())?;
            writeln!(f, "  {}\n", interval_words(self.group.as_deref(), false))?;
        }
        self.write_classes(f)
    }
}

impl ModelEvaluation {
    /// Describes the classifier, with its emissions if they are unusual.
    fn which(&self) -> String {
        let emission = self.emission.unusual().map(|words| format!(", {words}"));
        format!("{}{}", self.classifier, emission.unwrap_or_default())
    }

    /// Writes what is known of each class, the confidence and the cost.
    fn write_classes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.figures.iter().try_for_each(|figures| write_figures(f, figures))?;
        write_unknown(f, &self.unknown)?;
        if let Some(believed) = &self.believed {
            let calibration = believed.calibration.iter().filter(|_| f.alternate());
            let shown: Vec<_> = calibration.collect();
            shown.into_iter().try_for_each(|one| write_calibration(f, one))?;
            believed.rejection.iter().try_for_each(|one| write_rejection(f, one))?;
        }
        write_cost(f, "  on a device", &self.cost)
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
            model.write_classes(f)?;
        }
        Ok(())
    }
}
