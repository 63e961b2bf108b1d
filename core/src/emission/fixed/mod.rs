//! Emission families over fixed point: see [`Fixed`](crate::number::Fixed) for the formats.

mod categorical;
mod gaussian;
mod logarithms;
mod marginal;

pub use categorical::{CategoricalQ15, CategoricalQ15View};
pub use gaussian::{ChannelQ15, GaussianQ15, GaussianQ15View};
pub use logarithms::{CategoricalLogQ15, CategoricalLogQ15View};

use crate::error::{ErrorKind, ModelError, Part};
use crate::number::{Dual, Real};

/// [`by_view`](super::by_view) in a model's units.
macro_rules! by_view_in_units {
    ($(#[$inline:meta])?) => {
        crate::emission::by_view!($(#[$inline])?);
        fn in_units<const N: usize>(states: &[Self; N], reading: Dual<f32, C>) -> Dual<f32, C> {
            states.first().map_or(reading, |state| in_units(reading, state.view().unit))
        }
    };
}
use by_view_in_units;

/// A reading whose derivatives are in units of powers of two, in plain ones.
#[inline]
fn in_units<const C: usize>(mut reading: Dual<f32, C>, unit: &[i16; C]) -> Dual<f32, C> {
    for (rate, &unit) in reading.tangent.iter_mut().zip(unit) {
        *rate *= f32::power_of_two(i32::from(unit));
    }
    reading
}

/// Checks that probabilities sum to one within their roundings.
fn check_sum(sum: f32, slack: f32) -> Result<(), ModelError> {
    if (sum - 1.0).abs() > slack {
        return Err(ModelError::new(Part::Probability, ErrorKind::SumNotOne, 0, 0));
    }
    Ok(())
}
