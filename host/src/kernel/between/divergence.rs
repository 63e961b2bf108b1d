use std::marker::PhantomData;

use fishweir_core::matrix;

use super::compared::wrong;
use super::{BetweenError, ModelKernel, check};
use crate::elementary::Elementary;
use crate::runtime::Distribution;

/// Distributions whose Kullback-Leibler divergence has a closed form.
pub trait Divergence: Sync {
    /// `D(p || q) = integral p log(p / q)`, in nats: not negative; infinite where `q` makes impossible
    /// what `p` does not.
    ///
    /// # Errors
    /// [`BetweenError`] for distributions over different spaces, and of kinds that have no closed form.
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
        let a = check::positive("a", a)?;
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

/// `sum_k [ p_k log(p_k / q_k) - p_k + q_k ]`, of which no term is negative: the divergence of probabilities,
/// whose sums are one, and of independent counts from their rates.
pub(super) fn relative_entropy(p: &[f64], q: &[f64]) -> f64 {
    let term = |(&p, &q): (&f64, &f64)| match (q - p) / p {
        _ if p == 0.0 => q,
        x if x.abs() < 1.0 => p * excess(x),
        _ => p * (p.portable_ln() - q.portable_ln()) - p + q,
    };
    p.iter().zip(q).map(term).sum()
}

/// `x - log(1 + x)`: not negative, zero at zero.
fn excess(x: f64) -> f64 {
    x - x.portable_ln_1p()
}

/// Divergence of all distributions but mixtures.
///
/// For Gaussians, with lower factors `S = F F'` of the own and `S' = G G'` of the other covariance, `M = G^-1 F` and `d` the
/// difference of the means,
///
/// ```text
/// D(p || q) = 1/2 ( tr S'^-1 S - D + log |S'| / |S| + d' S'^-1 d )
///           = 1/2 ( sum_i [ M_ii^2 - 1 - log M_ii^2 ] + sum_{i > j} M_ij^2 + |G^-1 d|^2 )
/// ```
///
/// of which no term is negative. Work: `D^3 / 2` multiply-adds and `D` logarithms.
impl Divergence for Distribution {
    fn divergence(&self, other: &Self) -> Result<f64, BetweenError> {
        for one in [self, other] {
            one.validate().map_err(|error| wrong("distribution", &error))?;
        }
        let sizes = |what| check::same(what, self.size(), other.size());
        let refused =
            |why: &str| Err(BetweenError::Model { part: "distributions".into(), why: why.into() });
        match (self, other) {
            (Self::Categorical(p), Self::Categorical(q)) => {
                sizes("symbols")?;
                Ok(relative_entropy(p, q))
            }
            (Self::Poisson(p), Self::Poisson(q)) => {
                sizes("channels")?;
                Ok(relative_entropy(p, q))
            }
            (Self::Bernoulli(p), Self::Bernoulli(q)) => {
                sizes("channels")?;
                let channel =
                    |(p, q): (&f64, &f64)| relative_entropy(&[*p, 1.0 - p], &[*q, 1.0 - q]);
                Ok(p.iter().zip(q).map(channel).sum())
            }
            (Self::Mixture { .. }, _) | (_, Self::Mixture { .. }) => {
                refused("a divergence of mixtures has no closed form; compare by a product kernel")
            }
            _ => match (Factored::of(self)?, Factored::of(other)?) {
                (Some(own), Some(other)) => {
                    sizes("channels")?;
                    Ok(own.divergence(&other))
                }
                _ => refused("they are over different spaces; compare models over the same"),
            },
        }
    }
}

/// A Gaussian with the lower Cholesky factor of its covariance, `[channel][channel]` in a row.
struct Factored<'a> {
    mean: &'a [f64],
    factor: Vec<f64>,
}

impl<'a> Factored<'a> {
    /// `None` of what is no Gaussian.
    fn of(one: &'a Distribution) -> Result<Option<Self>, BetweenError> {
        let (mean, mut factor) = match one {
            Distribution::FullGaussian { mean, covariance } => (mean, covariance.clone()),
            Distribution::Gaussian { mean, variance } => {
                let size = mean.len();
                let mut covariance = vec![0.0; size * size];
                let diagonal = covariance.iter_mut().step_by(size + 1);
                diagonal.zip(variance).for_each(|(entry, variance)| *entry = *variance);
                (mean, covariance)
            }
            _ => return Ok(None),
        };
        matrix::cholesky(&mut factor, mean.len(), |_| 0.0)
            .map_err(|row| BetweenError::Singular { part: "covariance".into(), row })?;
        Ok(Some(Self { mean, factor }))
    }

    fn divergence(self, other: &Self) -> f64 {
        let (size, mut ratio) = (self.mean.len(), self.factor);
        matrix::solve_lower(&other.factor, size, &mut ratio);
        let mut gap: Vec<f64> = self.mean.iter().zip(other.mean).map(|(a, b)| a - b).collect();
        matrix::solve(&other.factor, size, &mut gap);
        let of_entry = |(place, entry): (usize, &f64)| {
            let square = entry * entry;
            if place % (size + 1) == 0 { excess(square - 1.0) } else { square }
        };
        let spread: f64 = ratio.iter().enumerate().map(of_entry).sum();
        0.5 * (spread + gap.iter().map(|z| z * z).sum::<f64>())
    }
}
