//! Expected sufficient statistics of sequences under a model: the one engine whose readers are
//! Baum-Welch and the Fisher score.

use fishweir_core::emission::Emission;
use fishweir_core::hmm::Hmm as CoreHmm;
use fishweir_core::number::Lanes;
use fishweir_core::smooth::SequenceError;

use super::channels::{BLOCK, Channels};
use super::group::{Any, Group};
use super::smoothing::{SmoothedLanes, columns};
use super::symbols::Symbols;
use super::{Reader, Smoothed, each_smoothed};
use crate::data::SamplesView;
use crate::runtime::{CategoricalVec, Emissions, Hmm, Parts, RowState, Weighed};

/// Expected sufficient statistics, of one sequence or summed over several.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectations {
    /// `log p(x_1..T)`, summed.
    pub log_likelihood: f64,
    /// `p(z_1 = i | x)`, `[state]`.
    pub initial: Vec<f64>,
    /// Expected transitions, `[from][to]`.
    pub pairs: Vec<Vec<f64>>,
    /// Expected statistics of the emissions over the observations that were not missing, as the family
    /// has them.
    pub emission: Parts,
}

impl Expectations {
    /// Nothing expected yet, in the shape of a model.
    pub fn zero(model: &Hmm) -> Self {
        let (states, emission) = (model.states(), &model.emission);
        Self {
            log_likelihood: 0.0,
            initial: vec![0.0; states],
            pairs: vec![vec![0.0; states]; states],
            emission: Parts::zero(emission.family().statistics(), states, emission.shape()),
        }
    }

    /// Adds the statistics of more sequences under the same model.
    pub fn add(&mut self, other: &Self) {
        fn add(to: &mut [f64], from: &[f64]) {
            for (to, from) in to.iter_mut().zip(from) {
                *to += from;
            }
        }
        self.log_likelihood += other.log_likelihood;
        add(&mut self.initial, &other.initial);
        for (to, from) in self.pairs.iter_mut().zip(&other.pairs) {
            add(to, from);
        }
        self.emission.add(&other.emission);
    }
}

/// The expected statistics of each sequence under a valid model, in order; an impossible sequence
/// is an error in its place.
///
/// Forward-backward by the core, in `f64`, many sequences [side by side](super).
/// RAM: `16 N` reals a step of a group, `8 N` of more than four states, and a copy of its samples. Work a sample:
/// `4 N^2 + N` likelihoods and statistics.
pub fn expectations(
    model: &Hmm,
    sequences: &[SamplesView<'_>],
) -> Vec<Result<Expectations, SequenceError>> {
    each_smoothed(model, sequences, &Statistics)
}

/// Reads expected statistics.
struct Statistics;

impl Reader for Statistics {
    type Output = Expectations;

    fn read<'x, E: Accumulate, const N: usize>(
        &self,
        model: &Hmm,
        _: &CoreHmm<E, N>,
        samples: impl Iterator<Item = Option<&'x E::Observation>>,
        smoothed: &Smoothed<'_, N>,
    ) -> Expectations
    where
        E::Observation: 'x,
    {
        let mut expected = Expectations::zero(model);
        expected.log_likelihood = smoothed.log_likelihood;
        for (to, from) in expected.pairs.iter_mut().zip(&smoothed.pairs) {
            to.copy_from_slice(&from[..model.states()]);
        }
        if let Some(first) = smoothed.rows.first() {
            expected.initial.copy_from_slice(&first[..model.states()]);
        }
        let weighed = samples.zip(smoothed.rows).filter_map(|(x, row)| x.map(|x| (x, row)));
        E::collect::<N>(&model.emission, weighed, &mut expected.emission);
        expected
    }

    fn read_lanes<E: Accumulate, G: Tally<E, N, L>, const N: usize, const L: usize>(
        &self,
        model: &Hmm,
        _: &CoreHmm<E, N>,
        group: &G,
        smoothed: &SmoothedLanes<'_, N, L>,
    ) -> Vec<Expectations> {
        let each = |lane: usize| {
            let mut expected = Expectations::zero(model);
            expected.log_likelihood = smoothed.log_likelihood(lane);
            for (to, from) in expected.pairs.iter_mut().zip(smoothed.pairs(lane)) {
                to.copy_from_slice(&from[..model.states()]);
            }
            if let Some(first) = smoothed.rows.get(group.start(lane)) {
                for (to, from) in expected.initial.iter_mut().zip(first) {
                    *to = from.0[lane];
                }
            }
            expected
        };
        let mut expected: Vec<Expectations> = (0..smoothed.count).map(each).collect();
        group.tally(model, smoothed.rows, &mut expected);
        expected
    }
}

/// A group whose observations are added to statistics, all lanes at once.
pub(crate) trait Tally<E: Accumulate, const N: usize, const L: usize>:
    Group<f64, E, N, 1, L>
{
    /// Adds the observations of each lane, each weighed by its posterior, `[step][state][lane]`, in order of
    /// time.
    fn tally(&self, model: &Hmm, rows: &[[Lanes<f64, L>; N]], into: &mut [Expectations]);
}

