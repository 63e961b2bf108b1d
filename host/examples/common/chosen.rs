//! Methods with settings: the loss where inner folds choose them, and, as some documents report, the
//! least of all.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::error::Error;

use fishweir::evaluate::{Interval, Units};
use fishweir::kernel::Gram;
use fishweir::learn::{ClassifierKind, Request};
use fishweir::report::Table;

use super::Task;

/// Values of the machine's C, in units of the kernel's variance.
pub(crate) const C: [f64; 3] = [0.1, 1.0, 10.0];

/// Values of C for kernels that are used unscaled.
const PLAIN_C: [f64; 4] = [0.1, 1.0, 10.0, 100.0];

/// A kernel's matrix of all items at some setting.
#[derive(Clone)]
pub(crate) struct Setting {
    words: String,
    gram: Gram,
    by_variance: bool,
}

impl Setting {
    /// A kernel whose C is in units of its variance about the mean of what is trained on, so that C means
    /// the same whatever the kernel.
    pub(crate) fn new(words: impl Into<String>, gram: Gram) -> Self {
        Self { words: words.into(), gram, by_variance: true }
    }

    /// A kernel as it stands.
    pub(crate) fn plain(gram: Gram) -> Self {
        Self { words: String::new(), gram, by_variance: false }
    }

    /// Values of C, and what they are for machines on the matrix of some items: a machine on a multiple of
    /// a kernel is one on the kernel with that multiple of C. Items that are all alike have the unit one.
    fn c(&self, train: &[usize]) -> Vec<(f64, f64)> {
        if !self.by_variance {
            return PLAIN_C.map(|c| (c, c)).to_vec();
        }
        let n = train.len() as f64;
        let of_row = |&i: &usize| train.iter().map(|&j| self.gram.get(i, j)).sum::<f64>();
        let mean = train.iter().map(of_row).sum::<f64>() / (n * n);
        let variance = train.iter().map(|&i| self.gram.get(i, i)).sum::<f64>() / n - mean;
        let unit = if variance > 1e-12 * mean.abs() { variance } else { 1.0 };
        C.map(|c| (c, c / unit)).to_vec()
    }

    pub(crate) fn words(&self) -> &str {
        &self.words
    }
}

/// Decisions on items: right, wrong, or not tested.
pub(crate) struct Decided {
    /// Right decisions by settings that inner folds chose, or by the only one.
    pub(crate) right: Vec<bool>,
    /// The least loss of one setting in all folds, and that setting.
    pub(crate) least: Option<(f64, String)>,
}

impl Decided {
    /// The share of items decided rightly.
    pub(crate) fn accuracy(&self) -> f64 {
        self.right.iter().filter(|right| **right).count() as f64 / self.right.len() as f64
    }
}

/// [`Decided`], fold by fold.
pub(crate) struct Tally {
    right: Vec<bool>,
    tested: usize,
    /// Items that are decided wrongly, by setting and C.
    wrong: BTreeMap<(usize, usize), (usize, String)>,
}

impl Tally {
    /// Creates an empty record for `items` items.
    pub(crate) fn new(items: usize) -> Self {
        Self { right: vec![false; items], tested: 0, wrong: BTreeMap::new() }
    }

    /// Trains on some items and tests on others: machines at every setting and C, of which folds inside
    /// the training items choose. The same settings every time.
    pub(crate) fn split(
        &mut self,
        task: &Task<'_>,
        (train, test): (&[usize], &[usize]),
        settings: &[Setting],
    ) -> Result<(), Box<dyn Error>> {
        self.tested += test.len();
        let inner = task.inner_folds(train)?;
        let mut best = f64::NEG_INFINITY;
        for (place, setting) in settings.iter().enumerate() {
            let values = setting.c(train);
            let mut options = Request::minimal(ClassifierKind::Bayes);
            options.c = values.iter().map(|(_, c)| *c).collect();
            let problem = task.problem(&setting.gram, &options);
            let choice = problem.choose_by(train, Some(&inner))?;
            let accuracy = choice.candidates.iter().map(|one| one.accuracy);
            let accuracy = accuracy.fold(f64::NEG_INFINITY, f64::max);
            for (of_c, (shown, c)) in values.into_iter().enumerate() {
                let right = task.right(&problem, (train, test), c)?;
                let wrong = self.wrong.entry((place, of_c));
                let wrong = wrong.or_insert_with(|| (0, format!("{}, C {shown}", setting.words)));
                wrong.0 += right.iter().filter(|right| !**right).count();
                if c == choice.setting.c && accuracy > best {
                    test.iter().zip(right).for_each(|(&item, right)| self.right[item] = right);
                }
            }
            best = best.max(accuracy);
        }
        Ok(())
    }

