//! Compilation of a trained classifier to the numbers that a device holds.

use fishweir_core::number::Real;

use super::attach::{Names, advice, attach, emissions_along};
use super::bank::Bank;
use super::codebooks::DeployedCodebooks;
use super::common::Common;
use super::deployed::Deployed;
use super::engine::Compiled;
use super::error::DeployError;
use super::model::DeployedModel;
use crate::classifier::{Classifier, Direction, Observations, Rule, Teaching};
use crate::data::Kind;
use crate::runtime::{Distribution, Emissions};

impl Classifier {
    /// Deploys the classifier in `f32`: compiled to directions, or with its support vectors.
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
    /// [`Deployed::topology`].
    ///
    /// # Errors
    /// [`DeployError`] naming what `f32` or a device does not hold.
    pub fn deploy(&self) -> Result<Deployed, DeployError> {
        if let Rule::Expansion(expansion) = &self.rule {
            let (common, machine) = self.store(expansion)?;
            return Ok(Deployed { common, engine: machine.into() });
        }
        if let Some(confidence) = &self.confidence {
            confidence.check(self.classes.len()).map_err(DeployError::Models)?;
        }
        let (common, bank) = self.compile()?;
        let heard = self.heard()?;
        bank.validate_each().map_err(|(index, source)| DeployError::Rounded {
            place: self.names(&heard).place(index, &source),
            source,
            advice: advice(self.models[index].emission.family().observes()),
        })?;
        common.validate_outputs().map_err(|source| {
            let place = "what models are weighed by".to_owned();
            DeployError::Rounded { place, source, advice: "fit the model again" }
        })?;
        Ok(Deployed { common, engine: bank.into() })
    }

    /// Names of models and channels in messages; models of one lag each have no class.
    fn names<'a>(&'a self, heard: &'a Observations) -> Names<'a> {
        let classes: &[String] = if self.lags.is_apart() { &[] } else { &self.classes };
        Names::of(classes, self.models.len(), heard)
    }

    /// Observations of the models, without lags: the channels, or the output of a front end.
    fn heard(&self) -> Result<Observations, DeployError> {
        let front = self.front_end().map_err(DeployError::Models)?;
        match &self.observations {
            Observations::Channels(names) => {
                Ok((&front.kind(&Kind::Channels(names.clone()))).into())
            }
            symbols => Ok(symbols.clone()),
        }
    }

    /// Compiles in another real format, directions alone: `f64` is the source of other formats.
    ///
    /// # Errors
    /// [`DeployError`] naming a number that does not fit.
    pub fn compile_in<T: Compiled>(&self) -> Result<Deployed<T>, DeployError> {
        let (common, bank) = self.compile()?;
        Ok(Deployed { common, engine: bank.into() })
    }

    /// Returns the compiled bank and the common fields.
    pub(super) fn compile<T: Real>(&self) -> Result<(Common<T>, Bank<T>), DeployError> {
        let outputs = match &self.rule {
            Rule::Linear(outputs) | Rule::Words { outputs, .. } => outputs,
            Rule::Expansion(_) => return Err(DeployError::Expansion),
        };
        let states = self.states();
        let heard = self.heard()?;
        let names = self.names(&heard);
        let contexts = self.contexts().map_err(DeployError::Models)?;
        let models = self
            .models
            .iter()
            .enumerate()
            .map(|(index, model)| {
                let directions: Vec<&Direction> =
                    outputs.iter().filter_map(|output| output.directions.get(index)).collect();
                let attached = attach((index, names), model, &directions, states)?;
                let Some(contexts) = contexts else { return Ok(attached) };
                let row = model.emission.distributions().and_then(|mut all| all.pop());
                let Some(Distribution::Categorical(row)) = row else { return Ok(attached) };
                let rows = Emissions::categorical(vec![row; contexts]);
                let emission = emissions_along((index, names), &rows, &directions, 0..contexts)?;
                Ok(DeployedModel { emission, ..attached })
            })
            .collect::<Result<_, _>>()?;
        let bank = match self.order() {
            Some(order) => Bank::of_words(models, order),
            None => Bank::new(models),
        };
        let common = Common {
            observations: self.observations.clone(),
            classes: self.classes.clone(),
            front: self.front_end().map_err(DeployError::Models)?,
            lags: self.lags.clone(),
            codebooks: self
                .codebooks
                .as_ref()
                .map(|books| DeployedCodebooks::of(books, outputs))
                .transpose()?,
            weights: outputs
                .iter()
                .map(|output| output.weights.iter().map(|&weight| T::from_f64(weight)).collect())
                .collect(),
            biases: outputs.iter().map(|output| T::from_f64(output.bias)).collect(),
            normalisation: self.normalisation,
            confidence: self.confidence.as_ref().map(|confidence| confidence.rounded()),
            teaching: self.teaching.as_ref().map(Teaching::bytes),
            contract: Some(self.contract().carried()),
        };
        Ok((common, bank))
    }
}