impl<const N: usize, const L: usize> Tally<CategoricalVec<f64>, N, L> for Symbols<'_, f64, 1, L> {
    fn tally(&self, model: &Hmm, rows: &[[Lanes<f64, L>; N]], into: &mut [Expectations]) {
        // What is no symbol is counted past the last one.
        let size = model.size() + 1;
        let mut counts = vec![[0.0; N]; L * size];
        for ([symbols], row) in self.symbols().iter().zip(rows) {
            for (lane, (&symbol, counts)) in
                symbols.iter().zip(counts.chunks_exact_mut(size)).enumerate()
            {
                let counts = &mut counts[usize::from(symbol).min(size - 1)];
                for (count, weight) in counts.iter_mut().zip(row) {
                    *count += weight.0[lane];
                }
            }
        }
        for (counts, expected) in counts.chunks_exact(size).zip(into) {
            add_counts(counts, &mut expected.emission);
        }
    }
}

/// Adds counts, `[symbol][state]`.
fn add_counts<const N: usize>(counts: &[[f64; N]], into: &mut Parts) {
    let [states] = into.rows_mut();
    for (state, row) in states.iter_mut().enumerate() {
        for (count, counts) in row.iter_mut().zip(counts) {
            *count += counts[state];
        }
    }
}

impl<const N: usize, const L: usize> Tally<RowState<f64>, N, L> for Channels<'_, f64, L> {
    fn tally(&self, model: &Hmm, rows: &[[Lanes<f64, L>; N]], into: &mut [Expectations]) {
        let (family, parts) = (model.emission.family(), model.emission.parts());
        let states = model.states();
        let entries =
            family.statistics().iter().map(|block| block.width.of(model.emission.shape()));
        let mut sums = vec![0.0; states * entries.sum::<usize>() * L];
        let (mut x, mut weights) =
            (vec![0.0; BLOCK * self.channels * L], vec![0.0; BLOCK * states * L]);
        for (block, rows) in rows.chunks(BLOCK).enumerate() {
            let (step, size) = (block * BLOCK, rows.len() * L);
            self.lay(step, rows.len(), &mut x[..self.channels * size]);
            for (state, weights) in weights[..states * size].chunks_exact_mut(size).enumerate() {
                for (weights, row) in weights.chunks_exact_mut(L).zip(rows) {
                    weights.copy_from_slice(&row[state].0);
                }
            }
            self.forget(step, &mut weights[..states * size], size);
            family.collect_lanes(
                parts,
                L,
                &x[..self.channels * size],
                &weights[..states * size],
                &mut sums,
            );
        }
        for (lane, expected) in into.iter_mut().enumerate() {
            let mut sums = sums.iter().skip(lane).step_by(L);
            expected.emission.fill(&mut || sums.next().copied().unwrap_or(0.0));
        }
    }
}

impl<const N: usize, const L: usize> Tally<RowState<f64>, N, L> for Any<'_, [f64]> {
    fn tally(&self, model: &Hmm, rows: &[[Lanes<f64, L>; N]], into: &mut [Expectations]) {
        let count = into.len();
        let starts: Vec<usize> = (0..count)
            .map(|lane| Group::<f64, RowState<f64>, N, 1, L>::start(self, lane))
            .collect();
        let emission = &model.emission;
        for ((lane, rows), expected) in columns(&starts, rows).iter().enumerate().zip(into) {
            let samples = (starts[lane]..).zip(rows);
            let weighed: Vec<Weighed<'_>> = samples
                .filter_map(|(step, row)| Some((self.at(step, lane)??, row.as_slice())))
                .collect();
            emission.family().collect(emission.parts(), &weighed, &mut expected.emission);
        }
    }
}

/// How observations are added to the statistics of a model's emissions.
pub(crate) trait Accumulate: Emission<Weight = f64> {
    /// Adds observations, each weighed by its posterior, `[state]`.
    fn collect<'x, const N: usize>(
        emission: &Emissions,
        samples: impl Iterator<Item = (&'x Self::Observation, &'x [f64; N])>,
        into: &mut Parts,
    ) where
        Self::Observation: 'x;
}

/// Symbols are counted here, where the number of states is known: they are many, and quick.
impl Accumulate for CategoricalVec<f64> {
    fn collect<'x, const N: usize>(
        _: &Emissions,
        samples: impl Iterator<Item = (&'x u16, &'x [f64; N])>,
        into: &mut Parts,
    ) {
        let [counts] = into.rows_mut();
        let size = counts.first().map_or(0, Vec::len);
        let mut by_symbol = vec![[0.0; N]; size];
        for (&symbol, posterior) in samples {
            let sums = &mut by_symbol[usize::from(symbol)];
            for (sum, weight) in sums.iter_mut().zip(posterior) {
                *sum += weight;
            }
        }
        add_counts(&by_symbol, into);
    }
}

impl Accumulate for RowState<f64> {
    fn collect<'x, const N: usize>(
        emission: &Emissions,
        samples: impl Iterator<Item = (&'x [f64], &'x [f64; N])>,
        into: &mut Parts,
    ) {
        let samples: Vec<Weighed<'x>> = samples.map(|(x, row)| (x, row.as_slice())).collect();
        emission.family().collect(emission.parts(), &samples, into);
    }
}
