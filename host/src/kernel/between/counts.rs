use fishweir_core::kernel::{Measure, bernoulli_log_overlap, poisson_log_overlap};

use super::product::{check_part, same, undefined};
use super::{BetweenError, ProductIntegral};

/// Yes or no in independent channels: `p(x) = prod_d p_d^x_d (1 - p_d)^(1 - x_d)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Bernoulli(Vec<f64>);

impl Bernoulli {
    /// Probabilities of yes, `[channel]`.
    ///
    /// # Errors
    /// [`BetweenError::Model`] naming the first that is none.
    pub fn new(probability: Vec<f64>) -> Result<Self, BetweenError> {
        let good = |p: f64| (0.0..=1.0).contains(&p);
        check_part("probability", &probability, good, "a probability, from 0 to 1")?;
        Ok(Self(probability))
    }
}

/// `prod_d [ (p_d q_d)^rho + ((1 - p_d) (1 - q_d))^rho ]`.
///
/// Source: Jebara, Kondor and Howard, "Probability Product Kernels", 2004, section 3.2.
impl ProductIntegral for Bernoulli {
    fn log_product(&self, other: &Self, rho: f64) -> Result<f64, BetweenError> {
        same("channels", self.0.len(), other.0.len())?;
        Ok(bernoulli_log_overlap(&self.0, &other.0, Measure::Product { rho }))
    }
}

/// Counts in independent channels: `p(x) = prod_d rate_d^x_d exp(-rate_d) / x_d!`.
#[derive(Clone, Debug, PartialEq)]
pub struct Poisson(Vec<f64>);

impl Poisson {
    /// Rates, `[channel]`.
    ///
    /// # Errors
    /// [`BetweenError::Model`] naming the first that is negative or not finite.
    pub fn new(rate: Vec<f64>) -> Result<Self, BetweenError> {
        let good = |rate: f64| rate >= 0.0 && rate.is_finite();
        check_part("rate", &rate, good, "finite, and not negative")?;
        Ok(Self(rate))
    }
}

/// `prod_d sum_x (l_d l'_d)^(rho x) / x!^(2 rho) exp(-rho (l_d + l'_d))`, a series outward from its largest
/// term; for `rho = 1/2` that is `exp(-(sqrt l_d - sqrt l'_d)^2 / 2)`.
impl ProductIntegral for Poisson {
    fn log_product(&self, other: &Self, rho: f64) -> Result<f64, BetweenError> {
        same("channels", self.0.len(), other.0.len())?;
        poisson_log_overlap(&self.0, &other.0, Measure::Product { rho }).map_err(undefined)
    }
}
