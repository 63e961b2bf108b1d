use fishweir_core::emission::{Emission, Parametrisation, PoissonView, Sample as _, count};
use fishweir_core::number::{Real, RealParameter};
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
use crate::runtime::numbers::{Bits, mean};
use crate::runtime::{HmmError, check};

/// Channels that count, independent given the state.
#[derive(Debug)]
pub(crate) struct Poisson;

const RATE: Block = Block::new("rate", Width::Size);

static COUNTS: Support = Support {
    channels: "channels of counts",
    // The largest whole number of 32 bits that a device's `f32` holds.
    holds: |value| count(value).is_ok() && value <= 4_294_967_040.0,
    unlike: "not a count, and poisson emissions need counts: whole numbers from 0 to 4294967040",
    has_unit: false,
};

impl Poisson {
    /// A gamma density over the rates of a channel, whose logarithm is `a log r - b r`: as much as `a`
    /// counts in the mean of the sequences say. Where there were none, as if there had been.
    fn prior(held: &Regularisation<'_>, channel: usize) -> (f64, f64) {
        let a = held.pseudocount;
        let seen = held.centre.get(channel).copied().unwrap_or(0.0);
        (a, a / seen.max(a / held.samples.max(1.0)).max(f64::MIN_POSITIVE))
    }

    fn estimate(counts: f64, occupancy: f64, held: &Regularisation<'_>, channel: usize) -> f64 {
        let (a, b) = Self::prior(held, channel);
        // Where there were no counts at all rounding may leave less than none.
        (counts.max(0.0) + a) / (occupancy + b)
    }
}

