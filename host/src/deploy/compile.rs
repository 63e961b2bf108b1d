//! From a trained classifier to the numbers that a device holds.

use fishweir_core::number::Real;
use fishweir_core::{ModelError, Part};

use super::codebooks::DeployedCodebooks;
use super::{DeployError, Deployed, DeployedEmission, DeployedModel, Weight};
use crate::classifier::{Classifier, Direction, Observations, Rule};
use crate::data::Kind;
use crate::runtime::family::{DoesNotFit, Rates, weights_along};
use crate::runtime::{Distribution, Emissions, Hmm, Observed};

/// What to do where the number format does not hold a model of what is observed.
fn advice(observed: Observed) -> &'static str {
    match observed {
        Observed::Channels(values) if values.have_unit() => "rescale the channel",
        Observed::Channels(_) => "leave the channel out",
        Observed::Symbol => "fit the model again",
    }
}

/// What models and channels are called in messages.
#[derive(Clone, Copy)]
pub(super) struct Names<'a> {
    classes: &'a [String],
    models: usize,
    observations: &'a Observations,
}

impl<'a> Names<'a> {
    /// Of a classifier's models; those for each lag are of no class, however many there are.
    fn in_classifier(classifier: &'a Classifier, heard: &'a Observations) -> Self {
        let classes: &[String] = if classifier.lags.is_apart() { &[] } else { &classifier.classes };
        Self::of(classes, classifier.models.len(), heard)
    }

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

impl Classifier {
    /// As a device holds it, in `f32`: compiled to directions, or with its support vectors.
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
            return self.store(expansion);
        }
        if let Some(confidence) = &self.confidence {
            confidence.check(self.classes.len()).map_err(DeployError::Models)?;
        }
        let deployed: Deployed = self.compile_in()?;
        let heard = self.heard()?;
        let names = Names::in_classifier(self, &heard);
        for (index, model) in deployed.each_model() {
            deployed.validate_model(&model).map_err(|source| DeployError::Rounded {
                place: names.place(index, &source),
                source,
                advice: advice(self.models[index].emission.family().observes()),
            })?;
        }
        deployed.validate_outputs().map_err(|source| {
            let place = "what models are weighed by".to_owned();
            DeployError::Rounded { place, source, advice: "fit the model again" }
        })?;
        Ok(deployed)
    }

    /// What models hear, but for lags: the channels, or what a front end makes of them.
    fn heard(&self) -> Result<Observations, DeployError> {
        let front = self.front_end().map_err(DeployError::Models)?;
        match &self.observations {
            Observations::Channels(names) => {
                Ok((&front.kind(&Kind::Channels(names.clone()))).into())
            }
            symbols => Ok(symbols.clone()),
        }
    }

    /// The same in another real format, directions alone: `f64` for what other formats are made from.
    ///
    /// # Errors
    /// [`DeployError`] naming a number that does not fit.
    pub fn compile_in<T: Real>(&self) -> Result<Deployed<T>, DeployError> {
        let outputs = match &self.rule {
            Rule::Linear(outputs) | Rule::Words { outputs, .. } => outputs,
            Rule::Expansion(_) => return Err(DeployError::Expansion),
        };
        let states = self.states();
        let heard = self.heard()?;
        let names = Names::in_classifier(self, &heard);
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
        Ok(Deployed {
            observations: self.observations.clone(),
            classes: self.classes.clone(),
            front: self.front_end().map_err(DeployError::Models)?,
            lags: self.lags.clone(),
            models,
            systems: Vec::new(),
            profile: None,
            order: self.order(),
            kernel: None,
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
            contract: Some(self.provenance.contract().carried()),
        })
    }
}

/// A model with its directions attached, padded to so many states. `name` is for messages.
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
fn emissions_along<T: Real>(
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
