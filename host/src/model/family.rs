use super::{ContextModelError, ContextSet, DensityModel, MarkovModel, PositionModel, Scored};
use crate::data::centre_and_scale;
use crate::data::{Dataset, Kind, SamplesView};
use crate::fit::BaumWelch;

/// A family of models without hidden states, and how one of it is fitted.
#[derive(Clone, Debug, PartialEq)]
pub enum Family {
    /// [`MarkovModel`].
    Markov {
        /// Its contexts.
        contexts: ContextSet,
        /// Whether a string ends by an event of its own.
        end: bool,
        /// Every event as likely as any other, instead of by the data.
        uniform: bool,
        /// Added to every count.
        pseudo_count: f64,
    },
    /// [`PositionModel`].
    Positions {
        /// Every symbol as likely as any other, instead of by the data.
        uniform: bool,
        /// Added to every count.
        pseudo_count: f64,
    },
    /// [`DensityModel`], of as many Gaussians as there are states.
    Density(BaumWelch),
}

impl Family {
    /// The model of the family that some sequences of a data set make likeliest: series, or windows of
    /// them, of one class or of all.
    ///
    /// # Errors
    /// [`ContextModelError`] naming what does not fit, and the sequence where it is one.
    pub fn fit(
        &self,
        data: &Dataset,
        sequences: &[SamplesView<'_>],
    ) -> Result<Box<dyn Scored>, ContextModelError> {
        let (symbols, channels) = ("symbols", "real channels");
        let kind_of = |model, wanted, found| ContextModelError::Kind { model, wanted, found };
        Ok(match (self, data.kind()) {
            (Self::Markov { contexts, end, uniform, pseudo_count }, Kind::Symbols(alphabet)) => {
                let (symbols, end) = (alphabet.len(), *end);
                Box::new(if *uniform {
                    MarkovModel::uniform(contexts, symbols, end, sequences)?
                } else {
                    MarkovModel::fit(contexts, symbols, end, sequences, *pseudo_count)?
                })
            }
            (Self::Positions { uniform: true, .. }, Kind::Symbols(alphabet)) => {
                let length = super::positions::common_length(sequences)?;
                Box::new(PositionModel::uniform(alphabet.len(), length)?)
            }
            (Self::Positions { uniform: false, pseudo_count }, Kind::Symbols(alphabet)) => {
                Box::new(PositionModel::fit(alphabet.len(), sequences, *pseudo_count)?)
            }
            (Self::Density(options), Kind::Channels(_)) => {
                let all: Vec<usize> = (0..data.series().len()).collect();
                let (_, scale) = centre_and_scale(data, &all);
                Box::new(DensityModel::fit(options, sequences, &scale, &|| ())?.0)
            }
            (Self::Markov { .. }, Kind::Channels(_)) => {
                return Err(kind_of("a model of Markov strings", symbols, channels));
            }
            (Self::Positions { .. }, Kind::Channels(_)) => {
                return Err(kind_of("a model of positions", symbols, channels));
            }
            (Self::Density(_), Kind::Symbols(_)) => {
                return Err(kind_of("a Gaussian", channels, symbols));
            }
        })
    }
}
