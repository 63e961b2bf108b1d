use std::marker::PhantomData;

use fishweir_core::{Flaw, ModelError};

use super::{BetweenError, ModelKernel};

/// Distributions the integrals of whose products have a closed form, at any power.
pub trait ProductIntegral: Sync {
    /// `log integral p(x)^rho q(x)^rho dx` for a positive `rho`.
    ///
    /// # Errors
    /// [`BetweenError`] for distributions over different spaces, and where the integral diverges.
    fn log_product(&self, other: &Self, rho: f64) -> Result<f64, BetweenError>;
}

/// The probability product kernel `k(p, q) = integral p(x)^rho q(x)^rho dx`, a sum where `x` is discrete:
/// Bhattacharyya's at `rho = 1/2`, where a distribution's kernel with itself is one; the expected
/// likelihood at `rho = 1`.
///
/// Where `k(p, q)` diverges, so does `k(p, p)` or `k(q, q)`: then there is no cosine.
///
/// Source: Jebara, Kondor and Howard, "Probability Product Kernels", Journal of Machine Learning
/// Research 5, 2004, sections 2 and 3.
#[derive(Debug)]
pub struct ProbabilityProduct<P> {
    rho: f64,
    of: PhantomData<fn() -> P>,
}

impl<P> ProbabilityProduct<P> {
    /// The kernel of a power.
    ///
    /// # Errors
    /// [`BetweenError::Parameter`] for a `rho` that is not positive.
    pub fn new(rho: f64) -> Result<Self, BetweenError> {
        Ok(Self { rho: check_rho(rho)?, of: PhantomData })
    }
}

impl<P: ProductIntegral> ModelKernel for ProbabilityProduct<P> {
    type Model = P;

    fn log_value(&self, a: &P, b: &P) -> Result<f64, BetweenError> {
        a.log_product(b, self.rho)
    }
}

pub(super) fn check_rho(rho: f64) -> Result<f64, BetweenError> {
    positive("rho", rho)
}

/// A parameter of a kernel that must be positive and finite.
pub(super) fn positive(name: &'static str, value: f64) -> Result<f64, BetweenError> {
    if value > 0.0 && value.is_finite() {
        return Ok(value);
    }
    Err(BetweenError::Parameter { name, value, range: "positive and finite" })
}

/// Refuses the first entry of a part of a model that is not as it must be.
pub(super) fn check_part(
    part: &str,
    entries: &[f64],
    good: fn(f64) -> bool,
    wanted: &str,
) -> Result<(), BetweenError> {
    match entries.iter().position(|entry| !good(*entry)) {
        Some(entry) => {
            let why = format!("is {}; it must be {wanted}", entries[entry]);
            Err(BetweenError::Model { part: format!("{part}[{entry}]"), why })
        }
        None => Ok(()),
    }
}

/// What of a model must be.
pub(super) const POSITIVE: (fn(f64) -> bool, &str) =
    (|x| x > 0.0 && x.is_finite(), "positive and finite");

/// Refuses models over different spaces.
pub(super) fn same(what: &'static str, first: usize, second: usize) -> Result<(), BetweenError> {
    if first == second { Ok(()) } else { Err(BetweenError::Shapes { what, first, second }) }
}

/// What the core says of two distributions that are each valid.
pub(super) fn undefined(error: ModelError) -> BetweenError {
    match error.flaw {
        Flaw::NotPositiveDefinite => {
            BetweenError::Singular { part: "sum of covariances".into(), row: error.entry }
        }
        _ => BetweenError::Model {
            part: "rates".into(),
            why: format!("{error}: no series ends within reach; take another rho"),
        },
    }
}
