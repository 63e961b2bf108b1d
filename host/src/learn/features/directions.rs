//! Conversion of weights on features into directions of their models.

use super::{FeatureMap, Features, mix_counts};
use crate::classifier::{Direction, EmissionDirection};
use crate::kernel::mean_map::mix_words;
use crate::runtime::{Hmm, Parts};

impl FeatureMap {
    /// Converts weights on the features into a direction and a weight on the log-likelihood for each model.
    pub fn directions(&self, weights: &[f64]) -> Vec<(Direction, f64)> {
        let mut rest = weights.iter().copied();
        let mut directions: Vec<(Direction, f64)> = self
            .models
            .iter()
            .zip(&self.kept)
            .enumerate()
            .map(|(index, (model, kept))| {
                let mut of_entry = |kept: &bool| if *kept { rest.next() } else { None };
                let all: Vec<f64> = kept.iter().map(|kept| of_entry(kept).unwrap_or(0.0)).collect();
                let likelihood = if self.with_likelihood { rest.next() } else { None };
                let mut all = all.into_iter();
                let mut take = |count: usize| -> Vec<f64> { all.by_ref().take(count).collect() };
                let direction = match self.features {
                    Features::Counts => weigh_statistics(model, model.states(), &mut take),
                    Features::EmpiricalMap { order, mismatch } => {
                        let size = model.size();
                        let contexts = size.saturating_pow(order as u32);
                        let mut weights = take(contexts * size);
                        mix_words(&mut weights, size, mismatch);
                        let mut rest = weights.into_iter();
                        weigh_statistics(model, contexts, &mut |count| {
                            rest.by_ref().take(count).collect()
                        })
                    }
                    Features::LatentMap { mismatch } => {
                        let states = model.states();
                        let mut weights = take(states * (model.size() + states));
                        mix_counts(model, mismatch, &mut weights);
                        let mut rest = weights.into_iter();
                        let mut take =
                            |count: usize| -> Vec<f64> { rest.by_ref().take(count).collect() };
                        let emitting = weigh_statistics(model, states, &mut take);
                        let transition = (0..states).map(|_| take(states)).collect();
                        Direction { transition, ..emitting }
                    }
                    Features::Scores | Features::LogOdds => {
                        self.weigh_score(model, &self.units(index), &mut take)
                    }
                };
                (direction, likelihood.unwrap_or(0.0))
            })
            .collect();
        for ((c, d), weight) in self.pairs().zip(rest) {
            directions[c].1 -= weight;
            directions[d].1 += weight;
        }
        directions
    }

    fn weigh_score(
        &self,
        model: &Hmm,
        units: &[f64],
        take: &mut impl FnMut(usize) -> Vec<f64>,
    ) -> Direction {
        let weight = self.weight();
        let mut take = |count| take(count).into_iter().map(|w| w * weight).collect::<Vec<f64>>();
        let states = model.states();
        let initial = take(states);
        let transition = (0..states).map(|_| take(states)).collect();
        let (family, shape) = (model.emission.family(), model.emission.shape());
        let parts = Parts::taken(family.score(), states, shape, |block, width| {
            let mut rates = take(width);
            if family.in_units(block) {
                rates.iter_mut().zip(units.iter().cycle()).for_each(|(rate, unit)| *rate *= unit);
            }
            rates
        });
        let emission = EmissionDirection::of_score(family, parts);
        Direction { initial, transition, emission }
    }
}

/// The direction whose derivative weighs expected statistics, laid out state by state: `d log p / d log
/// b_j(k)` is the expected number of symbols `k` in state `j`, or in one of the contexts.
fn weigh_statistics(
    model: &Hmm,
    rows: usize,
    take: &mut impl FnMut(usize) -> Vec<f64>,
) -> Direction {
    let (states, family) = (model.states(), model.emission.family());
    let (blocks, shape) = (family.statistics(), model.emission.shape());
    let parts = Parts::taken(blocks, rows, shape, |_, width| take(width));
    let emission = EmissionDirection::of_statistics(family, parts);
    Direction { initial: vec![0.0; states], transition: vec![vec![0.0; states]; states], emission }
}
