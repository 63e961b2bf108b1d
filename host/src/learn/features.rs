//! Features of a sequence: the Fisher scores of the class models, read from expected statistics.

use fishweir_core::classify::Normalisation;
use fishweir_core::emission::Parametrisation;
use serde::{Deserialize, Serialize};

use crate::classifier::{Direction, EmissionDirection};
use crate::data::SamplesView;
use crate::fit::{Expectations, expectations};
use crate::kernel::{Scored, push_score};
use crate::runtime::{Emissions, Hmm};

/// How the score's entries are scaled before the linear machine sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scaling {
    /// As they are: the practical Fisher kernel, `K = U_x . U_y` (fifth seed document, section 2).
    Practical,
    /// Divided by the root of the diagonal information: the invariant kernel with the information
    /// matrix's diagonal, estimated on the training sequences.
    Diagonal,
}

impl Scaling {
    /// Its name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Practical => "practical",
            Self::Diagonal => "diagonal information",
        }
    }
}

/// From a sequence to the scores of a bank of models, and from weights on scores back to directions.
///
/// A model's block holds, in this order, the score for the logits of the initial and transition
/// probabilities, then for the logits of the symbols or for mean (in units of the channel's scale)
/// and log standard deviation of each state; last, if asked for, its log-likelihood. Probabilities
/// of zero and one are left out: they do not move with their logits, and in a model whose states have
/// an order they are nearly all.
#[derive(Clone, Debug)]
pub struct FeatureMap {
    models: Vec<Hmm>,
    /// Which entries of a score move, `[model][parameter]`.
    moving: Vec<Vec<bool>>,
    scale: Vec<f64>,
    with_likelihood: bool,
    normalisation: Normalisation,
}

impl FeatureMap {
    /// A map over a bank of models.
    #[must_use]
    pub fn new(
        models: Vec<Hmm>,
        scale: Vec<f64>,
        with_likelihood: bool,
        normalisation: Normalisation,
    ) -> Self {
        let moving = models.iter().map(moving).collect();
        Self { models, moving, scale, with_likelihood, normalisation }
    }

    /// The bank of models.
    #[must_use]
    pub fn models(&self) -> &[Hmm] {
        &self.models
    }

    /// Number of features.
    #[must_use]
    pub fn len(&self) -> usize {
        self.block_lengths().sum()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn block_lengths(&self) -> impl Iterator<Item = usize> {
        let likelihood = usize::from(self.with_likelihood);
        self.moving
            .iter()
            .map(move |moving| moving.iter().filter(|moves| **moves).count() + likelihood)
    }

    /// The features of each sequence, times the normalisation's factor for its length. `None` for a
    /// sequence that some model makes impossible.
    #[must_use]
    pub fn extract(&self, sequences: &[SamplesView<'_>]) -> Vec<Option<Vec<f64>>> {
        let mut features = vec![Some(Vec::with_capacity(self.len())); sequences.len()];
        let mut score = Vec::new();
        for (model, moving) in self.models.iter().zip(&self.moving) {
            let expected = expectations(model, sequences);
            for (features, expected) in features.iter_mut().zip(expected) {
                match (features.as_mut(), expected) {
                    (Some(features), Ok(expected)) => {
                        score.clear();
                        self.push_block(model, &expected, &mut score);
                        let likelihood = score.split_off(moving.len());
                        let moving = score.iter().zip(moving).filter(|(_, moves)| **moves);
                        features.extend(moving.map(|(entry, _)| entry));
                        features.extend(likelihood);
                    }
                    _ => *features = None,
                }
            }
        }
        for (features, samples) in features.iter_mut().zip(sequences) {
            let factor: f64 = self.normalisation.factor(samples.len() as u64);
            features.iter_mut().flatten().for_each(|feature| *feature *= factor);
        }
        features
    }

    fn push_block(&self, model: &Hmm, expected: &Expectations, features: &mut Vec<f64>) {
        push_score(model, expected, Parametrisation::SOFTMAX, &self.scale, features);
        if self.with_likelihood {
            features.push(expected.log_likelihood);
        }
    }

    /// Which features are log-likelihoods.
    #[must_use]
    pub fn likelihood_columns(&self) -> Vec<bool> {
        self.block_lengths()
            .flat_map(|length| (1..=length).map(move |k| self.with_likelihood && k == length))
            .collect()
    }

    /// What weights on the features mean for each model: a direction and a weight on its
    /// log-likelihood.
    #[must_use]
    pub fn directions(&self, weights: &[f64]) -> Vec<(Direction, f64)> {
        let mut rest = weights.iter().copied();
        self.models
            .iter()
            .zip(&self.moving)
            .map(|(model, moving)| {
                let (states, size) = (model.states(), model.size());
                let mut of_model = |moves: &bool| if *moves { rest.next() } else { None };
                let all: Vec<f64> =
                    moving.iter().map(|moves| of_model(moves).unwrap_or(0.0)).collect();
                let likelihood = if self.with_likelihood { rest.next() } else { None };
                let mut all = all.into_iter();
                let mut take = |count: usize| -> Vec<f64> { all.by_ref().take(count).collect() };
                let initial = take(states);
                let transition = (0..states).map(|_| take(states)).collect();
                let emission = match model.emission {
                    Emissions::Categorical { .. } => EmissionDirection::Categorical {
                        logits: (0..states).map(|_| take(size)).collect(),
                    },
                    Emissions::Gaussian { .. } => {
                        let (mut mean, mut log_std) = (Vec::new(), Vec::new());
                        for _ in 0..states {
                            let scaled = take(size);
                            mean.push(scaled.iter().zip(&self.scale).map(|(w, s)| w * s).collect());
                            log_std.push(take(size));
                        }
                        EmissionDirection::Gaussian { mean, log_std }
                    }
                };
                let direction = Direction { initial, transition, emission };
                (direction, likelihood.unwrap_or(0.0))
            })
            .collect()
    }
}

/// Which entries of a model's score move.
fn moving(model: &Hmm) -> Vec<bool> {
    let of_row = |row: &Vec<f64>| row.iter().map(|&p| p > 0.0 && p < 1.0).collect::<Vec<_>>();
    let mut moving = of_row(&model.initial);
    moving.extend(model.transition.iter().flat_map(of_row));
    match &model.emission {
        Emissions::Categorical { probability } => {
            moving.extend(probability.iter().flat_map(of_row))
        }
        Emissions::Gaussian { .. } => moving.resize(model.parameters(), true),
    }
    moving
}
