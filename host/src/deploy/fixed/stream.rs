//! The host's run of a model in fixed point: the core's recursion at run-time sizes.

use fishweir_core::emission::{CategoricalQ15View, ChannelQ15, Emission, GaussianQ15View, Row};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::number::{Dual, FineQ15, FixedLog, Q15, Table, array_of};
use fishweir_core::{ModelError, ObservationError};

use super::{FixedEmission, FixedModel, FixedWeight};
use crate::deploy::block::{Block, Observation, Observe, Running};
use crate::runtime::{padded, with_states};

/// The most directions that run side by side. They share a block exponent, so that all of a model's
/// must: padding changes no bit, a second block would.
pub(super) const DIRECTIONS_MAX: usize = 32;

/// Recursion of a model with hidden states.
pub(super) fn block(model: &FixedModel) -> Box<dyn Block<f32> + Send> {
    const C: usize = DIRECTIONS_MAX;
    match model.emission.first() {
        Some(FixedEmission::Categorical { .. }) => running::<Categorical<C>, C>(model),
        _ => running::<Gaussian<C>, C>(model),
    }
}

fn weight<const C: usize>(weight: &FixedWeight) -> Dual<Q15, C> {
    Dual {
        value: Q15(weight.value),
        tangent: array_of(Q15::ZERO, |c| {
            weight.rate.get(c).map_or(Q15::ZERO, |&rate| Q15::from_rate(rate))
        }),
    }
}

const fn zero<const C: usize>() -> Dual<Q15, C> {
    Dual { value: Q15::ZERO, tangent: [Q15::ZERO; C] }
}

pub(super) struct Categorical<const C: usize> {
    probability: Vec<Dual<Q15, C>>,
    exponent: Vec<u16>,
    unit: [i16; C],
}

impl<const C: usize> Categorical<C> {
    fn view(&self) -> CategoricalQ15View<'_, C> {
        CategoricalQ15View {
            probability: &self.probability,
            exponent: &self.exponent,
            unit: &self.unit,
        }
    }
}

impl<const C: usize> Emission for Categorical<C> {
    type Weight = Dual<Q15, C>;
    type Observation = u16;

    fn log_likelihood(&self, &symbol: &u16) -> FixedLog<C> {
        self.view().log_likelihood(&symbol.into())
    }
    fn row<const N: usize>(states: &[Self; N], &symbol: &u16) -> Option<Row<Dual<Q15, C>, N>> {
        let first = states.first()?.view();
        CategoricalQ15View::row(&array_of::<_, N>(first, |j| states[j].view()), &symbol.into())
    }
    fn check(&self, &symbol: &u16) -> Result<(), ObservationError> {
        self.view().check(&symbol.into())
    }
    fn in_units<const N: usize>(states: &[Self; N], reading: Dual<f32, C>) -> Dual<f32, C> {
        let Some(first) = states.first().map(Self::view) else { return reading };
        CategoricalQ15View::in_units(&array_of::<_, N>(first, |j| states[j].view()), reading)
    }
    fn validate(&self) -> Result<(), ModelError> {
        self.view().validate()
    }
}

pub(super) struct Gaussian<const C: usize> {
    channel: Vec<ChannelQ15>,
    constant: i32,
    constant_rate: [i32; C],
    linear: Vec<[i16; C]>,
    quadratic: Vec<[i16; C]>,
    unit: [i16; C],
}

impl<const C: usize> Gaussian<C> {
    fn view(&self) -> GaussianQ15View<'_, C> {
        GaussianQ15View {
            channel: &self.channel,
            constant: self.constant,
            constant_rate: &self.constant_rate,
            linear: &self.linear,
            quadratic: &self.quadratic,
            unit: &self.unit,
        }
    }
}

impl<const C: usize> Emission for Gaussian<C> {
    type Weight = FineQ15<C>;
    type Observation = [Option<i16>];

