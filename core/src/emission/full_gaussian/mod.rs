mod marginal;
mod statistics;

pub use statistics::{FullGaussianScore, FullGaussianStatistics};

use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::gaussian::is_log_normaliser;
use super::{Emission, Gaussian};
use crate::error::{ErrorKind, ModelError, ObservationError, Part, check_length, check_tangents};
use crate::matrix::{at, cholesky, invert};
use crate::number::{Number, Real, RealParameter, Tangent, shorter};

/// A Gaussian over `D` channels with a full covariance matrix `Sigma`.
///
/// Kept as the lower triangular `R` with `R' R = Sigma^-1`, the inverse of the covariance's Cholesky
/// factor `S = R^-1`: with `z = R (x - mean)`,
///
/// ```text
/// log b(x)   = constant - 1/2 z'z,        constant = sum_d log R_dd - D/2 log 2 pi
/// d log b(x) = d constant + z' (linear + L z)
/// ```
///
/// along a direction that moves the mean by `dm` and the covariance to `S exp(2 e L) S'`:
/// `linear = R dm`, `d constant = -trace L` ([`Spread::LogStandardDeviation`](super::Spread::LogStandardDeviation)). Whitening by `R`
/// multiplies; with the covariance's factor at hand it would divide, once a channel.
///
/// Flash: `D^2 + D + 1 + C (D^2 + D + 1)` reals per state. Work: `D (D + 3) / 2` multiply-adds per
/// state, and as many more a direction.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct FullGaussian<const D: usize, W: RealParameter = f32> {
    mean: [W::Real; D],
    /// `R`, `[row][column]`; zero right of the diagonal.
    factor: [[W::Real; D]; D],
    constant: W,
    linear: [W::Tangent; D],
    /// `L` on the diagonal, `2 L` left of it, zero right of it.
    quadratic: [[W::Tangent; D]; D],
}

/// A [`FullGaussian`] whose number of channels is known at run time.
///
/// Matrices are row-major slices of `channels^2`. Slices of a call have the view's sizes; what lies
/// past the shortest is left alone.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[doc(hidden)]
pub struct FullGaussianView<'a, W: RealParameter> {
    /// Means, `[channel]`.
    pub mean: &'a [W::Real],
    /// The lower triangular `R` with `R' R` the inverse covariance, row-major.
    pub factor: &'a [W::Real],
    /// `sum_d log R_dd - D/2 log 2 pi`, with its tangent.
    pub constant: W,
    /// Tangents of `log b` linear in `z`, `[channel]`.
    pub linear: &'a [W::Tangent],
    /// Tangents quadratic in it, of the products on and left of the diagonal, row-major.
    pub quadratic: &'a [W::Tangent],
}

impl<const D: usize, W: RealParameter> FullGaussian<D, W> {
    /// A Gaussian from numbers already checked, as an export writes them: `factor` is the lower
    /// triangular `R`, `linear` and `quadratic` the tangents of `log b` in `z` (of the quadratic
    /// form's matrix the diagonal, and twice what is left of it). [`validate`](Emission::validate)
    /// checks them again.
    pub const fn from_parts(
        mean: [W::Real; D],
        factor: [[W::Real; D]; D],
        constant: W,
        linear: [W::Tangent; D],
        quadratic: [[W::Tangent; D]; D],
    ) -> Self {
        Self { mean, factor, constant, linear, quadratic }
    }

    /// Means, `[channel]`, in the sensor's units.
    pub const fn mean(&self) -> &[W::Real; D] {
        &self.mean
    }

    /// The lower triangular `R` with `R' R` the inverse covariance, `[row][column]`.
    pub const fn factor(&self) -> &[[W::Real; D]; D] {
        &self.factor
    }

    /// View of the distribution with its size at run time.
    #[inline]
    pub const fn view(&self) -> FullGaussianView<'_, W> {
        FullGaussianView {
            mean: &self.mean,
            factor: self.factor.as_flattened(),
            constant: self.constant,
            linear: &self.linear,
            quadratic: self.quadratic.as_flattened(),
        }
    }

    /// `z = R (x - mean)`: standard normal where `x` comes from this distribution.
    #[inline(always)]
    fn whitened(&self, x: &[W::Real; D]) -> [W::Real; D] {
        let mut z = [W::Real::ZERO; D];
        let mut centred = [W::Real::ZERO; D];
        for d in 0..D {
            centred[d] = x[d] - self.mean[d];
        }
        for d in 0..D {
            for e in 0..=d {
                z[d] = z[d] + self.factor[d][e] * centred[e];
            }
        }
        z
    }
}

impl<const D: usize, T: Real> FullGaussian<D, T> {
    /// A Gaussian from means, `[channel]`, and covariances, `[channel][channel]`.
    ///
    /// # Errors
    /// The first mean or covariance that is not finite; the first row in which the matrix is not
    /// symmetric or not positive definite.
    pub fn new(mean: [T; D], covariance: [[T; D]; D]) -> Result<Self, ModelError> {
        let mut factor = covariance;
        factor_of_covariance(factor.as_flattened_mut(), D)?;
        let gaussian = Self::from_factor(mean, factor);
        gaussian.validate()?;
        Ok(gaussian)
    }