    pub(crate) fn decided(self) -> Decided {
        let tested = self.tested as f64;
        let least = self.wrong.into_values().min_by_key(|(wrong, _)| *wrong);
        let least = least.map(|(wrong, words)| (wrong as f64 / tested, words));
        Decided { right: self.right, least }
    }
}

impl Task<'_> {
    /// Cross-validates machines on a kernel. `settings` makes its matrices from what it may learn on the
    /// training items of a fold.
    pub(crate) fn decide_by<'s>(
        &self,
        mut settings: impl FnMut(&[usize]) -> Result<Cow<'s, [Setting]>, Box<dyn Error>>,
    ) -> Result<Decided, Box<dyn Error>> {
        let mut tally = Tally::new(self.labels.len());
        for fold in 0..self.folds.len() {
            let (train, test) = (self.folds.train(fold), self.folds.test(fold));
            tally.split(self, (&train, &test), &settings(&train)?)?;
        }
        Ok(tally.decided())
    }

    /// The share decided wrongly at each C over some splits, and what of each group was right.
    pub(crate) fn curve(
        &self,
        setting: &Setting,
        splits: &[(Vec<usize>, Vec<usize>)],
    ) -> Result<Vec<(f64, Units)>, Box<dyn Error>> {
        let options = Request::minimal(ClassifierKind::Bayes);
        let problem = self.problem(&setting.gram, &options);
        let of = |place: usize| {
            let mut tested = Vec::new();
            for (train, test) in splits {
                let (_, c) = setting.c(train)[place];
                tested.extend(test.iter().copied().zip(self.right(&problem, (train, test), c)?));
            }
            let wrong = tested.iter().filter(|(_, right)| !right).count();
            Ok((wrong as f64 / tested.len() as f64, self.units(tested)))
        };
        (0..C.len()).map(of).collect()
    }

    /// Counts right decisions per group among the items that were tested.
    pub(crate) fn units(&self, tested: impl IntoIterator<Item = (usize, bool)>) -> Units {
        let mut counts = vec![(0, 0); self.groups.iter().max().map_or(0, |last| last + 1)];
        for (item, right) in tested {
            let count = &mut counts[self.groups[item]];
            count.0 += usize::from(right);
            count.1 += 1;
        }
        Units::of_counts(counts)
    }

    /// Cross-validates what decides without a kernel: `decide` learns from training items and says the
    /// class of each test item.
    pub(crate) fn decide_with(
        &self,
        decide: impl Fn(&[usize], &[usize]) -> Result<Vec<usize>, Box<dyn Error>>,
    ) -> Result<Decided, Box<dyn Error>> {
        let mut right = vec![false; self.labels.len()];
        for fold in 0..self.folds.len() {
            let test = self.folds.test(fold);
            let decided = decide(&self.folds.train(fold), &test)?;
            test.iter().zip(decided).for_each(|(&item, class)| {
                right[item] = class == self.labels[item];
            });
        }
        Ok(Decided { right, least: None })
    }

    /// The share decided wrongly, with its interval over groups.
    pub(crate) fn loss(&self, right: &[bool]) -> Option<Interval> {
        loss_of(&self.units(right.iter().copied().enumerate()))
    }
}

/// The share of wrong decisions, with its interval.
pub(crate) fn loss_of(units: &Units) -> Option<Interval> {
    let of = |right: Interval| (1.0 - right.mean, 1.0 - right.high, 1.0 - right.low);
    units.accuracy().map(of).map(|(mean, low, high)| Interval { mean, low, high })
}

/// `0.068 (0.054 to 0.085)`.
pub(crate) fn in_words(loss: Option<Interval>) -> String {
    loss.map_or_else(String::new, |loss| {
        format!("{:.3} ({:.3} to {:.3})", loss.mean, loss.low, loss.high)
    })
}

/// A table of losses, compared with those of a document.
pub(crate) struct LossTable(Table);

impl LossTable {
    pub(crate) fn new() -> Self {
        Self(Table::new([
            "method",
            "published",
            "loss (95 %)",
            "least of all settings",
            "that one",
        ]))
    }

    pub(crate) fn row(&mut self, task: &Task<'_>, name: &str, published: &str, decided: &Decided) {
        let (least, words) = match &decided.least {
            Some((least, words)) => (format!("{least:.3}"), words.clone()),
            None => (String::new(), String::new()),
        };
        let loss = in_words(task.loss(&decided.right));
        self.0.row([name.to_owned(), published.to_owned(), loss, least, words]);
    }

    pub(crate) fn print(&self) {
        print!("{}", self.0);
    }
}
