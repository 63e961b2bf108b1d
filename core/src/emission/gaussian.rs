use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::{
    Emission, Parametrisation, Regularisation, Spread, SufficientStatistics, vector_space,
};
use crate::error::{Flaw, ModelError, ObservationError, Part};
use crate::number::{Dual, Number, Real, Tangent, Weight};

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
/// Flash: `2D + 1 + C (2D + 1)` reals a state. Work: `3D` multiply-adds a state, and `2D` more a
/// direction.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Gaussian<const D: usize, W: Weight = f32> {
    mean: [W::Real; D],
    rate: [W::Real; D],
    constant: W,
    linear: [W::Tangent; D],
    quadratic: [W::Tangent; D],
}

#[cfg(feature = "defmt")]
impl<const D: usize, W: Weight<Real: defmt::Format>> defmt::Format for Gaussian<D, W> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Gaussian {{ mean: {}, rate: {} }}", self.mean, self.rate);
    }
}

/// A [`Gaussian`] whose number of channels is known at run time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianView<'a, W: Weight> {
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

impl<const D: usize, W: Weight> Gaussian<D, W> {
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

    /// The same distribution with its size at run time.
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
                return Err(ModelError::new(Part::Variance, Flaw::NotFinite, 0, d));
            }
            if variance <= T::ZERO {
                return Err(ModelError::new(Part::Variance, Flaw::NotPositive, 0, d));
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

impl<W: Weight> Emission for GaussianView<'_, W> {
    type Weight = W;
    type Observation = [W::Real];

    #[inline]
    fn log_likelihood(&self, x: &[W::Real]) -> W {
        let mut square = W::Real::ZERO;
        let mut tangent = self.constant.tangent();
        let channels = self.mean.iter().zip(self.rate).zip(x);
        for ((&mean, &rate), &x) in channels.clone() {
            let z = (x - mean) * rate;
            square = square + z * z;
        }
        if W::Tangent::DIRECTIONS > 0 {
            for (((&mean, &rate), &x), (&linear, &quadratic)) in
                channels.zip(self.linear.iter().zip(self.quadratic))
            {
                let z = (x - mean) * rate;
                tangent = tangent.plus(linear.plus(quadratic.scale(z)).scale(z));
            }
        }
        W::new(self.constant.value() - W::Real::HALF * square, tangent)
    }

    fn check(&self, x: &[W::Real]) -> Result<(), ObservationError> {
        if x.len() == self.mean.len() && x.iter().all(|x| x.is_finite()) {
            Ok(())
        } else {
            Err(ObservationError::NotFinite)
        }
    }

    fn validate(&self) -> Result<(), ModelError> {
        for (d, (mean, &rate)) in self.mean.iter().zip(self.rate).enumerate() {
            if !mean.is_finite() {
                return Err(ModelError::new(Part::Mean, Flaw::NotFinite, 0, d));
            }
            if !rate.is_finite() {
                return Err(ModelError::new(Part::Variance, Flaw::NotFinite, 0, d));
            }
            if rate <= W::Real::ZERO {
                return Err(ModelError::new(Part::Variance, Flaw::NotPositive, 0, d));
            }
        }
        let implied = log_normaliser(self.rate);
        let slack = W::Real::SUM_TOLERANCE * (W::Real::ONE + implied.abs());
        let close = (self.constant.value() - implied).abs() <= slack;
        if !close {
            return Err(ModelError::new(Part::Normaliser, Flaw::Inconsistent, 0, 0));
        }
        let tangents = core::iter::once(self.constant.tangent())
            .chain(self.linear.iter().copied())
            .chain(self.quadratic.iter().copied());
        for (entry, tangent) in tangents.enumerate() {
            for c in 0..W::Tangent::DIRECTIONS {
                if !tangent.get(c).is_some_and(Real::is_finite) {
                    return Err(ModelError::new(Part::Tangent, Flaw::NotFinite, 0, entry));
                }
            }
        }
        Ok(())
    }
}

impl<const D: usize, W: Weight> Emission for Gaussian<D, W> {
    type Weight = W;
    type Observation = [W::Real; D];

    #[inline]
    fn log_likelihood(&self, x: &[W::Real; D]) -> W {
        self.view().log_likelihood(x)
    }
    fn check(&self, x: &[W::Real; D]) -> Result<(), ObservationError> {
        self.view().check(x)
    }
    fn validate(&self) -> Result<(), ModelError> {
        self.view().validate()
    }
}

