//! From a trained classifier to the numbers that a device holds.

use fishweir_core::emission::{Probabilities, move_row};
use fishweir_core::number::Real;
use fishweir_core::{ModelError, Part};

use super::{Deployed, DeployedEmission, DeployedModel, Weight};
use crate::classifier::{Classifier, Direction, EmissionDirection, Observations};
use crate::runtime::{Emissions, Hmm};

/// Why a classifier does not compile.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// A number that `f32` cannot hold.
    #[error(
        "{model}: the {part} of channel {channel} does not fit in the number format ({value:e}); rescale \
         the channel"
    )]
    OutOfRange {
        /// Which model, by its class where it has one.
        model: String,
        /// Which part.
        part: &'static str,
        /// Which channel, by its name where it has one.
        channel: String,
        /// Its value.
        value: f64,
    },
    /// A direction whose emission part is of another family than the model's.
    #[error("{0}: its direction is of another emission family")]
    Family(String),
    /// What the device refuses once all is rounded.
    #[error(
        "no device takes {place}: {source}, in the number format of a device; rescale the channels"
    )]
    Rounded {
        /// Which model, and which channel where that is known.
        place: String,
        /// Which number, and what is wrong with it.
        source: ModelError,
    },
}

/// What models and channels are called in messages.
#[derive(Clone, Copy)]
pub(super) struct Names<'a> {
    classes: &'a [String],
    models: usize,
    observations: &'a Observations,
}

impl<'a> Names<'a> {
    /// Of so many models: one a class, or none of any.
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
            Observations::Channels(names) => {
                names.get(channel).map_or_else(|| channel.to_string(), |name| format!("`{name}`"))
            }
            Observations::Symbols(_) => channel.to_string(),
        }
    }

    /// A model, and the channel where an error names one.
    pub(super) fn place(&self, index: usize, error: &ModelError) -> String {
        let model = self.model(index);
        match error.part {
            Part::Mean | Part::Variance => {
                format!("{model}, channel {}", self.channel(error.entry))
            }
            _ => model,
        }
    }
}

impl Classifier {
    /// Attaches the directions to the models and rounds all to `f32`.
    ///
    /// A classifier that is linear in log-likelihoods and scores needs no score on the device: for a
    /// direction `w`, `w . score` is a directional derivative, which the forward filter carries along
    /// once every number of the model knows its rate of change along `w`. For logits
    /// `dp_k = p_k (w_k - sum_l p_l w_l)`; for a Gaussian see the core's `Gaussian`. Weights on expected
    /// statistics are rates of the factors' logarithms, `dp_k = p_k w_k`: the row need not stay a
    /// distribution, for the filter asks that of the values alone.
    ///
    /// Models with fewer states than the largest are padded with states out of reach. Where the states
    /// of all models follow one another the device holds positions instead: see
    /// [`Deployed::succession`].
    ///
    /// # Errors
    /// [`CompileError`] naming a number that does not fit.
    pub fn compile(&self) -> Result<Deployed, CompileError> {
        let deployed: Deployed = self.compile_in()?;
        let names = Names::of(&self.classes, self.models.len(), &self.observations);
        for (index, model) in deployed.models.iter().enumerate() {
            deployed.validate_model(model).map_err(|source| CompileError::Rounded {
                place: names.place(index, &source),
                source,
            })?;
        }
        deployed.validate_outputs().map_err(|source| {
            let place = "what models are weighed by".to_owned();
            CompileError::Rounded { place, source }
        })?;
        Ok(deployed)
    }

    /// The same in another real format: `f64` for what other formats are made from.
    ///
    /// # Errors
    /// [`CompileError`] naming a number that does not fit.
    pub fn compile_in<T: Real>(&self) -> Result<Deployed<T>, CompileError> {
        let states = self.states();
        let names = Names::of(&self.classes, self.models.len(), &self.observations);
        let models = self
            .models
            .iter()
            .enumerate()
            .map(|(index, model)| {
                let directions: Vec<&Direction> =
                    self.outputs.iter().filter_map(|output| output.directions.get(index)).collect();
                attach((index, names), model, &directions, states)
            })
            .collect::<Result<_, _>>()?;
        Ok(Deployed {
            observations: self.observations.clone(),
            classes: self.classes.clone(),
            models,
            weights: self
                .outputs
                .iter()
                .map(|output| output.weights.iter().map(|&weight| T::from_f64(weight)).collect())
                .collect(),
            biases: self.outputs.iter().map(|output| T::from_f64(output.bias)).collect(),
            normalisation: self.normalisation,
        })
    }
}

