use super::interval::UnitSums;
use super::latency::Settled;
use super::{Figures, Interval, Judged, Latency};

/// Counts of judged windows that come in order, some whole units at a time. Figures and intervals follow from them; memory grows
/// with the classes and the lengths of windows, not with their number.
#[derive(Clone, Debug, PartialEq)]
pub struct Tally {
    pub(super) windows: usize,
    pub(super) undecided: usize,
    pub(super) refused: usize,
    /// Windows of each class, `[class]`.
    pub(super) of_class: Vec<usize>,
    /// `[class][decision]`.
    pub(super) confusion: Vec<Vec<usize>>,
    accuracy: UnitSums,
    /// Of recall and precision, `[class]`.
    of_classes: Vec<[UnitSums; 2]>,
    settled: Settled,
}

impl Tally {
    /// Creates a tally of no window yet.
    pub fn new(classes: usize) -> Self {
        Self {
            windows: 0,
            undecided: 0,
            refused: 0,
            of_class: vec![0; classes],
            confusion: vec![vec![0; classes]; classes],
            accuracy: UnitSums::default(),
            of_classes: vec![[UnitSums::default(); 2]; classes],
            settled: Settled::default(),
        }
    }

    /// Counts windows without regard to units; those without a label are left out.
    pub(super) fn count<'a>(&mut self, judged: impl IntoIterator<Item = &'a Judged>) {
        let count = self.of_class.len();
        for one in judged.into_iter().filter(|one| one.label < count) {
            self.windows += 1;
            self.refused += one.refused;
            self.of_class[one.label] += 1;
            match one.decision {
                Some(decision) if decision < count => self.confusion[one.label][decision] += 1,
                _ => self.undecided += 1,
            }
            self.settled.add(one);
        }
    }

    /// Counts the windows of some units, all of each; `unit` holds the index of the unit of each window.
    pub fn add(&mut self, judged: &[Judged], unit: &[usize]) {
        self.count(judged);
        let units = unit.iter().max().map_or(0, |last| last + 1);
        let share = |part: &dyn Fn(&Judged) -> bool, of: &dyn Fn(&Judged) -> bool| {
            let mut counts = vec![(0.0, 0.0); units];
            for (one, &unit) in judged.iter().zip(unit).filter(|(one, _)| of(one)) {
                counts[unit].0 += f64::from(u8::from(part(one)));
                counts[unit].1 += 1.0;
            }
            counts
        };
        let right = |one: &Judged| one.decision == Some(one.label);
        share(&right, &|_| true).into_iter().for_each(|unit| self.accuracy.add(unit));
        for (class, [recall, precision]) in self.of_classes.iter_mut().enumerate() {
            let (of_class, decided) =
                (|one: &Judged| one.label == class, |one: &Judged| one.decision == Some(class));
            share(&right, &of_class).into_iter().for_each(|unit| recall.add(unit));
            share(&right, &decided).into_iter().for_each(|unit| precision.add(unit));
        }
    }

    /// Number of windows.
    pub fn windows(&self) -> usize {
        self.windows
    }

    /// The figures, with intervals over the units.
    pub fn figures(&self, classes: &[String]) -> Figures {
        self.with_intervals(Figures::of_tally(classes, self))
    }

    /// Adds the intervals of precision and recall over the units.
    pub(super) fn with_intervals(&self, mut figures: Figures) -> Figures {
        for (one, [recall, precision]) in figures.per_class.iter_mut().zip(&self.of_classes) {
            one.recall_interval = recall.accuracy();
            one.precision_interval = precision.accuracy();
        }
        figures
    }

    /// The accuracy, as [`Units::accuracy`](super::Units::accuracy) has it.
    pub fn accuracy(&self) -> Option<Interval> {
        self.accuracy.accuracy()
    }

    /// Latencies of right decisions; `None` without one.
    pub fn latency(&self) -> Option<Latency> {
        self.settled.latency()
    }
}
