//! The host's run of a deployed classifier: the core's recursions at run-time sizes.

use fishweir_core::classify::{Decision, decide, decision_value};
use fishweir_core::emission::Emission;
use fishweir_core::number::{Dual, Real};
use fishweir_core::{Flaw, ModelError, ObservationError, Part};

use super::block::{BLOCK, Block, Build, Observation, block, chain};
use super::{Deployed, DeployedEmission};
use crate::data::Sample;
use crate::runtime::{CategoricalVec, GaussianVec, with_states};

/// Why a sample was not taken in; the stream is then as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PushError {
    /// The models refuse it.
    #[error(transparent)]
    Observation(#[from] ObservationError),
    /// A row where a symbol is wanted, or the other way round, or a row of another length.
    #[error("a sample of another kind than the classifier observes")]
    Kind,
}

/// A stream through a deployed classifier. It owns its numbers, so it may outlive the classifier.
pub struct Stream<T = f32> {
    bank: Vec<ModelStream<T>>,
    weights: Vec<Vec<T>>,
    biases: Vec<T>,
    normalisation: fishweir_core::classify::Normalisation,
    channels: Option<usize>,
    row: Vec<T>,
    /// Where observations are integers: their binary places, and a row of them.
    places: Option<Vec<i16>>,
    integers: Vec<i16>,
    samples: u64,
}

/// One model: the directions are run in blocks, each beside the same values.
pub(super) struct ModelStream<T> {
    pub(super) blocks: Vec<Box<dyn Block<T> + Send>>,
}

impl<T: Real + Send> Deployed<T> {
    /// A stream before its first sample.
    #[must_use]
    pub fn stream(&self) -> Stream<T> {
        let (directions, steps) = (self.directions(), self.steps());
        let bank = self
            .models
            .iter()
            .enumerate()
            .map(|(index, model)| {
                let steps = steps.as_ref().map(|steps| steps[index].as_slice());
                let block = |first| {
                    let left = directions - usize::min(first, directions);
                    block(model, steps, first, left)
                };
                let blocks = (0..directions.max(1)).step_by(BLOCK).map(block).collect();
                ModelStream { blocks }
            })
            .collect();
        Stream::of(
            bank,
            self.weights.clone(),
            self.biases.clone(),
            self.normalisation,
            &self.observations,
            None,
        )
    }
}

impl<T: Real> Stream<T> {
    pub(super) fn of(
        bank: Vec<ModelStream<T>>,
        weights: Vec<Vec<T>>,
        biases: Vec<T>,
        normalisation: fishweir_core::classify::Normalisation,
        observations: &crate::classifier::Observations,
        places: Option<Vec<i16>>,
    ) -> Self {
        let channels = match observations {
            crate::classifier::Observations::Channels(names) => Some(names.len()),
            crate::classifier::Observations::Symbols(_) => None,
        };
        Self {
            bank,
            weights,
            biases,
            normalisation,
            channels,
            row: Vec::new(),
            places,
            integers: Vec::new(),
            samples: 0,
        }
    }

    /// Takes in one sample; the values of a row are rounded to `f32`, as the device receives them.
    ///
    /// # Errors
    /// [`PushError`]; the stream is then as before.
    pub fn push(&mut self, sample: Sample<'_>) -> Result<(), PushError> {
        match (sample, self.channels) {
            (Sample::Row(row), Some(channels)) if row.len() == channels => {
                if let Some(places) = &self.places {
                    if !row.iter().all(|x| x.is_finite()) {
                        return Err(ObservationError::NotFinite.into());
                    }
                    let integer =
                        |(&x, &places): (&f64, &i16)| (x * f64::from(places).exp2()).round() as i16;
                    self.integers.clear();
                    self.integers.extend(row.iter().zip(places).map(integer));
                    let integers = std::mem::take(&mut self.integers);
                    let taken = self.push_each(&Observation::Integers(&integers));
                    self.integers = integers;
                    self.samples += u64::from(taken.is_ok());
                    return taken;
                }
                self.row.clear();
                self.row.extend(row.iter().map(|&x| T::from_f64(x)));
                let row = std::mem::take(&mut self.row);
                let taken = self.push_each(&Observation::Row(&row));
                self.row = row;
                taken?;
            }
            (Sample::Symbol(symbol), None) => self.push_each(&Observation::Symbol(symbol))?,
            (Sample::Missing, _) => self.blocks().for_each(|block| block.push_missing()),
            _ => return Err(PushError::Kind),
        }
        self.samples += 1;
        Ok(())
    }

