mod marginal;
mod statistics;
mod univariate;

pub use statistics::{GaussianMoments, GaussianScore, GaussianStatistics};
pub use univariate::Width;

use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::{Emission, Family, Stored, by_view, for_each_rate, for_each_real};
use crate::error::{ErrorKind, ModelError, ObservationError, Part, check_length, check_tangents};
use crate::number::{Dual, Number, Real, RealParameter, Tangent, shorter};

/// A Gaussian over `D` channels that are independent given the state.
///
/// With `z_d = (x_d - mean_d) rate_d`, where `rate_d = 1 / sigma_d`,
///
/// ```text
/// log b(x)  = constant - 1/2 sum_d z_d^2,      constant = sum_d log rate_d - D/2 log 2 pi
/// d log b(x) = d constant + sum_d z_d (linear_d + quadratic_d z_d)
/// ```
///
/// along a direction that moves the mean by `dm_d` and the log standard deviation by `dl_d`:
/// `d constant = -sum_d dl_d`, `linear_d = dm_d rate_d`, `quadratic_d = dl_d`.
///
/// `Gaussian<3>` is over `f32`; `Gaussian<3, Dual<f32, 2>>` carries two directions. The channels
/// are in the sensor's own units: any centring and scaling used to fit it is folded into mean and
/// rate.
///
/// Flash: `2D + 1 + C (2D + 1)` reals per state. Work: `3D` multiply-adds per state, and `2D` more per
/// direction.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Gaussian<const D: usize, W: RealParameter = f32> {
    mean: [W::Real; D],
    rate: [W::Real; D],
    constant: W,
    linear: [W::Tangent; D],
    quadratic: [W::Tangent; D],
}

/// A [`Gaussian`] whose number of channels is known at run time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[doc(hidden)]
pub struct GaussianView<'a, W: RealParameter> {
    /// Means, `[channel]`.
    pub mean: &'a [W::Real],
    /// Reciprocal standard deviations, `[channel]`.
    pub rate: &'a [W::Real],
    /// `sum_d log rate_d - D/2 log 2 pi` and its tangent.
    pub constant: W,
    /// Tangent of `log b` linear in `z`, `[channel]`.
    pub linear: &'a [W::Tangent],
    /// Tangent of `log b` quadratic in `z`, `[channel]`.
    pub quadratic: &'a [W::Tangent],
}

impl<const D: usize, W: RealParameter> Gaussian<D, W> {
    /// A Gaussian from numbers already checked, as an export writes them;
    /// [`validate`](Emission::validate) checks them again.
    pub const fn from_parts(
        mean: [W::Real; D],
        rate: [W::Real; D],
        constant: W,
        linear: [W::Tangent; D],
        quadratic: [W::Tangent; D],
    ) -> Self {
        Self { mean, rate, constant, linear, quadratic }
    }

    /// Means, `[channel]`, in the sensor's units.
    pub const fn mean(&self) -> &[W::Real; D] {
        &self.mean
    }

    /// Reciprocal standard deviations, `[channel]`.
    pub const fn rate(&self) -> &[W::Real; D] {
        &self.rate
    }

    /// View of the distribution with its size at run time.
    #[inline]
    pub const fn view(&self) -> GaussianView<'_, W> {
        GaussianView {
            mean: &self.mean,
            rate: &self.rate,
            constant: self.constant,
            linear: &self.linear,
            quadratic: &self.quadratic,
        }
    }
}

impl<const D: usize, T: Real> Gaussian<D, T> {
    /// A Gaussian from means and variances, `[channel]`.
    ///
    /// # Errors
    /// The first mean that is not finite, or variance that is not finite and positive.
    pub fn new(mean: [T; D], variance: [T; D]) -> Result<Self, ModelError> {
        for (d, &variance) in variance.iter().enumerate() {
            if !variance.is_finite() {
                return Err(ModelError::new(
                    Part::Parameter("variance"),
                    ErrorKind::NotFinite,
                    0,
                    d,
                ));
            }
            if variance <= T::ZERO {
                return Err(ModelError::new(
                    Part::Parameter("variance"),
                    ErrorKind::NotPositive,
                    0,
                    d,
                ));
            }
        }
        let rate = variance.map(|variance| T::ONE / variance.sqrt());
        let gaussian = Self {
            mean,
            rate,
            constant: log_normaliser(&rate),
            linear: [(); D],
            quadratic: [(); D],
        };
        gaussian.validate()?;
        Ok(gaussian)
    }

    /// Variances, `[channel]`.
    pub fn variance(&self) -> [T; D] {
        self.rate.map(|rate| T::ONE / (rate * rate))
    }

