use fishweir_core::emission::Emission;
use fishweir_core::{ModelError, ObservationError};

/// A state whose log-likelihood is the observation's entry of that number; none past the last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Potential(pub(crate) usize);

impl Emission for Potential {
    type Weight = f64;
    type Observation = [f64];

    fn log_likelihood(&self, x: &[f64]) -> f64 {
        x.get(self.0).copied().unwrap_or(f64::NEG_INFINITY)
    }
    fn check(&self, _: &[f64]) -> Result<(), ObservationError> {
        Ok(())
    }
    fn validate(&self) -> Result<(), ModelError> {
        Ok(())
    }
}
