//! Features are what their kernels are defined as.

use fishweir::kernel::mean_map::{Cliques, Convention, EmpiricalMap, LatentMap, Rbf};
use fishweir::kernel::{
    CountKernel, Counted, Gram, Information, InformationError, Kernel, TopKernel, Whitening,
};
use fishweir::learn::{FeatureMap, FeatureScaler, Features, KernelLearnError, Matrix, Scaling};
use fishweir_core::classify::Normalisation;
use fishweir_core::emission::Parametrisation;

use crate::routes::assert_close;
use crate::routes::bank::{Bank, Family};

fn extract(
    bank: &Bank,
    features: Features,
    normalisation: Normalisation,
) -> (FeatureMap, Vec<Vec<f64>>) {
    let map = FeatureMap::new(features, bank.models.clone(), vec![1.0; 2], false, normalisation);
    let rows: Option<Vec<Vec<f64>>> = map.extract(&bank.views()).into_iter().collect();
    (map, rows.expect("possible"))
}

fn product(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// Of two classes it is the TOP kernel; of more the sum of the kernels of all pairs.
#[test]
fn log_odds_are_the_top_kernel_summed_over_pairs() {
    for (family, classes) in [(Family::Symbols, 2), (Family::Symbols, 4), (Family::Channels, 3)] {
        let bank = Bank::draw(family, classes, 3);
        let (map, rows) = extract(&bank, Features::LogOdds, Normalisation::NONE);
        let (scores, _) = extract(&bank, Features::Scores, Normalisation::NONE);
        assert_eq!(map.len(), scores.len() + classes * (classes - 1) / 2);
        let pairs = (0..classes).flat_map(|c| (c + 1..classes).map(move |d| [c, d]));
        let top: Vec<Gram> = pairs
            .map(|pair| {
                let models = pair.map(|class| bank.models[class].clone());
                let kernel = TopKernel {
                    models: &models,
                    log_priors: &[0.0; 2],
                    parametrisation: Parametrisation::SOFTMAX,
                };
                kernel.gram(&bank.views()).expect("possible")
            })
            .collect();
        for (x, row) in rows.iter().enumerate() {
            for (y, other) in rows.iter().enumerate() {
                let kernel = top.iter().map(|gram| gram.get(x, y)).sum();
                assert_close(product(row, other), kernel, 1e-11, "kernel");
            }
        }
    }
}

/// Counts a sample are a distribution over symbols and states, but for missing samples, and their
/// inner products the marginalised count kernel.
#[test]
fn counts_are_the_count_kernels() {
    let bank = Bank::draw(Family::Symbols, 3, 8);
    for (normalisation, raw) in [(Normalisation::PER_SAMPLE, false), (Normalisation::NONE, true)] {
        let (map, rows) = extract(&bank, Features::Counts, normalisation);
        for (samples, row) in bank.views().iter().zip(&rows) {
            let all = if raw { 1.0 } else { samples.len() as f64 };
            for block in map.blocks() {
                let share = samples.observed() as f64 / all;
                assert_close(row[block].iter().sum(), share, 1e-12, "counts");
            }
        }
        let kernel = CountKernel { models: &bank.models, counted: Counted::Single, raw };
        let gram = kernel.gram(&bank.views()).expect("possible");
        for (x, row) in rows.iter().enumerate() {
            for (y, other) in rows.iter().enumerate() {
                assert_close(product(row, other), gram.get(x, y), 1e-12, "kernel");
            }
        }
    }
}

/// Mixed counts per sample have the latent mean map for inner products, but that transitions are divided by
/// the number of samples.
#[test]
fn mixed_counts_are_the_latent_mean_map() {
    let bank = Bank::draw(Family::Symbols, 3, 21);
    for lambda in [0.0, 0.4, 2.0, f64::INFINITY] {
        let rbf = Rbf::new(lambda, Convention::Half).expect("not negative");
        let features = Features::LatentMap { mismatch: rbf.mismatch() };
        let (map, rows) = extract(&bank, features, Normalisation::PER_SAMPLE);
        assert_eq!(rows[0].len(), map.len());
        let gram = |cliques| {
            let kernel = LatentMap { models: &bank.models, rbf, cliques, nu: None };
            kernel.gram(&bank.views()).expect("possible")
        };
        let (emissions, transitions) = (gram(Cliques::Emissions), gram(Cliques::Transitions));
        let share = |x: usize| (bank.views()[x].len() - 1) as f64 / bank.views()[x].len() as f64;
        for (x, row) in rows.iter().enumerate() {
            for (y, other) in rows.iter().enumerate() {
                let kernel = emissions.get(x, y) + share(x) * share(y) * transitions.get(x, y);
                assert_close(product(row, other), kernel, 1e-12, "kernel");
            }
        }
    }
}

/// Mixed counts of words have the empirical mean map for inner products, but that words are divided by the number
/// of samples. Missing samples are among those of the bank.
#[test]
fn mixed_words_are_the_empirical_mean_map() {
    let bank = Bank::draw(Family::Symbols, 2, 13);
    assert!(bank.views().iter().any(|view| view.observed() < view.len()));
    for order in [0, 1, 2] {
        for lambda in [0.0, 0.4, f64::INFINITY] {
            let rbf = Rbf::new(lambda, Convention::Half).expect("not negative");
            let features = Features::EmpiricalMap { order, mismatch: rbf.mismatch() };
            let (map, rows) = extract(&bank, features, Normalisation::PER_SAMPLE);
            assert_eq!((rows[0].len(), map.models().len()), (map.len(), 1));
            let gram = EmpiricalMap { order, rbf }.gram(&bank.views()).expect("symbols");
            let share = |x: usize| {
                let samples = bank.views()[x].len() as f64;
                (samples - order as f64) / samples
            };
            for (x, row) in rows.iter().enumerate() {
                for (y, other) in rows.iter().enumerate() {
                    let kernel = share(x) * share(y) * gram.get(x, y);
                    assert_close(product(row, other), kernel, 1e-12, "kernel");
                }
            }
        }
    }
}

/// Up to the factor that makes the mean square norm one, `K = g' (I + ridge)^-1 g`, whichever the
/// information.
#[test]
fn whitened_scores_are_the_invariant_kernels() {
    for family in [Family::Symbols, Family::Channels] {
        let mut bank = Bank::draw(family, 2, 33);
        bank.models.truncate(1);
        let (map, rows) = extract(&bank, Features::Scores, Normalisation::NONE);
        let (model, softmax) = (&bank.models[0], Parametrisation::SOFTMAX);
        let mut matrix = Matrix::new(map.len());
        rows.iter().for_each(|row| matrix.push(row));
        for scaling in [Scaling::Whitened, Scaling::Sampled, Scaling::Exact] {
            // As long as one likes: the lengths are those of the sequences that are expected.
            let lengths = [6];
            let metric = match FeatureScaler::of(&matrix, &lengths, &map, scaling) {
                Ok(metric) => metric,
                Err(KernelLearnError::Whitening(InformationError::NotSymbols)) => {
                    assert_eq!((family, scaling), (Family::Channels, Scaling::Exact));
                    continue;
                }
                Err(error) => panic!("{family:?} {scaling:?}: {error}"),
            };
            let information = match scaling {
                Scaling::Whitened => Information::empirical(&rows),
                Scaling::Sampled => Information::sampled(model, &lengths, 2_000, 1, softmax),
                _ => Information::exact(model, 6, softmax),
            }
            .expect("an information");
            let mean = information.matrix().diagonal().sum::<f64>() / map.len() as f64;
            let axes = information.axes().expect("finite");
            let whitening = Whitening::ridge(&axes, 1e-3 * mean).expect("a ridge");
            let kernel = Gram::of_features(&whitening.features(rows.clone()));
            let mapped: Vec<Vec<f64>> = rows.iter().map(|row| metric.map(row)).collect();
            let trace: f64 = kernel.diagonal().sum();
            let mean_square =
                Gram::of_features(&mapped).diagonal().sum::<f64>() / rows.len() as f64;
            assert_close(mean_square, 1.0, 1e-5, "mean square norm");
            for (x, row) in mapped.iter().enumerate() {
                for (y, other) in mapped.iter().enumerate() {
                    let wanted = kernel.get(x, y) * rows.len() as f64 / trace;
                    // The metric sees rows of f32.
                    let what = format!("{family:?} {scaling:?} kernel of {x} and {y}");
                    assert_close(product(row, other), wanted, 2e-4, &what);
                }
            }
        }
    }
}

/// What an exact information is not of is named.
#[test]
fn an_exact_information_is_of_one_short_length() {
    let bank = Bank::draw(Family::Symbols, 2, 4);
    let (map, rows) = extract(&bank, Features::Scores, Normalisation::NONE);
    let mut matrix = Matrix::new(map.len());
    rows.iter().for_each(|row| matrix.push(row));
    let refused =
        |lengths: &[usize]| match FeatureScaler::of(&matrix, lengths, &map, Scaling::Exact) {
            Err(KernelLearnError::Whitening(error)) => error,
            _ => panic!("{lengths:?}"),
        };
    assert_eq!(refused(&[3, 5, 4]), InformationError::Lengths { least: 3, most: 5 });
    assert_eq!(refused(&[11; 3]), InformationError::TooMany { symbols: 4, length: 11 });
    assert!(matches!(refused(&[]), InformationError::Nothing(_)));
}
