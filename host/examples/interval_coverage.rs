//! Coverage of the intervals of accuracy: nominal 95 %, by simulation.
//!
//! ```sh
//! cargo run --release --example interval_coverage
//! ```
//!
//! First, windows of groups whose true share is known: two windows of a group are correlated by so much,
//! for each is, with a probability that is the correlation's root, the group's own draw. Then
//! cross-validation, groups kept whole, of a rule that decides by the nearer mean, held against its mean
//! accuracy on new groups. Beside [`Units::accuracy`] stand the percentile bootstrap over groups, the
//! t interval over groups and, of folds, the t interval with the correction of Nadeau and Bengio
//! (Inference for the generalization error, Machine Learning 52, 2003).

use fishweir::evaluate::Units;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

const TRIALS: usize = 2_000;
const RESAMPLES: usize = 400;

/// Windows decided rightly, and windows, of each group.
type Counts = Vec<(usize, usize)>;

fn share(counts: &[(usize, usize)]) -> f64 {
    let (right, all) = counts.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    right as f64 / all as f64
}

fn student(mean: f64, variance: f64, freedom: usize) -> (f64, f64) {
    let quantile =
        StudentsT::new(0.0, 1.0, freedom as f64).map_or(f64::NAN, |t| t.inverse_cdf(0.975));
    (mean - quantile * variance.sqrt(), mean + quantile * variance.sqrt())
}

fn wilson(counts: &[(usize, usize)]) -> (f64, f64) {
    let interval = Units::of_counts(counts.iter().copied()).accuracy();
    interval.map_or((f64::NAN, f64::NAN), |interval| (interval.low, interval.high))
}

fn over_groups(counts: &[(usize, usize)]) -> (f64, f64) {
    let (p, groups) = (share(counts), counts.len() as f64);
    let windows: usize = counts.iter().map(|one| one.1).sum();
    let apart = |one: &(usize, usize)| (one.0 as f64 - p * one.1 as f64).powi(2);
    let sum: f64 = counts.iter().map(apart).sum();
    student(p, groups / (groups - 1.0) * sum / (windows as f64).powi(2), counts.len() - 1)
}

fn bootstrap(counts: &[(usize, usize)], rng: &mut ChaCha8Rng) -> (f64, f64) {
    let mut draw = |_| counts[rng.random_range(0..counts.len())];
    let mut shares: Vec<f64> = (0..RESAMPLES)
        .map(|_| share(&(0..counts.len()).map(&mut draw).collect::<Counts>()))
        .collect();
    shares.sort_by(f64::total_cmp);
    (shares[RESAMPLES / 40], shares[RESAMPLES - 1 - RESAMPLES / 40])
}

fn over_folds(shares: &[f64]) -> (f64, f64) {
    let k = shares.len() as f64;
    let mean = shares.iter().sum::<f64>() / k;
    let variance = shares.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (k - 1.0);
    student(mean, variance * (1.0 / k + 1.0 / (k - 1.0)), shares.len() - 1)
}

/// Prints the coverage of a true value by intervals, and their mean width.
fn print(what: &str, truth: f64, names: [&str; 3], intervals: &[[(f64, f64); 3]]) {
    print!("{what}");
    for (n, name) in names.into_iter().enumerate() {
        let own = || intervals.iter().map(move |all| all[n]);
        let covers = own().filter(|(low, high)| (*low..=*high).contains(&truth)).count();
        let width: f64 = own().map(|(low, high)| high.min(1.0) - low.max(0.0)).sum();
        let of = |sum: f64| sum / intervals.len() as f64;
        print!("   {name} {:.3} ({:.2})", of(covers as f64), of(width));
    }
    println!();
}

fn drawn(groups: usize, alone: bool, p: f64, correlation: f64, rng: &mut ChaCha8Rng) -> Counts {
    let common = correlation.sqrt();
    let group = |_| {
        let windows = if alone { 1 } else { 10 * rng.random_range(2..5) };
        let mut is = |p: f64| rng.random::<f64>() < p;
        let of_group = is(p);
        let right = (0..windows).filter(|_| if is(common) { of_group } else { is(p) }).count();
        (right, windows)
    };
    (0..groups).map(group).collect()
}