    /// Attaches `C` directions, given as rates of change of the means and of the log standard
    /// deviations, each `[direction][channel]`.
    pub fn along_log_std<const C: usize>(
        &self,
        mean: &[[T; D]; C],
        log_std: &[[T; D]; C],
    ) -> Gaussian<D, Dual<T, C>> {
        Gaussian {
            mean: self.mean,
            rate: self.rate,
            constant: Dual {
                value: self.constant,
                tangent: core::array::from_fn(|c| {
                    log_std[c].iter().fold(T::ZERO, |sum, &rate| sum - rate)
                }),
            },
            linear: core::array::from_fn(|d| core::array::from_fn(|c| mean[c][d] * self.rate[d])),
            quadratic: core::array::from_fn(|d| core::array::from_fn(|c| log_std[c][d])),
        }
    }
}

/// `sum_d log rate_d - D/2 log 2 pi`.
pub fn log_normaliser<T: Real>(rate: &[T]) -> T {
    rate.iter().fold(T::ZERO, |sum, rate| sum + (rate.ln() - T::HALF_LN_TAU))
}

/// Returns whether a constant is `sum_d log rate_d - D/2 log 2 pi`, within the tolerance of `ln`.
pub(crate) fn is_log_normaliser<T: Real>(constant: T, rates: impl Iterator<Item = T>) -> bool {
    let (mut implied, mut slack) = (T::ZERO, T::SUM_TOLERANCE);
    for rate in rates {
        let term = rate.ln() - T::HALF_LN_TAU;
        implied = implied + term;
        slack = slack + (T::SUM_TOLERANCE + T::LN_ERROR + T::LN_ERROR) * (T::ONE + term.abs());
    }
    (constant - implied).abs() <= slack
}

impl<W: RealParameter> Emission for GaussianView<'_, W> {
    type Weight = W;
    type Observation = [W::Real];

    #[inline]
    fn log_likelihood(&self, x: &[W::Real]) -> W {
        let mut square = W::Real::ZERO;
        let mut tangent = self.constant.tangent();
        let channels = shorter(shorter(self.mean.len(), self.rate.len()), x.len());
        let (mean, rate, x) = (&self.mean[..channels], &self.rate[..channels], &x[..channels]);
        for d in 0..channels {
            let z = (x[d] - mean[d]) * rate[d];
            square = square + z * z;
        }
        if W::Tangent::DIRECTIONS > 0 {
            let channels = shorter(shorter(channels, self.linear.len()), self.quadratic.len());
            let (linear, quadratic) = (&self.linear[..channels], &self.quadratic[..channels]);
            for d in 0..channels {
                let z = (x[d] - mean[d]) * rate[d];
                tangent = tangent.plus(linear[d].plus(quadratic[d].scale(z)).scale(z));
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
        for (d, (mean, &rate)) in self.mean.iter().zip(self.rate).enumerate() {
            if !mean.is_finite() {
                return Err(ModelError::new(Part::Parameter("mean"), ErrorKind::NotFinite, 0, d));
            }
            if !rate.is_finite() {
                return Err(ModelError::new(
                    Part::Parameter("variance"),
                    ErrorKind::NotFinite,
                    0,
                    d,
                ));
            }
            if rate <= W::Real::ZERO {
                return Err(ModelError::new(
                    Part::Parameter("variance"),
                    ErrorKind::NotPositive,
                    0,
                    d,
                ));
            }
        }
        if !is_log_normaliser(self.constant.value(), self.rate.iter().copied()) {
            return Err(ModelError::new(Part::Normaliser, ErrorKind::Inconsistent, 0, 0));
        }
        let tangents = core::iter::once(self.constant.tangent())
            .chain(self.linear.iter().copied())
            .chain(self.quadratic.iter().copied());
        check_tangents(tangents)
    }
}

impl<const D: usize, W: RealParameter> Emission for Gaussian<D, W> {
    type Weight = W;
    type Observation = [W::Real; D];

    by_view!(#[inline]);
}

/// `x_d = mean_d + z_d / rate_d` with independent standard normal `z_d`.
#[cfg(feature = "sample")]
impl<const D: usize, W: RealParameter> super::Sample for Gaussian<D, W> {
    fn sample<R: rand_core::Rng + ?Sized>(&self, rng: &mut R) -> [W::Real; D] {
        let mut x = *self.mean();
        let pairs = x.chunks_mut(2).zip(self.rate().chunks(2));
        for (x, rate) in pairs {
            let normal: [W::Real; 2] = super::sample::normal_pair(rng);
            for ((x, &rate), normal) in x.iter_mut().zip(rate).zip(normal) {
                *x = *x + normal / rate;
            }
        }
        x
    }
}

impl<const D: usize, W> Stored for Gaussian<D, W>
where
    W: RealParameter<Real: FromBytes + Immutable, Tangent: FromBytes + Immutable>
        + FromBytes
        + Immutable,
{
    const FAMILY: Family = Family::Gaussian;
    const SIZE: usize = D;

    fn for_each_real(&self, take: &mut impl FnMut(W::Real)) {
        let view = self.view();
        view.mean.iter().chain(view.rate).copied().for_each(&mut *take);
        for_each_real([&view.constant], take);
        view.linear.iter().chain(view.quadratic).for_each(|rates| for_each_rate(rates, take));
    }
}
