//! Expected statistics, and how the observations of a sequence, or of all lanes of a group, are added to them.

use fishweir_core::emission::Emission;
use fishweir_core::number::{Lanes, shorter};

use super::channels::{BLOCK, Channels};
use super::group::{Any, Group};
use super::symbols::Symbols;
use crate::runtime::{CategoricalVec, Emissions, Family, Hmm, Parts, RowState, Shape, Weighed};
use crate::sums::Summand;

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
        let emission = &model.emission;
        Self::zero_of(emission.family(), model.states(), emission.shape())
    }

    /// Nothing expected yet, of a family with some states and sizes.
    pub fn zero_of(family: &dyn Family, states: usize, shape: Shape) -> Self {
        Self {
            log_likelihood: 0.0,
            initial: vec![0.0; states],
            pairs: vec![vec![0.0; states]; states],
            emission: Parts::zero(family.statistics(), states, shape),
        }
    }

    /// All numbers but those of missing channels: the log-likelihood, first states, transitions, and the emissions' state by
    /// state.
    pub fn numbers(&self) -> Vec<f64> {
        let chain = self.initial.iter().chain(self.pairs.iter().flatten()).copied();
        std::iter::once(self.log_likelihood).chain(chain).chain(self.emission.by_state()).collect()
    }

    /// Fills in [`numbers`](Self::numbers); `false`, and nothing is filled in, if there are more or fewer of them.
    pub fn fill(&mut self, numbers: &[f64]) -> bool {
        if numbers.len() != self.numbers().len() {
            return false;
        }
        let mut numbers = numbers.iter().copied();
        let mut next = || numbers.next().unwrap_or(0.0);
        self.log_likelihood = next();
        self.initial.iter_mut().for_each(|entry| *entry = next());
        self.pairs.iter_mut().flatten().for_each(|entry| *entry = next());
        self.emission.fill(&mut next);
        true
    }

    /// Expectations of nothing: they add nothing, whatever the shape, and take no memory.
    pub(super) fn none() -> Self {
        let (initial, pairs) = (Vec::new(), Vec::new());
        Self { log_likelihood: 0.0, initial, pairs, emission: Parts::none() }
    }
}

impl Summand for Expectations {
    fn add(&mut self, other: &Self) {
        fn add(to: &mut [f64], from: &[f64]) {
            for k in 0..to.len().min(from.len()) {
                to[k] += from[k];
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

/// A group whose observations are added to statistics, all lanes at once.
pub(crate) trait Tally<E: Accumulate, const N: usize, const L: usize>:
    Group<f64, E, N, 1, L>
{
    /// Adds the observations of each of the first `count` lanes, each weighed by its posterior,
    /// `[step][state][lane]`, in order of time, to its own statistics, or to all lanes' where `into` has but those.
    fn tally(
        &self,
        model: &Hmm,
        rows: &[[Lanes<f64, L>; N]],
        count: usize,
        into: &mut [Expectations],
    );
}

/// Destinations of the statistics of `count` lanes: each its own, or all the same one.
fn places(count: usize, into: &[Expectations]) -> impl Iterator<Item = (usize, usize)> + use<> {
    let last = into.len().saturating_sub(1);
    (0..count).map(move |lane| (lane, lane.min(last)))
}

impl<const N: usize, const L: usize> Tally<CategoricalVec<f64>, N, L> for Symbols<'_, f64, 1, L> {
    fn tally(
        &self,
        model: &Hmm,
        rows: &[[Lanes<f64, L>; N]],
        count: usize,
        into: &mut [Expectations],
    ) {
        // What is no symbol is counted past the last one.
        let size = model.size() + 1;
        let mut counts = vec![[0.0; N]; L * size];
        let symbols = self.symbols();
        for step in 0..symbols.len().min(rows.len()) {
            let ([symbols], row) = (&symbols[step], &rows[step]);
            for lane in 0..L {
                let symbol = usize::from(symbols[lane]).min(size - 1);
                let counts = &mut counts[lane * size + symbol];
                for state in 0..N {
                    counts[state] += row[state].0[lane];
                }
            }
        }
        for (lane, place) in places(count, into) {
            add_counts(&counts[lane * size..][..size], &mut into[place].emission);
        }
    }
}

/// Adds counts, `[symbol][state]`.
fn add_counts<const N: usize>(counts: &[[f64; N]], into: &mut Parts) {
    let [states] = into.rows_mut();
    for state in 0..states.len() {
        let row = &mut states[state];
        for symbol in 0..row.len().min(counts.len()) {
            row[symbol] += counts[symbol][state];
        }
    }
}

impl<const N: usize, const L: usize> Tally<RowState<f64>, N, L> for Channels<'_, f64, L> {
    fn tally(
        &self,
        model: &Hmm,
        rows: &[[Lanes<f64, L>; N]],
        count: usize,
        into: &mut [Expectations],
    ) {
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
                let weights = weights.as_chunks_mut::<L>().0;
                for step in 0..rows.len() {
                    weights[step] = rows[step][state].0;
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
        // A lane that observes nothing has sums of zero.
        let each = if into.len() == count { 1 } else { L };
        for (first, expected) in into.iter_mut().enumerate() {
            let mut entries = sums.as_chunks::<L>().0.iter();
            expected.emission.fill(&mut || {
                let lanes = entries.next().map_or(&[][..], |lanes| &lanes[first..][..each]);
                lanes.iter().sum()
            });
        }
    }
}

impl<const N: usize, const L: usize> Tally<RowState<f64>, N, L> for Any<'_, [f64]> {
    fn tally(
        &self,
        model: &Hmm,
        rows: &[[Lanes<f64, L>; N]],
        count: usize,
        into: &mut [Expectations],
    ) {
        let starts: Vec<usize> = (0..count)
            .map(|lane| Group::<f64, RowState<f64>, N, 1, L>::start(self, lane))
            .collect();
        let emission = &model.emission;
        for (rows, (lane, place)) in columns(&starts, rows).iter().zip(places(count, into)) {
            let samples = (starts[lane]..).zip(rows);
            let weighed: Vec<Weighed<'_>> = samples
                .filter_map(|(step, row)| Some((self.at(step, lane)??, row.as_slice())))
                .collect();
            emission.family().collect(emission.parts(), &weighed, &mut into[place].emission);
        }
    }
}

/// Emission whose observations can be added to expected statistics.
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
            for state in 0..N {
                sums[state] += posterior[state];
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
        let mut weighed: Vec<Weighed<'x>> = Vec::new();
        for (x, row) in samples {
            weighed.push((x, row.as_slice()));
        }
        emission.family().collect(emission.parts(), &weighed, into);
    }
}

/// Each lane's rows, `[lane][time][state]`: step by step, because a lane's numbers lie far apart.
pub(super) fn columns<const N: usize, const L: usize>(
    starts: &[usize],
    rows: &[[Lanes<f64, L>; N]],
) -> Vec<Vec<[f64; N]>> {
    let mut lanes: Vec<Vec<[f64; N]>> =
        starts.iter().map(|start| Vec::with_capacity(rows.len() - start)).collect();
    let count = shorter(starts.len(), L);
    let (starts, columns) = (&starts[..count], &mut lanes[..count]);
    for step in 0..rows.len() {
        let row = &rows[step];
        for lane in 0..count {
            if step >= starts[lane] {
                let mut own = [0.0; N];
                for state in 0..N {
                    own[state] = row[state].0[lane];
                }
                columns[lane].push(own);
            }
        }
    }
    lanes
}
