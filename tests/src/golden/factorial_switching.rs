use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

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
    /// Read by the kind that it is of.
    type Expected = Map<String, Value>;

    fn check<T: Precise>(
        inputs: Inputs,
        expected: &Map<String, Value>,
        comparison: &mut Comparison,
    ) -> Result<(), String> {
        fn read<E: DeserializeOwned>(expected: &Map<String, Value>) -> Result<E, String> {
            let value = Value::Object(expected.clone());
            serde_json::from_value(value).map_err(|error| format!("expected: {error}"))
        }
        match inputs {
            Inputs::Fhmm { fhmm, fhmm2, steps, rhos } => {
                let expected = read(expected)?;
                factorial::check::<T>([fhmm, fhmm2], steps, &rhos, &expected, comparison)
            }
            Inputs::Slds { slds, slds2, steps, rhos } => {
                switching::check(slds, slds2, steps, &rhos, &read(expected)?, comparison)
            }
        }
    }
}
