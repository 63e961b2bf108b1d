//! Options for the emissions of hidden states, for several commands.

use clap::Args;
use clap::builder::PossibleValue;
use fishweir::data::Values;
use fishweir::fit::BaumWelch;
use fishweir::runtime::{FAMILIES, Family, Observed};

use super::Failure;
use super::options::note_idle;
use super::values::registered;

/// Options for the emissions of class models' hidden states.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Training")]
pub(super) struct Emitting {
    /// Emission family of hidden states [default: categorical for symbols, gaussian for channels]
    #[arg(long, value_name = "FAMILY", value_parser =
        registered(FAMILIES, |one| PossibleValue::new(one.name()).help(one.about())))]
    pub(super) emission: Option<&'static dyn Family>,
    /// Gaussians per state, 1 to 8 (mixture), or of a model without states, 1 to 64; modes of a switching system
    /// [default: 2]
    #[arg(long, value_name = "M")]
    pub(super) components: Option<usize>,
}

impl Emitting {
    /// Values that channels may take.
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

    /// Sets the given options in a fit.
    pub(super) fn set(&self, fit: &mut BaumWelch) -> Result<(), Failure> {
        let mixed = self.emission.is_some_and(|family| family.has_components());
        if self.components.is_some() && !mixed {
            note_idle(&["--components"], "--emission mixture alone uses it")?;
        }
        fit.emission = self.emission;
        fit.components = self.components.filter(|_| mixed).unwrap_or(fit.components);
        Ok(())
    }
}
