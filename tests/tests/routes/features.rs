//! Features are what their kernels are defined as.

use fishweir::fit::{EmissionStatistics, expectations};
use fishweir::learn::{FeatureMap, Features, Matrix, Metric, Scaling};
use fishweir_core::classify::Normalisation;

use crate::assert_close;
use crate::bank::{Bank, Family};

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

/// `K(x, y) = sum over pairs of classes of v(x) v(y) + grad v(x) . grad v(y)`.
#[test]
fn log_odds_are_the_top_kernel_summed_over_pairs() {
    for (family, classes) in [(Family::Symbols, 2), (Family::Symbols, 4), (Family::Channels, 3)] {
        let bank = Bank::draw(family, classes, 3);
        let views = bank.views();
        let logs: Vec<Vec<f64>> = bank
            .models
            .iter()
            .map(|model| {
                let found = expectations(model, &views);
                found.into_iter().map(|one| one.expect("possible").log_likelihood).collect()
            })
            .collect();
        let (map, rows) = extract(&bank, Features::LogOdds, Normalisation::NONE);
        let (scores, score_rows) = extract(&bank, Features::Scores, Normalisation::NONE);
        assert_eq!(map.len(), scores.len() + classes * (classes - 1) / 2);
        for (x, y) in [(0, 1), (2, 2), (5, 13)] {
            let mut kernel = 0.0;
            for c in 0..classes {
                for d in c + 1..classes {
                    kernel += (logs[d][x] - logs[c][x]) * (logs[d][y] - logs[c][y]);
                    for block in [c, d].map(|class| scores.blocks()[class].clone()) {
                        kernel += product(&score_rows[x][block.clone()], &score_rows[y][block]);
                    }
                }
            }
            assert_close(product(&rows[x], &rows[y]), kernel, 1e-12, "kernel");
        }
    }
}

/// Counts a sample are a distribution over symbols and states, but for missing samples.
#[test]
fn counts_are_expected_statistics_a_sample() {
    let bank = Bank::draw(Family::Symbols, 2, 8);
    let (map, rows) = extract(&bank, Features::Counts, Normalisation::PER_SAMPLE);
    for (samples, row) in bank.views().iter().zip(&rows) {
        for block in map.blocks() {
            let share = samples.observed() as f64 / samples.len() as f64;
            assert_close(row[block].iter().sum(), share, 1e-12, "counts");
        }
    }
    let views = bank.views();
    let expected = expectations(&bank.models[1], &views).swap_remove(0).expect("possible");
    let EmissionStatistics::Categorical { counts } = expected.emission else {
        panic!("counts of symbols");
    };
    let flat: Vec<f64> = counts.concat().iter().map(|n| n / views[0].len() as f64).collect();
    let block = &rows[0][map.blocks()[1].clone()];
    assert_eq!(block.len(), flat.len());
    block.iter().zip(&flat).for_each(|(a, b)| assert_close(*a, *b, 1e-14, "count a sample"));
}

/// Whitened features' second moment is the information's over itself and the ridge: between nothing
/// and one along every axis, and its trace is normalised.
#[test]
fn whitening_is_by_the_empirical_information_of_each_model() {
    let bank = Bank::draw(Family::Symbols, 2, 21);
    let (map, rows) = extract(&bank, Features::Scores, Normalisation::NONE);
    let mut matrix = Matrix::new(map.len());
    rows.iter().for_each(|row| matrix.push(row));
    let metric = Metric::of(&matrix, &map, Scaling::Whitened).expect("a metric");
    let mapped: Vec<Vec<f64>> = rows.iter().map(|row| metric.map(row)).collect();
    let square: f64 = mapped.iter().map(|row| product(row, row)).sum::<f64>() / rows.len() as f64;
    assert_close(square, 1.0, 1e-5, "mean square norm");
    // K = g' (I + ridge)^-1 g for the first block alone: check (I + ridge) W'W g = g through pulls.
    let block = map.blocks()[0].clone();
    let size = block.len();
    let moment = |i: usize, j: usize| {
        rows.iter().map(|row| row[block.start + i] * row[block.start + j]).sum::<f64>()
            / rows.len() as f64
    };
    let ridge = 1e-3 * (0..size).map(|i| moment(i, i)).sum::<f64>() / size as f64;
    let x = &rows[4];
    let only: Vec<f64> =
        (0..map.len()).map(|k| if block.contains(&k) { x[k] } else { 0.0 }).collect();
    let phi = metric.map(&only);
    let machine = fishweir::learn::Linear { weights: phi, bias: 0.0 };
    let pulled = metric.pull(&machine).weights;
    let back: Vec<f64> = (0..size)
        .map(|i| {
            let information = (0..size).map(|j| moment(i, j) * pulled[block.start + j]);
            information.sum::<f64>() + ridge * pulled[block.start + i]
        })
        .collect();
    let factor = product(&back, &x[block.clone()]) / product(&x[block.clone()], &x[block.clone()]);
    for (back, x) in back.iter().zip(&x[block]) {
        assert_close(*back, factor * x, 1e-4, "the score again");
    }
}
