//! Models whose states are known, in fixed point: logarithms that are added, of positions or of contexts.

use fishweir_core::ObservationError;
use fishweir_core::context::{ContextModel, Steps};
use fishweir_core::emission::{CategoricalLogQ15View, Emission};
use fishweir_core::number::{Dual, FixedLog, Q15, array_of, rate_unit};

use super::stream::{Build, DIRECTIONS_MAX, Gaussian};
use super::{FixedEmission, FixedModel};
use crate::deploy::block::{Block, Observation, Observe, POSITIONS, Running};
use crate::deploy::model::{DeployedModel, States};
use crate::deploy::words::Words;
use crate::runtime::family::Weight;
use crate::runtime::padded;

/// The rate of the logarithm.
fn of_logarithm(weight: &Weight<f64>, output: usize) -> f64 {
    if weight.value > 0.0 { weight.tangent[output] / weight.value } else { 0.0 }
}

/// The exponent of the unit in which 16 bits hold every rate along a direction; `None` if no unit suits.
pub(super) fn unit_of(model: &DeployedModel<f64>, output: usize) -> Option<i16> {
    let rows = model.emission.iter().flat_map(|emission| emission.weights(0));
    let largest = rows.map(|weight| of_logarithm(weight, output).abs()).fold(0.0, f64::max);
    // A table of a chain holds half as much.
    largest.is_finite().then(|| rate_unit(largest / 2.0)).flatten()
}

/// A row of probabilities as logarithms and their rates.
pub(super) fn logarithms(weights: &[Weight<f64>], unit: &[i16]) -> FixedEmission {
    let rates = |weight| {
        let rate = |(output, &unit): (usize, &i16)| {
            (of_logarithm(weight, output) * f64::from(14 - unit).exp2()).round() as i16
        };
        unit.iter().enumerate().map(rate).collect()
    };
    FixedEmission::Logarithms {
        log2: weights.iter().map(|one| CategoricalLogQ15View::entry_for(one.value)).collect(),
        rate: weights.iter().map(rates).collect(),
    }
}

/// The run of a model whose states are known.
pub(super) fn block(model: &FixedModel, states: States) -> Box<dyn Block<f32> + Send> {
    const C: usize = DIRECTIONS_MAX;
    match (model.emission.first(), states) {
        (_, States::Order(order)) => {
            let contexts = 0..model.emission.len();
            let rows: Vec<_> = contexts.map(|row| Logarithms::<C>::build(model, row)).collect();
            let symbols = rows.first().map_or(0, |row| row.log2.len());
            Box::new(Words::over(rows, symbols, order))
        }
        (Some(FixedEmission::Logarithms { .. }), _) => stepping::<Logarithms<C>, C>(model),
        _ => stepping::<Gaussian<C>, C>(model),
    }
}

fn stepping<E: Build<C> + 'static, const C: usize>(
    model: &FixedModel,
) -> Box<dyn Block<f32> + Send> {
    let last = model.emission.len().saturating_sub(1);
    let emission = |position| E::build(model, usize::min(position, last));
    let model: ContextModel<Steps, E, POSITIONS> =
        ContextModel::new(Steps, std::array::from_fn(emission));
    Box::new(Running::<_, E>::of(model))
}

struct Logarithms<const C: usize> {
    log2: Vec<i32>,
    rate: Vec<[i16; C]>,
    unit: [i16; C],
}

impl<const C: usize> Logarithms<C> {
    fn view(&self) -> CategoricalLogQ15View<'_, C> {
        CategoricalLogQ15View { log2: &self.log2, rate: &self.rate, unit: &self.unit }
    }
}

impl<const C: usize> Emission for Logarithms<C> {
    type Weight = Dual<Q15, C>;
    type Observation = u16;

    fn log_likelihood(&self, &symbol: &u16) -> FixedLog<C> {
        self.view().log_likelihood(&symbol.into())
    }
    fn check(&self, &symbol: &u16) -> Result<(), ObservationError> {
        self.view().check(&symbol.into())
    }
    fn in_units<const N: usize>(states: &[Self; N], reading: Dual<f32, C>) -> Dual<f32, C> {
        let Some(first) = states.first().map(Self::view) else { return reading };
        CategoricalLogQ15View::in_units(&array_of::<_, N>(first, |j| states[j].view()), reading)
    }
    fn validate(&self) -> Result<(), fishweir_core::ModelError> {
        self.view().validate()
    }
}

impl<const C: usize> Observe<f32> for Logarithms<C> {
    fn observe<'x>(x: &'x Observation<'_, f32>) -> Option<&'x u16> {
        match x {
            Observation::Symbol(symbol) => Some(symbol),
            _ => None,
        }
    }
}

impl<const C: usize> Build<C> for Logarithms<C> {
    fn build(model: &FixedModel, state: usize) -> Self {
        let unit = padded(&model.unit);
        match model.emission.get(state) {
            Some(FixedEmission::Logarithms { log2, rate }) => {
                let rate = rate.iter().map(|rates| padded(rates)).collect();
                Self { log2: log2.clone(), rate, unit }
            }
            _ => Self { log2: Vec::new(), rate: Vec::new(), unit },
        }
    }
}