/// A model with its directions attached, padded to so many states. `name` is for messages.
pub(super) fn attach<T: Real>(
    name: (usize, Names<'_>),
    model: &Hmm,
    directions: &[&Direction],
    states: usize,
) -> Result<DeployedModel<T>, CompileError> {
    let row = |row: &[f64], logits: &dyn Fn(&Direction) -> Vec<f64>, length: usize, stay| {
        let along: Vec<_> = directions.iter().map(|d| (*d, logits(d))).collect();
        let mut weights = along_rows(row, &along);
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
    let mut emission = Vec::new();
    for state in 0..states {
        // A state out of reach emits as state 0 does: valid, and never the likeliest by itself.
        let state = if state < model.states() { state } else { 0 };
        emission.push(match &model.emission {
            Emissions::Categorical { probability } => {
                let mut along = Vec::new();
                for direction in directions {
                    let (EmissionDirection::Categorical { logits: table }
                    | EmissionDirection::Counts { counts: table }) = &direction.emission
                    else {
                        return Err(CompileError::Family(name.1.model(name.0)));
                    };
                    along.push((*direction, table[state].clone()));
                }
                DeployedEmission::Categorical(along_rows(&probability[state], &along))
            }
            Emissions::Gaussian { mean, std } => {
                gaussian(name, &mean[state], &std[state], directions, state)?
            }
        });
    }
    Ok(DeployedModel { initial, transition, emission })
}

/// Probabilities with their rates of change along directions, whose part for this row is given.
fn along_rows<T: Real>(row: &[f64], along: &[(&Direction, Vec<f64>)]) -> Vec<Weight<T>> {
    let rates: Vec<Vec<f64>> = along
        .iter()
        .map(|(direction, part)| {
            if direction.emission.weighs_statistics() {
                return row.iter().zip(part).map(|(p, w)| p * w).collect();
            }
            let mut rate = vec![0.0; row.len()];
            move_row(row, part, Probabilities::Softmax, &mut rate);
            rate
        })
        .collect();
    row.iter()
        .enumerate()
        .map(|(k, &p)| Weight {
            value: T::from_f64(p),
            tangent: rates.iter().map(|rate| T::from_f64(rate[k])).collect(),
        })
        .collect()
}

fn gaussian<T: Real>(
    (index, names): (usize, Names<'_>),
    mean: &[f64],
    std: &[f64],
    directions: &[&Direction],
    state: usize,
) -> Result<DeployedEmission<T>, CompileError> {
    let narrow = |(channel, &value): (usize, &f64)| {
        let narrowed = T::from_f64(value);
        let subnormal = narrowed.abs() < T::power_of_two(i32::MIN);
        let lost = !narrowed.is_finite() || (value != 0.0 && subnormal);
        if lost {
            let (model, channel) = (names.model(index), names.channel(channel));
            Err(CompileError::OutOfRange { model, part: "rate", channel, value })
        } else {
            Ok(narrowed)
        }
    };
    let rates: Vec<f64> = std.iter().map(|std| 1.0 / std).collect();
    let rate: Vec<T> = rates.iter().enumerate().map(narrow).collect::<Result<_, _>>()?;
    // d log b = constant + sum_d z_d (linear_d + quadratic_d z_d), a direction each.
    let mut along: Vec<(f64, Vec<f64>, &[f64])> = Vec::new();
    for direction in directions {
        along.push(match &direction.emission {
            EmissionDirection::Gaussian { mean, log_std } => (
                -log_std[state].iter().sum::<f64>(),
                mean[state].iter().zip(&rates).map(|(mean, rate)| mean * rate).collect(),
                &log_std[state],
            ),
            EmissionDirection::Moments { occupancy, first, second } => {
                (occupancy[state], first[state].clone(), &second[state])
            }
            _ => return Err(CompileError::Family(names.model(index))),
        });
    }
    // The normaliser is that of the rounded rates, so that the device's density is one.
    let rounded: Vec<f64> = rate.iter().map(|&rate| rate.to_f64()).collect();
    Ok(DeployedEmission::Gaussian {
        mean: mean.iter().map(|&mean| T::from_f64(mean)).collect(),
        constant: Weight {
            value: T::from_f64(fishweir_core::emission::log_normaliser(&rounded)),
            tangent: along.iter().map(|(constant, ..)| T::from_f64(*constant)).collect(),
        },
        linear: (0..rates.len())
            .map(|d| along.iter().map(|(_, linear, _)| T::from_f64(linear[d])).collect())
            .collect(),
        quadratic: (0..rates.len())
            .map(|d| along.iter().map(|(.., quadratic)| T::from_f64(quadratic[d])).collect())
            .collect(),
        rate,
    })
}
