//! A classifier whose models never observe a channel.

use super::{Classifier, Direction, Observations, Output, Rule};
use crate::runtime::Hmm;

impl Classifier {
    /// Returns the classifier for a sensor that never observes one of the channels, its past, or differences from it.
    ///
    /// It has the models' marginal distributions over the other channels, and the directions along which these move. `None` for a
    /// single channel or for symbols, for a kernel machine, behind a front end, with codebooks, and for models whose states emit
    /// channels jointly (`full-gaussian`, `autoregressive`).
    ///
    /// States' probabilities and all weights and biases stay. The learnt confidence is left out.
    #[must_use]
    pub fn without_channel(&self, channel: usize) -> Option<Self> {
        let Observations::Channels(names) = &self.observations else { return None };
        let Rule::Linear(outputs) = &self.rule else { return None };
        let size = names.len();
        // Rows that a front end made are no channels of the sensor's.
        if size < 2 || channel >= size || !self.front.is_empty() || self.codebooks.is_some() {
            return None;
        }
        // Rows are channels, then their past or differences lag by lag.
        let kept = |column: usize| column % size != channel;
        let some = |all: &[f64]| -> Vec<f64> {
            all.iter().enumerate().filter(|(column, _)| kept(*column)).map(|(_, &x)| x).collect()
        };
        // Models see whole sets of channels each, whatever the lags.
        let seen = self.lags.seen_width(size);
        let model = |model: &Hmm| {
            let emission = model.emission.of_channels(kept)?;
            Some(Hmm { emission, ..model.clone() })
        };
        let direction = |direction: &Direction| {
            let emission = direction.emission.of_channels(seen, kept)?;
            Some(Direction { emission, ..direction.clone() })
        };
        let output = |output: &Output| {
            let directions = output.directions.iter().map(direction).collect::<Option<_>>()?;
            Some(Output { directions, ..output.clone() })
        };
        let mut names = names.clone();
        names.remove(channel);
        Some(Self {
            observations: Observations::Channels(names),
            centre: some(&self.centre),
            scale: some(&self.scale),
            models: self.models.iter().map(model).collect::<Option<_>>()?,
            rule: Rule::Linear(outputs.iter().map(output).collect::<Option<_>>()?),
            confidence: None,
            teaching: None,
            ..self.clone()
        })
    }
}