/// Expected moments of a [`Gaussian`]'s observations, standardised by the Gaussian that observed
/// them: `z_d = (x_d - mean_d) / sigma_d`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct GaussianStatistics<T, const D: usize> {
    /// `E[ sum_t 1 ]`: how many observations.
    pub occupancy: T,
    /// `E[ sum_t z_d ]`, `[channel]`.
    pub sum: [T; D],
    /// `E[ sum_t z_d^2 ]`, `[channel]`.
    pub square: [T; D],
}
vector_space! {
    impl<T; const D> GaussianStatistics<T, D> { occupancy: T, sum: [T; D], square: [T; D] }
}

/// A [`Gaussian`]'s part of a score or a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct GaussianScore<T, const D: usize> {
    /// With respect to the means, `[channel]`.
    pub mean: [T; D],
    /// With respect to the variances or the log standard deviations ([`Spread`]), `[channel]`.
    pub spread: [T; D],
}
vector_space! {
    impl<T; const D> GaussianScore<T, D> { mean: [T; D], spread: [T; D] }
}

/// The readers of expected statistics, at run-time sizes. Slices are `[channel]` and as long as the
/// view; what lies past the shortest is left alone.
impl<T: Real> GaussianView<'_, T> {
    /// Adds `weight (1, z, z^2)` to `(occupancy, sum, square)`.
    #[inline]
    pub fn observe(&self, x: &[T], weight: T, occupancy: &mut T, sum: &mut [T], square: &mut [T]) {
        *occupancy = *occupancy + weight;
        let channels = self.mean.iter().zip(self.rate).zip(x);
        for (((&mean, &rate), &x), (sum, square)) in channels.zip(sum.iter_mut().zip(square)) {
            let z = (x - mean) * rate;
            let weighed = weight * z;
            *sum = *sum + weighed;
            *square = *square + weighed * z;
        }
    }

    /// Re-expresses statistics that `previous` has observed: `z' = a z + b` with
    /// `a = sigma / sigma'` and `b = (mean - mean') / sigma'`.
    #[inline]
    pub fn adopt(&self, previous: &Self, occupancy: T, sum: &mut [T], square: &mut [T]) {
        let own = self.mean.iter().zip(self.rate);
        let other = previous.mean.iter().zip(previous.rate);
        for (((&mean, &rate), (&from, &old_rate)), (sum, square)) in
            own.zip(other).zip(sum.iter_mut().zip(square))
        {
            let (a, b) = (rate / old_rate, (from - mean) * rate);
            *square = a * a * *square + b * (a * (*sum + *sum) + b * occupancy);
            *sum = a * *sum + b * occupancy;
        }
    }

    /// The likeliest means and rates: `mean' = E[x]`, `1 / rate'^2 = max(Var[x], floor)`, moments
    /// of the statistics. Where these count nothing, the view's own.
    ///
    /// # Errors
    /// The first mean that is not finite or variance that is not finite and positive.
    pub fn maximise(
        &self,
        occupancy: T,
        sum: &[T],
        square: &[T],
        variance_floor: T,
        mean: &mut [T],
        rate: &mut [T],
    ) -> Result<(), ModelError> {
        let counted = occupancy > T::ZERO;
        let own = self.mean.iter().zip(self.rate);
        let estimates = mean.iter_mut().zip(rate);
        for (d, (((&own_mean, &own_rate), (mean, rate)), (&sum, &square))) in
            own.zip(estimates).zip(sum.iter().zip(square)).enumerate()
        {
            if !counted {
                (*mean, *rate) = (own_mean, own_rate);
                continue;
            }
            let shift = sum / occupancy;
            let spread = square / occupancy - shift * shift;
            let variance = Real::max(spread / (own_rate * own_rate), variance_floor);
            (*mean, *rate) = (own_mean + shift / own_rate, T::ONE / variance.sqrt());
            if !mean.is_finite() {
                return Err(ModelError::new(Part::Mean, Flaw::NotFinite, 0, d));
            }
            if !variance.is_finite() {
                return Err(ModelError::new(Part::Variance, Flaw::NotFinite, 0, d));
            }
            // A subnormal variance has no digits, and its reciprocal overflows.
            if !rate.is_finite() || variance <= T::ZERO {
                return Err(ModelError::new(Part::Variance, Flaw::NotPositive, 0, d));
            }
        }
        Ok(())
    }

    /// The score: of a mean `sum rate`; of a log standard deviation `square - occupancy`; of a
    /// variance that times `rate^2 / 2`.
    pub fn score(
        &self,
        occupancy: T,
        sum: &[T],
        square: &[T],
        spread: Spread,
        mean_score: &mut [T],
        spread_score: &mut [T],
    ) {
        let statistics = sum.iter().zip(square);
        let scores = mean_score.iter_mut().zip(spread_score);
        for ((&rate, (&sum, &square)), (mean_score, spread_score)) in
            self.rate.iter().zip(statistics).zip(scores)
        {
            *mean_score = sum * rate;
            *spread_score = (square - occupancy) * spread_factor(rate, spread);
        }
    }
}