    fn from_factor(mean: [T; D], factor: [[T; D]; D]) -> Self {
        let constant = log_normaliser(factor.as_flattened(), D);
        Self { mean, factor, constant, linear: [(); D], quadratic: [[(); D]; D] }
    }

    /// The covariance matrix, `[channel][channel]`.
    pub fn covariance(&self) -> [[T; D]; D] {
        let (mut covariance, mut scratch) = ([[T::ZERO; D]; D], [[T::ZERO; D]; D]);
        self.view().covariance(covariance.as_flattened_mut(), scratch.as_flattened_mut());
        covariance
    }
}

/// A diagonal covariance matrix is a covariance matrix.
impl<const D: usize, T: Real> From<Gaussian<D, T>> for FullGaussian<D, T> {
    fn from(diagonal: Gaussian<D, T>) -> Self {
        let mut factor = [[T::ZERO; D]; D];
        for (d, (row, &rate)) in factor.iter_mut().zip(diagonal.rate()).enumerate() {
            row[d] = rate;
        }
        Self::from_factor(*diagonal.mean(), factor)
    }
}

/// Converts a covariance matrix to `R`, in place.
fn factor_of_covariance<T: Real>(matrix: &mut [T], size: usize) -> Result<(), ModelError> {
    for row in 0..size {
        for column in 0..size {
            let entry = at(matrix, size, row, column);
            if !entry.is_finite() {
                return Err(ModelError::new(
                    Part::Parameter("covariance"),
                    ErrorKind::NotFinite,
                    0,
                    row,
                ));
            }
            let scale = at(matrix, size, row, row).abs() + at(matrix, size, column, column).abs();
            let gap = (entry - at(matrix, size, column, row)).abs();
            if gap > T::SUM_TOLERANCE * scale {
                return Err(ModelError::new(
                    Part::Parameter("covariance"),
                    ErrorKind::NotPositiveDefinite,
                    0,
                    row,
                ));
            }
        }
    }
    cholesky(matrix, size, |_| T::ZERO).map_err(|row| {
        ModelError::new(Part::Parameter("covariance"), ErrorKind::NotPositiveDefinite, 0, row)
    })?;
    invert(matrix, size);
    Ok(())
}

/// `sum_d log R_dd - D/2 log 2 pi`.
fn log_normaliser<T: Real>(factor: &[T], size: usize) -> T {
    (0..size).fold(T::ZERO, |sum, d| sum + (at(factor, size, d, d).ln() - T::HALF_LN_TAU))
}

/// Copies the lower triangle to the upper one.
fn mirror<T: Real>(matrix: &mut [T], size: usize) {
    for row in 0..size {
        for column in 0..row {
            let entry = at(matrix, size, row, column);
            if let Some(slot) = matrix.get_mut(column * size + row) {
                *slot = entry;
            }
        }
    }
}

impl<const D: usize, W: RealParameter> Emission for FullGaussian<D, W> {
    type Weight = W;
    type Observation = [W::Real; D];

    #[inline]
    fn log_likelihood(&self, x: &[W::Real; D]) -> W {
        let z = self.whitened(x);
        let mut square = W::Real::ZERO;
        for z in z {
            square = square + z * z;
        }
        let mut tangent = self.constant.tangent();
        if W::Tangent::DIRECTIONS > 0 {
            for d in 0..D {
                let mut slope = self.linear[d];
                for e in 0..=d {
                    slope = slope.plus(self.quadratic[d][e].scale(z[e]));
                }
                tangent = tangent.plus(slope.scale(z[d]));
            }
        }
        W::new(self.constant.value() - W::Real::HALF * square, tangent)
    }

    fn check(&self, x: &[W::Real; D]) -> Result<(), ObservationError> {
        if x.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(ObservationError::NotFinite) }
    }

    fn width(&self) -> usize {
        D
    }

    fn validate(&self) -> Result<(), ModelError> {
        let factor = self.factor.as_flattened();
        validate(&self.mean, factor, self.constant.value())?;
        let quadratic = self.quadratic.iter().flatten();
        validate_tangents::<W>(self.constant, self.linear.iter().chain(quadratic))
    }
}

fn validate_tangents<'a, W: RealParameter>(
    constant: W,
    others: impl Iterator<Item = &'a W::Tangent>,
) -> Result<(), ModelError>
where
    W::Tangent: 'a,
{
    check_tangents(core::iter::once(constant.tangent()).chain(others.copied()))
}