    fn push_each(&mut self, x: &Observation<'_, T>) -> Result<(), PushError> {
        for taken in 0..self.blocks().count() {
            let Some(error) = self.blocks().nth(taken).and_then(|block| block.push(x).err()) else {
                continue;
            };
            self.blocks().take(taken).for_each(|block| block.undo());
            return Err(error);
        }
        Ok(())
    }

    fn blocks(&mut self) -> impl Iterator<Item = &mut Box<dyn Block<T> + Send>> {
        self.bank.iter_mut().flat_map(|model| &mut model.blocks)
    }

    /// Forgets the past.
    pub fn reset(&mut self) {
        self.blocks().for_each(|block| block.reset());
        self.samples = 0;
    }

    /// Samples taken in, missing ones included.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Number of models.
    #[must_use]
    pub fn models(&self) -> usize {
        self.bank.len()
    }

    /// Log-likelihood of the stream under each model, `[model]`.
    #[must_use]
    pub fn log_likelihoods(&self) -> Vec<T> {
        self.bank.iter().map(|model| model.blocks[0].log().0).collect()
    }

    /// The outputs' values, `[output]`.
    #[must_use]
    pub fn decision_values(&self) -> Vec<T> {
        let factor = self.normalisation.factor(self.samples);
        let logs: Vec<(T, Vec<T>)> = self
            .bank
            .iter()
            .map(|model| {
                let mut parts = model.blocks.iter().map(|block| block.log());
                let mut all = parts.next().unwrap_or_default();
                parts.for_each(|(_, tangent)| all.1.extend(tangent));
                all
            })
            .collect();
        self.biases
            .iter()
            .zip(&self.weights)
            .enumerate()
            .map(|(output, (&bias, weights))| {
                let evidence = weights.iter().zip(&logs).map(|(&weight, (log, tangent))| {
                    (weight, *log, tangent.get(output).copied().unwrap_or(T::ZERO))
                });
                decision_value(bias, factor, evidence)
            })
            .collect()
    }

    /// The decision so far.
    #[must_use]
    pub fn decision(&self) -> Decision<T> {
        decide(&self.decision_values())
    }
}

impl Deployed {
    /// Checks every number by the core's own checks.
    ///
    /// # Errors
    /// The core's name for the first that is wrong.
    pub fn validate(&self) -> Result<(), ModelError> {
        for model in &self.models {
            with_states!(model.initial.len(), N => {
                // Tangents are checked one output at a time: they are the same numbers in any block.
                for output in 0..self.directions().max(1) {
                    chain::<f32, Dual<f32, 1>, N>(model, output).validate()?;
                    for (state, emission) in model.emission.iter().enumerate() {
                        let emission_error = match emission {
                            DeployedEmission::Categorical(_) => {
                                CategoricalVec::<Dual<f32, 1>>::build(Some(emission), output, 0)
                                    .map_or(Ok(()), |emission| emission.validate())
                            }
                            DeployedEmission::Gaussian { .. } => {
                                GaussianVec::<Dual<f32, 1>>::build(Some(emission), output, 0)
                                    .map_or(Ok(()), |emission| emission.validate())
                            }
                        };
                        emission_error.map_err(|error| error.of_state(state))?;
                    }
                }
            });
        }
        let tables = self.weights.iter().map(|row| (Part::LikelihoodWeight, row.as_slice()));
        for (row, (part, values)) in
            tables.chain([(Part::Bias, self.biases.as_slice())]).enumerate()
        {
            if let Some(entry) = values.iter().position(|value| !value.is_finite()) {
                return Err(ModelError::new(part, Flaw::NotFinite, row, entry));
            }
        }
        Ok(())
    }
}
