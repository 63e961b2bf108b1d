//! Starting points of Baum-Welch.
//!
//! Channels: k-means and uniform probabilities of the transitions allowed, then a segmental update along Viterbi's path (Rabiner
//! 1989). States that have an order: the same along an even path. Symbols: the likeliest of short runs from random models
//! (Biernacki, Celeux and Govaert 2003, "Choosing starting values for the EM algorithm"): a path through an untrained model would
//! give each symbol a state of its own and leave no hidden structure.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::options::{BaumWelch, Fit, FitError};
use super::passes::{FitData, improve, maximise};
use crate::batch::Expectations;
use crate::data::SamplesView;
use crate::data::internals::is_partial;
use crate::elementary::Elementary;
use crate::runtime::numbers::normal;
use crate::runtime::{Emissions, Hmm};

/// Rows that k-means looks at, at most; more add time, not better means.
const KMEANS_ROWS: usize = 8_000;
const KMEANS_PASSES: usize = 25;
const SEGMENTAL_PASSES: usize = 1;
/// Random models of symbols that are run for a few passes each.
const SHORT_RUNS: usize = 8;
const SHORT_PASSES: usize = 8;

/// Starting point of a restart, by its seed and its number.
pub(super) fn initial_model(
    options: &BaumWelch,
    data: &FitData<'_>,
    size: usize,
    scale: &[f64],
    (seed, restart): (u64, usize),
) -> Result<Hmm, FitError> {
    let (states, sequences) = (options.states, data.sequences);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (initial, transition) = options.topology.chain(states);
    let emission = if sequences.iter().any(|samples| samples.rows().is_some()) {
        clusters(options, data, scale, &mut rng)
    } else if options.topology.is_ordered() {
        Emissions::categorical(vec![vec![(size as f64).recip(); size]; states])
    } else {
        return short_runs(options, data, size, &mut rng);
    };
    let mut model = Hmm { initial, transition, emission };
    // The first restart goes through the states of an order evenly, the others linger early or late.
    let warp = if restart == 0 { 1.0 } else { (0.7 * normal(&mut rng)).portable_exp() };
    segmental(options, &mut model, data, warp);
    Ok(model)
}

/// The likeliest of a few random models of symbols after a few passes each: symbols as frequent as in
/// the sequences times exponential random numbers, transitions likewise, mixed with staying.
fn short_runs(
    options: &BaumWelch,
    data: &FitData<'_>,
    size: usize,
    rng: &mut ChaCha8Rng,
) -> Result<Hmm, FitError> {
    let mut frequency = vec![1.0; size];
    for &symbol in data.sequences.iter().filter_map(SamplesView::symbols).flatten().flatten() {
        frequency[usize::from(symbol)] += 1.0;
    }
    let mut random = |weights: &[f64]| -> Vec<f64> {
        let mut exponential = || -rng.random::<f64>().max(1e-12).portable_ln();
        let drawn: Vec<f64> = weights.iter().map(|weight| weight * exponential()).collect();
        let sum: f64 = drawn.iter().sum();
        drawn.iter().map(|weight| weight / sum).collect()
    };
    let short = BaumWelch { iterations: SHORT_PASSES, tolerance: 0.0, ..options.clone() };
    let mut best: Option<Fit> = None;
    for _ in 0..if options.states > 1 { SHORT_RUNS } else { 1 } {
        let (initial, transition) = options.topology.chain(options.states);
        // What is hidden shows in a run of symbols, where states stay: some starts do, some do not.
        let stay = random(&[1.0, 1.0])[0];
        let initial = random(&initial);
        let row = |(from, row): (usize, &Vec<f64>)| {
            let mut row: Vec<f64> = random(row).iter().map(|p| (1.0 - stay) * p).collect();
            row[from] += stay;
            row
        };
        let start = Hmm {
            initial,
            transition: transition.iter().enumerate().map(row).collect(),
            emission: Emissions::categorical(
                (0..options.states).map(|_| random(&frequency)).collect(),
            ),
        };
        let fit = improve(&short, data, (start, Vec::new()), &|| ())?;
        if best.as_ref().is_none_or(|best| fit.last() > best.last()) {
            best = Some(fit);
        }
    }
    best.map(|best| best.model).ok_or(FitError::NoData)
}

/// Re-estimates from the states on a path instead of their posteriors: a few quick passes that sort
/// the data into states before Baum-Welch weighs it.
fn segmental(options: &BaumWelch, model: &mut Hmm, data: &FitData<'_>, warp: f64) {
    for _ in 0..SEGMENTAL_PASSES {
        let mut counts = Expectations::zero(model);
        // A model that no path of its own data fits has nothing to be improved by one.
        let Some(paths) = options.topology.paths(model, data.sequences, warp) else { return };
        for (samples, path) in data.sequences.iter().zip(paths) {
            count_path(model, *samples, &path, &mut counts);
        }
        maximise(model, &counts, options, &data.held(options));
    }
}

