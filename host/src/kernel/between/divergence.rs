use std::marker::PhantomData;

use super::product::positive;
use super::{BetweenError, ModelKernel};

/// Distributions whose Kullback-Leibler divergence has a closed form.
pub trait Divergence: Sync {
    /// `D(p || q) = integral p log(p / q)`, in nats: not negative; infinite where `q` makes impossible
    /// what `p` does not.
    ///
    /// # Errors
    /// [`BetweenError::Shapes`] for distributions over different spaces.
    fn divergence(&self, other: &Self) -> Result<f64, BetweenError>;
}

/// The exponential of the symmetrised divergence, `k(p, q) = exp(-a (D(p || q) + D(q || p)) + b)`; zero
/// where a divergence is infinite.
///
/// It is [not](ModelKernel::is_positive_semidefinite) positive semi-definite in general.
///
/// Source: Moreno, Ho and Vasconcelos, "A Kullback-Leibler Divergence Based Kernel for SVM Classification
/// in Multimedia Applications", 2003.
#[derive(Debug)]
pub struct SymmetricKl<D> {
    a: f64,
    b: f64,
    of: PhantomData<fn() -> D>,
}

impl<D> SymmetricKl<D> {
    /// The kernel of a rate and a shift.
    ///
    /// # Errors
    /// [`BetweenError::Parameter`] for an `a` that is not positive, and for what is not finite.
    pub fn new(a: f64, b: f64) -> Result<Self, BetweenError> {
        let a = positive("a", a)?;
        if !b.is_finite() {
            return Err(BetweenError::Parameter { name: "b", value: b, range: "finite" });
        }
        Ok(Self { a, b, of: PhantomData })
    }
}

impl<D: Divergence> ModelKernel for SymmetricKl<D> {
    type Model = D;

    fn log_value(&self, p: &D, q: &D) -> Result<f64, BetweenError> {
        Ok(self.b - self.a * (p.divergence(q)? + q.divergence(p)?))
    }

    fn is_positive_semidefinite(&self) -> bool {
        false
    }
}