impl Family for Poisson {
    fn name(&self) -> &'static str {
        "poisson"
    }
    fn about(&self) -> &'static str {
        "channels of counts"
    }
    fn observes(&self) -> Observed {
        Observed::Channels(Values::Only(&COUNTS))
    }
    fn parts(&self) -> &'static [Block] {
        &[RATE]
    }
    /// Statistics relative to the model's rates: sums of the excess keep their digits at any rate.
    fn statistics(&self) -> &'static [Block] {
        const { &[Block::new("occupancy", Width::One), Block::new("excess", Width::Size)] }
    }
    fn score(&self) -> &'static [Block] {
        const { &[Block::new("log_rate", Width::Size)] }
    }

    fn validate(&self, parts: &Parts, states: usize, shape: Shape) -> Result<(), HmmError> {
        let [rate] = parts.rows();
        check::numbers(RATE.name, rate, (states, shape.size), check::NOT_NEGATIVE)
    }

    fn of_cluster(
        &self,
        rows: &[&[f64]],
        centre: &[f64],
        _: &[f64],
        held: &Regularisation<'_>,
    ) -> Vec<Vec<f64>> {
        let of = |(channel, &centre): (usize, &f64)| match mean(rows, channel) {
            Some((mean, count)) => Self::estimate(mean * count, count, held, channel),
            None => Self::estimate(centre, 1.0, held, channel),
        };
        vec![centre.iter().enumerate().map(of).collect()]
    }

    fn collect(&self, parts: &Parts, samples: &[Weighed<'_>], into: &mut Parts) {
        let [rate] = parts.rows();
        excesses(rate, samples, into);
    }

    fn maximise(&self, parts: &mut Parts, statistics: &Parts, held: &Regularisation<'_>) {
        let ([rate], [occupancy, excess]) = (parts.rows_mut(), statistics.rows());
        let states = rate.iter_mut().zip(occupancy).zip(excess).enumerate();
        for (state, ((rate, occupancy), excess)) in states {
            let absent = statistics.absent(state);
            for (channel, (rate, excess)) in rate.iter_mut().zip(excess).enumerate() {
                let count = occupancy[0] - absent.get(channel).copied().unwrap_or(0.0);
                if count >= 1e-8 {
                    let counts = *rate * count + excess;
                    *rate = Self::estimate(counts, count, held, channel);
                }
            }
        }
    }

    fn log_prior(&self, parts: &Parts, held: &Regularisation<'_>) -> f64 {
        let [rate] = parts.rows();
        let one = |(channel, &rate): (usize, &f64)| {
            let (a, b) = Self::prior(held, channel);
            if a > 0.0 && rate > 0.0 { a * rate.portable_ln() - b * rate } else { 0.0 }
        };
        rate.iter().flat_map(|row| row.iter().enumerate()).map(one).sum()
    }

    fn distribution(&self, parts: &Parts, state: usize) -> Option<Distribution> {
        let [rate] = parts.rows();
        rate.get(state).cloned().map(Distribution::Poisson)
    }

    fn draw(&self, parts: &Parts, state: usize, rng: &mut ChaCha8Rng) -> Drawn {
        let [rate] = parts.rows();
        let mut one = |&rate: &f64| {
            let law = fishweir_core::emission::Poisson::<1, f64>::new([rate]);
            law.map_or(0.0, |law| f64::from(law.sample(&mut Bits(rng))[0]))
        };
        Drawn::Row(rate[state].iter().map(&mut one).collect())
    }

    fn push_score(
        &self,
        parts: &Parts,
        statistics: &Parts,
        _: Parametrisation,
        score: &mut Vec<f64>,
    ) {
        let ([rate], [_, excess]) = (parts.rows(), statistics.rows());
        let all = rate.iter().flatten().zip(excess.iter().flatten());
        score.extend(all.map(|(&rate, &excess)| if rate > 0.0 { excess } else { 0.0 }));
    }

    fn moving(&self, parts: &Parts) -> Vec<bool> {
        parts.by_state().map(|rate| rate > 0.0).collect()
    }

    fn towards(&self, from: &Parts, to: &Parts) -> Option<Parts> {
        let ([from], [to]) = (from.rows(), to.rows());
        Some(Parts::new(self.score(), [table_towards(from, to, logit)?]))
    }

    fn core_types(&self) -> &'static [&'static str] {
        &["Poisson"]
    }
    fn fields(&self) -> &'static [FieldKind] {
        const FIELDS: [FieldKind; 2] = [
            FieldKind::new(Content::Reals, Width::Size),
            FieldKind::new(Content::Weights, Width::Size),
        ];
        &FIELDS
    }

    fn deploy(
        &self,
        parts: &Parts,
        state: usize,
        along: &[Rates<'_>],
        precision: &Precision,
    ) -> Result<Vec<Field<f64>>, DoesNotFit> {
        let [rate] = parts.rows();
        let narrow = |(channel, &rate): (usize, &f64)| precision.narrow(RATE.name, channel, rate);
        let rates: Vec<f64> =
            rate[state].iter().enumerate().map(narrow).collect::<Result<_, _>>()?;
        let slope = |along: &Rates<'_>, channel: usize| {
            let [log_rate] = along.parts().rows();
            if rates[channel] > 0.0 { log_rate[state][channel] } else { 0.0 }
        };
        let log_rate = |(channel, rate): (usize, &f64)| Weight {
            value: rate.portable_ln(),
            tangent: along.iter().map(|along| slope(along, channel)).collect(),
        };
        let log_rates = rates.iter().enumerate().map(log_rate).collect();
        Ok(vec![Field::Reals(rates), Field::Weights(log_rates)])
    }

    /// A division per channel among them; and up to two logarithms per channel for all states together.
    fn work(&self, shape: Shape, directions: usize) -> (usize, usize) {
        (shape.size * (11 + directions), 1)
    }
    fn rows(&self, _: Shape) -> Option<&'static dyn AllBanks> {
        Some(&Self)
    }
}

/// The core's distribution at a run-time size, over rows of reals that hold counts.
pub(crate) struct PoissonVec<W: RealParameter> {
    rate: Vec<W::Real>,
    log_rate: Vec<W>,
}

impl<W: RealParameter> PoissonVec<W> {
    fn view(&self) -> PoissonView<'_, W> {
        PoissonView { rate: &self.rate, log_rate: &self.log_rate }
    }
}

by_view!(PoissonVec, PoissonView, count);

impl OverRows for Poisson {
    type State<W: HostWeight> = PoissonVec<W>;

    fn state<W: HostWeight>(
        emission: Option<&DeployedEmission<W::Real>>,
        first: usize,
        shape: Shape,
    ) -> PoissonVec<W> {
        match emission {
            Some(emission) => PoissonVec {
                rate: emission.reals(0).to_vec(),
                log_rate: emission.weights(1).iter().map(|w| lift(Some(w), first)).collect(),
            },
            // Out of reach: a rate that no count is near.
            None => {
                let rate = W::Real::from_f64(f32::MAX.into());
                let log_rate = W::constant(Real::ln(rate));
                PoissonVec { rate: vec![rate; shape.size], log_rate: vec![log_rate; shape.size] }
            }
        }
    }
}
