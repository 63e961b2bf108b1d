use fishweir_core::emission::Parametrisation;

use super::information::score_rows;
use super::{
    Gram, Information, InformationError, Kernel, KernelError, ScoreKernel, Whitening,
    gram_of_features,
};
use crate::data::SamplesView;
use crate::model::Scored;

/// Expectation that defines an information matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// [`Information::exact`] over all sequences of a length.
    Exact {
        /// The length.
        length: usize,
    },
    /// [`Information::sampled`], with the lengths of the data.
    Sampled {
        /// Sequences drawn.
        count: usize,
        /// Seed of the first.
        seed: u64,
    },
    /// [`Information::empirical`], of the sequences themselves.
    Empirical,
}

/// Metric that turns scores into features.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Metric {
    /// The scores themselves: the practical kernel.
    Practical,
    /// Whitening by the information: the invariant kernel.
    Information {
        /// Expectation that defines the matrix.
        expected: Expected,
        /// `true` if only the diagonal is used.
        diagonal: bool,
        /// Added to the diagonal; with zero, directions without information are left out.
        ridge: f64,
    },
}

impl Metric {
    /// The map from a model's scores to features; `sequences` and their `scores` are what an
    /// empirical expectation is of, and the lengths of a sampled one. And the information, where
    /// there is one.
    ///
    /// # Errors
    /// [`InformationError`] naming what is wrong with what was asked for.
    pub fn whitening(
        self,
        model: &dyn Scored,
        sequences: &[SamplesView<'_>],
        scores: &[Vec<f64>],
        parametrisation: Parametrisation,
    ) -> Result<(Whitening, Option<Information>), InformationError> {
        let Self::Information { expected, diagonal, ridge } = self else {
            return Ok((Whitening::practical(), None));
        };
        let information = match expected {
            Expected::Exact { length } => Information::exact(model, length, parametrisation)?,
            Expected::Sampled { count, seed } => {
                let lengths: Vec<usize> = sequences.iter().map(SamplesView::len).collect();
                Information::sampled(model, &lengths, count, seed, parametrisation)?
            }
            Expected::Empirical => Information::empirical(scores)?,
        };
        let whitening = if diagonal {
            Whitening::diagonal(&information, ridge)?
        } else if ridge == 0.0 {
            Whitening::inverse(&information.axes()?)
        } else {
            Whitening::ridge(&information.axes()?, ridge)?
        };
        Ok((whitening, Some(information)))
    }
}

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
        let mut features = vec![Vec::new(); sequences.len()];
        let mut found = Vec::new();
        for model in self.models {
            let scores = score_rows(model, sequences, self.parametrisation)?;
            let own: Vec<Vec<f64>> = match self.metric {
                Metric::Information { expected: Expected::Empirical, .. } => {
                    informing.iter().map(|&index| scores[index].clone()).collect()
                }
                _ => Vec::new(),
            };
            let (whitening, information) =
                self.metric.whitening(model, &of, &own, self.parametrisation)?;
            for (features, of_model) in features.iter_mut().zip(whitening.features(scores)) {
                features.extend(of_model);
            }
            found.extend(information);
        }
        Ok((features, found))
    }
}

impl<M: Scored> Kernel for FisherKernel<'_, M> {
    fn gram(&self, sequences: &[SamplesView<'_>]) -> Result<Gram, KernelError> {
        Ok(gram_of_features(&self.features(sequences)?.0, self.form))
    }
}
