use fishweir_core::filter::{ForgettingFactor, Statistics, Streaming};
use fishweir_core::hmm::Hmm;
use fishweir_core::number::Real;
use fishweir_core::score::StatisticsOf;
use serde::Deserialize;

use super::compare::Comparison;
use super::inference::push;
use super::precision::{Kind, Precise};

use super::tree::Tree;
use crate::build::{Family, PlainStatistics, Task, dispatch_any, samples};
use crate::oracle::{Law, Model, Observation, Sequence};
use crate::rounding::Rounding;

/// Forward-only expected statistics of every prefix, with forgetting.
pub(super) struct OnlineStatistics;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inputs {
    hmm: Model,
    sequence: Sequence,
    lambda: f64,
}

impl Kind for OnlineStatistics {
    type Inputs = Inputs;

    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        let model = inputs.hmm;
        let sequence = inputs.sequence;
        let collect = |model: &Model| {
            let lambda = inputs.lambda;
            dispatch_any::<T, _>(model, Collect { model, sequence: &sequence, lambda })
        };
        let mut prefixes = collect(&model)?;
        if let Some(full) = with_full_covariances(&model) {
            // Products of different channels: the family with independent channels collects none.
            for (own, full) in prefixes.iter_mut().zip(collect(&full)?) {
                own.fill_products_from(&full);
            }
        }
        let bounds = Bounds::of(&model, &sequence, inputs.lambda, T::ROUNDING);
        comparison.blocks("per_prefix", prefixes.len());
        for (t, got) in prefixes.iter().enumerate() {
            check_prefix(&format!("per_prefix[{t}]"), got, &bounds, comparison);
        }
        if let Some(got) = prefixes.last() {
            check_prefix("final", got, &bounds, comparison);
        }
        Ok(())
    }
}

/// What rounding may add, by kind of statistic.
struct Bounds {
    rounding: Rounding,
    /// The largest magnitude of an observation's channel.
    reach: f64,
    lambda: f64,
}

impl Bounds {
    fn of(model: &Model, sequence: &Sequence, lambda: f64, unit: f64) -> Self {
        let mut reach: f64 = 1.0;
        for x in sequence.iter().flatten() {
            if let Observation::Channels(x) = x {
                reach = x.iter().fold(reach, |reach, x| reach.max(x.abs()));
            }
        }
        for law in &model.emission {
            if let Law::Gaussian { mean, .. } | Law::FullGaussian { mean, .. } = law {
                reach = mean.iter().fold(reach, |reach, m| reach.max(m.abs()));
            }
        }
        Self { rounding: Rounding::of(model, sequence, unit), reach, lambda }
    }

    /// Of a statistic that sums terms up to `reach^power`.
    fn moment(&self, power: i32) -> crate::rounding::Tolerance {
        // Moments are collected about the state's mean: putting it back takes `power + 1` terms.
        let most = f64::from(power + 1) * self.reach.powi(power);
        self.rounding.weighted(most).plus(self.rounding.forgotten(self.lambda, most))
    }
}

fn check_prefix(at: &str, got: &Prefix, bounds: &Bounds, comparison: &mut Comparison) {
    let mut field = |name: &str, got: Tree, power: i32| {
        comparison.field(&format!("{at}.{name}"), got, bounds.moment(power));
    };
    field("transition_counts", got.transition.clone().into(), 0);
    field("occupancy", got.occupancy.clone().into(), 0);
    field("emission_counts", got.counts.clone().into(), 0);
    field("occupancy_observed", got.observed.clone().into(), 0);
    field("sum_x", got.sum.clone().into(), 1);
    field("sum_xx", got.square.clone().into(), 2);
}

/// The same model with its independent channels as covariance matrices; `None` of other models.
fn with_full_covariances(model: &Model) -> Option<Model> {
    let full = |law: &Law| match law {
        Law::Gaussian { mean, variance } => {
            let row = |a: usize| {
                variance.iter().enumerate().map(|(b, v)| if a == b { *v } else { 0.0 }).collect()
            };
            let covariance = (0..mean.len()).map(row).collect();
            Some(Law::FullGaussian { mean: mean.clone(), covariance })
        }
        _ => None,
    };
    let emission = model.emission.iter().map(full).collect::<Option<_>>()?;
    Some(Model { emission, ..model.clone() })
}

struct Collect<'a> {
    model: &'a Model,
    sequence: &'a Sequence,
    lambda: f64,
}

/// The statistics of one prefix: what the family does not collect is empty.
#[derive(Default)]
struct Prefix {
    transition: Vec<Vec<f64>>,
    occupancy: Vec<f64>,
    counts: Vec<Vec<f64>>,
    observed: Vec<f64>,
    sum: Vec<Vec<f64>>,
    square: Vec<Vec<Vec<Option<f64>>>>,
}

impl Prefix {
    fn fill_products_from(&mut self, full: &Self) {
        let own = self.square.iter_mut().flatten().flatten();
        for (own, full) in own.zip(full.square.iter().flatten().flatten()) {
            *own = own.or(*full);
        }
    }
}

impl<T: Real> Task<T> for Collect<'_> {
    type Output = Vec<Prefix>;

    fn run<E: Family<T>, const N: usize>(self, hmm: &Hmm<E, N>) -> Result<Vec<Prefix>, String> {
        let memory = ForgettingFactor::factor(T::from_f64(self.lambda))
            .map_err(|error| error.to_string())?;
        let stream = Statistics::of(hmm).with_memory(memory);
        let mut state = stream.initial_state();
        let mut prefixes = Vec::new();
        for x in samples::<T, E>(self.sequence)? {
            if !push(&stream, &mut state, x.as_ref())? {
                return Err("an impossible observation".into());
            }
            prefixes.push(prefix_of(hmm, &stream.read(&state), self.model));
        }
        Ok(prefixes)
    }
}

fn prefix_of<T: Real, E: Family<T>, const N: usize>(
    hmm: &Hmm<E, N>,
    expected: &StatisticsOf<E, N>,
    model: &Model,
) -> Prefix {
    let states = model.states();
    let transition: Vec<Vec<f64>> = expected.transition[..states]
        .iter()
        .map(|row| row[..states].iter().map(|count| count.to_f64()).collect())
        .collect();
    // A state is occupied by beginning in it or by arriving there.
    let occupancy = (0..states).map(|j| {
        let arrivals: f64 = transition.iter().map(|row| row[j]).sum();
        expected.initial[j].to_f64() + arrivals
    });
    let mut prefix = Prefix { occupancy: occupancy.collect(), transition, ..Prefix::default() };
    let emissions = hmm.emission().iter().zip(&expected.emission).zip(&model.emission);
    for ((emission, statistics), like) in emissions {
        match emission.plain_statistics(statistics, like) {
            PlainStatistics::Counts(counts) => prefix.counts.push(counts),
            PlainStatistics::Moments { occupancy, sum, square } => {
                prefix.observed.push(occupancy);
                prefix.sum.push(sum);
                prefix.square.push(square);
            }
            PlainStatistics::Other => {}
        }
    }
    prefix
}
