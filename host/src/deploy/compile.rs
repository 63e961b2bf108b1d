//! From a trained classifier to the numbers that a device holds.

use fishweir_core::emission::{Probabilities, move_row};

use super::{Deployed, DeployedEmission, DeployedModel, Weight};
use crate::classifier::{Classifier, Direction, EmissionDirection};
use crate::runtime::{Emissions, Hmm};

/// Why a classifier does not compile.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// A number that `f32` cannot hold.
    #[error("model {model}: {part} does not fit in f32 ({value:e}); rescale the channels")]
    OutOfRange {
        /// Which model.
        model: usize,
        /// Which part.
        part: &'static str,
        /// Its value.
        value: f64,
    },
    /// A direction whose emission part is of another family than the model's.
    #[error("model {0}: its direction is of another emission family")]
    Family(usize),
}

impl Classifier {
    /// Attaches the directions to the models and rounds all to `f32`.
    ///
    /// A classifier that is linear in log-likelihoods and scores needs no score on the device: for a
    /// direction `w`, `w . score` is a directional derivative, which the forward filter carries along
    /// once every number of the model knows its rate of change along `w`. For logits
    /// `dp_k = p_k (w_k - sum_l p_l w_l)`; for a Gaussian see the core's `Gaussian`.
    ///
    /// Models with fewer states than the largest are padded with states out of reach.
    ///
    /// # Errors
    /// [`CompileError`] naming a number that does not fit.
    pub fn compile(&self) -> Result<Deployed, CompileError> {
        let states = self.states();
        let models = self
            .models
            .iter()
            .enumerate()
            .map(|(index, model)| {
                let directions: Vec<&Direction> =
                    self.outputs.iter().filter_map(|output| output.directions.get(index)).collect();
                attach(index, model, &directions, states)
            })
            .collect::<Result<_, _>>()?;
        Ok(Deployed {
            observations: self.observations.clone(),
            classes: self.classes.clone(),
            models,
            weights: self
                .outputs
                .iter()
                .map(|output| output.weights.iter().map(|&weight| weight as f32).collect())
                .collect(),
            biases: self.outputs.iter().map(|output| output.bias as f32).collect(),
            normalisation: self.normalisation,
        })
    }
}

/// A model with its directions attached, in `f32`, padded to so many states.
pub(super) fn attach(
    index: usize,
    model: &Hmm,
    directions: &[&Direction],
    states: usize,
) -> Result<DeployedModel, CompileError> {
    let row = |row: &[f64], logits: &dyn Fn(&Direction) -> Vec<f64>, length: usize, stay| {
        let mut weights =
            along_logits(row, &directions.iter().map(|d| logits(d)).collect::<Vec<_>>());
        let zero = Weight { value: 0.0, tangent: vec![0.0; directions.len()] };
        weights.resize(length, zero);
        if let Some(state) = stay {
            let weight: &mut Weight = &mut weights[state];
            weight.value = 1.0;
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
    let mut emission = Vec::new();
    for state in 0..states {
        // A state out of reach emits as state 0 does: valid, and never the likeliest by itself.
        let state = if state < model.states() { state } else { 0 };
        emission.push(match &model.emission {
            Emissions::Categorical { probability } => {
                let mut logits = Vec::new();
                for direction in directions {
                    let EmissionDirection::Categorical { logits: table } = &direction.emission
                    else {
                        return Err(CompileError::Family(index));
                    };
                    logits.push(table[state].clone());
                }
                DeployedEmission::Categorical(along_logits(&probability[state], &logits))
            }
            Emissions::Gaussian { mean, std } => {
                gaussian(index, &mean[state], &std[state], directions, state)?
            }
        });
    }
    Ok(DeployedModel { initial, transition, emission })
}

/// Probabilities with their rates of change along directions of their logits.
fn along_logits(row: &[f64], directions: &[Vec<f64>]) -> Vec<Weight> {
    let rates: Vec<Vec<f64>> = directions
        .iter()
        .map(|direction| {
            let mut rate = vec![0.0; row.len()];
            move_row(row, direction, Probabilities::Softmax, &mut rate);
            rate
        })
        .collect();
    row.iter()
        .enumerate()
        .map(|(k, &p)| Weight {
            value: p as f32,
            tangent: rates.iter().map(|rate| rate[k] as f32).collect(),
        })
        .collect()
}

fn gaussian(
    index: usize,
    mean: &[f64],
    std: &[f64],
    directions: &[&Direction],
    state: usize,
) -> Result<DeployedEmission, CompileError> {
    let narrow = |part, value: f64| {
        let narrowed = value as f32;
        let lost = !narrowed.is_finite() || (value != 0.0 && !narrowed.is_normal());
        if lost {
            Err(CompileError::OutOfRange { model: index, part, value })
        } else {
            Ok(narrowed)
        }
    };
    let rates: Vec<f64> = std.iter().map(|std| 1.0 / std).collect();
    let rate: Vec<f32> =
        rates.iter().map(|&rate| narrow("rate", rate)).collect::<Result<_, _>>()?;
    let mut along = Vec::new();
    for direction in directions {
        let EmissionDirection::Gaussian { mean, log_std } = &direction.emission else {
            return Err(CompileError::Family(index));
        };
        along.push((&mean[state], &log_std[state]));
    }
    // The normaliser is that of the rounded rates, so that the device's density is one.
    let rounded: Vec<f64> = rate.iter().map(|&rate| f64::from(rate)).collect();
    Ok(DeployedEmission::Gaussian {
        mean: mean.iter().map(|&mean| mean as f32).collect(),
        constant: Weight {
            value: fishweir_core::emission::log_normaliser(&rounded) as f32,
            tangent: along.iter().map(|(_, log_std)| -log_std.iter().sum::<f64>() as f32).collect(),
        },
        linear: rates
            .iter()
            .enumerate()
            .map(|(d, rate)| along.iter().map(|(mean, _)| (mean[d] * rate) as f32).collect())
            .collect(),
        quadratic: (0..rates.len())
            .map(|d| along.iter().map(|(_, log_std)| log_std[d] as f32).collect())
            .collect(),
        rate,
    })
}
