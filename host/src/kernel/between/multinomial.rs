use std::f64::consts::PI;

use statrs::function::factorial::ln_factorial;

use super::divergence::relative_entropy;
use super::{BetweenError, Divergence, ModelKernel, check};
use crate::elementary::Elementary;
use crate::kernel::inner_product;

/// Probabilities of symbols, `[symbol]`: of one draw, or of the counts of several.
///
/// RAM: two reals per symbol, for the roots are kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Multinomial {
    probability: Vec<f64>,
    root: Vec<f64>,
}

impl Multinomial {
    /// Probabilities, `[symbol]`, that sum to one within a billionth.
    ///
    /// # Errors
    /// [`BetweenError::Model`] naming the first entry that is no probability, or their sum.
    pub fn new(probability: Vec<f64>) -> Result<Self, BetweenError> {
        let good = |p: f64| p >= 0.0 && p.is_finite();
        check::part("probability", &probability, good, "a probability from 0 to 1")?;
        let sum: f64 = probability.iter().sum();
        if (sum - 1.0).abs() >= 1e-9 {
            let why = format!("sums to {sum}; divide by that, so that it sums to one");
            return Err(BetweenError::Model { part: "probability".into(), why });
        }
        let root = probability.iter().map(|p| p.sqrt()).collect();
        Ok(Self { probability, root })
    }

    /// The probabilities, `[symbol]`.
    pub fn probability(&self) -> &[f64] {
        &self.probability
    }

    fn check(&self, other: &Self) -> Result<(), BetweenError> {
        check::same("symbols", self.probability.len(), other.probability.len())
    }

    /// Bhattacharyya's affinity `b = sum_k sqrt(p_k q_k)`, from 0 to 1.
    ///
    /// # Errors
    /// [`BetweenError::Shapes`] for different numbers of symbols; so below.
    pub fn bhattacharyya(&self, other: &Self) -> Result<f64, BetweenError> {
        self.check(other)?;
        Ok(inner_product(&self.root, &other.root))
    }

    /// Hellinger's distance, squared: `sum_k (sqrt p_k - sqrt q_k)^2 = 2 - 2 b`, from 0 to 2; without
    /// cancellation where the two are close. (Some put a half before it.)
    ///
    /// # Errors
    /// As [`bhattacharyya`](Self::bhattacharyya).
    pub fn hellinger_squared(&self, other: &Self) -> Result<f64, BetweenError> {
        self.check(other)?;
        Ok(self.root.iter().zip(&other.root).map(|(p, q)| (p - q) * (p - q)).sum())
    }

    /// Hellinger's distance `|sqrt p - sqrt q|`.
    ///
    /// # Errors
    /// As [`bhattacharyya`](Self::bhattacharyya).
    pub fn hellinger(&self, other: &Self) -> Result<f64, BetweenError> {
        Ok(self.hellinger_squared(other)?.sqrt())
    }

    /// The length of the shortest path on the simplex with Fisher's metric: `d = 2 arccos b`, as
    /// `4 arcsin(|sqrt p - sqrt q| / 2)`, which loses no digits where the two are close. From 0 to `pi`.
    ///
    /// Source: Lafferty and Lebanon, "Diffusion Kernels on Statistical Manifolds", Journal of Machine
    /// Learning Research 6, 2005.
    ///
    /// # Errors
    /// As [`bhattacharyya`](Self::bhattacharyya).
    pub fn geodesic(&self, other: &Self) -> Result<f64, BetweenError> {
        Ok(4.0 * (0.5 * self.hellinger(other)?).portable_asin())
    }

    /// `log b`.
    fn log_bhattacharyya(&self, other: &Self) -> Result<f64, BetweenError> {
        let affinity = self.bhattacharyya(other)?;
        if affinity < 0.5 {
            return Ok(affinity.portable_ln());
        }
        Ok((-0.5 * self.hellinger_squared(other)?).portable_ln_1p())
    }
}

/// `D(p || q) = sum_k p_k log(p_k / q_k)`; infinite where `q_k = 0 < p_k`. Work: `K` logarithms.
impl Divergence for Multinomial {
    fn divergence(&self, other: &Self) -> Result<f64, BetweenError> {
        self.check(other)?;
        Ok(relative_entropy(&self.probability, &other.probability))
    }
}

/// The probability product kernel of counts whose sum is fixed:
///
/// ```text
/// k(p, q) = sum_{x_1 + ... + x_K = s} (s! / prod x_k!)^(2 rho) prod_k (p_k q_k)^(rho x_k)
///         = (sum_k sqrt(p_k q_k))^s                                        for rho = 1/2
/// ```
///
/// Source: Jebara, Kondor and Howard, "Probability Product Kernels", Journal of Machine Learning
/// Research 5, 2004, section 3.3; for other `rho` than a half the factor of each symbol is convolved with
/// those before it, in logarithms. Work per pair: `K` multiply-adds, or `K s^2 / 2` exponentials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MultinomialProduct {
    rho: f64,
    count: usize,
}

impl MultinomialProduct {
    /// The kernel of a power and the number of draws `s`.
    ///
    /// # Errors
    /// [`BetweenError::Parameter`] for a `rho` that is not positive.
    pub fn new(rho: f64, count: usize) -> Result<Self, BetweenError> {
        Ok(Self { rho: check::positive("rho", rho)?, count })
    }

