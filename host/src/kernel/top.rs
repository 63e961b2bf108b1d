use fishweir_core::emission::Parametrisation;

use super::{Gram, Kernel, KernelError};
use crate::data::SamplesView;
use crate::elementary::Elementary;
use crate::model::{ModelScore, Scored, scores};

/// The TOP kernel, from tangents of posterior log-odds, over a model of each class.
///
/// ```text
/// v_c(x)  = log p(x | c) P(c) - log sum_{d != c} p(x | d) P(d)
/// phi(x)  = ( v_c, d v_c / d theta ) for each c          K(x, y) = phi(x) . phi(y)
/// ```
///
/// with the parameters `theta` of all models, `grad_c v_c = g_c(x)` and
/// `grad_d v_c = -P(d | x, not c) g_d(x)` for the scores `g`. Two classes have one log-odds, that of
/// the second against the first, `phi = (v, -g_0, g_1)`: linear in scores and log-likelihoods, and a
/// machine on it compiles to directions. With more classes each stands against the rest, in as many
/// blocks of features; the rest's posteriors are not linear, and nothing compiles.
///
/// Source: Tsuda, Kawanabe, Raetsch, Sonnenburg and Mueller, "A new discriminative kernel from
/// probabilistic models", Neural Computation 14, 2002, for two classes.
#[derive(Clone, Debug)]
pub struct TopKernel<'m, M> {
    /// A model per class; two at least.
    pub models: &'m [M],
    /// `log P(c)`, `[class]`.
    pub log_priors: &'m [f64],
    /// Coordinates of the gradients that are scores.
    pub parametrisation: Parametrisation,
}

impl<M: Scored> TopKernel<'_, M> {
    /// The features, `[sequence][feature]`: a block a log-odds, first it and then its gradient with
    /// respect to the models in order. `1 + P` features for two classes whose models have `P`
    /// parameters together, `C (1 + P)` for more.
    ///
    /// # Errors
    /// [`KernelError`] for fewer than two models, or not a prior each, and naming a sequence that
    /// some model makes impossible: its log-odds are infinite.
    pub fn features(&self, sequences: &[SamplesView<'_>]) -> Result<Vec<Vec<f64>>, KernelError> {
        let classes = self.models.len();
        if classes < 2 || self.log_priors.len() != classes {
            let priors = self.log_priors.len();
            return Err(KernelError::Classes { models: classes, priors });
        }
        let mut by_model = Vec::with_capacity(classes);
        for model in self.models {
            by_model.push(scores(model, sequences, self.parametrisation)?);
        }
        let features = |sequence: usize| {
            let found: Vec<&ModelScore> = by_model.iter().map(|found| &found[sequence]).collect();
            self.of_scores(&found)
        };
        Ok((0..sequences.len()).map(features).collect())
    }

    /// The features of a sequence from its scores under each model.
    fn of_scores(&self, found: &[&ModelScore]) -> Vec<f64> {
        let joint: Vec<f64> =
            found.iter().zip(self.log_priors).map(|(s, prior)| s.log_likelihood + prior).collect();
        let against_the_rest = if found.len() == 2 { 1..2 } else { 0..found.len() };
        let mut features = Vec::new();
        for class in against_the_rest {
            let others = joint.iter().enumerate().filter(|(other, _)| *other != class);
            let rest = log_sum_exp(&others.map(|(_, &log)| log).collect::<Vec<f64>>());
            features.push(joint[class] - rest);
            for (other, (found, log)) in found.iter().zip(&joint).enumerate() {
                let weight = if other == class { 1.0 } else { -(log - rest).portable_exp() };
                features.extend(found.score.iter().map(|entry| weight * entry));
            }
        }
        features
    }
}

impl<M: Scored> Kernel for TopKernel<'_, M> {
    fn gram(&self, sequences: &[SamplesView<'_>]) -> Result<Gram, KernelError> {
        Ok(Gram::of_features(&self.features(sequences)?))
    }
}

/// `log sum exp`, of one number exactly it.
fn log_sum_exp(logs: &[f64]) -> f64 {
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    largest + logs.iter().map(|log| (log - largest).portable_exp()).sum::<f64>().portable_ln()
}
