use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::sample::uniform;
use super::{
    CountScore, CountStatistics, Emission, Parametrisation, Regularisation, Row, Sample,
    SufficientStatistics,
};
use crate::error::{Flaw, ModelError, ObservationError, Part};
use crate::number::{Dual, Number, Real, Tangent, Weight};

/// Independent counts in `D` channels: `P(x) = prod_d exp(-rate_d) rate_d^x_d / x_d!`.
///
/// ```text
/// log b(x)  = sum_d x_d log rate_d - total - sum_d log x_d!,        total = sum_d rate_d
/// d log b(x) = sum_d w_d (x_d - rate_d)
/// ```
///
/// along a direction that moves `log rate_d` by `w_d`: the natural coordinate, whatever the
/// [`Parametrisation`]. A rate of zero stays zero; there any count but zero is impossible.
///
/// Flash: `2 D + 1 + C (D + 1)` reals a state. Work: `D` multiply-adds a state, as many more a
/// direction; a logarithm a channel, once for all states.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Poisson<const D: usize, W: Weight = f32> {
    rate: [W::Real; D],
    log_rate: [W; D],
    total: W,
}

/// A [`Poisson`] whose number of channels is known at run time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoissonView<'a, W: Weight> {
    /// Rates, `[channel]`: expected counts a sample.
    pub rate: &'a [W::Real],
    /// Their logarithms and tangents, `[channel]`; `-inf` without tangent where the rate is zero.
    pub log_rate: &'a [W],
    /// The sum of the rates and its tangent.
    pub total: W,
}

impl<const D: usize, W: Weight> Poisson<D, W> {
    /// A distribution from numbers already checked, as an export writes them;
    /// [`validate`](Emission::validate) checks them again.
    pub const fn from_parts(rate: [W::Real; D], log_rate: [W; D], total: W) -> Self {
        Self { rate, log_rate, total }
    }

    /// Rates, `[channel]`: expected counts a sample.
    pub const fn rate(&self) -> &[W::Real; D] {
        &self.rate
    }

    /// The same distribution with its size at run time.
    #[inline]
    pub const fn view(&self) -> PoissonView<'_, W> {
        PoissonView { rate: &self.rate, log_rate: &self.log_rate, total: self.total }
    }
}

impl<const D: usize, T: Real> Poisson<D, T> {
    /// A distribution from its rates, `[channel]`: expected counts a sample.
    ///
    /// # Errors
    /// The first rate that is negative or not finite.
    pub fn new(rate: [T; D]) -> Result<Self, ModelError> {
        let poisson = Self { rate, log_rate: rate.map(T::ln), total: sum(&rate) };
        poisson.validate()?;
        Ok(poisson)
    }
}

fn sum<T: Real>(rate: &[T]) -> T {
    rate.iter().fold(T::ZERO, |sum, &rate| sum + rate)
}

/// `log x!`: the logarithm of the product up to 12, Stirling's series with four terms from there, to
/// within rounding (`2 10^-14` in `f64`).
pub(crate) fn log_factorial<T: Real>(x: u32) -> T {
    if x <= 12 {
        return (2..=u64::from(x)).fold(T::ONE, |product, k| product * T::from_count(k)).ln();
    }
    let x = T::from_count(u64::from(x));
    let (inverse, square) = (T::ONE / x, T::ONE / (x * x));
    let series = [-1.0 / 1680.0, 1.0 / 1260.0, -1.0 / 360.0, 1.0 / 12.0]
        .into_iter()
        .fold(T::ZERO, |sum, coefficient| sum * square + T::from_f64(coefficient));
    ((x + T::HALF) * x.ln() - x) + (T::HALF_LN_TAU + series * inverse)
}

impl<W: Weight> PoissonView<'_, W> {
    /// `log b(x) + sum_d log x_d!`.
    #[inline(always)]
    fn without_factorial(&self, x: &[u32]) -> W {
        let mut value = -self.total.value();
        let mut tangent = self.total.tangent().scale(-W::Real::ONE);
        for (log_rate, &x) in self.log_rate.iter().zip(x) {
            // No count takes nothing from a rate of zero, whose logarithm is not finite.
            if x > 0 {
                let x = W::Real::from_count(u64::from(x));
                value = value + x * log_rate.value();
                tangent = tangent.plus(log_rate.tangent().scale(x));
            }
        }
        W::new(value, tangent)
    }
}

