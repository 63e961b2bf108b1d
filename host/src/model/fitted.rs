//! Any of the models, and how a file names them.

use serde::{Deserialize, Serialize};

use super::{
    DensityModel, Hmm, HmmError, KernelDensityModel, MarkovModel, Model, PositionModel, SemiMarkov,
    SwitchingModel, SystemModel,
};

/// A fitted model of any kind, as files have it. A further kind is a line here, and one in the
/// list below.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, strum::VariantNames)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum FittedModel {
    /// A hidden Markov model.
    HiddenMarkov(Hmm),
    /// A Markov string.
    Markov(MarkovModel),
    /// Independent positions.
    Positions(PositionModel),
    /// Independent samples of a Gaussian, or of a mixture.
    Density(DensityModel),
    /// Independent samples of a kernel density estimate.
    KernelDensity(KernelDensityModel),
    /// A linear dynamical system around a mean.
    LinearSystem(SystemModel),
    /// One that switches.
    SwitchingSystem(SwitchingModel),
    /// A hidden semi-Markov model, or one with a final state.
    SemiMarkov(SemiMarkov),
}

/// Writes the code that each kind of model needs once.
macro_rules! kinds {
    ($($kind:ident($model:ty)),*) => {
        impl FittedModel {
            /// The model, as any model.
            pub fn any(&self) -> &dyn Model {
                match self {
                    $(Self::$kind(model) => model,)*
                }
            }
        }
        $(
            impl From<$model> for FittedModel {
                fn from(model: $model) -> Self {
                    Self::$kind(model)
                }
            }
        )*
    };
}
kinds!(
    HiddenMarkov(Hmm),
    Markov(MarkovModel),
    Positions(PositionModel),
    Density(DensityModel),
    KernelDensity(KernelDensityModel),
    LinearSystem(SystemModel),
    SwitchingSystem(SwitchingModel),
    SemiMarkov(SemiMarkov)
);

impl FittedModel {
    /// Names of the kinds, as files have them.
    pub const KINDS: &'static [&'static str] = <Self as strum::VariantNames>::VARIANTS;

    /// The hidden Markov model, if it is one.
    pub fn hidden_markov(&self) -> Option<&Hmm> {
        match self {
            Self::HiddenMarkov(model) => Some(model),
            _ => None,
        }
    }

    /// Checks conditions that reading does not.
    ///
    /// # Errors
    /// [`HmmError`] naming the first part that is wrong.
    pub fn validate(&self) -> Result<(), HmmError> {
        match self {
            Self::HiddenMarkov(model) => model.validate(),
            Self::SemiMarkov(model) => model.validate(),
            _ => Ok(()),
        }
    }
}
