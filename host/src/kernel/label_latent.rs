use fishweir_core::emission::Parametrisation;
use fishweir_core::smooth::SequenceError;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::data::{Samples, SamplesView};
use crate::elementary::Elementary;
use crate::model::{Model, ModelScore, Scored};
use crate::runtime::numbers::{choose, push_row};

/// A mixture of the models of the classes, in which the label is hidden: the model whose Fisher kernel contains the classifier by
/// maximum a posteriori.
///
/// ```text
/// p(x)    = sum_y prior[y] p(x | y)
/// score   = ( P(y | x) / prior[y] - 1, or P(y | x) - prior[y] by softmax, for each y;
///             P(y | x) grad log p(x | y)                                  for each y )
/// ```
///
/// Of two classes `P(0 | x) - P(1 | x)` is linear in the score by softmax, so that a linear machine on it is at least as good as the
/// decision by posteriors, with as many items.
///
/// Source: Jaakkola and Haussler, "Exploiting generative models in discriminative classifiers", 1998, theorem 1c and appendix A.
#[derive(Clone)]
pub struct LabelMixture<'m> {
    /// A model per class.
    pub models: Vec<&'m dyn Model>,
    /// Probabilities of the classes, `[class]`.
    pub prior: Vec<f64>,
}

impl<'m> LabelMixture<'m> {
    /// A mixture of models, each class as likely as any other.
    pub fn even(models: &[&'m dyn Model]) -> Self {
        Self { models: models.to_vec(), prior: vec![1.0 / models.len() as f64; models.len()] }
    }

    /// `P(y | x)` and `log p(x)` of the logarithms of `p(x | y)`; an impossible class has none.
    pub fn posterior(&self, logs: &[f64]) -> (Vec<f64>, f64) {
        let (mut share, mut largest) = (logs.to_vec(), f64::NEG_INFINITY);
        for (log, prior) in share.iter_mut().zip(&self.prior) {
            *log += prior.portable_ln();
            largest = largest.max(*log);
        }
        if largest == f64::NEG_INFINITY {
            return (vec![0.0; share.len()], largest);
        }
        let mut sum = 0.0;
        for p in &mut share {
            *p = (*p - largest).portable_exp();
            sum += *p;
        }
        for p in &mut share {
            *p /= sum;
        }
        (share, largest + sum.portable_ln())
    }

    /// `P_ext(S | x)` of two classes, of which the first's log-odds are moved by a small `epsilon` (appendix A, equations 12 to 16):
    /// `(1 + epsilon (P(S | x) - P(other | x))) / 2`.
    pub fn extended_posterior(posterior: [f64; 2], epsilon: f64) -> [f64; 2] {
        let lead = posterior[0] - posterior[1];
        [(1.0 + epsilon * lead) / 2.0, (1.0 - epsilon * lead) / 2.0]
    }
}

impl Model for LabelMixture<'_> {
    fn noun(&self) -> &'static str {
        "mixture of the classes' models"
    }

    fn size(&self) -> usize {
        self.models.first().map_or(0, |model| model.size())
    }

    fn parameter_names(&self) -> Vec<String> {
        let mut names = Vec::with_capacity(self.parameters());
        for class in 0..self.models.len() {
            names.push(format!("prior[{class}]"));
        }
        for (class, model) in self.models.iter().enumerate() {
            for name in model.parameter_names() {
                names.push(format!("model[{class}].{name}"));
            }
        }
        names
    }
}

impl Scored for LabelMixture<'_> {
    fn parameters(&self) -> usize {
        let mut count = self.models.len();
        for model in &self.models {
            count += model.parameters();
        }
        count
    }

    /// A class under which a sequence is impossible has no part in its score; a sequence is refused if all classes are so.
    fn scores(
        &self,
        sequences: &[SamplesView<'_>],
        parametrisation: Parametrisation,
    ) -> Vec<Result<ModelScore, SequenceError>> {
        let mut found = Vec::with_capacity(self.models.len());
        for model in &self.models {
            found.push(model.scores(sequences, parametrisation));
        }
        let mut all = Vec::with_capacity(sequences.len());
        for sequence in 0..sequences.len() {
            let mut logs = vec![f64::NEG_INFINITY; found.len()];
            let mut refused = None;
            for class in 0..found.len() {
                match &found[class][sequence] {
                    Ok(score) => logs[class] = score.log_likelihood,
                    Err(error) => refused = refused.or(Some(*error)),
                }
            }
            let (posterior, log_likelihood) = self.posterior(&logs);
            if let (f64::NEG_INFINITY, Some(error)) = (log_likelihood, refused) {
                all.push(Err(error));
                continue;
            }
            let mut score = Vec::with_capacity(self.parameters());
            push_row(&self.prior, &posterior, parametrisation, &mut score);
            for class in 0..found.len() {
                match &found[class][sequence] {
                    Ok(own) => {
                        for entry in &own.score {
                            score.push(posterior[class] * entry);
                        }
                    }
                    Err(_) => score.resize(score.len() + self.models[class].parameters(), 0.0),
                }
            }
            all.push(Ok(ModelScore { log_likelihood, score }));
        }
        all
    }

    fn draw(&self, length: usize, seed: u64) -> Samples {
        // The class and its sequence have random numbers of their own.
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let class = choose(&self.prior, &mut rng);
        self.models[class].draw(length, rng.random())
    }

    fn symbols(&self) -> Option<usize> {
        self.models.first().and_then(|model| model.symbols())
    }
}
