//! Emission families over fixed point: see [`Fixed`](crate::number::Fixed) for the formats.

mod categorical;
mod gaussian;
mod logarithms;

pub use categorical::{CategoricalQ15, CategoricalQ15View};
pub use gaussian::{ChannelQ15, GaussianQ15, GaussianQ15View};
pub use logarithms::{CategoricalLogQ15, CategoricalLogQ15View};

use crate::number::{Dual, Real};

/// A reading whose derivatives are in units of powers of two, in plain ones.
#[inline]
fn in_units<const C: usize>(mut reading: Dual<f32, C>, unit: &[i16; C]) -> Dual<f32, C> {
    for (rate, &unit) in reading.tangent.iter_mut().zip(unit) {
        *rate *= f32::power_of_two(i32::from(unit));
    }
    reading
}