/// `d (log standard deviation) / d (coordinate)` at standard deviation `1 / rate`.
fn spread_factor<T: Real>(rate: T, spread: Spread) -> T {
    match spread {
        Spread::LogStandardDeviation => T::ONE,
        Spread::Variance => T::HALF * rate * rate,
    }
}

impl<const D: usize, T: Real> Gaussian<D, T> {
    /// The expected sums of the observations in the sensor's units, `[channel]`: `E[ sum_t x_d ]`.
    pub fn sum_x(&self, statistics: &GaussianStatistics<T, D>) -> [T; D] {
        let mut sum = statistics.sum;
        for (sum, (&mean, &rate)) in sum.iter_mut().zip(self.mean.iter().zip(&self.rate)) {
            *sum = *sum / rate + mean * statistics.occupancy;
        }
        sum
    }
}

impl<const D: usize, T: Real> SufficientStatistics for Gaussian<D, T> {
    type Real = T;
    type Statistics = GaussianStatistics<T, D>;
    type Score = GaussianScore<T, D>;
    type Along<const C: usize> = Gaussian<D, Dual<T, C>>;

    #[inline]
    fn observe(&self, x: &[T; D], weight: T, statistics: &mut GaussianStatistics<T, D>) {
        let GaussianStatistics { occupancy, sum, square } = statistics;
        self.view().observe(x, weight, occupancy, sum, square);
    }

    #[inline]
    fn adopt(&self, previous: &Self, statistics: &mut GaussianStatistics<T, D>) {
        let GaussianStatistics { occupancy, sum, square } = statistics;
        self.view().adopt(&previous.view(), *occupancy, sum, square);
    }

    fn maximise(
        &self,
        statistics: &GaussianStatistics<T, D>,
        regularisation: &Regularisation<T>,
    ) -> Result<Self, ModelError> {
        let GaussianStatistics { occupancy, sum, square } = statistics;
        let (mut mean, mut rate) = ([T::ZERO; D], [T::ZERO; D]);
        let floor = regularisation.variance_floor;
        self.view().maximise(*occupancy, sum, square, floor, &mut mean, &mut rate)?;
        let constant = log_normaliser(&rate);
        Ok(Self { mean, rate, constant, ..*self })
    }

    fn score(
        &self,
        statistics: &GaussianStatistics<T, D>,
        parametrisation: Parametrisation,
    ) -> GaussianScore<T, D> {
        let GaussianStatistics { occupancy, sum, square } = statistics;
        let (mut mean, mut spread) = ([T::ZERO; D], [T::ZERO; D]);
        let coordinates = parametrisation.spread;
        self.view().score(*occupancy, sum, square, coordinates, &mut mean, &mut spread);
        GaussianScore { mean, spread }
    }

    fn along<const C: usize>(
        &self,
        directions: &[GaussianScore<T, D>; C],
        parametrisation: Parametrisation,
    ) -> Gaussian<D, Dual<T, C>> {
        let mut log_std = directions.map(|direction| direction.spread);
        for (rates, &rate) in log_std.iter_mut().flat_map(|rates| rates.iter_mut().zip(&self.rate))
        {
            *rates = *rates * spread_factor(rate, parametrisation.spread);
        }
        self.along_log_std(&directions.map(|direction| direction.mean), &log_std)
    }

    fn convert_score(
        &self,
        score: &GaussianScore<T, D>,
        from: Parametrisation,
        to: Parametrisation,
    ) -> Result<GaussianScore<T, D>, ModelError> {
        let mut score = *score;
        for (entry, &rate) in score.spread.iter_mut().zip(&self.rate) {
            *entry = *entry * (spread_factor(rate, to.spread) / spread_factor(rate, from.spread));
        }
        Ok(score)
    }

    fn convert_direction(
        &self,
        direction: &GaussianScore<T, D>,
        from: Parametrisation,
        to: Parametrisation,
    ) -> Result<GaussianScore<T, D>, ModelError> {
        // What multiplies a score divides a direction, so that their dot product stays.
        self.convert_score(direction, to, from)
    }
}
