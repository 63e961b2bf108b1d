use serde::Serialize;

use super::{Interval, Judged, Units};

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
        let count = classes.len();
        let mut confusion = vec![vec![0; count]; count];
        let (mut windows, mut undecided, mut refused_samples) = (0, 0, 0);
        let mut of_class = vec![0; count];
        for one in judged.into_iter().filter(|one| one.label < count) {
            windows += 1;
            refused_samples += one.refused;
            of_class[one.label] += 1;
            match one.decision {
                Some(decision) if decision < count => confusion[one.label][decision] += 1,
                _ => undecided += 1,
            }
        }
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
            windows,
            accuracy: ratio(right, windows),
            macro_f1: seen.iter().sum::<f64>() / seen.len().max(1) as f64,
            classes: classes.to_vec(),
            confusion,
            per_class,
            refused_samples,
            undecided,
        }
    }

    /// Adds the intervals of precision and recall, over the units that judged windows belong to: see
    /// [`Units::accuracy`].
    #[must_use]
    pub fn with_intervals(mut self, judged: &[Judged], unit: &[usize]) -> Self {
        let units = unit.iter().max().map_or(0, |last| last + 1);
        for (class, figures) in self.per_class.iter_mut().enumerate() {
            // Right windows, those of the class and those decided for it, by unit.
            let mut counts = vec![[0; 3]; units];
            for (one, &unit) in judged.iter().zip(unit) {
                let [of_class, decided] = [one.label == class, one.decision == Some(class)];
                let told = [of_class && decided, of_class, decided];
                counts[unit].iter_mut().zip(told).for_each(|(n, it)| *n += usize::from(it));
            }
            let share =
                |of: usize| Units::of_counts(counts.iter().map(|n| (n[0], n[of]))).accuracy();
            (figures.recall_interval, figures.precision_interval) = (share(1), share(2));
        }
        self
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
