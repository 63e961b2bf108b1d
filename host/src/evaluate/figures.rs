use serde::Serialize;

use super::{Interval, Judged, Tally};

/// Figures of a classifier on labelled windows.
///
/// Classes without a window and never decided for count in no average.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Windows judged.
    pub windows: usize,
    /// Share of windows decided rightly.
    pub accuracy: f64,
    /// Mean over the classes of F1, the harmonic mean of precision and recall.
    pub macro_f1: f64,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Windows by class and decision, `[class][decision]`.
    pub confusion: Vec<Vec<usize>>,
    /// Figures of each class.
    pub per_class: Vec<ClassFigures>,
    /// Samples that the models refused: they are missing.
    pub refused_samples: usize,
    /// Windows without a decision, for the scores or the margin went out of
    /// range: judged wrong.
    pub undecided: usize,
}

/// Figures of one class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassFigures {
    /// Name of the class.
    pub class: String,
    /// Number of windows of the class.
    pub windows: usize,
    /// Precision: the share of windows decided for the class that belong to it.
    pub precision: f64,
    /// Recall: the share of the class's windows that are decided for it.
    pub recall: f64,
    /// Harmonic mean of precision and recall.
    pub f1: f64,
    /// 95 % interval of the precision; null without it, or with less than two units.
    pub precision_interval: Option<Interval>,
    /// 95 % interval of the recall; null without it, or with less than two units.
    pub recall_interval: Option<Interval>,
}

impl Figures {
    /// The figures of judged windows; windows without a label are left out.
    pub fn of<'a>(classes: &[String], judged: impl IntoIterator<Item = &'a Judged>) -> Self {
        let mut tally = Tally::new(classes.len());
        tally.count(judged);
        Self::of_tally(classes, &tally)
    }

    /// The figures of counts, without intervals.
    pub(super) fn of_tally(classes: &[String], tally: &Tally) -> Self {
        let count = classes.len();
        let Tally { windows, undecided, refused, of_class, confusion, .. } = tally;
        let ratio = |part: usize, whole: usize| {
            if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
        };
        let right: usize = (0..count).map(|class| confusion[class][class]).sum();
        let decided = |class: usize| confusion.iter().map(|row| row[class]).sum::<usize>();
        let per_class: Vec<ClassFigures> = classes
            .iter()
            .enumerate()
            .map(|(class, name)| ClassFigures {
                class: name.clone(),
                windows: of_class[class],
                precision: ratio(confusion[class][class], decided(class)),
                recall: ratio(confusion[class][class], of_class[class]),
                f1: ratio(2 * confusion[class][class], of_class[class] + decided(class)),
                precision_interval: None,
                recall_interval: None,
            })
            .collect();
        let seen: Vec<f64> = (0..count)
            .filter(|&class| of_class[class] + decided(class) > 0)
            .map(|class| per_class[class].f1)
            .collect();
        Self {
            windows: *windows,
            accuracy: ratio(right, *windows),
            macro_f1: seen.iter().sum::<f64>() / seen.len().max(1) as f64,
            classes: classes.to_vec(),
            confusion: confusion.clone(),
            per_class,
            refused_samples: *refused,
            undecided: *undecided,
        }
    }

    /// Adds the intervals of precision and recall, over the units that judged windows belong to: see
    /// [`Units::accuracy`](super::Units::accuracy).
    #[must_use]
    pub fn with_intervals(self, judged: &[Judged], unit: &[usize]) -> Self {
        let mut tally = Tally::new(self.classes.len());
        tally.add(judged, unit);
        tally.with_intervals(self)
    }

    /// Returns whether samples were refused, windows left without a decision, or classes without a window.
    pub fn has_doubts(&self) -> bool {
        let absent = self.per_class.iter().any(|one| one.windows == 0);
        absent || self.refused_samples > 0 || self.undecided > 0
    }

    /// Decisions other than the class's own: the class most often decided for, and the number of its windows.
    pub fn most_mistaken(&self, class: usize) -> Option<(&str, usize)> {
        let others = self.confusion[class].iter().enumerate().filter(|one| one.0 != class);
        // Of equals the first.
        let (most, &count) = others.rev().max_by_key(|one| one.1)?;
        (count > 0).then(|| (self.classes[most].as_str(), count))
    }
}