fn count_path(model: &Hmm, samples: SamplesView<'_>, path: &[usize], counts: &mut Expectations) {
    if let Some(&first) = path.first() {
        counts.initial[first] += 1.0;
    }
    for pair in path.windows(2) {
        counts.pairs[pair[0]][pair[1]] += 1.0;
    }
    let (family, parts) = (model.emission.family(), model.emission.parts());
    for (sample, &state) in samples.iter().zip(path) {
        family.count(parts, sample, state, &mut counts.emission);
    }
}

/// k-means++ and Lloyd's passes in scaled units; a state's emission a cluster.
fn clusters(
    options: &BaumWelch,
    data: &FitData<'_>,
    scale: &[f64],
    rng: &mut ChaCha8Rng,
) -> Emissions {
    let all: Vec<&[f64]> = data
        .sequences
        .iter()
        .filter_map(SamplesView::rows)
        .flat_map(|rows| rows.iter_in_part().flatten())
        .collect();
    let step = all.len().div_ceil(KMEANS_ROWS).max(1);
    let (family, held) = (data.family, data.held(options));
    let rows = family.points(&all, step, scale, &held);
    let is_partial = rows.iter().any(|row| is_partial(row));
    let blocks = Blocks::new(&rows);
    let mut centres = seeds(&rows, &blocks, options.states, rng);
    let (mut nearest, mut distances) = (vec![0; rows.len()], vec![0.0; rows.len()]);
    for _ in 0..KMEANS_PASSES {
        let before = nearest.clone();
        distances.fill(f64::INFINITY);
        for (cluster, centre) in centres.iter().enumerate() {
            blocks.approach(centre, cluster, &mut distances, &mut nearest);
        }
        let mut sums: Vec<Vec<f64>> =
            centres.iter().map(|centre| vec![0.0; centre.len()]).collect();
        let mut counts = sums.clone();
        for index in 0..rows.len() {
            let (row, cluster) = (&rows[index], nearest[index]);
            let (sums, counts) =
                (&mut sums[cluster][..row.len()], &mut counts[cluster][..row.len()]);
            if !is_partial {
                for d in 0..row.len() {
                    counts[d] += 1.0;
                    sums[d] += row[d];
                }
                continue;
            }
            for d in 0..row.len() {
                let there = f64::from(u8::from(!row[d].is_nan()));
                counts[d] += there;
                sums[d] += if there > 0.0 { row[d] } else { 0.0 };
            }
        }
        for (cluster, centre) in centres.iter_mut().enumerate() {
            for (d, centre) in centre.iter_mut().enumerate() {
                if counts[cluster][d] > 0.0 {
                    *centre = sums[cluster][d] / counts[cluster][d];
                }
            }
        }
        if nearest == before {
            break;
        }
    }
    let mut parts = vec![Vec::new(); family.parts().len()];
    for (cluster, centre) in centres.iter().enumerate() {
        let mut members: Vec<&[f64]> = Vec::new();
        for index in 0..nearest.len() {
            if nearest[index] == cluster {
                members.push(all[index * step]);
            }
        }
        let centre: Vec<f64> = centre.iter().zip(scale).map(|(x, scale)| x * scale).collect();
        let state = family.of_cluster(&members, &centre, scale, &held);
        parts.iter_mut().zip(state).for_each(|(part, row)| part.push(row));
    }
    Emissions::new(family, parts)
}

/// k-means++: each centre is drawn with probability proportional to the squared distance from those
/// before it.
fn seeds(rows: &[Vec<f64>], blocks: &Blocks, count: usize, rng: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
    let mut centres = vec![rows[rng.random_range(..rows.len())].clone()];
    // The squared distance of each row from the nearest centre so far.
    let (mut distances, mut nearest) = (vec![f64::INFINITY; rows.len()], vec![0; rows.len()]);
    while centres.len() < count {
        let newest = centres.len() - 1;
        blocks.approach(&centres[newest], newest, &mut distances, &mut nearest);
        let mut left = rng.random::<f64>() * distances.iter().sum::<f64>();
        let drawn = distances.iter().position(|distance| {
            left -= distance;
            left < 0.0
        });
        // Fewer distinct rows than centres: any row will do, Baum-Welch tells them apart or not.
        centres.push(rows[drawn.unwrap_or_else(|| rng.random_range(..rows.len()))].clone());
    }
    // What a drawn row lacks is in the middle of all.
    for centre in &mut centres {
        for (d, x) in centre.iter_mut().enumerate().filter(|(_, x)| x.is_nan()) {
            let there = || rows.iter().map(|row| row[d]).filter(|x| !x.is_nan());
            *x = there().sum::<f64>() / (there().count() as f64).max(1.0);
        }
    }
    centres
}

/// Rows that distances are summed for together.
const LANES: usize = 8;

