//! Checks of kernels' parameters and of models' numbers.

use super::BetweenError;

/// A parameter of a kernel that must be positive and finite.
pub(super) fn positive(name: &'static str, value: f64) -> Result<f64, BetweenError> {
    if value > 0.0 && value.is_finite() {
        return Ok(value);
    }
    Err(BetweenError::Parameter { name, value, range: "positive and finite" })
}

/// Refuses the first entry of a part of a model that is not as it must be.
pub(super) fn part(
    name: &str,
    entries: &[f64],
    good: fn(f64) -> bool,
    wanted: &str,
) -> Result<(), BetweenError> {
    match entries.iter().position(|entry| !good(*entry)) {
        Some(entry) => {
            let why = format!("is {}; it must be {wanted}", entries[entry]);
            Err(BetweenError::Model { part: format!("{name}[{entry}]"), why })
        }
        None => Ok(()),
    }
}

/// Refuses models over different spaces.
pub(super) fn same(what: &'static str, first: usize, second: usize) -> Result<(), BetweenError> {
    if first == second { Ok(()) } else { Err(BetweenError::Shapes { what, first, second }) }
}
