//! Methods with settings: the loss where inner folds choose them, and, as some documents report, the
//! least of all.

use std::borrow::Cow;
use std::error::Error;

use fishweir::evaluate::{Interval, Units};
use fishweir::kernel::Gram;
use fishweir::learn::{ClassifierKind, TrainOptions};
use fishweir::report::Table;

use super::Task;

/// Values of the machine's C, in units of the kernel's variance.
pub(crate) const C: [f64; 3] = [0.1, 1.0, 10.0];

/// A kernel's matrix of all items at some setting.
#[derive(Clone)]
pub(crate) struct Setting {
    words: String,
    gram: Gram,
}

impl Setting {
    /// The matrix over the variance of its items about their mean, so that C means the same whatever the
    /// kernel. Items that are all alike stay as they are.
    pub(crate) fn new(words: impl Into<String>, gram: Gram) -> Self {
        let n = gram.len() as f64;
        let mean = gram.rows().flatten().sum::<f64>() / (n * n);
        let variance = gram.diagonal().sum::<f64>() / n - mean;
        let scale = if variance > 1e-12 * mean.abs() { variance.recip() } else { 1.0 };
        Self { words: words.into(), gram: gram.map(|value| value * scale) }
    }

    pub(crate) fn words(&self) -> &str {
        &self.words
    }
}

/// Which items were decided rightly.
pub(crate) struct Decided {
    /// By settings that inner folds chose, or by the only one.
    pub(crate) right: Vec<bool>,
    /// The least loss of one setting in all folds, and that setting.
    pub(crate) least: Option<(f64, String)>,
}

/// [`Decided`], fold by fold.
pub(crate) struct Tally {
    right: Vec<bool>,
    tested: usize,
    /// Items that each setting decides wrongly, by C.
    wrong: Vec<(String, [usize; C.len()])>,
}

impl Tally {
    /// Of so many items.
    pub(crate) fn new(items: usize) -> Self {
        Self { right: vec![false; items], tested: 0, wrong: Vec::new() }
    }

    /// Trains on some items and tests on others: machines at every setting and C, of which folds inside
    /// the training items choose. The same settings every time.
    pub(crate) fn split(
        &mut self,
        task: &Task<'_>,
        (train, test): (&[usize], &[usize]),
        settings: &[Setting],
    ) -> Result<(), Box<dyn Error>> {
        let mut options = TrainOptions::new(ClassifierKind::Bayes);
        options.c = C.to_vec();
        self.tested += test.len();
        self.wrong.resize_with(settings.len(), Default::default);
        let inner = task.inner_folds(train)?;
        let mut best = f64::NEG_INFINITY;
        for (setting, (words, wrong)) in settings.iter().zip(&mut self.wrong) {
            words.clone_from(&setting.words);
            let problem = task.problem(&setting.gram, &options);
            let choice = problem.choose_by(train, Some(&inner))?;
            let accuracy = choice.candidates.iter().map(|one| one.accuracy);
            let accuracy = accuracy.fold(f64::NEG_INFINITY, f64::max);
            for (&c, wrong) in C.iter().zip(wrong) {
                let right = task.right(&problem, (train, test), c)?;
                *wrong += right.iter().filter(|right| !**right).count();
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
        let least = self.wrong.iter().flat_map(|(words, wrong)| {
            wrong.iter().zip(C).map(move |(&wrong, c)| (wrong, format!("{words}, C {c}")))
        });
        let least = least.min_by_key(|(wrong, _)| *wrong);
        let least = least.map(|(wrong, words)| (wrong as f64 / tested, words));
        Decided { right: self.right, least }
    }
}

impl Task<'_> {
    /// Cross-validates machines on a kernel. `settings` makes its matrices from what it may learn on the
    /// training items of a fold.
    pub(crate) fn decide_by<'s>(
        &self,
        settings: impl Fn(&[usize]) -> Result<Cow<'s, [Setting]>, Box<dyn Error>>,
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
        let options = TrainOptions::new(ClassifierKind::Bayes);
        let problem = self.problem(&setting.gram, &options);
        let of = |&c: &f64| {
            let mut tested = Vec::new();
            for (train, test) in splits {
                tested.extend(test.iter().copied().zip(self.right(&problem, (train, test), c)?));
            }
            let wrong = tested.iter().filter(|(_, right)| !right).count();
            Ok((wrong as f64 / tested.len() as f64, self.units(tested)))
        };
        C.iter().map(of).collect()
    }

    /// What of each group was right, of items that were tested.
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

/// The share of what is wrong, with its interval.
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

/// A table of losses beside those of a document.
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
