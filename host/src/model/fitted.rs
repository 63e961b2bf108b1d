//! Any of the models, and how a file names them.

use serde::{Deserialize, Serialize};

use super::{
    DensityModel, Hmm, HmmError, KernelDensityModel, MarkovModel, Model, PositionModel,
    SwitchingModel, SystemModel,
};

/// A fitted model of any kind, as files have it. A further kind is a line here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
}

impl FittedModel {
    /// What any model answers.
    pub fn any(&self) -> &dyn Model {
        match self {
            Self::HiddenMarkov(model) => model,
            Self::Markov(model) => model,
            Self::Positions(model) => model,
            Self::Density(model) => model,
            Self::KernelDensity(model) => model,
            Self::LinearSystem(model) => model,
            Self::SwitchingSystem(model) => model,
        }
    }

    /// The hidden Markov model, if it is one.
    pub fn hidden_markov(&self) -> Option<&Hmm> {
        match self {
            Self::HiddenMarkov(model) => Some(model),
            _ => None,
        }
    }

    /// Checks what reading alone does not.
    pub(super) fn validate(&self) -> Result<(), HmmError> {
        self.hidden_markov().map_or(Ok(()), Hmm::validate)
    }
}

impl From<Hmm> for FittedModel {
    fn from(model: Hmm) -> Self {
        Self::HiddenMarkov(model)
    }
}

impl From<MarkovModel> for FittedModel {
    fn from(model: MarkovModel) -> Self {
        Self::Markov(model)
    }
}

impl From<PositionModel> for FittedModel {
    fn from(model: PositionModel) -> Self {
        Self::Positions(model)
    }
}

impl From<SystemModel> for FittedModel {
    fn from(model: SystemModel) -> Self {
        Self::LinearSystem(model)
    }
}

impl From<SwitchingModel> for FittedModel {
    fn from(model: SwitchingModel) -> Self {
        Self::SwitchingSystem(model)
    }
}

impl From<KernelDensityModel> for FittedModel {
    fn from(model: KernelDensityModel) -> Self {
        Self::KernelDensity(model)
    }
}

impl From<DensityModel> for FittedModel {
    fn from(model: DensityModel) -> Self {
        Self::Density(model)
    }
}
