use statrs::function::gamma::ln_gamma;

use super::multinomial::log_sum;
use super::{BetweenError, ModelKernel, check};
use crate::elementary::Elementary;

/// The gamma distribution `p(x) = x^(shape - 1) exp(-x / scale) / (Gamma(shape) scale^shape)`, `x > 0`;
/// of shape one the exponential distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gamma {
    shape: f64,
    scale: f64,
}

impl Gamma {
    /// A distribution of a shape and a scale, in the unit of `x`.
    ///
    /// # Errors
    /// [`BetweenError::Model`] for one that is not positive.
    pub fn new(shape: f64, scale: f64) -> Result<Self, BetweenError> {
        let good = |x: f64| x > 0.0 && x.is_finite();
        for (name, value) in [("shape", shape), ("scale", scale)] {
            check::part(name, &[value], good, "positive and finite")?;
        }
        Ok(Self { shape, scale })
    }

    /// The exponential distribution of a mean, which is its scale.
    ///
    /// # Errors
    /// [`BetweenError::Model`] for a mean that is not positive.
    pub fn exponential(mean: f64) -> Result<Self, BetweenError> {
        Self::new(1.0, mean)
    }

    fn log_normaliser(&self) -> f64 {
        ln_gamma(self.shape) + self.shape * self.scale.portable_ln()
    }
}

/// The probability product kernel of gamma distributions. With `A = rho (a + a' - 2) + 1` and
/// `1 / B = rho (1 / b + 1 / b')`,
///
/// ```text
/// k = Gamma(A) B^A / ( Gamma(a) b^a Gamma(a') b'^a' )^rho
/// ```
///
/// which diverges at zero where `A` is not positive: then so does the kernel of one of the two with itself,
/// and there is no cosine. Of exponential distributions it is `1 / (rho (1 / b + 1 / b') (b b')^rho)`.
///
/// Source: Jebara, Kondor and Howard, "Probability Product Kernels", 2004, section 3.4.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GammaProduct {
    rho: f64,
}

impl GammaProduct {
    /// The kernel of a power.
    ///
    /// # Errors
    /// [`BetweenError::Parameter`] for a `rho` that is not positive.
    pub fn new(rho: f64) -> Result<Self, BetweenError> {
        Ok(Self { rho: check::positive("rho", rho)? })
    }
}

impl ModelKernel for GammaProduct {
    type Model = Gamma;

    fn log_value(&self, a: &Gamma, b: &Gamma) -> Result<f64, BetweenError> {
        let rho = self.rho;
        let shape = rho * (a.shape + b.shape - 2.0) + 1.0;
        if shape <= 0.0 {
            return Err(BetweenError::Diverges(format!(
                "at rho = {rho} the product of gamma densities with shapes {} and {} has no finite integral near \
                 zero; take a smaller rho",
                a.shape, b.shape
            )));
        }
        let log_scale =
            -rho.portable_ln() - log_sum(&[-a.scale.portable_ln(), -b.scale.portable_ln()]);
        let own = a.log_normaliser() + b.log_normaliser();
        Ok(ln_gamma(shape) + shape * log_scale - rho * own)
    }
}
