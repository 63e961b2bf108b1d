//! Models without hidden states at run-time sizes: the same scores as the core's streams, gradients of
//! the log-likelihood, what expectations and fits make of them, and every kernel on them.

mod contexts;
mod density;
mod kernels;
mod markov;
mod positions;

use fishweir::data::Samples;
use fishweir::kernel::Information;
use fishweir::model::{MarkovModel, ModelScore, Scored, scores};
use fishweir_core::context::StringEnd;
use fishweir_core::emission::Parametrisation;
use fishweir_tests::checks::views;
use fishweir_tests::oracle::derivative;
use fishweir_tests::sample::Sampler;

use crate::context::assert_near;

const BOTH: [Parametrisation; 2] = [Parametrisation::RATIO, Parametrisation::SOFTMAX];

/// Symbols, none of them missing.
fn string(symbols: impl IntoIterator<Item = usize>) -> Samples {
    Samples::Symbols(symbols.into_iter().map(|symbol| u16::try_from(symbol).ok()).collect())
}

/// Symbols that are all as likely, each missing with some probability.
fn drawn(sampler: &mut Sampler, symbols: usize, length: usize, missing: f64) -> Samples {
    let draw = |_| {
        let symbol = sampler.uniform(0.0, symbols as f64) as usize;
        let seen = sampler.uniform(0.0, 1.0) >= missing;
        seen.then_some(symbol.min(symbols - 1) as u16)
    };
    Samples::Symbols((0..length).map(draw).collect())
}

#[track_caller]
fn score(model: &dyn Scored, samples: &Samples, by: Parametrisation) -> ModelScore {
    scores(model, &[samples.view()], by).expect("possible").swap_remove(0)
}

fn log_likelihood(model: &dyn Scored, samples: &Samples) -> f64 {
    score(model, samples, Parametrisation::SOFTMAX).log_likelihood
}

/// A row of probabilities with one of its parameters moved: the logit, or the ratio.
fn moved(row: &[f64], entry: usize, step: f64, by: Parametrisation) -> Vec<f64> {
    let mut row = row.to_vec();
    if by == Parametrisation::SOFTMAX {
        row[entry] *= step.exp();
    } else {
        row[entry] += step;
    }
    let total: f64 = row.iter().sum();
    row.iter().map(|p| p / total).collect()
}

/// That entries of a score are the slopes of the log-likelihood along a table's rows; `with` makes the
/// model of another table. The table's first entry is the score's `from`.
#[track_caller]
fn assert_slopes<M: Scored>(
    table: &[Vec<f64>],
    from: usize,
    samples: &Samples,
    with: impl Fn(Vec<Vec<f64>>) -> M,
) {
    let model = with(table.to_vec());
    for by in BOTH {
        let score = score(&model, samples, by).score;
        let mut place = from;
        for (index, row) in table.iter().enumerate() {
            for (entry, &p) in row.iter().enumerate() {
                let log = |step: f64| {
                    let mut table = table.to_vec();
                    table[index] = moved(row, entry, step, by);
                    log_likelihood(&with(table), samples)
                };
                if p > 0.0 {
                    let slope = derivative(log, 1e-3 * p);
                    assert_near(score[place], slope, 1e-6, format!("[{index}][{entry}] {by:?}"));
                } else {
                    assert_eq!(score[place], 0.0, "[{index}][{entry}]");
                }
                place += 1;
            }
        }
    }
}

/// That the mean score over given sequences, each with its probability, is zero and the mean product
/// is the information that the model says it has.
#[track_caller]
fn assert_information(
    model: &dyn Scored,
    length: usize,
    sequences: impl Iterator<Item = Samples>,
    given: f64,
    tolerance: f64,
) {
    let sequences: Vec<Samples> = sequences.collect();
    for by in BOTH {
        let size = model.parameters();
        let (mut total, mut mean, mut second) = (0.0, vec![0.0; size], vec![vec![0.0; size]; size]);
        // A sequence that is impossible has no probability either.
        for found in model.scores(&views(&sequences), by).into_iter().flatten() {
            let p = given * found.log_likelihood.exp();
            total += p;
            for (a, g) in found.score.iter().enumerate() {
                mean[a] += p * g;
                for (sum, h) in second[a].iter_mut().zip(&found.score) {
                    *sum += p * g * h;
                }
            }
        }
        assert_near(total, 1.0, tolerance, "mass");
        let information = Information::exact(model, length, by).expect("a closed form");
        assert_eq!((information.sequences, information.standard_error), (0, None));
        let scale = 1.0 + information.matrix().diagonal().fold(0.0, f64::max);
        for (a, row) in second.iter().enumerate() {
            assert!(mean[a].abs() < tolerance * scale, "{by:?}: mean score {}", mean[a]);
            for (b, expected) in row.iter().enumerate() {
                let got = information.matrix().get(a, b);
                let gap = (got - expected).abs();
                assert!(gap < tolerance * scale, "{by:?} [{a}][{b}]: {got} for {expected}");
            }
        }
    }
}

/// That the squared distance of the sampled information from the closed form is what its standard error
/// says, in the mean over seeds: of the draws and the closed form at once.
#[track_caller]
fn assert_draws_have_the_information(model: &dyn Scored, length: usize) {
    for by in BOTH {
        let exact = Information::exact(model, length, by).expect("a closed form");
        let mut ratios = Vec::new();
        for run in 0..20 {
            let sampled =
                Information::sampled(model, &[length], 400, 1000 * run, by).expect("sequences");
            let pairs = exact.matrix().rows().flatten().zip(sampled.matrix().rows().flatten());
            let distance: f64 = pairs.map(|(a, b)| (a - b) * (a - b)).sum();
            let error = sampled.standard_error.expect("sampled");
            ratios.push(distance / (error * error));
        }
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        assert!((0.4..2.5).contains(&mean), "{by:?}: {mean}, {ratios:?}");
    }
}

/// That scores sum to zero over the sequences a model was fitted to.
#[track_caller]
fn assert_stationary(model: &dyn Scored, sequences: &[Samples], tolerance: f64) {
    for by in BOTH {
        let all = scores(model, &views(sequences), by).expect("possible");
        for entry in 0..model.parameters() {
            let sum: f64 = all.iter().map(|found| found.score[entry]).sum();
            let size: f64 = all.iter().map(|found| found.score[entry].abs()).sum();
            assert!(sum.abs() <= tolerance * (1.0 + size), "{by:?} [{entry}]: {sum:e}");
        }
    }
}

/// The kinds of context sets over two symbols, with seven contexts each, and whether strings end.
fn sets() -> [(Vec<Vec<u16>>, bool); 4] {
    crate::context::markov::sets().map(|(contexts, end)| (contexts, end == StringEnd::Event))
}

/// A model over two symbols with any of [`sets`], its rows positive.
fn markov(sampler: &mut Sampler, set: usize) -> MarkovModel {
    let (contexts, end) = sets()[set].clone();
    let rows = (0..7).map(|_| sampler.probabilities(2 + usize::from(end))).collect();
    MarkovModel::new(2, end, contexts, rows).expect("a model")
}
