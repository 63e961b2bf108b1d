//! Inference and learning for chains with silent states: posteriors, scores, Baum-Welch, draws.

use fishweir_core::emission::{Probabilities, score_row};
use rand::Rng;

use super::silent_chain::{ChainExpectations, SilentChain};

/// A gradient in the shape of a chain.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainScore {
    /// Gradient by initial probabilities, `[state]`.
    pub initial: Vec<f64>,
    /// Probability that a path ends, `[state]`: one of the ways on of its state.
    pub end: Vec<f64>,
    /// Gradient by emissions, `[state][symbol]`; empty for a silent state.
    pub emission: Vec<Vec<f64>>,
    /// Gradient by edges, in their order.
    pub edges: Vec<f64>,
}

impl SilentChain {
    /// The ways on of every state: its edges, in their order, and last its end.
    fn rows(&self) -> Vec<Vec<Option<usize>>> {
        let mut rows = vec![Vec::new(); self.states()];
        for (index, edge) in self.edges().iter().enumerate() {
            rows[edge.from].push(Some(index));
        }
        rows.iter_mut().for_each(|row| row.push(None));
        rows
    }

    /// The score of a sequence by its expected counts: of every distribution, initial states, a state's ways on and
    /// what it emits, the gradient of `log p(x)` with respect to its ratios or logits. `parametrisation` is as in
    /// [`Profile::score`](super::Profile::score).
    pub fn score(&self, counts: &ChainExpectations, parametrisation: Probabilities) -> ChainScore {
        let row = |probability: &[f64], counts: &[f64]| {
            let mut score = vec![0.0; counts.len()];
            score_row(probability, counts, parametrisation, &mut score);
            score
        };
        let mut score = ChainScore {
            initial: row(self.initial(), &counts.initial),
            end: vec![0.0; self.states()],
            emission: (0..self.states())
                .map(|state| match self.emission(state) {
                    Some(emission) => row(emission, &counts.emission[state]),
                    None => Vec::new(),
                })
                .collect(),
            edges: vec![0.0; self.edges().len()],
        };
        for (state, ways) in self.rows().iter().enumerate() {
            let probability = |way: &Option<usize>| {
                way.map_or(self.end()[state], |edge| self.edges()[edge].weight)
            };
            let count =
                |way: &Option<usize>| way.map_or(counts.end[state], |edge| counts.edges[edge]);
            let probability: Vec<f64> = ways.iter().map(probability).collect();
            let count: Vec<f64> = ways.iter().map(count).collect();
            for (way, value) in ways.iter().zip(row(&probability, &count)) {
                match way {
                    Some(edge) => score.edges[*edge] = value,
                    None => score.end[state] = value,
                }
            }
        }
        score
    }

    /// One pass of Baum-Welch over some sequences: every distribution becomes its expected counts, and a
    /// pseudo-count for each way that was possible. Also the sum of `log p(x)` before the pass. `None` where no
    /// sequence has a path. A distribution that is never used stays.
    pub fn baum_welch(&self, sequences: &[&[usize]], pseudo_count: f64) -> Option<(Self, f64)> {
        let mut all: Option<ChainExpectations> = None;
        for counts in sequences.iter().filter_map(|x| self.expectations(x)) {
            all = Some(match all {
                None => counts,
                Some(sum) => sum.plus(&counts),
            });
        }
        let all = all?;
        let estimate = |old: &[f64], counts: &[f64]| -> Vec<f64> {
            let smooth =
                |(&old, &count): (&f64, &f64)| if old > 0.0 { count + pseudo_count } else { 0.0 };
            let new: Vec<f64> = old.iter().zip(counts).map(smooth).collect();
            let sum: f64 = new.iter().sum();
            if sum > 0.0 { new.iter().map(|entry| entry / sum).collect() } else { old.to_vec() }
        };
        let initial = estimate(self.initial(), &all.initial);
        let emission = (0..self.states())
            .map(|state| Some(estimate(self.emission(state)?, &all.emission[state])))
            .collect();
        let (mut end, mut edges) = (self.end().to_vec(), self.edges().to_vec());
        for (state, ways) in self.rows().iter().enumerate() {
            let old = ways.iter().map(|way| way.map_or(end[state], |edge| edges[edge].weight));
            let old: Vec<f64> = old.collect();
            let counts = ways.iter().map(|way| way.map_or(all.end[state], |edge| all.edges[edge]));
            let counts: Vec<f64> = counts.collect();
            for (way, new) in ways.iter().zip(estimate(&old, &counts)) {
                match way {
                    Some(edge) => edges[*edge].weight = new,
                    None => end[state] = new,
                }
            }
        }
        let next = Self::new(self.symbols(), initial, end, emission, edges).ok()?;
        Some((next, all.log_likelihood))
    }

    /// Draws a path and what it emits: states, and symbols. Weights are taken for probabilities, by their share of
    /// their row. A path that reaches `longest` symbols is cut there.
    pub fn sample(&self, longest: usize, random: &mut impl Rng) -> (Vec<usize>, Vec<usize>) {
        let rows = self.rows();
        let mut choose = |weights: &[f64]| -> Option<usize> {
            let mut left = random.random::<f64>() * weights.iter().sum::<f64>();
            let passed = weights.iter().position(|weight| {
                left -= weight;
                left < 0.0
            });
            passed.or_else(|| weights.iter().rposition(|&weight| weight > 0.0))
        };
        let (mut states, mut symbols) = (Vec::new(), Vec::new());
        let mut next = choose(self.initial());
        while let Some(state) = next {
            states.push(state);
            if let Some(emission) = self.emission(state) {
                symbols.extend(choose(emission));
                if symbols.len() >= longest {
                    break;
                }
            }
            let ways = &rows[state];
            let weight = |way: &Option<usize>| {
                way.map_or(self.end()[state], |edge| self.edges()[edge].weight)
            };
            let weights: Vec<f64> = ways.iter().map(weight).collect();
            let way = choose(&weights).and_then(|way| ways[way]);
            next = way.map(|edge| self.edges()[edge].to);
        }
        (states, symbols)
    }
}

impl ChainExpectations {
    fn plus(mut self, other: &Self) -> Self {
        let add = |a: &mut [f64], b: &[f64]| a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        self.log_likelihood += other.log_likelihood;
        add(&mut self.initial, &other.initial);
        add(&mut self.end, &other.end);
        add(&mut self.edges, &other.edges);
        self.emission.iter_mut().zip(&other.emission).for_each(|(a, b)| add(a, b));
        self
    }
}
