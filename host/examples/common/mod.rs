//! Common parts of the experiments with kernels: folds, a support vector machine on Gram matrices, baselines, lines of figures.
#![allow(dead_code, reason = "each experiment uses its share")]

use std::borrow::Cow;
use std::error::Error;
use std::time::Instant;

use chosen::{Decided, Setting};
use fishweir::data::{Folds, SamplesView};
use fishweir::kernel::Gram;
use fishweir::learn::{Request, WindowKernel};
use fishweir::runtime::{Emissions, Hmm};
use fishweir_core::classify::decide;

pub(crate) mod chosen;
pub(crate) mod sequences;

/// Folds inside the training items, which choose the machine's C and a kernel's setting.
const INNER_FOLDS: usize = 3;

/// Labelled items in folds.
pub(crate) struct Task<'a> {
    pub(crate) labels: &'a [usize],
    pub(crate) classes: &'a [String],
    /// Items of one group stay in one fold.
    pub(crate) groups: &'a [usize],
    pub(crate) folds: &'a Folds,
}

/// A cross-validation's figures.
pub(crate) struct Outcome {
    /// Share of items decided rightly.
    pub(crate) accuracy: f64,
    /// Items of the Gram matrix.
    pub(crate) items: usize,
    /// Smallest eigenvalue over all folds.
    pub(crate) smallest: f64,
    /// Seconds for Gram matrices, eigenvalues not among them.
    pub(crate) gram_seconds: f64,
    /// Seconds in all.
    pub(crate) seconds: f64,
}

impl Outcome {
    pub(crate) fn print(&self, name: &str) {
        println!(
            "{name:<34} accuracy {:.4}   gram {} x {}, {:.1} s, smallest eigenvalue {:.2e}   {:.1} s in all",
            self.accuracy, self.items, self.items, self.gram_seconds, self.smallest, self.seconds
        );
    }
}

impl Task<'_> {
    /// Cross-validates a machine on a kernel; `gram` makes the matrix of all items from what it may
    /// learn on the training items of a fold.
    pub(crate) fn cross_validate(
        &self,
        mut gram: impl FnMut(&[usize]) -> Result<Gram, Box<dyn Error>>,
    ) -> Result<Outcome, Box<dyn Error>> {
        let begun = Instant::now();
        let (mut gram_seconds, mut smallest) = (0.0, f64::INFINITY);
        let decided = self.decide_by(|train| {
            let before = Instant::now();
            let gram = gram(train)?;
            gram_seconds += before.elapsed().as_secs_f64();
            smallest = smallest.min(gram.spectrum()?.smallest);
            Ok(Cow::Owned(vec![Setting::plain(gram)]))
        })?;
        Ok(self.outcome(&decided, smallest, gram_seconds, begun))
    }

    /// Cross-validates a matrix that learns nothing from labels: it is computed once.
    pub(crate) fn cross_validate_fixed(
        &self,
        gram: impl FnOnce() -> Result<Gram, Box<dyn Error>>,
    ) -> Result<Outcome, Box<dyn Error>> {
        let begun = Instant::now();
        let gram = gram()?;
        let gram_seconds = begun.elapsed().as_secs_f64();
        let smallest = gram.spectrum()?.smallest;
        let settings = [Setting::plain(gram)];
        let decided = self.decide_by(|_| Ok(Cow::Borrowed(&settings[..])))?;
        Ok(self.outcome(&decided, smallest, gram_seconds, begun))
    }

    fn outcome(
        &self,
        decided: &Decided,
        smallest: f64,
        gram_seconds: f64,
        begun: Instant,
    ) -> Outcome {
        let (accuracy, items) = (decided.accuracy(), self.labels.len());
        Outcome { accuracy, items, smallest, gram_seconds, seconds: begun.elapsed().as_secs_f64() }
    }

    /// Folds inside some items.
    pub(crate) fn inner_folds(&self, train: &[usize]) -> Result<Folds, Box<dyn Error>> {
        let groups: Vec<usize> = train.iter().map(|&item| self.groups[item]).collect();
        let labels: Vec<usize> = train.iter().map(|&item| self.labels[item]).collect();
        Ok(Folds::grouped(&labels, self.classes, &groups, INNER_FOLDS, Some(1))?)
    }

    /// Machines on a matrix.
    fn problem<'k>(&'k self, gram: &'k Gram, options: &'k Request) -> WindowKernel<'k> {
        WindowKernel {
            gram,
            labels: self.labels.to_vec(),
            groups: self.groups.to_vec(),
            classes: self.classes,
            request: options,
        }
    }

    /// Returns for each test item whether a machine decides rightly.
    fn right(
        &self,
        problem: &WindowKernel<'_>,
        (train, test): (&[usize], &[usize]),
        c: f64,
    ) -> Result<Vec<bool>, Box<dyn Error>> {
        let values = problem.train(train, c)?.values(test);
        let of = values.iter().zip(test);
        Ok(of.map(|(values, &item)| decide(values).class == self.labels[item]).collect())
    }
}

