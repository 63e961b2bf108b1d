//! Affinity of two distributions over one space: integrals of products of their densities, and
//! expectations of a Gaussian of the distance of two draws.

mod counts;
mod discrete;
mod gaussian;

pub use counts::{MOST_COUNTS, poisson_log_overlap};
pub use discrete::{bernoulli_log_overlap, categorical_log_overlap};
pub use gaussian::{Covariance, Normal, gaussian_log_overlap};

use crate::emission::{
    Bernoulli, Categorical, Emission, FullGaussian, FullGaussianView, Gaussian, GaussianView,
    Mixture, Poisson,
};
use crate::error::{ErrorKind, ModelError, Part};
use crate::hmm::RealOf;
use crate::number::{Real, power};

/// Measure of affinity between two distributions `p` and `q` over one space.
///
/// Both are inner products of functions that stand for the distributions, so matrices of them are positive
/// semi-definite.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Affinity<T> {
    /// The probability product kernel, `k(p, q) = integral p(x)^rho q(x)^rho dx`. With `rho` 1/2 it is
    /// Bhattacharyya's affinity, one where the two are the same; with 1 the expected likelihood.
    ///
    /// Of distributions with a hidden variable the joint is raised to `rho` before that is summed over,
    /// which for `rho` 1 alone is the kernel of what is observed.
    ///
    /// Source: Jebara, Kondor and Howard, "Probability Product Kernels", 2004.
    Product {
        /// The power, above zero.
        rho: T,
    },
    /// The mean map, `k(p, q) = E exp(-lambda/2 |x - y|^2)` of `x` from `p` and `y` from `q`, drawn apart.
    ///
    /// Symbols are unit vectors, a dimension each: `|x - y|^2` is 2 of symbols that differ. Counts and yes
    /// (1) or no (0) are numbers.
    ///
    /// Source: Mehta and Gray, "Generative and Latent Mean Map Kernels", 2010; its introduction calls
    /// `lambda` what is half of it here.
    MeanMap {
        /// The reciprocal squared width, not negative; all is one at zero.
        lambda: T,
    },
}

impl<T: Real> Affinity<T> {
    /// The power to which probabilities of hidden variables are raised: `rho`, or one.
    pub fn exponent(self) -> T {
        match self {
            Self::Product { rho } => rho,
            Self::MeanMap { .. } => T::ONE,
        }
    }

    /// Checks that the parameter is in range.
    ///
    /// # Errors
    /// [`Part::Kernel`], where `rho` is not finite and positive or `lambda` not finite or negative.
    pub fn validate(self) -> Result<(), ModelError> {
        let (parameter, kind) = match self {
            Self::Product { rho } => (rho, (rho <= T::ZERO).then_some(ErrorKind::NotPositive)),
            Self::MeanMap { lambda } => (lambda, (lambda < T::ZERO).then_some(ErrorKind::Negative)),
        };
        let kind = if parameter.is_finite() { kind } else { Some(ErrorKind::NotFinite) };
        kind.map_or(Ok(()), |kind| Err(ModelError::new(Part::Kernel, kind, 0, 0)))
    }
}

/// A family of emissions of which two can be compared.
///
/// The arithmetic is in functions over slices ([`gaussian_log_overlap`], ...), which a program whose sizes
/// are known at run time calls itself.
pub trait ProductKernel: Emission {
    /// `log k` of two distributions by a measure that is [valid](Affinity::validate); minus infinity where
    /// it is zero. The same of `(other, self)`, but for rounding.
    ///
    /// # Errors
    /// Limits of the family: rates or powers out of the range of its series, a covariance matrix that is not positive definite in
    /// working precision.
    fn log_overlap(
        &self,
        other: &Self,
        measure: Affinity<RealOf<Self>>,
    ) -> Result<RealOf<Self>, ModelError>;
}

impl<T: Real, const K: usize> ProductKernel for Categorical<K, T> {
    fn log_overlap(&self, other: &Self, measure: Affinity<T>) -> Result<T, ModelError> {
        Ok(categorical_log_overlap(self.probability(), other.probability(), measure))
    }
}

impl<T: Real, const D: usize> ProductKernel for Bernoulli<D, T> {
    fn log_overlap(&self, other: &Self, measure: Affinity<T>) -> Result<T, ModelError> {
        Ok(bernoulli_log_overlap(self.probability(), other.probability(), measure))
    }
}

impl<T: Real, const D: usize> ProductKernel for Poisson<D, T> {
    fn log_overlap(&self, other: &Self, measure: Affinity<T>) -> Result<T, ModelError> {
        poisson_log_overlap(self.rate(), other.rate(), measure)
    }
}

impl<T: Real, const D: usize> ProductKernel for Gaussian<D, T> {
    fn log_overlap(&self, other: &Self, measure: Affinity<T>) -> Result<T, ModelError> {
        let (own, others) = (self.variance(), other.variance());
        fn of<'a, T: Real>(view: GaussianView<'a, T>, variance: &'a [T]) -> Normal<'a, T> {
            // The constant has the sum of the rates' logarithms.
            let half = -(view.constant + T::from_count(variance.len() as u64) * T::HALF_LN_TAU);
            Normal::from_parts(view.mean, Covariance::Diagonal(variance), half + half)
        }
        let (own, others) = (of(self.view(), &own), of(other.view(), &others));
        gaussian_log_overlap(&own, &others, measure, &mut [])
    }
}

