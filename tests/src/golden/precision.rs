use fishweir_core::number::Real;
use serde::de::DeserializeOwned;

use super::compare::Comparison;

/// A kind of file: what its cases give, and how what they expect is held against it.
pub(super) trait Kind {
    /// What a case gives.
    type Inputs: DeserializeOwned;
    /// Computes what the case expects and compares.
    fn check<T: Precise>(inputs: Self::Inputs, comparison: &mut Comparison) -> Result<(), String>;
}

/// The precisions that cases are computed in.
pub(super) trait Precise: Real {
    /// One rounding, relative, as far as the tolerance must make room for it: the cases' own
    /// tolerances are made for `f64`.
    const ROUNDING: f64;
}

impl Precise for f64 {
    const ROUNDING: f64 = 0.0;
}

impl Precise for f32 {
    const ROUNDING: f64 = f32::EPSILON as f64 / 2.0;
}
