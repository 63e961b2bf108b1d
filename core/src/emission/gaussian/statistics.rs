use super::{Gaussian, GaussianView, log_normaliser};
use crate::emission::{
    Parametrisation, Regularisation, Spread, SufficientStatistics, vector_space,
};
use crate::error::{ErrorKind, ModelError, Part};
use crate::number::{Dual, Real};

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

impl<T: Real, const D: usize> GaussianStatistics<T, D> {
    /// View of the statistics with its size at run time.
    pub const fn view(&self) -> GaussianMoments<'_, T> {
        GaussianMoments { occupancy: self.occupancy, sum: &self.sum, square: &self.square }
    }
}

/// [`GaussianStatistics`], or [`FullGaussianStatistics`](crate::emission::FullGaussianStatistics), whose number
/// of channels is known at run time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[doc(hidden)]
pub struct GaussianMoments<'a, T> {
    /// Number of observations.
    pub occupancy: T,
    /// Sums of `z`, `[channel]`.
    pub sum: &'a [T],
    /// Sums of squares, `[channel]`; for a full covariance matrix of products, row-major, of which
    /// the lower triangle is read.
    pub square: &'a [T],
}

/// A [`Gaussian`]'s part of a score or a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct GaussianScore<T, const D: usize> {
    /// Score with respect to the means, `[channel]`.
    pub mean: [T; D],
    /// Score with respect to the variances or the log standard deviations ([`Spread`]), `[channel]`.
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
        statistics: GaussianMoments<'_, T>,
        variance_floor: T,
        mean: &mut [T],
        rate: &mut [T],
    ) -> Result<(), ModelError> {
        let GaussianMoments { occupancy, sum, square } = statistics;
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
                return Err(ModelError::new(Part::Parameter("mean"), ErrorKind::NotFinite, 0, d));
            }
            if !variance.is_finite() {
                return Err(ModelError::new(
                    Part::Parameter("variance"),
                    ErrorKind::NotFinite,
                    0,
                    d,
                ));
            }
            // A subnormal variance has no digits, and its reciprocal overflows.
            if !rate.is_finite() || variance <= T::ZERO {
                return Err(ModelError::new(
                    Part::Parameter("variance"),
                    ErrorKind::NotPositive,
                    0,
                    d,
                ));
            }
        }
        Ok(())
    }

    /// The score: of a mean `sum rate`; of a log standard deviation `square - occupancy`; of a
    /// variance that times `rate^2 / 2`.
    pub fn score(
        &self,
        statistics: GaussianMoments<'_, T>,
        spread: Spread,
        mean_score: &mut [T],
        spread_score: &mut [T],
    ) {
        let GaussianMoments { occupancy, sum, square } = statistics;
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

    /// The expected sums of squares in the sensor's units, `[channel]`: `E[ sum_t x_d^2 ]`.
    pub fn sum_xx(&self, statistics: &GaussianStatistics<T, D>) -> [T; D] {
        let mut square = statistics.square;
        let sums = self.sum_x(statistics);
        let channels = self.mean.iter().zip(&self.rate).zip(sums);
        for (square, ((&mean, &rate), sum)) in square.iter_mut().zip(channels) {
            // x = u + mean with u = z / rate: x^2 = u^2 + mean (x + u).
            let centred = sum - mean * statistics.occupancy;
            *square = *square / (rate * rate) + mean * (sum + centred);
        }
        square
    }
}

impl<const D: usize, T: Real> SufficientStatistics for Gaussian<D, T> {
    type Real = T;
    type Statistics = GaussianStatistics<T, D>;
    type Score = GaussianScore<T, D>;
    type WithDirections<const C: usize> = Gaussian<D, Dual<T, C>>;

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
        let (mut mean, mut rate) = ([T::ZERO; D], [T::ZERO; D]);
        let floor = regularisation.variance_floor;
        self.view().maximise(statistics.view(), floor, &mut mean, &mut rate)?;
        let constant = log_normaliser(&rate);
        Ok(Self { mean, rate, constant, ..*self })
    }

    fn score(
        &self,
        statistics: &GaussianStatistics<T, D>,
        parametrisation: Parametrisation,
    ) -> GaussianScore<T, D> {
        let (mut mean, mut spread) = ([T::ZERO; D], [T::ZERO; D]);
        self.view().score(statistics.view(), parametrisation.spread, &mut mean, &mut spread);
        GaussianScore { mean, spread }
    }

    fn with_directions<const C: usize>(
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
