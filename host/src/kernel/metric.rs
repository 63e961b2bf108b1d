use fishweir_core::emission::Parametrisation;

use super::{Information, InformationError, Whitening};
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
    /// empirical expectation is of, and the lengths of a sampled one. Also returns the
    /// information matrix, if any.
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
        let Self::Information { expected, .. } = self else {
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
        Ok((self.whitening_by(&information)?, Some(information)))
    }

    /// The map by information that is there.
    ///
    /// # Errors
    /// [`InformationError`] of a ridge that is not positive, and of entries that are not finite.
    pub fn whitening_by(self, information: &Information) -> Result<Whitening, InformationError> {
        match self {
            Self::Practical => Ok(Whitening::practical()),
            Self::Information { diagonal: true, ridge, .. } => {
                Whitening::diagonal(information, ridge)
            }
            Self::Information { ridge: 0.0, .. } => Ok(Whitening::inverse(&information.axes()?)),
            Self::Information { ridge, .. } => Whitening::ridge(&information.axes()?, ridge),
        }
    }
}
