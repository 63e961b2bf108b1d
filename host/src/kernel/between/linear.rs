//! Linear-Gaussian networks: their observed variables are jointly Gaussian.

use fishweir_core::kernel::{Affinity, Normal, gaussian_log_overlap};

use super::check::same;
use super::compared::{checked, refused};
use super::{BetweenError, ModelKernel};
use crate::dynamics::{LinearNetwork, Moments, SystemError};

/// The kernel of the observed variables of two linear-Gaussian networks, of whatever structure, by a
/// measure: hidden variables are integrated out.
///
/// Source: Jebara, Kondor and Howard, "Probability Product Kernels", 2004, section 4.4; the mean map:
/// Mehta and Gray, "Generative and Latent Mean Map Kernels", 2010. Work per pair: that of both joint
/// Gaussians, and `d^3 / 2`.
#[derive(Clone, Copy, Debug)]
pub struct NetworkKernel {
    measure: Affinity<f64>,
}

impl NetworkKernel {
    /// The kernel of a measure.
    ///
    /// # Errors
    /// [`BetweenError::Parameter`] of a `rho` or a `lambda` out of range.
    pub fn new(measure: Affinity<f64>) -> Result<Self, BetweenError> {
        Ok(Self { measure: checked(measure)? })
    }
}

impl ModelKernel for NetworkKernel {
    type Model = LinearNetwork;

    fn log_value(&self, a: &LinearNetwork, b: &LinearNetwork) -> Result<f64, BetweenError> {
        same("observed variables", a.observed.len(), b.observed.len())?;
        log_overlap(&a.moments()?, &b.moments()?, self.measure)
    }
}

/// `log k` of two Gaussians.
pub(super) fn log_overlap(
    a: &Moments,
    b: &Moments,
    measure: Affinity<f64>,
) -> Result<f64, BetweenError> {
    let size = a.mean.len();
    let (one, other) = (a.covariance.concat(), b.covariance.concat());
    let mut scratch = vec![0.0; size * (size + 1)];
    let singular = |error: fishweir_core::ModelError| BetweenError::Singular {
        part: "covariance".into(),
        row: error.entry,
    };
    let one = Normal::full(&a.mean, &one, &mut scratch).map_err(singular)?;
    let other = Normal::full(&b.mean, &other, &mut scratch).map_err(singular)?;
    gaussian_log_overlap(&one, &other, measure, &mut scratch).map_err(refused)
}

impl From<SystemError> for BetweenError {
    fn from(error: SystemError) -> Self {
        let (part, why) = ("the system".into(), error.to_string());
        Self::Model { part, why }
    }
}
