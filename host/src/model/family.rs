use super::{
    ContextModelError, ContextSet, ContextTreeWeighting, DensityModel, FittedModel,
    KernelDensityModel, MarkovModel, PositionModel, SegmentEm, SwitchingModel, SystemModel,
};
use crate::data::{Kind, SamplesView};
use crate::fit::{BaumWelch, SwitchingEm, SystemEm};

/// A family of models, and how one of it is fitted.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelFamily {
    /// [`Hmm`](super::Hmm).
    HiddenMarkov(BaumWelch),
    /// [`SemiMarkov`](super::SemiMarkov).
    SemiMarkov(SegmentEm),
    /// [`MarkovModel`].
    Markov {
        /// Contexts of the model.
        contexts: ContextSet,
        /// `true` if a string ends by an event of its own.
        end: bool,
        /// Every event as likely as any other, instead of by the data.
        uniform: bool,
        /// Added to every count.
        pseudo_count: f64,
    },
    /// [`MarkovModel`], by context tree weighting.
    ContextTree(ContextTreeWeighting),
    /// [`PositionModel`].
    Positions {
        /// Every symbol as likely as any other, instead of by the data.
        uniform: bool,
        /// Added to every count.
        pseudo_count: f64,
    },
    /// [`DensityModel`], of as many Gaussians as there are states.
    Density(BaumWelch),
    /// [`KernelDensityModel`], with the bandwidth for which every sample is likeliest given the others.
    KernelDensity {
        /// The least bandwidth, in units of a channel's spread.
        least: f64,
    },
    /// [`SystemModel`].
    LinearSystem(SystemEm),
    /// [`SwitchingModel`].
    SwitchingSystem(SwitchingEm),
}

impl ModelFamily {
    /// The model of the family that some sequences make likeliest: of one class, of all, or a single
    /// one. `scale` is the standard deviation of each channel over all that is fitted to.
    ///
    /// # Errors
    /// [`ContextModelError`] naming what does not fit, and the sequence where it is one.
    pub fn fit(
        &self,
        kind: &Kind,
        sequences: &[SamplesView<'_>],
        scale: &[f64],
    ) -> Result<FittedModel, ContextModelError> {
        let (symbols, channels) = ("symbols", "real channels");
        let kind_of = |model, wanted, found| ContextModelError::Kind { model, wanted, found };
        Ok(match (self, kind) {
            (Self::HiddenMarkov(options), _) => {
                options.fit(sequences, kind.size(), scale, &|| ())?.model.into()
            }
            (Self::SemiMarkov(options), _) => options.fit(sequences, kind.size(), scale)?.into(),
            (Self::Markov { contexts, end, uniform, pseudo_count }, Kind::Symbols(alphabet)) => {
                let (symbols, end) = (alphabet.len(), *end);
                let model = if *uniform {
                    MarkovModel::uniform(contexts, symbols, end, sequences)?
                } else {
                    MarkovModel::fit(contexts, symbols, end, sequences, *pseudo_count)?
                };
                model.into()
            }
            (Self::ContextTree(options), Kind::Symbols(alphabet)) => {
                options.fit(alphabet.len(), sequences)?.into()
            }
            (Self::Positions { uniform: true, .. }, Kind::Symbols(alphabet)) => {
                let length = super::positions::common_length(sequences)?;
                PositionModel::uniform(alphabet.len(), length)?.into()
            }
            (Self::Positions { uniform: false, pseudo_count }, Kind::Symbols(alphabet)) => {
                PositionModel::fit(alphabet.len(), sequences, *pseudo_count)?.into()
            }
            (Self::Density(options), Kind::Channels(_)) => {
                DensityModel::fit(options, sequences, scale, &|| ())?.0.into()
            }
            (Self::KernelDensity { least }, Kind::Channels(_)) => {
                KernelDensityModel::fit(sequences, scale, *least)?.into()
            }
            (Self::KernelDensity { .. }, Kind::Symbols(_)) => {
                return Err(kind_of("a kernel density estimate", channels, symbols));
            }
            (Self::LinearSystem(options), Kind::Channels(_)) => {
                SystemModel::fit(options, sequences, &|| ())?.0.into()
            }
            (Self::SwitchingSystem(options), Kind::Channels(_)) => {
                SwitchingModel::fit(options, sequences, &|| ())?.0.into()
            }
            (Self::LinearSystem(_) | Self::SwitchingSystem(_), Kind::Symbols(_)) => {
                return Err(kind_of("a linear dynamical system", channels, symbols));
            }
            (Self::Markov { .. } | Self::ContextTree(_), Kind::Channels(_)) => {
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
