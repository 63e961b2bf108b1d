//! A bank of models as a classifier: the most alike decide.

use fishweir_core::classify::Normalisation;

use super::{
    AdaptedStart, Classifier, ClassifierError, ComparedBy, Expansion, ExpansionKernel,
    Observations, Provenance, Rule,
};
use crate::data::{Front, Lags, Windowing};
use crate::runtime::Hmm;

impl Classifier {
    /// The classifier by the most alike models: each model of a bank belongs to a class, and is compared with the one that streaming
    /// expectation-maximisation makes of the stream, starting from `start`.
    ///
    /// ```text
    /// value_c = mean over the models m of class c of k(m, theta(x)) / sqrt(k(m, m) k(theta(x), theta(x)))
    /// ```
    ///
    /// with `k` a kernel between hidden Markov models over `steps` transitions. Of two classes one output has the difference.
    ///
    /// # Errors
    /// [`ClassifierError::Inconsistent`]: the parts do not fit each other.
    pub fn of_bank(
        observations: Observations,
        start: Hmm,
        bank: Vec<(String, Hmm)>,
        (by, steps): (ComparedBy, usize),
        adapted: AdaptedStart,
        windowing: Option<Windowing>,
    ) -> Result<Self, ClassifierError> {
        let inconsistent =
            |why: String| ClassifierError::Inconsistent { file: "models".into(), why };
        let mut classes: Vec<String> = bank.iter().map(|(class, _)| class.clone()).collect();
        classes.sort_unstable();
        classes.dedup();
        let row = |class: &String| -> Vec<f64> {
            let count = bank.iter().filter(|(other, _)| other == class).count() as f64;
            bank.iter().map(|(other, _)| f64::from(other == class) / count).collect()
        };
        let mut coefficients: Vec<Vec<f64>> = classes.iter().map(row).collect();
        if let [first, second] = &coefficients[..] {
            coefficients = vec![second.iter().zip(first).map(|(b, a)| b - a).collect()];
        }
        let models: Vec<Hmm> =
            std::iter::once(start).chain(bank.into_iter().map(|(_, model)| model)).collect();
        for (index, model) in models.iter().enumerate() {
            model.validate().map_err(|error| inconsistent(format!("model {index}: {error}")))?;
        }
        let channels = match &observations {
            Observations::Channels(names) => names.len(),
            Observations::Symbols(_) => 0,
        };
        let kernel =
            ExpansionKernel::Models { by, steps, start: adapted, normalised: true, log_scale: 0.0 };
        let classifier = Self {
            teaching: None,
            method: "model-bank".into(),
            observations,
            classes,
            front: Front::NONE,
            lags: Lags::NONE,
            centre: vec![0.0; channels],
            scale: vec![1.0; channels],
            models,
            codebooks: None,
            normalisation: Normalisation::NONE,
            rule: Rule::Expansion(Expansion {
                kernel,
                biases: vec![0.0; coefficients.len()],
                coefficients,
            }),
            confidence: None,
            provenance: Provenance { windowing, ..Provenance::named_after("models", 0) },
        };
        classifier.check().map_err(inconsistent)?;
        Ok(classifier)
    }
}
