mod marginal;
mod statistics;

pub use statistics::{AutoregressiveMoments, AutoregressiveScore, AutoregressiveStatistics};

use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::{Emission, Family, Gaussian, GaussianView, Stored, by_view, for_each_rate};
use crate::error::{ErrorKind, ModelError, ObservationError, Part, check_length, check_tangents};
use crate::matrix::at;
use crate::number::{Number, Real, RealParameter, Tangent, shorter};

/// A Gaussian about a linear prediction from the past, each of `D` channels from its own at `L` lags.
///
/// A row is a sample and the samples before it, `E = D (1 + L)` numbers: `x_t, x_(t - k_1), ...`, as
/// [`LagFeatures`](crate::lagged::LagFeatures) makes it. With `u_ld = x_(t - k_l),d - centre_d` and
/// `z_d = (x_d - mean_d - sum_l a_ld u_ld) rate_d`,
///
/// ```text
/// log b(x | past) = constant - 1/2 sum_d z_d^2,      constant = sum_d log rate_d - D/2 log 2 pi
/// d log b(x | past) = d constant + sum_d z_d (linear_d + sum_l slope_ld u_ld + quadratic_d z_d)
/// ```
///
/// The mean is what is predicted of a past that lies at the centre, and the textbook's intercept where the
/// centre is zero. The centre is no parameter: nothing moves it, and another one with another mean is the same
/// density. Near the channel's level it keeps digits in `f32`, and scores of means and coefficients apart.
///
/// The likelihood of a sequence is given the samples that have no whole past, which are as missing: its
/// first ones, and those after a gap.
///
/// `Autoregressive<9, 3, 2>` is three channels over `f32`, from two samples before each. Order `p` is lags
/// from one to `p`; any others will do.
///
/// Flash: `D (3 + L) + 1 + C (D (2 + L) + 1)` reals per state. Work: `D (3 + 2L)` multiply-adds per state, and
/// `D (2 + L)` more a direction.
///
/// Source: A. B. Poritz, Linear predictive hidden Markov models and the speech signal, ICASSP 1982; B. H. Juang
/// and L. R. Rabiner, Mixture autoregressive hidden Markov models for speech signals, IEEE Trans. ASSP 33, 1985.
/// The conditional likelihood is that of J. D. Hamilton, Time Series Analysis, 1994, section 5.2.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Autoregressive<
    const E: usize,
    const D: usize = 1,
    const L: usize = 2,
    W: RealParameter = f32,
> {
    innovation: Gaussian<D, W>,
    centre: [W::Real; D],
    coefficient: [[W::Real; D]; L],
    slope: [[W::Tangent; D]; L],
}

/// An [`Autoregressive`] whose sizes are known at run time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[doc(hidden)]
pub struct AutoregressiveView<'a, W: RealParameter> {
    /// The sample where the past lies at the centre.
    pub innovation: GaussianView<'a, W>,
    /// Centre that is subtracted from past samples, `[channel]`.
    pub centre: &'a [W::Real],
    /// Coefficients of the past, `[lag][channel]`.
    pub coefficient: &'a [W::Real],
    /// Tangent of `log b` along the past and `z`, `[lag][channel]`.
    pub slope: &'a [W::Tangent],
}

impl<const E: usize, const D: usize, const L: usize, W: RealParameter> Autoregressive<E, D, L, W> {
    /// Distribution from numbers already checked, as an export writes them: those of a [`Gaussian`], and then of the
    /// prediction. [`validate`](Emission::validate) checks them again.
    #[expect(clippy::too_many_arguments, reason = "its fields, in order")]
    pub const fn from_parts(
        mean: [W::Real; D],
        rate: [W::Real; D],
        constant: W,
        linear: [W::Tangent; D],
        quadratic: [W::Tangent; D],
        centre: [W::Real; D],
        coefficient: [[W::Real; D]; L],
        slope: [[W::Tangent; D]; L],
    ) -> Self {
        let innovation = Gaussian::from_parts(mean, rate, constant, linear, quadratic);
        Self::from_fields(innovation, centre, coefficient, slope)
    }

