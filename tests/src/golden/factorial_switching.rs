use serde::Deserialize;

use super::compare::Comparison;
use super::factorial::{self, FactorialJson};
use super::precision::{Kind, Precise};
use super::schema::Row;
use super::switching::{self, SldsJson};

/// The probability product kernel between factorial hidden Markov models and between switching linear
/// dynamical systems.
pub(super) struct FactorialSwitching;

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Inputs {
    Fhmm { fhmm: FactorialJson, fhmm2: FactorialJson, steps: usize, rhos: Row },
    Slds { slds: SldsJson, slds2: SldsJson, steps: usize, rhos: Row },
}

impl Kind for FactorialSwitching {
    type Inputs = Inputs;

    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        match inputs {
            Inputs::Fhmm { fhmm, fhmm2, steps, rhos } => {
                factorial::check::<T>([fhmm, fhmm2], steps, &rhos, comparison)
            }
            Inputs::Slds { slds, slds2, steps, rhos } => {
                switching::check(slds, slds2, steps, &rhos, comparison)
            }
        }
    }
}
