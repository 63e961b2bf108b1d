//! Directions attached to models, and names of both in messages.

use fishweir_core::number::Real;
use fishweir_core::{ModelError, Part};

use super::error::DeployError;
use super::model::DeployedModel;
use crate::classifier::{Direction, Observations};
use crate::runtime::family::{DeployedEmission, DoesNotFit, Rates, Weight, weights_along};
use crate::runtime::{Emissions, Hmm, Observed};

/// Advice if the number format cannot hold a model of these observations.
pub(super) fn advice(observed: Observed) -> &'static str {
    match observed {
        Observed::Channels(values) if values.have_unit() => "rescale the channel",
        Observed::Channels(_) => "leave the channel out",
        Observed::Symbol => "fit the model again",
    }
}

/// Names of models and channels in messages.
#[derive(Clone, Copy)]
pub(super) struct Names<'a> {
    classes: &'a [String],
    models: usize,
    observations: &'a Observations,
}

impl<'a> Names<'a> {
    /// Names for `models` models: one per class, or without classes.
    pub(super) fn of(classes: &'a [String], models: usize, observations: &'a Observations) -> Self {
        Self { classes, models, observations }
    }

    /// A model.
    pub(super) fn model(&self, index: usize) -> String {
        match self.classes.get(index) {
            // A classifier may have been trained on the scores of one class alone.
            Some(class) if self.classes.len() == self.models => {
                format!("the model of class `{class}`")
            }
            _ if self.models == 1 => "the model".to_owned(),
            _ => format!("model {index}"),
        }
    }

    fn channel(&self, channel: usize) -> String {
        match self.observations {
            // After the channels come differences of each, lag by lag.
            Observations::Channels(names) => match names.get(channel) {
                Some(name) => format!("`{name}`"),
                None => match names.get(channel % names.len().max(1)) {
                    Some(name) => format!("`{name}`, a difference of it"),
                    None => channel.to_string(),
                },
            },
            Observations::Symbols(_) => channel.to_string(),
        }
    }

    /// A model, and the channel where an error names one.
    pub(super) fn place(&self, index: usize, error: &ModelError) -> String {
        let model = self.model(index);
        match error.part {
            Part::Parameter(_) => {
                format!("{model}, channel {}", self.channel(error.entry))
            }
            _ => model,
        }
    }
}

/// Attaches directions to a model and pads it to `states` states. `name` is for messages.
pub(super) fn attach<T: Real>(
    name: (usize, Names<'_>),
    model: &Hmm,
    directions: &[&Direction],
    states: usize,
) -> Result<DeployedModel<T>, DeployError> {
    let row = |row: &[f64], logits: &dyn Fn(&Direction) -> Vec<f64>, length: usize, stay| {
        let rates: Vec<Vec<f64>> = directions.iter().map(|d| logits(d)).collect();
        let along: Vec<(bool, &[f64])> = directions
            .iter()
            .zip(&rates)
            .map(|(d, rates)| (d.emission.weighs_statistics(), rates.as_slice()))
            .collect();
        let mut weights: Vec<_> = weights_along(row, &along).iter().map(Weight::rounded).collect();
        let zero = Weight { value: T::ZERO, tangent: vec![T::ZERO; directions.len()] };
        weights.resize(length, zero);
        if let Some(state) = stay {
            let weight: &mut Weight<T> = &mut weights[state];
            weight.value = T::ONE;
        }
        weights
    };
    let initial = row(&model.initial, &|d| d.initial.clone(), states, None);
    let mut transition = Vec::new();
    for from in 0..states {
        transition.push(match model.transition.get(from) {
            Some(probabilities) => {
                row(probabilities, &|d| d.transition[from].clone(), states, None)
            }
            None => row(&[], &|_| Vec::new(), states, Some(from)),
        });
    }
    // A state out of reach emits as state 0 does: valid, and never the likeliest by itself.
    let rows = (0..states).map(|state| if state < model.states() { state } else { 0 });
    let emission = emissions_along(name, &model.emission, directions, rows)?;
    Ok(DeployedModel { initial, transition, emission })
}

/// Rows of emissions with the directions attached.
pub(super) fn emissions_along<T: Real>(
    (index, names): (usize, Names<'_>),
    emission: &Emissions,
    directions: &[&Direction],
    rows: impl Iterator<Item = usize>,
) -> Result<Vec<DeployedEmission<T>>, DeployError> {
    let advice = advice(emission.family().observes());
    let along: Vec<Rates<'_>> = directions
        .iter()
        .map(|direction| direction.emission.of_family(emission))
        .collect::<Option<_>>()
        .ok_or_else(|| DeployError::Direction(names.model(index)))?;
    let deploy = |row| {
        emission.deploy(row, &along).map_err(|DoesNotFit { part, channel, value }| {
            let (model, channel) = (names.model(index), names.channel(channel));
            DeployError::OutOfRange { model, part, channel, value, advice }
        })
    };
    rows.map(deploy).collect()
}
