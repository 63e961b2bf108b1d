use statrs::function::gamma::ln_gamma;

use super::multinomial::log_sum;
use super::product::{POSITIVE, check_part};
use super::{BetweenError, ProductIntegral};

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
        check_part("shape", &[shape], POSITIVE.0, POSITIVE.1)?;
        check_part("scale", &[scale], POSITIVE.0, POSITIVE.1)?;
        Ok(Self { shape, scale })
    }

    /// The exponential distribution of a mean.
    ///
    /// # Errors
    /// [`BetweenError::Model`] for a mean that is not positive.
    pub fn exponential(mean: f64) -> Result<Self, BetweenError> {
        check_part("mean", &[mean], POSITIVE.0, POSITIVE.1)?;
        Ok(Self { shape: 1.0, scale: mean })
    }

    fn log_normaliser(&self) -> f64 {
        ln_gamma(self.shape) + self.shape * self.scale.ln()
    }
}

/// With `A = rho (a + a' - 2) + 1` and `1 / B = rho (1 / b + 1 / b')`,
///
/// ```text
/// k = Gamma(A) B^A / ( Gamma(a) b^a Gamma(a') b'^a' )^rho
/// ```
///
/// which diverges at zero where `A` is not positive. Of exponential distributions that is
/// `1 / (rho (1 / b + 1 / b') (b b')^rho)`.
///
/// Source: Jebara, Kondor and Howard, "Probability Product Kernels", 2004, section 3.4.
impl ProductIntegral for Gamma {
    fn log_product(&self, other: &Self, rho: f64) -> Result<f64, BetweenError> {
        let shape = rho * (self.shape + other.shape - 2.0) + 1.0;
        if shape <= 0.0 {
            return Err(BetweenError::Diverges(format!(
                "at rho = {rho} shapes of {} and {} make densities whose product has no integral near \
                 zero; take a smaller rho",
                self.shape, other.shape
            )));
        }
        let log_scale = -rho.ln() - log_sum(&[-self.scale.ln(), -other.scale.ln()]);
        let own = self.log_normaliser() + other.log_normaliser();
        Ok(ln_gamma(shape) + shape * log_scale - rho * own)
    }
}