/// `sum_d log x_d!`.
#[inline]
fn log_factorials<T: Real>(x: &[u32]) -> T {
    x.iter().fold(T::ZERO, |sum, &x| sum + log_factorial::<T>(x))
}

/// The row of log-likelihoods that leave out the factorials: these are the same in all states.
#[inline(always)]
fn relative_row<W: Weight, const N: usize>(mut log: [W; N], x: &[u32]) -> Option<Row<W, N>> {
    let mut log_scale = W::Real::NEG_INFINITY;
    for log in &log {
        log_scale = Real::max(log_scale, log.value());
    }
    if log_scale == W::Real::NEG_INFINITY {
        return None;
    }
    for log in &mut log {
        *log = log.exp_relative_to(log_scale);
    }
    Some(Row { likelihood: log, log_scale: log_scale - log_factorials(x) })
}

impl<W: Weight> Emission for PoissonView<'_, W> {
    type Weight = W;
    type Observation = [u32];

    fn log_likelihood(&self, x: &[u32]) -> W {
        let log = self.without_factorial(x);
        W::new(log.value() - log_factorials(x), log.tangent())
    }

    #[inline]
    fn row<const N: usize>(states: &[Self; N], x: &[u32]) -> Option<Row<W, N>> {
        let mut log = [W::constant(W::Real::NEG_INFINITY); N];
        for (log, state) in log.iter_mut().zip(states) {
            *log = state.without_factorial(x);
        }
        relative_row(log, x)
    }

    fn check(&self, x: &[u32]) -> Result<(), ObservationError> {
        if x.len() == self.rate.len() { Ok(()) } else { Err(ObservationError::NotFinite) }
    }

    fn width(&self) -> usize {
        self.rate.len()
    }

    fn validate(&self) -> Result<(), ModelError> {
        let near = |a: W::Real, b: W::Real| {
            let tolerance = W::Real::SUM_TOLERANCE + W::Real::LN_ERROR + W::Real::LN_ERROR;
            a == b || (a - b).abs() <= tolerance * (W::Real::ONE + b.abs())
        };
        for (d, (&rate, log_rate)) in self.rate.iter().zip(self.log_rate).enumerate() {
            let flaw = if !rate.is_finite() {
                Flaw::NotFinite
            } else if rate < W::Real::ZERO {
                Flaw::Negative
            } else if !near(log_rate.value(), rate.ln()) {
                Flaw::Inconsistent
            } else {
                continue;
            };
            return Err(ModelError::new(Part::Rate, flaw, 0, d));
        }
        if !near(self.total.value(), sum(self.rate)) {
            return Err(ModelError::new(Part::Normaliser, Flaw::Inconsistent, 0, 0));
        }
        let tangents = self.log_rate.iter().chain(core::iter::once(&self.total));
        for (entry, weight) in tangents.enumerate() {
            for c in 0..W::Tangent::DIRECTIONS {
                if !weight.tangent().get(c).is_some_and(Real::is_finite) {
                    return Err(ModelError::new(Part::Tangent, Flaw::NotFinite, 0, entry));
                }
            }
        }
        Ok(())
    }
}

impl<const D: usize, W: Weight> Emission for Poisson<D, W> {
    type Weight = W;
    type Observation = [u32; D];

    fn log_likelihood(&self, x: &[u32; D]) -> W {
        self.view().log_likelihood(x)
    }
    #[inline]
    fn row<const N: usize>(states: &[Self; N], x: &[u32; D]) -> Option<Row<W, N>> {
        let mut log = [W::constant(W::Real::NEG_INFINITY); N];
        for (log, state) in log.iter_mut().zip(states) {
            *log = state.view().without_factorial(x);
        }
        relative_row(log, x)
    }
    fn check(&self, x: &[u32; D]) -> Result<(), ObservationError> {
        self.view().check(x)
    }
    fn width(&self) -> usize {
        D
    }
    fn validate(&self) -> Result<(), ModelError> {
        self.view().validate()
    }
}

