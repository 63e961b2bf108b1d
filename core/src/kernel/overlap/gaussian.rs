use super::Affinity;
use crate::error::{ErrorKind, ModelError, Part};
use crate::matrix;
use crate::number::{LogProduct, Real, shorter};

/// A covariance matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Covariance<'a, T> {
    /// Variances of independent channels, `[channel]`.
    Diagonal(&'a [T]),
    /// `[channel][channel]` in a row.
    Full(&'a [T]),
}

impl<T: Real> Covariance<'_, T> {
    fn get(&self, row: usize, column: usize, size: usize) -> T {
        match self {
            Self::Diagonal(variance) if row == column => {
                variance.get(row).copied().unwrap_or(T::ZERO)
            }
            Self::Diagonal(_) => T::ZERO,
            Self::Full(covariance) => matrix::at(covariance, size, row, column),
        }
    }
}

/// A Gaussian of any number of channels, as it is compared with another.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Normal<'a, T> {
    mean: &'a [T],
    covariance: Covariance<'a, T>,
    log_determinant: T,
}

impl<'a, T> Normal<'a, T> {
    /// A Gaussian from its means `[channel]`, its covariance, and the logarithm of that's determinant.
    pub const fn from_parts(
        mean: &'a [T],
        covariance: Covariance<'a, T>,
        log_determinant: T,
    ) -> Self {
        Self { mean, covariance, log_determinant }
    }
}

impl<'a, T: Real> Normal<'a, T> {
    /// A Gaussian of independent channels from means and variances, `[channel]`.
    pub fn diagonal(mean: &'a [T], variance: &'a [T]) -> Self {
        let product = variance.iter().fold(LogProduct::ONE, |product, &v| product.times(v));
        Self { mean, covariance: Covariance::Diagonal(variance), log_determinant: product.log() }
    }

    /// A Gaussian from means, `[channel]`, and a covariance matrix, `[channel][channel]` in a row, of
    /// which the lower triangle is read. `scratch` has its size. `D^3 / 6` multiply-adds.
    ///
    /// # Errors
    /// The first row in which the matrix is not positive definite.
    pub fn full(mean: &'a [T], covariance: &'a [T], scratch: &mut [T]) -> Result<Self, ModelError> {
        scratch.iter_mut().zip(covariance).for_each(|(slot, &entry)| *slot = entry);
        matrix::cholesky(scratch, mean.len(), |_| T::ZERO).map_err(not_positive_definite)?;
        let log_determinant = matrix::log_determinant(scratch, mean.len());
        Ok(Self { mean, covariance: Covariance::Full(covariance), log_determinant })
    }

    /// Means, `[channel]`.
    pub const fn mean(&self) -> &'a [T] {
        self.mean
    }

    /// `log |S|`.
    pub const fn log_determinant(&self) -> &T {
        &self.log_determinant
    }
}

fn not_positive_definite(row: usize) -> ModelError {
    ModelError::new(Part::Parameter("covariance"), ErrorKind::NotPositiveDefinite, 0, row)
}

/// `log k` of two Gaussians over the same `D` channels. With `d` the difference of their means and `S`,
/// `S'` their covariances,
///
/// ```text
/// product    V = S + S'                 log k = D/2 ((1 - 2 rho) log 2 pi - log rho)
///                                             + (1 - rho)/2 log |S| |S'| - 1/2 log |V| - rho/2 d' V^-1 d
/// mean map   V = I + lambda (S + S')    log k = -1/2 log |V| - lambda/2 d' V^-1 d
/// ```
///
/// No matrix is inverted. `scratch` has `D^2 + D` entries, or none where both are diagonal. Work: `D^3 / 6`
/// multiply-adds, or `3 D` and `D` divisions, and two logarithms at most.
///
/// Sources: those of [`Affinity`]; 2004, equation 5, and 2010, equation 1, of which this is a shorter form.
///
/// # Errors
/// The first row in which `V` is not positive definite in working precision.
pub fn gaussian_log_overlap<T: Real>(
    one: &Normal<'_, T>,
    other: &Normal<'_, T>,
    measure: Affinity<T>,
    scratch: &mut [T],
) -> Result<T, ModelError> {
    let channels = one.mean.len();
    let at = (channels * channels).min(scratch.len());
    let (sum, gap) = scratch.split_at_mut_checked(at).unwrap_or_default();
    log_overlap(one, other, measure, sum, gap)
}

/// [`gaussian_log_overlap`] with the two parts of its scratch apart.
#[inline]
pub(super) fn log_overlap<T: Real>(
    one: &Normal<'_, T>,
    other: &Normal<'_, T>,
    measure: Affinity<T>,
    sum: &mut [T],
    gap: &mut [T],
) -> Result<T, ModelError> {
    let (unit, factor) = match measure {
        Affinity::Product { .. } => (T::ZERO, T::ONE),
        Affinity::MeanMap { lambda } => (T::ONE, lambda),
    };
    // `log |V|` and `d' V^-1 d`.
    let (log_determinant, distance) = match (&one.covariance, &other.covariance) {
        (Covariance::Diagonal(own), Covariance::Diagonal(others)) => {
            let (mut product, mut distance) = (LogProduct::ONE, T::ZERO);
            let channels = shorter(one.mean.len(), other.mean.len());
            let channels = shorter(channels, shorter(own.len(), others.len()));
            let (means, own) = ((&one.mean[..channels], &other.mean[..channels]), &own[..channels]);
            let others = &others[..channels];
            for d in 0..channels {
                let variance = unit + factor * (own[d] + others[d]);
                let gap = means.0[d] - means.1[d];
                product = product.times(variance);
                distance = distance + gap * gap / variance;
            }
            (product.log(), distance)
        }
        (own, others) => {
            let size = one.mean.len();
            for row in 0..size {
                for column in 0..=row {
                    let entry = own.get(row, column, size) + others.get(row, column, size);
                    let unit = if row == column { unit } else { T::ZERO };
                    matrix::put(sum, size, row, column, unit + factor * entry);
                }
            }
            matrix::cholesky(sum, size, |_| T::ZERO).map_err(not_positive_definite)?;
            for (gap, (&a, &b)) in gap.iter_mut().zip(one.mean.iter().zip(other.mean)) {
                *gap = a - b;
            }
            matrix::solve(sum, size, gap);
            let distance = gap.iter().take(size).fold(T::ZERO, |sum, &z| sum + z * z);
            (matrix::log_determinant(sum, size), distance)
        }
    };
    let spread = T::HALF * log_determinant;
    Ok(match measure {
        Affinity::MeanMap { lambda } => -spread - T::HALF * lambda * distance,
        Affinity::Product { rho } => {
            let log_rho = if rho == T::ONE { T::ZERO } else { rho.ln() };
            let of_one = (T::ONE - rho - rho) * T::HALF_LN_TAU - T::HALF * log_rho;
            let constant = T::from_count(one.mean.len() as u64) * of_one;
            let own = (T::ONE - rho) * T::HALF * (one.log_determinant + other.log_determinant);
            constant + own - spread - T::HALF * rho * distance
        }
    })
}
