//! Options by name, as Python gives them: JSON whose errors name the option.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// A value, or several to choose from.
#[derive(Debug)]
pub(crate) struct OneOrMore<T>(pub(crate) Vec<T>);

impl<'de, T: DeserializeOwned> Deserialize<'de> for OneOrMore<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let list = match Value::deserialize(from)? {
            Value::Array(list) => list,
            one => vec![one],
        };
        let list: Result<_, _> = list.into_iter().map(serde_json::from_value).collect();
        list.map(Self).map_err(D::Error::custom)
    }
}

/// Parses options. An error names the option.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let all: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| format!("options: {error}"))?;
    // Each alone, since an error of all does not say which it is of.
    for (name, value) in &all {
        let one = Map::from_iter([(name.clone(), value.clone())]);
        if let Err(error) = serde_json::from_value::<T>(Value::Object(one)) {
            let what = plain(&error.to_string());
            return Err(match what.strip_prefix(&format!("unknown field `{name}`, ")) {
                Some(known) => format!("option {name} is unknown; {known}"),
                None => format!("option {name} is {value}: {what}"),
            });
        }
    }
    serde_json::from_value(Value::Object(all)).map_err(|error| format!("options: {error}"))
}

/// Names of the options that are given: those with a value, of switches those that are on.
pub(crate) fn given(text: &str) -> Result<Vec<String>, String> {
    let all: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| format!("options: {error}"))?;
    let given =
        all.into_iter().filter(|(_, value)| !matches!(value, Value::Null | Value::Bool(false)));
    Ok(given.map(|(name, _)| name).collect())
}

/// What was expected, without Rust's names of types.
fn plain(error: &str) -> String {
    let names = [
        ("a nonzero usize", "a whole number above 0"),
        ("usize", "a whole number from 0 up"),
        ("u64", "a whole number from 0 up"),
        ("u32", "a whole number from 0 up"),
        ("f64", "a number"),
        ("a boolean", "True or False"),
    ];
    let Some((before, expected)) = error.rsplit_once("expected ") else {
        return error.to_owned();
    };
    match names.iter().find(|(name, _)| *name == expected) {
        Some((_, name)) => format!("expected {name}"),
        // Names to choose from.
        None => format!("{before}expected {expected}"),
    }
}