/// The readers of expected statistics, at run-time sizes. Slices are `[channel]`.
impl<T: Real> PoissonView<'_, T> {
    /// Adds `weight (1, x)` to `(occupancy, sum)`.
    #[inline]
    pub fn observe(&self, x: &[u32], weight: T, occupancy: &mut T, sum: &mut [T]) {
        *occupancy = *occupancy + weight;
        for (sum, &x) in sum.iter_mut().zip(x) {
            *sum = *sum + weight * T::from_count(u64::from(x));
        }
    }

    /// The likeliest rates, `sum_d / occupancy`; where nothing was counted, the view's own.
    pub fn maximise(&self, occupancy: T, sum: &[T], rate: &mut [T]) {
        for (rate, (&own, &sum)) in rate.iter_mut().zip(self.rate.iter().zip(sum)) {
            let estimable = occupancy > T::ZERO && own > T::ZERO;
            *rate = if estimable { sum / occupancy } else { own };
        }
    }

    /// The score of the log-rates, `sum_d - rate_d occupancy`.
    pub fn score(&self, occupancy: T, sum: &[T], score: &mut [T]) {
        for (score, (&rate, &sum)) in score.iter_mut().zip(self.rate.iter().zip(sum)) {
            *score = sum - rate * occupancy;
        }
    }
}

impl<const D: usize, T: Real> SufficientStatistics for Poisson<D, T> {
    type Real = T;
    type Statistics = CountStatistics<T, D>;
    type Score = CountScore<T, D>;
    type Along<const C: usize> = Poisson<D, Dual<T, C>>;

    #[inline]
    fn observe(&self, x: &[u32; D], weight: T, statistics: &mut CountStatistics<T, D>) {
        self.view().observe(x, weight, &mut statistics.occupancy, &mut statistics.sum);
    }

    fn maximise(
        &self,
        statistics: &CountStatistics<T, D>,
        _: &Regularisation<T>,
    ) -> Result<Self, ModelError> {
        let mut rate = self.rate;
        self.view().maximise(statistics.occupancy, &statistics.sum, &mut rate);
        Self::new(rate)
    }

    fn score(&self, statistics: &CountStatistics<T, D>, _: Parametrisation) -> CountScore<T, D> {
        let mut score = [T::ZERO; D];
        self.view().score(statistics.occupancy, &statistics.sum, &mut score);
        score
    }

    fn along<const C: usize>(
        &self,
        directions: &[CountScore<T, D>; C],
        _: Parametrisation,
    ) -> Poisson<D, Dual<T, C>> {
        let mut along = Poisson {
            rate: self.rate,
            log_rate: self.log_rate.map(Dual::constant),
            total: Dual::constant(self.total),
        };
        for (c, direction) in directions.iter().enumerate() {
            let moved = along.log_rate.iter_mut().zip(&self.rate).zip(direction);
            for ((log_rate, &rate), &slope) in moved {
                if rate > T::ZERO {
                    log_rate.tangent[c] = slope;
                    along.total.tangent[c] = along.total.tangent[c] + rate * slope;
                }
            }
        }
        along
    }
}

/// Counts by multiplying uniform numbers until the product falls below `exp(-rate)` (Knuth), 16 of a
/// large rate at a time: some `rate` uniform numbers a channel.
impl<const D: usize, W: Weight> Sample for Poisson<D, W> {
    fn sample<R: crate::rand_core::Rng + ?Sized>(&self, rng: &mut R) -> [u32; D] {
        let chunk = W::Real::from_f64(16.0);
        let mut x = [0; D];
        for (x, &rate) in x.iter_mut().zip(&self.rate) {
            let mut left = rate;
            while left > W::Real::ZERO {
                let part = if left > chunk { chunk } else { left };
                let bound = (-part).exp();
                let mut product = uniform::<W::Real, R>(rng);
                while product > bound {
                    *x += 1;
                    product = product * uniform::<W::Real, R>(rng);
                }
                left = left - part;
            }
        }
        x
    }
}