fn validate<T: Real>(mean: &[T], factor: &[T], constant: T) -> Result<(), ModelError> {
    let size = mean.len();
    for (d, mean) in mean.iter().enumerate() {
        if !mean.is_finite() {
            return Err(ModelError::new(Part::Parameter("mean"), ErrorKind::NotFinite, 0, d));
        }
        for e in 0..size {
            let entry = at(factor, size, d, e);
            let kind = match d {
                _ if !entry.is_finite() => ErrorKind::NotFinite,
                _ if e == d && entry <= T::ZERO => ErrorKind::NotPositiveDefinite,
                _ if e > d && entry != T::ZERO => ErrorKind::Inconsistent,
                _ => continue,
            };
            return Err(ModelError::new(Part::Parameter("covariance"), kind, 0, d));
        }
    }
    if !is_log_normaliser(constant, (0..size).map(|d| at(factor, size, d, d))) {
        return Err(ModelError::new(Part::Normaliser, ErrorKind::Inconsistent, 0, 0));
    }
    Ok(())
}

impl<'a, T: Real> FullGaussianView<'a, T> {
    /// The Gaussian whose means and factor these are; the constant is computed.
    pub fn from_factor(mean: &'a [T], factor: &'a [T]) -> Self {
        let constant = log_normaliser(factor, mean.len());
        Self { mean, factor, constant, linear: &[], quadratic: &[] }
    }

    /// Replaces a covariance matrix by the factor `R` that a view is made of.
    ///
    /// # Errors
    /// The first row in which the matrix is not finite, not symmetric or not positive definite.
    pub fn factorise(covariance: &mut [T], channels: usize) -> Result<(), ModelError> {
        factor_of_covariance(covariance, channels)
    }

    /// The covariance matrix, `(R' R)^-1`.
    pub fn covariance(&self, covariance: &mut [T], scratch: &mut [T]) {
        let size = self.mean.len();
        for (entry, &factor) in scratch.iter_mut().zip(self.factor) {
            *entry = factor;
        }
        invert(scratch, size);
        for row in 0..size {
            for column in 0..size {
                let dot = (0..=row.min(column)).fold(T::ZERO, |sum, k| {
                    sum + at(scratch, size, row, k) * at(scratch, size, column, k)
                });
                if let Some(entry) = covariance.get_mut(row * size + column) {
                    *entry = dot;
                }
            }
        }
    }
}

impl<W: RealParameter> FullGaussianView<'_, W> {
    /// `z_d`.
    fn whitened(&self, x: &[W::Real], d: usize) -> W::Real {
        let size = self.mean.len();
        let row = self.factor.get(d * size..).unwrap_or_default();
        let count = shorter(shorter(d + 1, size), shorter(x.len(), row.len()));
        let (row, x, mean) = (&row[..count], &x[..count], &self.mean[..count]);
        let mut z = W::Real::ZERO;
        for e in 0..count {
            z = z + row[e] * (x[e] - mean[e]);
        }
        z
    }
}

/// The bits of [`FullGaussian`]. With directions `z` is computed anew for every product, for want of a
/// place to keep it: `D^3 / 6` multiply-adds.
impl<W: RealParameter> Emission for FullGaussianView<'_, W> {
    type Weight = W;
    type Observation = [W::Real];

    #[inline]
    fn log_likelihood(&self, x: &[W::Real]) -> W {
        let size = self.mean.len();
        let square = (0..size).fold(W::Real::ZERO, |sum, d| {
            let z = self.whitened(x, d);
            sum + z * z
        });
        let mut tangent = self.constant.tangent();
        if W::Tangent::DIRECTIONS > 0 {
            for (d, &linear) in self.linear.iter().enumerate() {
                let mut slope = linear;
                let row = self.quadratic.get(d * size..).unwrap_or_default();
                for e in 0..shorter(d + 1, row.len()) {
                    slope = slope.plus(row[e].scale(self.whitened(x, e)));
                }
                tangent = tangent.plus(slope.scale(self.whitened(x, d)));
            }
        }
        W::new(self.constant.value() - W::Real::HALF * square, tangent)
    }

    fn check(&self, x: &[W::Real]) -> Result<(), ObservationError> {
        check_length(x.len(), self.mean.len())?;
        if x.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(ObservationError::NotFinite) }
    }

    fn width(&self) -> usize {
        self.mean.len()
    }

    fn validate(&self) -> Result<(), ModelError> {
        validate(self.mean, self.factor, self.constant.value())?;
        validate_tangents::<W>(self.constant, self.linear.iter().chain(self.quadratic))
    }
}

/// `x = mean + S z` with independent standard normal `z`.
#[cfg(feature = "sample")]
impl<const D: usize, W: RealParameter> super::Sample for FullGaussian<D, W> {
    fn sample<R: rand_core::Rng + ?Sized>(&self, rng: &mut R) -> [W::Real; D] {
        let mut x = [W::Real::ZERO; D];
        for pair in x.chunks_mut(2) {
            let normal: [W::Real; 2] = super::sample::normal_pair(rng);
            for (x, normal) in pair.iter_mut().zip(normal) {
                *x = normal;
            }
        }
        crate::matrix::solve(self.factor().as_flattened(), D, &mut x);
        for (x, &mean) in x.iter_mut().zip(self.mean()) {
            *x = *x + mean;
        }
        x
    }
}