/// Work: two inverses and a Cholesky factor of `D` by `D`.
impl<T: Real, const D: usize> ProductKernel for FullGaussian<D, T> {
    fn log_overlap(&self, other: &Self, measure: Affinity<T>) -> Result<T, ModelError> {
        let (own, others) = (self.covariance(), other.covariance());
        fn of<'a, T: Real>(view: FullGaussianView<'a, T>, covariance: &'a [T]) -> Normal<'a, T> {
            let log_determinant = -crate::matrix::log_determinant(view.factor, view.mean.len());
            Normal::from_parts(view.mean, Covariance::Full(covariance), log_determinant)
        }
        let own = of(self.view(), own.as_flattened());
        let others = of(other.view(), others.as_flattened());
        let (mut sum, mut gap) = ([[T::ZERO; D]; D], [T::ZERO; D]);
        gaussian::log_overlap(&own, &others, measure, sum.as_flattened_mut(), &mut gap)
    }
}

/// A sum over pairs of components, those without weight left out.
impl<T: Real, E: ProductKernel<Weight = T>, const M: usize> ProductKernel for Mixture<E, M> {
    fn log_overlap(&self, other: &Self, measure: Affinity<T>) -> Result<T, ModelError> {
        mixture_log_overlap(self.weight(), other.weight(), measure, |a, b| {
            match (self.component().get(a), other.component().get(b)) {
                (Some(a), Some(b)) => a.log_overlap(b, measure),
                _ => Ok(T::NEG_INFINITY),
            }
        })
    }
}

/// `log sum_ij (w_i w'_j)^rho k_ij` of two mixtures, from their weights and `log k_ij` of their
/// components; for the mean map without the power.
///
/// For the product kernel with `rho` other than one this is of the joint of component and observation, not
/// of the mixture's density: it changes where a component is split in two that are the same. Work: an
/// exponential per pair, a logarithm per component.
///
/// # Errors
/// The first of a pair.
pub fn mixture_log_overlap<T: Real, E>(
    weight: &[T],
    other: &[T],
    measure: Affinity<T>,
    mut pair: impl FnMut(usize, usize) -> Result<T, E>,
) -> Result<T, E> {
    let rho = measure.exponent();
    let (mut best, mut sum) = (T::NEG_INFINITY, T::ZERO);
    for (i, &own) in weight.iter().enumerate() {
        if own <= T::ZERO {
            continue;
        }
        let own = power(own, rho).ln();
        for (j, &weight) in other.iter().enumerate() {
            if weight <= T::ZERO {
                continue;
            }
            let log = own + pair(i, j)?;
            let share = power(weight, rho);
            if log > best {
                sum = sum * (best - log).exp() + share;
                best = log;
            } else if log > T::NEG_INFINITY {
                sum = sum + share * (log - best).exp();
            }
        }
    }
    Ok(if best > T::NEG_INFINITY { best + sum.ln() } else { best })
}

/// `log k` of every pair of states of two models, `[state][state of the other]` in a row, as the
/// recursion between them takes it: relative to the largest, and by itself.
///
/// `P` is the product of the two numbers of states. Flash: `2 P + 1` reals.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Overlaps<T, const P: usize> {
    pub(super) relative: [T; P],
    pub(super) logs: [T; P],
    pub(super) log_scale: T,
}

impl<T, const P: usize> Overlaps<T, P> {
    /// Overlaps from numbers already computed, as an export writes them: relative to the largest, their
    /// logarithms, and the largest's.
    pub const fn from_parts(relative: [T; P], logs: [T; P], log_scale: T) -> Self {
        Self { relative, logs, log_scale }
    }

    /// Relative to the largest, `[state][state of the other]` in a row.
    pub const fn relative(&self) -> &[T; P] {
        &self.relative
    }

    /// Logarithms of the overlaps.
    pub const fn logs(&self) -> &[T; P] {
        &self.logs
    }

    /// The largest's logarithm, to which they are relative.
    pub const fn log_scale(&self) -> &T {
        &self.log_scale
    }
}

impl<T: Real, const P: usize> Overlaps<T, P> {
    /// Overlaps from their logarithms, `[state][state of the other]` in a row. `P` exponentials.
    pub fn of_logs(logs: [T; P]) -> Self {
        match T::likelihoods(|pair| logs.get(pair).copied().unwrap_or(T::NEG_INFINITY)) {
            Some((relative, log_scale)) => Self { relative, logs, log_scale },
            // No two states have anything in common.
            None => Self { relative: [T::ZERO; P], logs, log_scale: T::ZERO },
        }
    }

    /// The overlaps of the states of two models.
    ///
    /// # Errors
    /// A measure that is [not valid](Affinity::validate), or what a pair of states has: the row is the
    /// first model's state, for what is of neither.
    pub fn of<E: ProductKernel<Weight = T>, const N: usize, const M: usize>(
        first: &[E; N],
        second: &[E; M],
        measure: Affinity<T>,
    ) -> Result<Self, ModelError> {
        const { assert!(P == N * M, "P must equal N * M") };
        measure.validate()?;
        let mut logs = [T::NEG_INFINITY; P];
        for (state, (row, own)) in logs.chunks_exact_mut(M).zip(first).enumerate() {
            for (log, other) in row.iter_mut().zip(second) {
                *log = own.log_overlap(other, measure).map_err(|error| error.of_state(state))?;
            }
        }
        Ok(Self::of_logs(logs))
    }
}
