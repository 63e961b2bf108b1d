//! How hidden states emit, as several commands take it.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use fishweir::data::Values;
use fishweir::fit::BaumWelch;
use fishweir::runtime::{FAMILIES, Family, Observed, family};

use super::Failure;

/// How the hidden states of class models emit.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Training")]
pub(super) struct Emitting {
    /// How hidden states emit. Symbols: categorical. Channels of real numbers: gaussian (each by itself),
    /// full-gaussian (with a covariance matrix) or mixture (of Gaussians). Channels of counts: poisson.
    /// Channels of 0 and 1: bernoulli [default: categorical for symbols, gaussian for channels]
    #[arg(long, value_name = "FAMILY", value_parser = families())]
    emission: Option<&'static dyn Family>,
    /// Gaussians that each state mixes, 1 to 8 (mixture), or those of a model without states, 1 to 64; modes of a
    /// system that switches
    /// [default: 2]
    #[arg(long, value_name = "M")]
    components: Option<usize>,
}

impl Emitting {
    /// What the numbers of channels must be.
    pub(super) fn values(&self) -> Values {
        match self.emission.map(Family::observes) {
            Some(Observed::Channels(values)) => values,
            _ => Values::Reals,
        }
    }

    /// The family that is asked for.
    pub(super) fn emission(&self) -> Option<&'static dyn Family> {
        self.emission
    }

    /// Gaussians of a mixture.
    pub(super) fn components(&self) -> Option<usize> {
        self.components
    }

    /// Hands over to a fit what is given.
    pub(super) fn set(&self, fit: &mut BaumWelch) -> Result<(), Failure> {
        let mixed = self.emission.is_some_and(|family| family.name() == "mixture");
        if self.components.is_some() && !mixed {
            return Err(Failure::Input("--components is of --emission mixture alone".into()));
        }
        fit.emission = self.emission;
        fit.components = self.components.unwrap_or(fit.components);
        Ok(())
    }
}

/// Names of families.
fn families() -> impl TypedValueParser<Value = &'static dyn Family> {
    let names = FAMILIES.map(|family| family.name());
    PossibleValuesParser::new(names)
        .try_map(|name| family(&name).ok_or_else(|| "no such family".to_owned()))
}
