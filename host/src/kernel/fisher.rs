use fishweir_core::emission::Parametrisation;

use super::information::score_rows;
use super::{
    Expected, Gram, Information, InformationError, Kernel, KernelError, Metric, ScoreKernel,
    Whitening, gram_of_features,
};
use crate::data::SamplesView;
use crate::model::Scored;

/// Kernels on the Fisher scores of one or several models, whose features stand side by side: without
/// a form, the kernel of several models is the sum of theirs.
#[derive(Clone, Debug)]
pub struct FisherKernel<'m, M> {
    /// The models.
    pub models: &'m [M],
    /// Coordinates of the gradients that are scores.
    pub parametrisation: Parametrisation,
    /// Metric that turns scores into features.
    pub metric: Metric,
    /// Kernel of two sequences' features, `u` and `v`; without it `u . v`, the Fisher kernel itself.
    pub form: Option<ScoreKernel>,
}

impl<M: Scored> FisherKernel<'_, M> {
    /// The features, `[sequence][feature]`, and the information of each model, if there is any.
    ///
    /// # Errors
    /// [`KernelError`] naming a sequence that has no score, or what is wrong with the information
    /// asked for.
    pub fn features(
        &self,
        sequences: &[SamplesView<'_>],
    ) -> Result<(Vec<Vec<f64>>, Vec<Information>), KernelError> {
        let all: Vec<usize> = (0..sequences.len()).collect();
        self.features_by(sequences, &all)
    }

    /// Computes features with the information of some sequences only, given by their indices.
    ///
    /// # Errors
    /// As [`features`](Self::features).
    ///
    /// # Panics
    /// If there is no such sequence.
    pub fn features_by(
        &self,
        sequences: &[SamplesView<'_>],
        informing: &[usize],
    ) -> Result<(Vec<Vec<f64>>, Vec<Information>), KernelError> {
        let of: Vec<SamplesView<'_>> = informing.iter().map(|&index| sequences[index]).collect();
        self.features_with(sequences, &mut |_, model, scores| {
            let own: Vec<Vec<f64>> = match self.metric {
                Metric::Information { expected: Expected::Empirical, .. } => {
                    informing.iter().map(|&index| scores[index].clone()).collect()
                }
                _ => Vec::new(),
            };
            self.metric.whitening(model, &of, &own, self.parametrisation)
        })
    }

    /// Computes features with information that is there, one matrix per model.
    ///
    /// # Errors
    /// As [`features`](Self::features).
    pub(crate) fn features_given(
        &self,
        sequences: &[SamplesView<'_>],
        information: &[Information],
    ) -> Result<(Vec<Vec<f64>>, Vec<Information>), KernelError> {
        self.features_with(sequences, &mut |index, _, _| {
            let own = information.get(index).ok_or(InformationError::Nothing("one per model"))?;
            Ok((self.metric.whitening_by(own)?, Some(own.clone())))
        })
    }

    /// Computes features by the whitening of each model: of its index and its scores.
    fn features_with(
        &self,
        sequences: &[SamplesView<'_>],
        whitening: &mut WhiteningOf<'_, M>,
    ) -> Result<(Vec<Vec<f64>>, Vec<Information>), KernelError> {
        let mut features = vec![Vec::new(); sequences.len()];
        let mut found = Vec::new();
        for (index, model) in self.models.iter().enumerate() {
            let scores = score_rows(model, sequences, self.parametrisation)?;
            let (whitening, information) = whitening(index, model, &scores)?;
            for (features, of_model) in features.iter_mut().zip(whitening.features(scores)) {
                features.extend(of_model);
            }
            found.extend(information);
        }
        Ok((features, found))
    }
}

/// The whitening of a model, by its index and scores, and the information that it is of.
type WhiteningOf<'w, M> = dyn FnMut(usize, &M, &[Vec<f64>]) -> Result<(Whitening, Option<Information>), InformationError>
    + 'w;

impl<M: Scored> Kernel for FisherKernel<'_, M> {
    fn gram(&self, sequences: &[SamplesView<'_>]) -> Result<Gram, KernelError> {
        Ok(gram_of_features(&self.features(sequences)?.0, self.form))
    }
}