/// Windows of a group: a class and four features, which the group moves.
fn group(apart: f64, rng: &mut ChaCha8Rng) -> Vec<(bool, [f64; 4])> {
    let normal =
        |rng: &mut ChaCha8Rng| Normal::standard().inverse_cdf(rng.random_range(f64::EPSILON..1.0));
    let moved: [f64; 4] = std::array::from_fn(|_| 0.6 * normal(rng));
    let window = |n: usize| {
        let second = n % 2 == 1;
        let mut x = moved.map(|moved| moved + normal(rng));
        x[0] += if second { apart } else { -apart };
        (second, x)
    };
    (0..10).map(window).collect()
}

/// The rule of the nearer mean, learnt from some groups: how many windows of another it decides rightly.
fn right(learned: &[&Vec<(bool, [f64; 4])>], judged: &[(bool, [f64; 4])]) -> usize {
    let mean = |second: bool| {
        let own = || learned.iter().copied().flatten().filter(move |one| one.0 == second);
        let count = own().count() as f64;
        std::array::from_fn::<f64, 4, _>(|k| own().map(|one| one.1[k]).sum::<f64>() / count)
    };
    let means = [mean(false), mean(true)];
    let distance = |x: &[f64; 4], mean: &[f64; 4]| -> f64 {
        x.iter().zip(mean).map(|(x, mean)| (x - mean).powi(2)).sum()
    };
    let decides = |x: &[f64; 4]| distance(x, &means[1]) < distance(x, &means[0]);
    judged.iter().filter(|(second, x)| decides(x) == *second).count()
}

/// Cross-validation of that rule: its counts by group, shares by fold, and the accuracy on new groups.
fn validated(groups: usize, apart: f64, rng: &mut ChaCha8Rng) -> (Counts, Vec<f64>, f64) {
    let folds = groups.min(5);
    let all: Vec<_> = (0..groups).map(|_| group(apart, rng)).collect();
    let mut counts = vec![(0, 10); groups];
    let (mut shares, mut new) = (Vec::new(), Vec::new());
    for fold in 0..folds {
        let learned: Vec<_> = (0..groups).filter(|g| g % folds != fold).map(|g| &all[g]).collect();
        for g in (fold..groups).step_by(folds) {
            counts[g].0 = right(&learned, &all[g]);
        }
        let own: Counts = (fold..groups).step_by(folds).map(|g| counts[g]).collect();
        shares.push(share(&own));
        new.push((right(&learned, &group(apart, rng)), 10));
    }
    (counts, shares, share(&new))
}

fn main() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let names = ["bootstrap", "t over groups", "Wilson"];
    println!("coverage of nominal 95 % (mean width)\n\ngroups of 20 to 40 windows");
    let mut line = |groups: usize, alone: bool, p: f64, correlation: f64| {
        let intervals: Vec<_> = (0..TRIALS)
            .map(|_| {
                let counts = drawn(groups, alone, p, correlation, &mut rng);
                [bootstrap(&counts, &mut rng), over_groups(&counts), wilson(&counts)]
            })
            .collect();
        print(
            &format!("{groups:>3}, {p:.2} right, correlation {correlation:.2}"),
            p,
            names,
            &intervals,
        );
    };
    for (p, correlation) in [(0.8, 0.0), (0.8, 0.1), (0.95, 0.0), (0.95, 0.1)] {
        for groups in 2..=10 {
            line(groups, false, p, correlation);
        }
    }
    println!("\nno groups: series of one window");
    for (series, p) in [(10, 0.8), (10, 0.95), (40, 0.8), (40, 0.95), (40, 0.99), (200, 0.99)] {
        line(series, true, p, 0.0);
    }
    println!("\ncross-validation in at most five folds, groups of 10 windows");
    for (groups, apart) in [(3, 1.2), (5, 0.6), (5, 1.2), (5, 1.8), (10, 0.6), (10, 1.2), (10, 1.8)]
    {
        let trials: Vec<_> = (0..TRIALS / 2).map(|_| validated(groups, apart, &mut rng)).collect();
        let truth = trials.iter().map(|trial| trial.2).sum::<f64>() / trials.len() as f64;
        let intervals: Vec<_> = trials
            .iter()
            .map(|(counts, shares, _)| {
                [bootstrap(counts, &mut rng), over_folds(shares), wilson(counts)]
            })
            .collect();
        let names = ["bootstrap", "t over folds, corrected", "Wilson"];
        print(&format!("{groups:>3} groups, {truth:.2} right"), truth, names, &intervals);
    }
}
