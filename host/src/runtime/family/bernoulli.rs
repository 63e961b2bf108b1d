use fishweir_core::emission::{BernoulliView, Emission, Parametrisation, yes_or_no};
use fishweir_core::number::{Real, RealParameter};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::device::{Content, lift};
use super::parts::excesses;
use super::rows::by_view;
use super::{
    AllBanks, Block, DeployedEmission, Distribution, DoesNotFit, Drawn, Family, Field, FieldKind,
    HostWeight, Observed, OverRows, Parts, Precision, Rates, Regularisation, Shape, Weighed,
    Weight, Width, logit, table_towards,
};
use crate::data::{Support, Values};
use crate::elementary::Elementary;
use crate::runtime::numbers::mean;
use crate::runtime::{HmmError, check};

/// Channels that say yes or no, independent given the state.
#[derive(Debug)]
pub(crate) struct Bernoulli;

const PROBABILITY: Block = Block::new("probability", Width::Size);

static ANSWERS: Support = Support {
    channels: "channels of 0 and 1",
    holds: |value| yes_or_no(value).is_ok(),
    unlike: "neither 0 nor 1, and bernoulli emissions need one of these",
    has_unit: false,
};

impl Family for Bernoulli {
    fn name(&self) -> &'static str {
        "bernoulli"
    }
    fn about(&self) -> &'static str {
        "channels of 0 and 1"
    }
    fn observes(&self) -> Observed {
        Observed::Channels(Values::Only(&ANSWERS))
    }
    /// Probability of yes.
    fn parts(&self) -> &'static [Block] {
        &[PROBABILITY]
    }
    fn statistics(&self) -> &'static [Block] {
        const { &[Block::new("occupancy", Width::One), Block::new("excess", Width::Size)] }
    }
    fn score(&self) -> &'static [Block] {
        const { &[Block::new("logit", Width::Size)] }
    }

    fn validate(&self, parts: &Parts, states: usize, shape: Shape) -> Result<(), HmmError> {
        let [probability] = parts.rows();
        check::numbers(PROBABILITY.name, probability, (states, shape.size), check::SHARE)
    }

    fn of_cluster(
        &self,
        rows: &[&[f64]],
        centre: &[f64],
        _: &[f64],
        held: &Regularisation<'_>,
    ) -> Vec<Vec<f64>> {
        let a = held.pseudocount;
        let of = |(channel, &centre): (usize, &f64)| match mean(rows, channel) {
            Some((mean, count)) => (mean * count + a) / (count + 2.0 * a),
            None => (centre + a) / (1.0 + 2.0 * a),
        };
        vec![centre.iter().enumerate().map(of).collect()]
    }

    fn collect(&self, parts: &Parts, samples: &[Weighed<'_>], into: &mut Parts) {
        let [probability] = parts.rows();
        excesses(probability, samples, into);
    }

    fn maximise(&self, parts: &mut Parts, statistics: &Parts, held: &Regularisation<'_>) {
        let ([probability], [occupancy, excess]) = (parts.rows_mut(), statistics.rows());
        let a = held.pseudocount;
        let states = probability.iter_mut().zip(occupancy).zip(excess).enumerate();
        for (state, ((row, occupancy), excess)) in states {
            let absent = statistics.absent(state);
            for (channel, (p, excess)) in row.iter_mut().zip(excess).enumerate() {
                let count = occupancy[0] - absent.get(channel).copied().unwrap_or(0.0);
                if count >= 1e-8 && *p > 0.0 && *p < 1.0 {
                    let yes = *p * count + excess;
                    *p = ((yes + a) / (count + 2.0 * a)).clamp(0.0, 1.0);
                }
            }
        }
    }

    /// Logarithm of the Dirichlet density that pseudocounts imply.
    fn log_prior(&self, parts: &Parts, held: &Regularisation<'_>) -> f64 {
        let inside = parts.by_state().filter(|&p| held.pseudocount > 0.0 && p > 0.0 && p < 1.0);
        inside.map(|p| held.pseudocount * (p.portable_ln() + (1.0 - p).portable_ln())).sum()
    }

    fn distribution(&self, parts: &Parts, state: usize) -> Option<Distribution> {
        let [probability] = parts.rows();
        probability.get(state).cloned().map(Distribution::Bernoulli)
    }

    fn draw(&self, parts: &Parts, state: usize, rng: &mut ChaCha8Rng) -> Drawn {
        let [probability] = parts.rows();
        let one = |&p: &f64| if rng.random::<f64>() < p { 1.0 } else { 0.0 };
        Drawn::Row(probability[state].iter().map(one).collect())
    }

    fn push_score(
        &self,
        parts: &Parts,
        statistics: &Parts,
        _: Parametrisation,
        score: &mut Vec<f64>,
    ) {
        let ([probability], [_, excess]) = (parts.rows(), statistics.rows());
        let all = probability.iter().flatten().zip(excess.iter().flatten());
        score.extend(all.map(|(&p, &excess)| if p > 0.0 && p < 1.0 { excess } else { 0.0 }));
    }

    fn moving(&self, parts: &Parts) -> Vec<bool> {
        parts.by_state().map(|p| p > 0.0 && p < 1.0).collect()
    }

    fn towards(&self, from: &Parts, to: &Parts) -> Option<Parts> {
        let ([from], [to]) = (from.rows(), to.rows());
        let rate = |from: f64, to: f64| logit(from, to) - logit(1.0 - from, 1.0 - to);
        Some(Parts::new(self.score(), [table_towards(from, to, rate)?]))
    }

    fn core_types(&self) -> &'static [&'static str] {
        &["Bernoulli"]
    }
    fn fields(&self) -> &'static [FieldKind] {
        const FIELDS: [FieldKind; 2] = [
            FieldKind::new(Content::Weights, Width::Size),
            FieldKind::new(Content::Weights, Width::Size),
        ];
        &FIELDS
    }

    fn deploy(
        &self,
        parts: &Parts,
        state: usize,
        along: &[Rates<'_>],
        _: &Precision,
    ) -> Result<Vec<Field<f64>>, DoesNotFit> {
        let [probability] = parts.rows();
        let moved = |sign: f64| {
            let one = |(channel, &p): (usize, &f64)| {
                let tangent = along.iter().map(|along| {
                    let [logits] = along.parts().rows();
                    sign * p * (1.0 - p) * logits[state][channel]
                });
                let value = if sign > 0.0 { p } else { 1.0 - p };
                Weight { value, tangent: tangent.collect() }
            };
            Field::Weights(probability[state].iter().enumerate().map(one).collect())
        };
        Ok(vec![moved(1.0), moved(-1.0)])
    }

    /// A product of look-ups.
    fn work(&self, shape: Shape, directions: usize) -> (usize, usize) {
        (shape.size * (1 + 2 * directions), 0)
    }
    fn rows(&self, _: Shape) -> Option<&'static dyn AllBanks> {
        Some(&Self)
    }
}

/// The core's distribution at a run-time size, over rows of reals that hold 1 and 0.
pub(crate) struct BernoulliVec<W: RealParameter> {
    yes: Vec<W>,
    no: Vec<W>,
}

impl<W: RealParameter> BernoulliVec<W> {
    fn view(&self) -> BernoulliView<'_, W> {
        BernoulliView { yes: &self.yes, no: &self.no }
    }
}

by_view!(BernoulliVec, BernoulliView, yes_or_no);

impl OverRows for Bernoulli {
    type State<W: HostWeight> = BernoulliVec<W>;

    fn state<W: HostWeight>(
        emission: Option<&DeployedEmission<W::Real>>,
        first: usize,
        shape: Shape,
    ) -> BernoulliVec<W> {
        let weights = |field| match emission {
            Some(emission) => {
                emission.weights(field).iter().map(|w| lift(Some(w), first)).collect()
            }
            // Out of reach: neither yes nor no.
            None => vec![lift(None, first); shape.size],
        };
        BernoulliVec { yes: weights(0), no: weights(1) }
    }
}