/// Class models as one: the first state chooses the class, which then stays. `prior[class]`.
pub(crate) fn joined(models: &[Hmm], prior: &[f64]) -> Hmm {
    let states = models.iter().map(Hmm::states).sum();
    let mut joined = Hmm {
        initial: Vec::new(),
        transition: Vec::new(),
        emission: Emissions::categorical(Vec::new()),
    };
    for (model, prior) in models.iter().zip(prior) {
        let before = joined.initial.len();
        joined.initial.extend(model.initial.iter().map(|p| p * prior));
        for row in &model.transition {
            let mut whole = vec![0.0; states];
            whole[before..before + row.len()].copy_from_slice(row);
            joined.transition.push(whole);
        }
        if let (Some(all), Some(probability)) =
            (joined.emission.symbols_mut(), model.emission.symbols())
        {
            all.extend_from_slice(probability);
        }
    }
    joined
}

/// Counts of all words of a length, of length one as vectors: the cosine of two is the spectrum
/// kernel, normalised. A word with a missing symbol does not count.
pub(crate) fn spectra(items: &[SamplesView<'_>], alphabet: usize, length: usize) -> Vec<Vec<f64>> {
    let words = alphabet.pow(length as u32);
    let one = |item: &SamplesView<'_>| {
        let mut counts = vec![0.0; words];
        for word in item.symbols().unwrap_or_default().windows(length) {
            let index = word.iter().try_fold(0, |index, symbol| {
                symbol.map(|symbol| index * alphabet + usize::from(symbol))
            });
            if let Some(index) = index {
                counts[index] += 1.0;
            }
        }
        let norm = counts.iter().map(|count| count * count).sum::<f64>().sqrt().max(1.0);
        counts.iter().map(|count| count / norm).collect()
    };
    items.iter().map(one).collect()
}

/// Naive Bayes on strings of one length: symbols of a class are independent, position by position; one
/// is added to every count. The class of each test item.
pub(crate) fn naive_bayes(
    items: &[SamplesView<'_>],
    labels: &[usize],
    (classes, alphabet): (usize, usize),
    (train, test): (&[usize], &[usize]),
) -> Vec<usize> {
    let best =
        |logs: Vec<f64>| (0..classes).max_by(|&a, &b| logs[a].total_cmp(&logs[b])).unwrap_or(0);
    let logs = naive_bayes_logs(items, labels, (classes, alphabet), (train, test));
    logs.into_iter().map(best).collect()
}

/// Values that [`naive_bayes`] compares, `[test item][class]`: log-probabilities but for a constant per item.
pub(crate) fn naive_bayes_logs(
    items: &[SamplesView<'_>],
    labels: &[usize],
    (classes, alphabet): (usize, usize),
    (train, test): (&[usize], &[usize]),
) -> Vec<Vec<f64>> {
    let length = items.first().map_or(0, SamplesView::len);
    let mut counts = vec![vec![vec![1.0; alphabet]; length]; classes];
    let mut of_class = vec![1.0; classes];
    for &item in train {
        of_class[labels[item]] += 1.0;
        let symbols = items[item].symbols().unwrap_or_default();
        for (counts, symbol) in counts[labels[item]].iter_mut().zip(symbols) {
            if let Some(symbol) = symbol {
                counts[usize::from(*symbol)] += 1.0;
            }
        }
    }
    let log = |item: usize, class: usize| -> f64 {
        let symbols = items[item].symbols().unwrap_or_default();
        let terms = counts[class].iter().zip(symbols).filter_map(|(counts, symbol)| {
            Some((counts[usize::from((*symbol)?)] / counts.iter().sum::<f64>()).ln())
        });
        f64::ln(of_class[class]) + terms.sum::<f64>()
    };
    test.iter().map(|&item| (0..classes).map(|class| log(item, class)).collect()).collect()
}
