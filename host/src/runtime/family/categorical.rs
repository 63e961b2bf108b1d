use fishweir_core::emission::{CategoricalView, Emission, Parametrisation, Row};
use fishweir_core::number::{RealParameter, array_of};
use fishweir_core::{ModelError, ObservationError};
use rand_chacha::ChaCha8Rng;

use super::device::{Content, lift, weights_along};
use super::{
    Block, DeployedEmission, Distribution, DoesNotFit, Drawn, Family, Field, FieldKind, Observed,
    Parts, Precision, Rates, Regularisation, Shape, Weighed, Width, logit, table_towards,
};
use crate::data::Sample;
use crate::runtime::numbers::{choose, free_probabilities, normalise_into, push_row};
use crate::runtime::{HmmError, check};

/// Symbols, each with a probability.
///
/// Recursions over symbols look likelihoods up ([`CategoricalVec`]); they are not met as rows.
#[derive(Debug)]
pub(crate) struct Categorical;

const PROBABILITY: Block = Block::new("probability", Width::Size);

impl Family for Categorical {
    fn name(&self) -> &'static str {
        "categorical"
    }
    fn about(&self) -> &'static str {
        "symbols, by a table of probabilities"
    }
    fn observes(&self) -> Observed {
        Observed::Symbol
    }
    fn parts(&self) -> &'static [Block] {
        &[PROBABILITY]
    }
    fn statistics(&self) -> &'static [Block] {
        const { &[Block::new("counts", Width::Size)] }
    }
    fn statistics_name(&self) -> Option<&'static str> {
        Some("counts")
    }
    fn score(&self) -> &'static [Block] {
        const { &[Block::new("logits", Width::Size)] }
    }

    fn validate(&self, parts: &Parts, states: usize, shape: Shape) -> Result<(), HmmError> {
        let [probability] = parts.rows();
        check::distributions(PROBABILITY.name, probability, states, shape.size)
    }

    /// Uniform probabilities: distances of symbols carry no information.
    fn of_cluster(
        &self,
        _: &[&[f64]],
        centre: &[f64],
        _: &[f64],
        _: &Regularisation<'_>,
    ) -> Vec<Vec<f64>> {
        vec![vec![(centre.len() as f64).recip(); centre.len()]]
    }

    fn collect(&self, _: &Parts, _: &[Weighed<'_>], _: &mut Parts) {}

    fn count(&self, _: &Parts, sample: Sample<'_>, state: usize, into: &mut Parts) {
        let [counts] = into.rows_mut();
        if let Sample::Symbol(symbol) = sample {
            counts[state][usize::from(symbol)] += 1.0;
        }
    }

    fn occupancy(&self, statistics: &Parts) -> Vec<f64> {
        let [counts] = statistics.rows();
        counts.iter().map(|row| row.iter().sum()).collect()
    }

    fn maximise(&self, parts: &mut Parts, statistics: &Parts, held: &Regularisation<'_>) {
        let ([probability], [counts]) = (parts.rows_mut(), statistics.rows());
        for (row, counts) in probability.iter_mut().zip(counts) {
            let smoothed: Vec<f64> = counts.iter().map(|count| count + held.pseudocount).collect();
            normalise_into(row, &smoothed, 0.0);
        }
    }

    /// Logarithm of the Dirichlet density that pseudocounts imply.
    fn log_prior(&self, parts: &Parts, held: &Regularisation<'_>) -> f64 {
        let [probability] = parts.rows();
        crate::runtime::numbers::log_dirichlet(held.pseudocount, probability)
    }

    fn free_parameters(&self, parts: &Parts) -> usize {
        let [probability] = parts.rows();
        probability.iter().map(|row| free_probabilities(row)).sum()
    }

    fn distribution(&self, parts: &Parts, state: usize) -> Option<Distribution> {
        let [probability] = parts.rows();
        probability.get(state).cloned().map(Distribution::Categorical)
    }

    fn draw(&self, parts: &Parts, state: usize, rng: &mut ChaCha8Rng) -> Drawn {
        let [probability] = parts.rows();
        Drawn::Symbol(choose(&probability[state], rng))
    }

    fn push_score(
        &self,
        parts: &Parts,
        statistics: &Parts,
        parametrisation: Parametrisation,
        score: &mut Vec<f64>,
    ) {
        let ([probability], [counts]) = (parts.rows(), statistics.rows());
        for (row, counts) in probability.iter().zip(counts) {
            push_row(row, counts, parametrisation, score);
        }
    }

    fn moving(&self, parts: &Parts) -> Vec<bool> {
        parts.by_state().map(|p| p > 0.0 && p < 1.0).collect()
    }

    fn possible(&self, parts: &Parts) -> Vec<bool> {
        parts.by_state().map(|p| p > 0.0).collect()
    }

    fn towards(&self, from: &Parts, to: &Parts) -> Option<Parts> {
        let ([from], [to]) = (from.rows(), to.rows());
        Some(Parts::new(self.score(), [table_towards(from, to, logit)?]))
    }

    fn core_types(&self) -> &'static [&'static str] {
        &["Categorical"]
    }
    fn fields(&self) -> &'static [FieldKind] {
        const { &[FieldKind::new(Content::Weights, Width::Size)] }
    }

    fn deploy(
        &self,
        parts: &Parts,
        state: usize,
        along: &[Rates<'_>],
        _: &Precision,
    ) -> Result<Vec<Field<f64>>, DoesNotFit> {
        let [probability] = parts.rows();
        let along: Vec<(bool, &[f64])> = along
            .iter()
            .map(|along| {
                let [rates] = along.parts().rows();
                (matches!(along, Rates::Statistics(_)), rates[state].as_slice())
            })
            .collect();
        Ok(vec![Field::Weights(weights_along(&probability[state], &along))])
    }

    /// Looked up.
    fn work(&self, _: Shape, _: usize) -> (usize, usize) {
        (0, 0)
    }
}

/// A categorical distribution over an alphabet of run-time size, owned, with the core's arithmetic;
/// symbols are `u16`.
#[derive(Clone, Debug, PartialEq)]
pub struct CategoricalVec<W> {
    /// Probabilities, `[symbol]`.
    pub probability: Vec<W>,
}

impl<W: RealParameter> CategoricalVec<W> {
    /// A state from its deployed numbers, with the directions from `first` on; one out of reach from
    /// none.
    pub(crate) fn of(
        emission: Option<&DeployedEmission<W::Real>>,
        first: usize,
        size: usize,
    ) -> Self {
        let probability = match emission {
            Some(emission) => {
                emission.weights(0).iter().map(|weight| lift(Some(weight), first)).collect()
            }
            None => vec![lift(None, first); size],
        };
        Self { probability }
    }

    fn view(&self) -> CategoricalView<'_, W> {
        CategoricalView::new(&self.probability)
    }
}

impl<W: RealParameter> Emission for CategoricalVec<W> {
    type Weight = W;
    type Observation = u16;
    const SCALED: bool = false;

    fn log_likelihood(&self, &symbol: &u16) -> W {
        self.view().log_likelihood(&symbol.into())
    }
    #[inline(always)]
    fn row<const N: usize>(states: &[Self; N], &symbol: &u16) -> Option<Row<W, N>> {
        let first = states.first()?.view();
        CategoricalView::row(&array_of::<_, N>(first, |j| states[j].view()), &symbol.into())
    }
    fn check(&self, &symbol: &u16) -> Result<(), ObservationError> {
        self.view().check(&symbol.into())
    }
    fn validate(&self) -> Result<(), ModelError> {
        self.view().validate()
    }
}
