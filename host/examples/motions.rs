//! Classification of a wrist's motions by linear dynamical systems: each class's by likelihood, and a kernel
//! between one fitted to each motion, as section 8.3 of T. Jebara, R. Kondor and A. Howard, "Probability
//! Product Kernels", 2004, proposes for motions; it has no figures on real ones.
//!
//! ```sh
//! cargo run --release -p fishweir --example motions -- train.csv test.csv
//! ```
//!
//! The data are BasicMotions (A. Bagnall et al., "The UEA multivariate time series classification archive,
//! 2018"; in the Python package aeon): six channels of a smart watch at 10 Hz, 100 samples per series, ten
//! series of each of four classes to train on and as many to test, as tables `series`, `label`, `t`, and a
//! column per channel. Each split is taken both ways. What has settings has them chosen by folds inside the
//! training series.
use std::error::Error;

use common::Task;
use common::chosen::{Setting, Tally, in_words, loss_of};
use fishweir::data::{Dataset, Folds, ReadOptions, SamplesView};
use fishweir::dynamics::LinearSystem;
use fishweir::fit::{FitError, SystemEm};
use fishweir::kernel::between::{Affinity, DynamicsKernel, ModelKernel};
use fishweir::model::{Model, SystemModel};
use fishweir::report::Table;
use rayon::prelude::*;

mod common;

/// Numbers of a class's state, to choose from.
const CLASS_STATES: [usize; 3] = [2, 4, 8];
/// Numbers of a series' state, powers, and samples compared.
const STATES: [usize; 2] = [2, 4];
const RHO: [f64; 3] = [0.1, 0.5, 1.0];
const TIMES: [usize; 2] = [10, 50];
/// Largest number of passes of expectation maximisation.
const PASSES: usize = 50;

fn fit(items: &[SamplesView<'_>], states: usize) -> Result<SystemModel, FitError> {
    let options = SystemEm { states, iterations: PASSES, ..SystemEm::default() };
    Ok(SystemModel::fit(&options, items, &|| ())?.0)
}

/// The class of each test item, by the likeliest class's system.
fn likeliest(
    task: &Task<'_>,
    items: &[SamplesView<'_>],
    (train, test): (&[usize], &[usize]),
    states: usize,
) -> Result<Vec<bool>, Box<dyn Error>> {
    let views: Vec<SamplesView<'_>> = test.iter().map(|&item| items[item]).collect();
    let mut best = vec![(f64::NEG_INFINITY, 0); test.len()];
    for class in 0..task.classes.len() {
        let own = train.iter().filter(|&&item| task.labels[item] == class);
        let own: Vec<SamplesView<'_>> = own.map(|&item| items[item]).collect();
        for (best, log) in best.iter_mut().zip(fit(&own, states)?.log_likelihoods(&views)) {
            let log = log?;
            if log > best.0 {
                *best = (log, class);
            }
        }
    }
    Ok(best.iter().zip(test).map(|((_, class), &item)| *class == task.labels[item]).collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut paths = std::env::args().skip(1);
    let (Some(first), Some(second)) = (paths.next(), paths.next()) else {
        return Err("which files? give the paths of training and test series".into());
    };
    let first = Dataset::read(first, &ReadOptions::default())?;
    let second = Dataset::read(second, &ReadOptions::default())?.with_classes(first.classes())?;
    let both = [&first, &second];
    let items: Vec<SamplesView<'_>> =
        both.iter().flat_map(|data| data.series().iter().map(|one| one.samples.view())).collect();
    let labels = [first.labels()?, second.labels()?].concat();
    let groups: Vec<usize> = (0..items.len()).collect();
    let (one, other) = groups.split_at(first.series().len());
    // For folds inside the training series alone.
    let folds = Folds::stratified(&labels, first.classes(), 2, None)?;
    let task = Task { labels: &labels, classes: first.classes(), groups: &groups, folds: &folds };

    let mut settings = Vec::new();
    for states in STATES {
        let models =
            items.par_iter().map(|item| Ok(fit(std::slice::from_ref(item), states)?.with_mean()));
        let models: Vec<LinearSystem> = models.collect::<Result<_, FitError>>()?;
        for rho in RHO {
            for times in TIMES {
                let kernel = DynamicsKernel::new(times, Affinity::Product { rho })?;
                let words = format!("states {states}, rho {rho}, T {}", times - 1);
                settings.push(Setting::new(words, kernel.log_gram(&models)?.normalised()));
            }
        }
    }
    println!("share of {} and {} series decided wrongly (95 %)\n", one.len(), other.len());
    let mut table =
        Table::new(["method", "customary split", "the other way", "both", "least of all settings"]);
    let ways = [(one, other), (other, one)];
    let mut likely = Vec::new();
    for (train, test) in ways {
        let inner = task.inner_folds(train)?;
        let inside = |states: usize| -> Result<usize, Box<dyn Error>> {
            let mut right = 0;
            for fold in 0..inner.len() {
                let of = |places: Vec<usize>| places.iter().map(|&i| train[i]).collect::<Vec<_>>();
                let (train, test) = (of(inner.train(fold)), of(inner.test(fold)));
                let decided = likeliest(&task, &items, (&train, &test), states)?;
                right += decided.into_iter().filter(|right| *right).count();
            }
            Ok(right)
        };
        let mut best = (0, CLASS_STATES[0]);
        for states in CLASS_STATES {
            let right = inside(states)?;
            if right > best.0 {
                best = (right, states);
            }
        }
        let right = likeliest(&task, &items, (train, test), best.1)?;
        likely.push(test.iter().copied().zip(right).collect::<Vec<_>>());
    }
    let mut machine = Vec::new();
    let mut least = Vec::new();
    for (train, test) in ways {
        let mut tally = Tally::new(items.len());
        tally.split(&task, (train, test), &settings)?;
        let decided = tally.decided();
        machine.push(test.iter().map(|&item| (item, decided.right[item])).collect::<Vec<_>>());
        least.extend(decided.least.map(|(loss, words)| format!("{loss:.3}: {words}")));
    }
    for (name, tested, least) in [
        ("Bayes, a system a class", likely, String::new()),
        ("product kernel, a system a series", machine, least.join("; ")),
    ] {
        let losses = [tested[0].clone(), tested[1].clone(), tested.concat()];
        let [one, other, both] = losses.map(|tested| in_words(loss_of(&task.units(tested))));
        table.row([name.to_owned(), one, other, both, least]);
    }
    print!("{table}");
    Ok(())
}
