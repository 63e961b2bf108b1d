use std::fmt;

use serde::Serialize;

use crate::data::Kind;
use crate::deploy::Deployed;
use crate::fit::{BaumWelch, FitError};
use crate::runtime::family::{OF_CHANNELS, OF_SYMBOLS};
use crate::runtime::{Family, Shape};

/// Emissions of the hidden states of class models.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EmissionSummary {
    /// The family: `categorical`, `gaussian`, `poisson`, ...; null for models without hidden states.
    pub emission: Option<&'static str>,
    /// Components of each state's mixture; null for any other family.
    pub components: Option<usize>,
    #[serde(skip)]
    words: String,
    #[serde(skip)]
    usual: bool,
}

impl EmissionSummary {
    /// Summary of a family at the sizes of a model.
    pub fn of(family: &'static dyn Family, shape: Shape) -> Self {
        Self {
            emission: Some(family.name()),
            components: family.components(shape),
            words: family.words(shape),
            usual: [OF_SYMBOLS, OF_CHANNELS].contains(&family),
        }
    }

    /// Summary of the emissions of a deployed model; empty for linear dynamical systems, which have no chain of hidden states.
    pub fn of_deployed(deployed: &Deployed) -> Self {
        let none = Self { emission: None, components: None, words: String::new(), usual: true };
        deployed.description().emission.map_or(none, |(family, shape)| Self::of(family, shape))
    }

    /// Summary of models that would be fitted to data of a kind.
    ///
    /// # Errors
    /// [`FitError::Family`].
    pub fn of_fit(options: &BaumWelch, kind: &Kind) -> Result<Self, FitError> {
        let family = options.family_over(matches!(kind, Kind::Channels(_)))?;
        Ok(Self::of(family, Shape { size: 0, components: options.components }))
    }

    /// Description of the emissions, if they are not the default for symbols or channels.
    pub fn unusual(&self) -> Option<&str> {
        (!self.usual).then_some(self.words.as_str())
    }
}

impl fmt::Display for EmissionSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}