    const fn from_fields(
        innovation: Gaussian<D, W>,
        centre: [W::Real; D],
        coefficient: [[W::Real; D]; L],
        slope: [[W::Tangent; D]; L],
    ) -> Self {
        const { assert!(E == D * (1 + L), "E must equal D * (1 + L)") };
        Self { innovation, centre, coefficient, slope }
    }

    /// Distribution of the sample if the past lies at the centre: means, and reciprocal standard deviations of the
    /// residuals.
    pub const fn innovation(&self) -> &Gaussian<D, W> {
        &self.innovation
    }

    /// Centre that is subtracted from past samples, `[channel]`.
    pub const fn centre(&self) -> &[W::Real; D] {
        &self.centre
    }

    /// Coefficients of the past, `[lag][channel]`.
    pub const fn coefficient(&self) -> &[[W::Real; D]; L] {
        &self.coefficient
    }

    /// View of the distribution with its sizes at run time.
    #[inline]
    pub const fn view(&self) -> AutoregressiveView<'_, W> {
        AutoregressiveView {
            innovation: self.innovation.view(),
            centre: &self.centre,
            coefficient: self.coefficient.as_flattened(),
            slope: self.slope.as_flattened(),
        }
    }
}

impl<const E: usize, const D: usize, const L: usize, T: Real> Autoregressive<E, D, L, T> {
    /// Creates the distribution from the Gaussian of a sample whose past lies at the centre, and the coefficients of the past.
    ///
    /// # Errors
    /// The first number that is not finite, or variance that is not positive.
    pub fn new(
        innovation: Gaussian<D, T>,
        centre: [T; D],
        coefficient: [[T; D]; L],
    ) -> Result<Self, ModelError> {
        let made = Self::from_fields(innovation, centre, coefficient, [[(); D]; L]);
        made.validate()?;
        Ok(made)
    }
}

impl<W: RealParameter> AutoregressiveView<'_, W> {
    /// Number of lags.
    #[inline(always)]
    pub fn lags(&self) -> usize {
        self.coefficient.len().checked_div(self.centre.len()).unwrap_or(0)
    }

    /// Number of channels of which a row has a sample.
    #[inline(always)]
    fn channels(&self, x: &[W::Real]) -> usize {
        let innovation = &self.innovation;
        let innovation = shorter(innovation.mean.len(), innovation.rate.len());
        shorter(shorter(x.len(), innovation), self.centre.len())
    }

    /// `z_d` of a row: see [`Autoregressive`]. Zero past the last channel.
    ///
    /// Cost: `L + 1` multiply-adds.
    #[inline(always)]
    pub fn innovation(&self, x: &[W::Real], d: usize) -> W::Real {
        let size = self.centre.len();
        let mut left = at(x, size, 0, d) - at(self.innovation.mean, size, 0, d);
        for l in 0..self.lags() {
            left = left - at(self.coefficient, size, l, d) * self.past(x, l, d);
        }
        left * at(self.innovation.rate, size, 0, d)
    }

    /// A row's past about the centre, `u_ld`.
    #[inline(always)]
    pub fn past(&self, x: &[W::Real], l: usize, d: usize) -> W::Real {
        let size = self.centre.len();
        at(x, size, l + 1, d) - at(self.centre, size, 0, d)
    }
}