    /// `log k`, symbol by symbol: `logs[n]` is that of all counts of sum `n` of the symbols so far, but for
    /// the factor `(n!)^(2 rho)`.
    fn convolved(&self, p: &[f64], q: &[f64]) -> f64 {
        let factorial: Vec<f64> =
            (0..=self.count).map(|n| 2.0 * self.rho * ln_factorial(n as u64)).collect();
        let mut logs = vec![f64::NEG_INFINITY; self.count + 1];
        logs[0] = 0.0;
        let mut terms = Vec::with_capacity(logs.len());
        // A symbol that one of the two never draws is never drawn by both.
        for (&p, &q) in p.iter().zip(q).filter(|(p, q)| **p > 0.0 && **q > 0.0) {
            let log = self.rho * (p.portable_ln() + q.portable_ln());
            for n in (0..logs.len()).rev() {
                terms.clear();
                let of = |m: usize| logs[n - m] + m as f64 * log - factorial[m];
                terms.extend((0..=n).map(of));
                logs[n] = log_sum(&terms);
            }
        }
        logs[self.count] + factorial[self.count]
    }
}

/// `log sum exp`.
pub(super) fn log_sum(logs: &[f64]) -> f64 {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY {
        return most;
    }
    most + logs.iter().map(|log| (log - most).portable_exp()).sum::<f64>().portable_ln()
}

impl ModelKernel for MultinomialProduct {
    type Model = Multinomial;

    fn log_value(&self, a: &Multinomial, b: &Multinomial) -> Result<f64, BetweenError> {
        if self.rho != 0.5 {
            a.check(b)?;
            return Ok(self.convolved(&a.probability, &b.probability));
        }
        let log = a.log_bhattacharyya(b)?;
        Ok(if self.count == 0 { 0.0 } else { self.count as f64 * log })
    }
}

/// The Bhattacharyya kernel of counts whose sum is not fixed: `k(p, q) = sum_s weight^s b^s
/// = 1 / (1 - weight b)` with `b = sum_k sqrt(p_k q_k)`.
///
/// A weight of one is all sums alike; then the kernel of a distribution with itself is infinite, and there
/// is no matrix of all pairs. Source: as [`MultinomialProduct`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MultinomialSeries {
    weight: f64,
}

impl MultinomialSeries {
    /// The kernel of a weight a draw.
    ///
    /// # Errors
    /// [`BetweenError::Parameter`] for a weight that is not above 0 and at most 1.
    pub fn new(weight: f64) -> Result<Self, BetweenError> {
        if weight > 0.0 && weight <= 1.0 {
            return Ok(Self { weight });
        }
        let range = "above 0, and 1 at most";
        Err(BetweenError::Parameter { name: "weight", value: weight, range })
    }
}

impl ModelKernel for MultinomialSeries {
    type Model = Multinomial;

    fn log_value(&self, a: &Multinomial, b: &Multinomial) -> Result<f64, BetweenError> {
        let rest = (1.0 - self.weight) + self.weight * 0.5 * a.hellinger_squared(b)?;
        if rest > 0.0 {
            return Ok(-rest.portable_ln());
        }
        let why = "the sum over all numbers of draws diverges for equal distributions; take a weight below one";
        Err(BetweenError::Diverges(why.into()))
    }
}

/// Form in which a [`HeatKernel`] evaluates the heat kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeatForm {
    /// `exp(-d^2 / 4t)`, which is one for equal distributions.
    Unnormalised,
    /// `(4 pi t)^(-(K-1)/2) exp(-d^2 / 4t)`, the leading term of the heat kernel's expansion.
    Leading,
}

/// The heat kernel on the simplex with Fisher's metric, by its leading term: `d` is the
/// [geodesic](Multinomial::geodesic) distance and `t` the time that heat has spread.
///
/// On a sphere, of which the simplex is a part, the exponential of minus a squared geodesic distance need
/// not be positive semi-definite, and [nothing](ModelKernel::is_positive_semidefinite) is promised.
///
/// Source: as [`Multinomial::geodesic`]. Work per pair: `K` multiply-adds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeatKernel {
    time: f64,
    form: HeatForm,
}

impl HeatKernel {
    /// The kernel of a time.
    ///
    /// # Errors
    /// [`BetweenError::Parameter`] for a time that is not positive and finite.
    pub fn new(time: f64, form: HeatForm) -> Result<Self, BetweenError> {
        Ok(Self { time: check::positive(crate::kernel::parameter::TIME.name, time)?, form })
    }
}

impl ModelKernel for HeatKernel {
    type Model = Multinomial;

    fn log_value(&self, a: &Multinomial, b: &Multinomial) -> Result<f64, BetweenError> {
        let distance = a.geodesic(b)?;
        let log = -distance * distance / (4.0 * self.time);
        Ok(match self.form {
            HeatForm::Unnormalised => log,
            HeatForm::Leading => {
                let dimensions = a.probability.len() as f64 - 1.0;
                log - 0.5 * dimensions * (4.0 * PI * self.time).portable_ln()
            }
        })
    }

    fn is_positive_semidefinite(&self) -> bool {
        false
    }
}
