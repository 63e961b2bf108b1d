//! Trace of the run in fixed point: its rows and likelihoods.

use fishweir_core::emission::Row;
use fishweir_core::filter::Belief;
use fishweir_core::hmm::Hmm;
use fishweir_core::number::{Fixed, FixedLog, Parameter, Scalar, Table};

use super::super::stream::{Build, Categorical, DIRECTIONS_MAX, Gaussian, model_of};
use super::super::{FixedEmission, FixedModel};
use super::seen::Seen;
use crate::deploy::block::Observation;
use crate::runtime::with_two_sizes;

/// A row of likelihoods as it was rounded, relative to a scale.
pub(super) struct Likelihood {
    /// `[state]`.
    pub(super) value: Vec<f64>,
    /// Rates of change of the likelihoods, `[state][output]`.
    pub(super) rate: Vec<Vec<f64>>,
    /// Logarithm of their scale.
    pub(super) log: f64,
    /// Rates of change of the log scale, `[output]`.
    pub(super) log_rate: Vec<f64>,
    /// The exponent of their tangents.
    pub(super) exponent: i32,
}

/// A row that was kept, relative to its sum.
pub(super) struct KeptRow {
    /// `[state]`.
    pub(super) value: Vec<f64>,
    /// `[state][output]`.
    pub(super) tangent: Vec<Vec<f64>>,
    /// Units of a value in the sum.
    pub(super) sum: f64,
    /// The exponent of the tangents.
    pub(super) exponent: i32,
    /// `true` if the derivative may just have been moved out.
    pub(super) rescaled: bool,
}

/// Effect of a sample; without likelihoods if it is missing.
pub(super) struct Step {
    pub(super) likelihood: Option<Likelihood>,
    pub(super) kept: KeptRow,
}

/// Runs a model whose states are hidden; `None` where it refuses a sample.
pub(super) fn trace(model: &FixedModel, samples: &[Seen]) -> Option<Vec<Step>> {
    const C: usize = DIRECTIONS_MAX;
    match model.emission.first() {
        Some(FixedEmission::Categorical { .. }) => run::<Categorical<C>, C>(model, samples),
        _ => run::<Gaussian<C>, C>(model, samples),
    }
}

fn run<E: Build<C>, const C: usize>(model: &FixedModel, samples: &[Seen]) -> Option<Vec<Step>> {
    with_two_sizes!(model.initial.len(), N => {
        let hmm: Hmm<E, N> = model_of(model);
        let mut belief = Belief::<Fixed<C, E::Weight>, N>::NEW;
        let push = |sample| step(&hmm, &mut belief, model, sample);
        samples.iter().map(push).collect()
    })
}

fn step<E: Build<C>, const C: usize, const N: usize>(
    hmm: &Hmm<E, N>,
    belief: &mut Belief<Fixed<C, E::Weight>, N>,
    model: &FixedModel,
    sample: &Seen,
) -> Option<Step> {
    let predicted = belief.predict(hmm.chain());
    let x = match sample {
        Seen::Missing => {
            belief.advance(predicted);
            return Some(Step { likelihood: None, kept: kept(belief, model) });
        }
        Seen::Symbol(symbol) => Observation::Symbol(*symbol),
        Seen::Row(_, integers) => Observation::Integers(integers),
    };
    let x = E::observe(&x)?;
    let mut before = *belief;
    belief.observe(hmm.emission(), &predicted, x).ok()?;
    // By the row of all states, or where its products vanish by that of the states in reach.
    let of_all = E::row(hmm.emission(), x).filter(|row| {
        before.condition(&predicted, &Fixed::lift_row(row.likelihood, &row.log_scale))
    });
    let Row { likelihood, log_scale } = match of_all {
        Some(row) => row,
        None => {
            let log = |j: usize| match predicted[j].value() > 0.0 {
                true => hmm.emission()[j].log_likelihood(x),
                false => FixedLog::IMPOSSIBLE,
            };
            let (likelihood, log_scale) = E::Weight::likelihoods(log)?;
            Row { likelihood, log_scale }
        }
    };
    let likelihood = rounded(&likelihood, &log_scale, model);
    Some(Step { likelihood: Some(likelihood), kept: kept(belief, model) })
}

/// A power of two, and that of each direction's unit.
fn units(model: &FixedModel, power: i32) -> impl Iterator<Item = f64> {
    model.unit.iter().map(move |&unit| f64::from(power + i32::from(unit)).exp2())
}

fn rounded<W: Table<C>, const C: usize, const N: usize>(
    likelihood: &[W; N],
    scale: &FixedLog<C>,
    model: &FixedModel,
) -> Likelihood {
    let entries = likelihood.iter().take(model.initial.len()).map(|entry| entry.weight());
    let exponent = scale.exponent as i32;
    let rate = |tangent: &[fishweir_core::number::Q15; C]| {
        let rates = tangent.iter().zip(units(model, exponent - 14));
        rates.map(|(rate, unit)| f64::from(rate.rate()) * unit).collect()
    };
    Likelihood {
        value: entries.clone().map(|entry| f64::from(entry.value.0) / 32_768.0).collect(),
        rate: entries.map(|entry| rate(&entry.tangent)).collect(),
        log: f64::from(scale.log2) / 65_536.0 * std::f64::consts::LN_2,
        log_rate: scale
            .rate
            .iter()
            .zip(units(model, -14))
            .map(|(&rate, unit)| f64::from(rate) * unit)
            .collect(),
        exponent,
    }
}

fn kept<W: Table<C>, const C: usize, const N: usize>(
    belief: &Belief<Fixed<C, W>, N>,
    model: &FixedModel,
) -> KeptRow {
    let row = &belief.row()[..model.initial.len()];
    let values = row.iter().map(|entry| f64::from(entry.value()));
    let sum: f64 = values.clone().sum();
    let tangents = |entry: &Fixed<C, W>| {
        let along = |(output, unit): (usize, f64)| {
            f64::from(entry.derivative(output).unwrap_or(0.0)) * unit / sum
        };
        units(model, 0).enumerate().map(along).collect()
    };
    KeptRow {
        value: values.map(|value| value / sum).collect(),
        tangent: row.iter().map(tangents).collect(),
        sum: sum * 65_536.0,
        exponent: row.first().map_or(0, |entry| entry.tangent_exponent() as i32),
        rescaled: belief.age() <= 1,
    }
}
