use serde::Deserialize;
use serde_json::{Map, Value};

use super::compare::Comparison;
use super::factorial::{self, FactorialJson};
use super::precision::{Kind, Precise};
use super::schema::Row;

/// The probability product kernel between factorial hidden Markov models and between switching linear
/// dynamical systems.
pub(super) struct FactorialSwitching;

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Inputs {
    Fhmm { fhmm: FactorialJson, fhmm2: FactorialJson, steps: usize, rhos: Row },
    Slds(Value),
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
        let read = || Value::Object(expected.clone());
        match inputs {
            Inputs::Fhmm { fhmm, fhmm2, steps, rhos } => {
                let expected =
                    serde_json::from_value(read()).map_err(|error| format!("expected: {error}"))?;
                factorial::check::<T>([fhmm, fhmm2], steps, &rhos, &expected, comparison)
            }
            Inputs::Slds(inputs) => {
                let inputs = inputs.as_object().map_or(0, Map::len);
                Err(format!("not yet: switching linear dynamical systems, {inputs} inputs"))
            }
        }
    }
}
