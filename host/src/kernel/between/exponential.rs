use statrs::function::gamma::ln_gamma;

use super::multinomial::log_sum;
use super::{BetweenError, ModelKernel, check};
use crate::elementary::Elementary;

/// A family of distributions `p_theta(x) = exp( A(x) + theta . T(x) - K(theta) )`.
///
/// To add one is to say its cumulant: the Bhattacharyya kernel is provided.
///
/// Source: Jebara, Kondor and Howard, "Probability Product Kernels", Journal of Machine Learning
/// Research 5, 2004, section 3.
pub trait ExponentialFamily: Sync {
    /// The cumulant `K(theta) = log integral exp( A(x) + theta . T(x) ) dx`, convex in `theta`.
    ///
    /// # Errors
    /// [`BetweenError::Model`] naming an entry of `theta` that is out of range.
    fn cumulant(&self, theta: &[f64]) -> Result<f64, BetweenError>;

    /// `log integral sqrt(p q) = K((theta + theta') / 2) - (K(theta) + K(theta')) / 2`.
    ///
    /// # Errors
    /// [`BetweenError`] for parameters of different lengths, and as [`cumulant`](Self::cumulant).
    fn log_bhattacharyya(&self, theta: &[f64], other: &[f64]) -> Result<f64, BetweenError> {
        check::same("parameters", theta.len(), other.len())?;
        let ends = self.cumulant(theta)? + self.cumulant(other)?;
        let middle: Vec<f64> = theta.iter().zip(other).map(|(t, u)| 0.5 * (t + u)).collect();
        Ok(self.cumulant(&middle)? - 0.5 * ends)
    }
}

/// The Bhattacharyya kernel, `integral sqrt(p q)`, between members of an exponential family, by their
/// natural parameters, `[parameter]`. One of a distribution with itself, but for rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bhattacharyya<F>(
    /// The family.
    pub F,
);

impl<F: ExponentialFamily> ModelKernel for Bhattacharyya<F> {
    type Model = Vec<f64>;

    fn log_value(&self, a: &Vec<f64>, b: &Vec<f64>) -> Result<f64, BetweenError> {
        self.0.log_bhattacharyya(a, b)
    }
}

/// Families by their natural parameters. But for the multinomial, entries are independent of each other,
/// and their cumulants add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NaturalFamily {
    /// A Gaussian of variance one by its mean: `T = x`, `K = theta^2 / 2`.
    GaussianMean,
    /// A Gaussian of mean zero by its precision, `theta = 1 / sigma^2`: `T = -x^2 / 2`,
    /// `K = -log(theta) / 2`.
    GaussianPrecision,
    /// The exponential distribution, `theta = -1 / mean`: `T = x`, `K = -log(-theta)`.
    Exponential,
    /// A gamma distribution of scale one by its shape: `T = log x`, `K = log Gamma(theta)`.
    GammaShape,
    /// Poisson's, `theta = log rate`: `T = x`, `K = exp(theta)`. `-inf` is a rate of zero.
    Poisson,
    /// Counts of symbols, `theta_k = log p_k` but for a constant: `T = x`,
    /// `K = s log sum_k exp(theta_k)`. `-inf` is a symbol never drawn.
    Multinomial {
        /// Sum `s` of the counts.
        count: u32,
    },
    /// Yes or no, `theta = log(p / (1 - p))`: `T = x`, `K = log(1 + exp(theta))`.
    Bernoulli,
}

impl NaturalFamily {
    /// Condition on the parameter, and its description.
    fn range(self) -> (fn(f64) -> bool, &'static str) {
        match self {
            Self::GaussianMean | Self::Bernoulli => (f64::is_finite, "finite"),
            Self::GaussianPrecision | Self::GammaShape => {
                (|t| t > 0.0 && t.is_finite(), "positive")
            }
            Self::Exponential => (|t| t < 0.0 && t.is_finite(), "negative"),
            Self::Poisson | Self::Multinomial { .. } => {
                (|t| t < f64::INFINITY, "finite, or -inf for what is impossible")
            }
        }
    }
}

impl ExponentialFamily for NaturalFamily {
    fn cumulant(&self, theta: &[f64]) -> Result<f64, BetweenError> {
        let (good, range) = self.range();
        check::part("theta", theta, good, range)?;
        let each: fn(f64) -> f64 = match *self {
            Self::GaussianMean => |t| 0.5 * t * t,
            Self::GaussianPrecision => |t| -0.5 * t.portable_ln(),
            Self::Exponential => |t| -(-t).portable_ln(),
            Self::GammaShape => ln_gamma,
            Self::Poisson => Elementary::portable_exp,
            Self::Bernoulli => |t| t.max(0.0) + (-t.abs()).portable_exp().portable_ln_1p(),
            Self::Multinomial { count } => {
                let log = log_sum(theta);
                if log == f64::NEG_INFINITY {
                    let why = "no symbol is possible; one must be".to_owned();
                    return Err(BetweenError::Model { part: "theta".to_owned(), why });
                }
                return Ok(f64::from(count) * log);
            }
        };
        Ok(theta.iter().map(|&t| each(t)).sum())
    }
}