impl<W: RealParameter> Emission for AutoregressiveView<'_, W> {
    type Weight = W;
    type Observation = [W::Real];

    #[inline]
    fn log_likelihood(&self, x: &[W::Real]) -> W {
        let mut square = W::Real::ZERO;
        let mut tangent = self.innovation.constant.tangent();
        let (linear, quadratic) = (self.innovation.linear, self.innovation.quadratic);
        let channels = shorter(self.channels(x), shorter(linear.len(), quadratic.len()));
        for d in 0..channels {
            let z = self.innovation(x, d);
            square = square + z * z;
            if W::Tangent::DIRECTIONS > 0 {
                let mut linear = linear[d];
                for l in 0..self.lags() {
                    if let Some(slope) = self.slope.get(l * self.centre.len() + d) {
                        linear = linear.plus(slope.scale(self.past(x, l, d)));
                    }
                }
                tangent = tangent.plus(linear.plus(quadratic[d].scale(z)).scale(z));
            }
        }
        W::new(self.innovation.constant.value() - W::Real::HALF * square, tangent)
    }

    fn check(&self, x: &[W::Real]) -> Result<(), ObservationError> {
        check_length(x.len(), self.width())?;
        if x.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(ObservationError::NotFinite) }
    }

    fn width(&self) -> usize {
        self.centre.len() + self.coefficient.len()
    }

    fn validate(&self) -> Result<(), ModelError> {
        self.innovation.validate()?;
        for (part, numbers) in [("centre", self.centre), ("coefficient", self.coefficient)] {
            if let Some(entry) = numbers.iter().position(|x| !x.is_finite()) {
                return Err(ModelError::new(Part::Parameter(part), ErrorKind::NotFinite, 0, entry));
            }
        }
        check_tangents(self.slope.iter().copied()).map_err(|error| {
            // After the constant's, and those linear and quadratic.
            ModelError { entry: 1 + 2 * self.centre.len() + error.entry, ..error }
        })
    }
}

impl<const E: usize, const D: usize, const L: usize, W: RealParameter> Emission
    for Autoregressive<E, D, L, W>
{
    type Weight = W;
    type Observation = [W::Real; E];

    by_view!(#[inline]);
}

#[cfg(feature = "sample")]
impl<const E: usize, const D: usize, const L: usize, W: RealParameter> Autoregressive<E, D, L, W> {
    /// The sample after a past, `[lag][channel]`: a draw goes on from its own past.
    pub fn sample_after<R: rand_core::Rng + ?Sized>(
        &self,
        past: &[[W::Real; D]; L],
        rng: &mut R,
    ) -> [W::Real; D] {
        let mut x = super::Sample::sample(&self.innovation, rng);
        for (row, coefficient) in past.iter().zip(&self.coefficient) {
            let channels = row.iter().zip(&self.centre).zip(coefficient);
            for (x, ((&past, &centre), &a)) in x.iter_mut().zip(channels) {
                *x = *x + a * (past - centre);
            }
        }
        x
    }
}

/// A row by itself: a past that is standard normal about the centre, which is uninformative for states with one centre
/// in common, and the sample after it.
#[cfg(feature = "sample")]
impl<const E: usize, const D: usize, const L: usize, W: RealParameter> super::Sample
    for Autoregressive<E, D, L, W>
{
    fn sample<R: rand_core::Rng + ?Sized>(&self, rng: &mut R) -> [W::Real; E] {
        let mut past = [[W::Real::ZERO; D]; L];
        for row in &mut past {
            let drawn = super::Sample::sample(&self.innovation, rng);
            let standard = self.innovation.mean().iter().zip(self.innovation.rate());
            let channels = drawn.into_iter().zip(standard).zip(&self.centre);
            for (to, ((drawn, (&mean, &rate)), &centre)) in row.iter_mut().zip(channels) {
                *to = (drawn - mean) * rate + centre;
            }
        }
        let now = self.sample_after(&past, rng);
        let mut row = [W::Real::ZERO; E];
        let all = now.iter().chain(past.as_flattened());
        row.iter_mut().zip(all).for_each(|(to, &x)| *to = x);
        row
    }
}

impl<const E: usize, const D: usize, const L: usize, W> Stored for Autoregressive<E, D, L, W>
where
    W: RealParameter<Real: FromBytes + Immutable, Tangent: FromBytes + Immutable>
        + FromBytes
        + Immutable,
{
    const FAMILY: Family = Family::Autoregressive;
    const SIZE: usize = E;

    fn for_each_real(&self, take: &mut impl FnMut(W::Real)) {
        self.innovation.for_each_real(take);
        let view = self.view();
        view.centre.iter().chain(view.coefficient).copied().for_each(&mut *take);
        view.slope.iter().for_each(|rates| for_each_rate(rates, take));
    }
}