    /// The bits of the core's `Marginal`, which are those of the distribution where every channel is there.
    fn log_likelihood(&self, x: &[Option<i16>]) -> FixedLog<C> {
        self.view().log_marginal(|d| x.get(d).copied().flatten())
    }
    fn check(&self, _: &[Option<i16>]) -> Result<(), ObservationError> {
        Ok(())
    }
    fn in_units<const N: usize>(states: &[Self; N], reading: Dual<f32, C>) -> Dual<f32, C> {
        let Some(first) = states.first().map(Self::view) else { return reading };
        GaussianQ15View::in_units(&array_of::<_, N>(first, |j| states[j].view()), reading)
    }
    fn validate(&self) -> Result<(), ModelError> {
        self.view().validate()
    }
}

/// A family of the host, made from tables.
pub(super) trait Build<const C: usize>:
    Emission<Weight: Table<C> + Send> + Observe<f32> + Send
{
    /// A state of the model, or one out of reach.
    fn build(model: &FixedModel, state: usize) -> Self;
}

impl<const C: usize> Observe<f32> for Categorical<C> {
    fn observe<'x>(x: &'x Observation<'_, f32>) -> Option<&'x u16> {
        match x {
            Observation::Symbol(symbol) => Some(symbol),
            _ => None,
        }
    }
}

impl<const C: usize> Build<C> for Categorical<C> {
    fn build(model: &FixedModel, state: usize) -> Self {
        let unit = padded(&model.unit);
        match (model.emission.get(state), model.emission.first()) {
            (Some(FixedEmission::Categorical { probability, exponent }), _) => Self {
                probability: probability.iter().map(weight).collect(),
                exponent: exponent.clone(),
                unit,
            },
            (_, Some(FixedEmission::Categorical { exponent, .. })) => {
                Self { probability: vec![zero(); exponent.len()], exponent: exponent.clone(), unit }
            }
            _ => Self { probability: Vec::new(), exponent: Vec::new(), unit },
        }
    }
}

impl<const C: usize> Observe<f32> for Gaussian<C> {
    fn observe<'x>(x: &'x Observation<'_, f32>) -> Option<&'x [Option<i16>]> {
        match x {
            Observation::Integers(row) => Some(row),
            _ => None,
        }
    }
}

impl<const C: usize> Build<C> for Gaussian<C> {
    fn build(model: &FixedModel, state: usize) -> Self {
        let unit = padded(&model.unit);
        match model.emission.get(state) {
            Some(FixedEmission::Gaussian { channels, constant, constant_rate }) => Self {
                channel: channels.iter().map(|one| one.channel).collect(),
                constant: *constant,
                constant_rate: padded(constant_rate),
                linear: channels.iter().map(|one| padded(&one.linear)).collect(),
                quadratic: channels.iter().map(|one| padded(&one.quadratic)).collect(),
                unit,
            },
            // Out of reach, and never the likeliest of a row.
            _ => Self {
                channel: Vec::new(),
                constant: i32::MIN,
                constant_rate: [0; C],
                linear: Vec::new(),
                quadratic: Vec::new(),
                unit,
            },
        }
    }
}

fn running<E: Build<C> + 'static, const C: usize>(
    model: &FixedModel,
) -> Box<dyn Block<f32> + Send> {
    with_states!(model.initial.len(), N => {
        let hmm: Hmm<E, N> = model_of(model);
        Box::new(Running::<_, E>::of(hmm))
    })
}

/// The core's model at a compiled size.
pub(super) fn model_of<E: Build<C>, const C: usize, const N: usize>(
    model: &FixedModel,
) -> Hmm<E, N> {
    let none = <E::Weight as Table<C>>::ZERO;
    let row = |weights: &[FixedWeight]| -> [E::Weight; N] {
        array_of(none, |j| {
            let entry = weights.get(j);
            entry.map_or(none, |entry| E::Weight::scaled(weight(entry), entry.exponent))
        })
    };
    let transition = array_of([none; N], |i| match model.transition.get(i) {
        Some(weights) => row(weights),
        // A state out of reach stays where it is.
        None => array_of(none, |j| {
            let stays = Dual { value: Q15::ONE, ..zero() };
            if i == j { E::Weight::scaled(stays, 0) } else { none }
        }),
    });
    let emission = std::array::from_fn(|j| E::build(model, j));
    let chain = Chain::from_parts(row(&model.initial), transition);
    Hmm::new(chain, emission)
}