/// Rows side by side, `[block][channel]`: what is measured from a centre is measured for the rows of a block together.
struct Blocks {
    table: Vec<[f64; LANES]>,
    rows: usize,
    channels: usize,
}

impl Blocks {
    fn new(rows: &[Vec<f64>]) -> Self {
        let channels = rows.first().map_or(0, Vec::len);
        let mut table = vec![[0.0; LANES]; rows.len().div_ceil(LANES) * channels];
        for (index, row) in rows.iter().enumerate() {
            for (d, x) in row.iter().enumerate() {
                table[index / LANES * channels + d][index % LANES] = *x;
            }
        }
        Self { table, rows: rows.len(), channels }
    }

    /// Squared distances of a block's rows from a centre, by the channels that both have.
    fn squares(&self, block: usize, centre: &[f64]) -> [f64; LANES] {
        let mut squares = [0.0; LANES];
        let channels = &self.table[block * self.channels..][..self.channels];
        for d in 0..self.channels {
            for lane in 0..LANES {
                let gap = channels[d][lane] - centre[d];
                let gap = if gap.is_nan() { 0.0 } else { gap };
                squares[lane] += gap * gap;
            }
        }
        squares
    }

    /// Lowers the distances of rows that are nearer to a centre than to those before it, and calls it their nearest.
    fn approach(&self, centre: &[f64], name: usize, distances: &mut [f64], nearest: &mut [usize]) {
        for block in 0..self.rows.div_ceil(LANES) {
            let squares = self.squares(block, centre);
            let end = (self.rows - block * LANES).min(LANES);
            for lane in 0..end {
                let row = block * LANES + lane;
                if squares[lane] < distances[row] {
                    distances[row] = squares[lane];
                    nearest[row] = name;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Samples;
    use crate::fit::Topology;

    #[test]
    fn centres_are_drawn_by_their_squared_distance() {
        let rows = [0.0, 1.0, 10.0].map(|x| vec![x]);
        let mut far = (0, 0);
        for seed in 0..300 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let centres = seeds(&rows, &Blocks::new(&rows), 3, &mut rng);
            // What is a centre already is never drawn again.
            let mut values: Vec<f64> = centres.iter().map(|centre| centre[0]).collect();
            let (first, second) = (values[0], values[1]);
            values.sort_by(f64::total_cmp);
            assert_eq!(values, [0.0, 1.0, 10.0]);
            if first < 10.0 {
                far = (far.0 + 1, far.1 + usize::from(second == 10.0));
            }
        }
        // One in a hundred of these is the near one.
        assert!(far.0 > 150 && far.0 - far.1 < 10, "{far:?}");
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        assert_eq!(seeds(&rows[..1], &Blocks::new(&rows[..1]), 3, &mut rng), [[0.0], [0.0], [0.0]]);
    }

    #[test]
    fn a_path_counts_its_start_its_steps_and_what_is_seen_in_its_states() {
        let (initial, transition) = Topology::Ergodic.chain(2);
        let emission = Emissions::categorical(vec![vec![0.5, 0.5]; 2]);
        let model = Hmm { initial, transition, emission };
        let mut counts = Expectations::zero(&model);
        let samples = Samples::Symbols(vec![Some(1), Some(0), None, Some(1)]);
        for _ in 0..2 {
            count_path(&model, samples.view(), &[1, 0, 0, 0], &mut counts);
        }
        assert_eq!(counts.initial, [0.0, 2.0]);
        assert_eq!(counts.pairs, [[4.0, 0.0], [2.0, 0.0]]);
        assert_eq!(counts.emission.by_state().collect::<Vec<f64>>(), [2.0, 2.0, 0.0, 2.0]);
    }

    #[test]
    fn no_path_takes_a_transition_that_is_not_allowed() {
        for topology in [Topology::LeftToRight, Topology::Positions] {
            for (states, length) in [(1, 3), (4, 1), (4, 2), (4, 4), (4, 11), (3, 0)] {
                let (initial, transition) = topology.chain(states);
                let emission = Emissions::categorical(vec![vec![0.5, 0.5]; states]);
                let model = Hmm { initial, transition, emission };
                model.validate().expect("a model");
                let samples = Samples::Symbols(vec![Some(1); length]);
                for warp in [1.0, 0.2, 5.0] {
                    let paths = topology.paths(&model, &[samples.view()], warp);
                    let path = &paths.expect("a path")[0];
                    assert_eq!(path.len(), length);
                    assert!(path.first().is_none_or(|&first| model.initial[first] > 0.0));
                    assert!(path.windows(2).all(|pair| model.transition[pair[0]][pair[1]] > 0.0));
                    let last = states.min(length).saturating_sub(1);
                    let reached = path.last().copied().unwrap_or(0);
                    assert!(reached == last || warp > 1.0, "{topology:?} {states} {length}");
                }
            }
        }
    }
}
