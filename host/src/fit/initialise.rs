//! Where Baum-Welch starts: k-means for channels, random tables for symbols, uniform probabilities of
//! the transitions allowed, then a segmental update along Viterbi's path (second seed document,
//! section 5; Rabiner 1989), or along an even one where states have an order.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::baum_welch::maximise;
use super::{BaumWelch, EmissionStatistics, Expectations};
use crate::data::SamplesView;
use crate::runtime::{Emissions, Hmm};

/// Rows that k-means looks at, at most; more add time, not better means.
const KMEANS_ROWS: usize = 8_000;
const KMEANS_PASSES: usize = 25;
const SEGMENTAL_PASSES: usize = 1;

pub(super) fn initial_model(
    options: &BaumWelch,
    sequences: &[SamplesView<'_>],
    size: usize,
    scale: &[f64],
    seed: u64,
) -> Hmm {
    let states = options.states;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let emission = if sequences.iter().any(|samples| samples.rows().is_some()) {
        gaussians(options, sequences, scale, &mut rng)
    } else {
        let mut row = || {
            let weights: Vec<f64> =
                (0..size).map(|_| -rng.random::<f64>().max(1e-12).ln()).collect();
            let sum: f64 = weights.iter().sum();
            weights.iter().map(|weight| weight / sum).collect()
        };
        Emissions::Categorical { probability: (0..states).map(|_| row()).collect() }
    };
    let (initial, transition) = options.topology.chain(states);
    let mut model = Hmm { initial, transition, emission };
    segmental(options, &mut model, sequences, scale);
    model
}

/// Re-estimates from the states on a path instead of their posteriors: a few quick passes that sort
/// the data into states before Baum-Welch weighs it.
fn segmental(options: &BaumWelch, model: &mut Hmm, sequences: &[SamplesView<'_>], scale: &[f64]) {
    for _ in 0..SEGMENTAL_PASSES {
        let mut counts = Expectations::zero(model);
        for samples in sequences {
            // A model that no path of its own data fits has nothing to be improved by one.
            let Some(path) = options.topology.path(model, *samples) else { return };
            count_path(model, *samples, &path, &mut counts);
        }
        maximise(model, &counts, options, scale);
    }
}

fn count_path(model: &Hmm, samples: SamplesView<'_>, path: &[usize], counts: &mut Expectations) {
    if let Some(&first) = path.first() {
        counts.initial[first] += 1.0;
    }
    for pair in path.windows(2) {
        counts.pairs[pair[0]][pair[1]] += 1.0;
    }
    match (&model.emission, &mut counts.emission) {
        (Emissions::Categorical { .. }, EmissionStatistics::Categorical { counts }) => {
            let symbols = samples.symbols().unwrap_or_default();
            for (symbol, &state) in symbols.iter().zip(path) {
                if let Some(symbol) = symbol {
                    counts[state][usize::from(*symbol)] += 1.0;
                }
            }
        }
        (
            Emissions::Gaussian { mean, std },
            EmissionStatistics::Gaussian { occupancy, first, second },
        ) => {
            let rows = samples.rows().into_iter().flat_map(|rows| rows.iter());
            for (row, &state) in rows.zip(path) {
                let Some(row) = row else { continue };
                occupancy[state] += 1.0;
                for (channel, x) in row.iter().enumerate() {
                    let z = (x - mean[state][channel]) / std[state][channel];
                    first[state][channel] += z;
                    second[state][channel] += z * z;
                }
            }
        }
        _ => debug_assert!(false, "statistics of two families"),
    }
}

/// k-means++ and Lloyd's passes in scaled units; a Gaussian a cluster.
fn gaussians(
    options: &BaumWelch,
    sequences: &[SamplesView<'_>],
    scale: &[f64],
    rng: &mut ChaCha8Rng,
) -> Emissions {
    let all: Vec<&[f64]> = sequences
        .iter()
        .filter_map(SamplesView::rows)
        .flat_map(|rows| rows.iter().flatten())
        .collect();
    let step = all.len().div_ceil(KMEANS_ROWS).max(1);
    let rows: Vec<Vec<f64>> = all
        .iter()
        .step_by(step)
        .map(|row| row.iter().zip(scale).map(|(x, scale)| x / scale).collect())
        .collect();
    let mut centres = seeds(&rows, options.states, rng);
    let mut nearest = vec![0; rows.len()];
    for _ in 0..KMEANS_PASSES {
        let mut moved = false;
        for (row, nearest) in rows.iter().zip(&mut nearest) {
            let closest = closest(row, &centres).0;
            moved |= *nearest != closest;
            *nearest = closest;
        }
        for (cluster, centre) in centres.iter_mut().enumerate() {
            let members = rows.iter().zip(&nearest).filter(|(_, nearest)| **nearest == cluster);
            let count = members.clone().count();
            if count > 0 {
                for (channel, centre) in centre.iter_mut().enumerate() {
                    let sum: f64 = members.clone().map(|(row, _)| row[channel]).sum();
                    *centre = sum / count as f64;
                }
            }
        }
        if !moved {
            break;
        }
    }
    let std = centres
        .iter()
        .enumerate()
        .map(|(cluster, centre)| {
            let members = rows.iter().zip(&nearest).filter(|(_, nearest)| **nearest == cluster);
            let count = members.clone().count();
            centre
                .iter()
                .zip(scale)
                .enumerate()
                .map(|(channel, (centre, scale))| {
                    let sum: f64 =
                        members.clone().map(|(row, _)| (row[channel] - centre).powi(2)).sum();
                    // A cluster of a point or two says nothing of a spread.
                    let std = if count > 2 { (sum / count as f64).sqrt() } else { 1.0 };
                    std.max(options.std_floor) * scale
                })
                .collect()
        })
        .collect();
    let mean = centres
        .iter()
        .map(|centre| centre.iter().zip(scale).map(|(x, scale)| x * scale).collect())
        .collect();
    Emissions::Gaussian { mean, std }
}

/// k-means++: each centre is drawn with probability proportional to the squared distance from those
/// before it.
fn seeds(rows: &[Vec<f64>], count: usize, rng: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
    let mut centres = vec![rows[rng.random_range(..rows.len())].clone()];
    while centres.len() < count {
        let distances: Vec<f64> = rows.iter().map(|row| closest(row, &centres).1).collect();
        let mut left = rng.random::<f64>() * distances.iter().sum::<f64>();
        let drawn = distances.iter().position(|distance| {
            left -= distance;
            left < 0.0
        });
        // Fewer distinct rows than centres: any row will do, Baum-Welch tells them apart or not.
        centres.push(rows[drawn.unwrap_or_else(|| rng.random_range(..rows.len()))].clone());
    }
    centres
}

fn closest(row: &[f64], centres: &[Vec<f64>]) -> (usize, f64) {
    centres
        .iter()
        .map(|centre| row.iter().zip(centre).map(|(x, c)| (x - c).powi(2)).sum::<f64>())
        .enumerate()
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .unwrap_or((0, 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Samples;
    use crate::fit::Topology;

    #[test]
    fn no_path_takes_a_transition_that_is_not_allowed() {
        for topology in [Topology::LeftToRight, Topology::Positions] {
            for (states, length) in [(1, 3), (4, 1), (4, 2), (4, 4), (4, 11), (3, 0)] {
                let (initial, transition) = topology.chain(states);
                let emission = Emissions::Categorical { probability: vec![vec![0.5, 0.5]; states] };
                let model = Hmm { initial, transition, emission };
                model.validate().expect("a model");
                let samples = Samples::Symbols(vec![Some(1); length]);
                let path = topology.path(&model, samples.view()).expect("a path");
                assert_eq!(path.len(), length);
                assert!(path.first().is_none_or(|&first| model.initial[first] > 0.0));
                assert!(path.windows(2).all(|pair| model.transition[pair[0]][pair[1]] > 0.0));
                let last = states.min(length).saturating_sub(1);
                assert_eq!(
                    path.last().copied().unwrap_or(0),
                    last,
                    "{topology:?} {states} {length}"
                );
            }
        }
    }
}
