mod marginal;
#[cfg(feature = "sample")]
mod sample;

use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::{
    CountScore, CountStatistics, Emission, Family, Parametrisation, Regularisation, Row, Stored,
    SufficientStatistics, by_view, for_each_real,
};
use crate::error::{ErrorKind, ModelError, ObservationError, Part, check_length, check_tangents};
use crate::number::{Dual, Number, Real, RealParameter, Tangent};

/// Independent counts in `D` channels: `P(x) = prod_d exp(-rate_d) rate_d^x_d / x_d!`.
///
/// ```text
/// log b(x)   = sum_d [ x_d log rate_d - rate_d - log x_d! ]     of counts below 16, and of others
///            = -sum_d [ D(x_d, rate_d) + s(x_d) ]
/// D(x, r)    = x log (x / r) - (x - r)                          the deviance, by half
/// s(x)       = log x! - (x log x - x)
/// d log b(x) = sum_d w_d (x_d - rate_d)
/// ```
///
/// along a direction that moves `log rate_d` by `w_d`: the natural coordinate, whatever the
/// [`Parametrisation`]. A rate of zero stays zero; there any count but zero is impossible.
///
/// No two terms cancel that are larger than the first few logarithms of a factorial: in `f32` a
/// log-likelihood is right to `10^-5` of itself, and so is its derivative along one channel, at any rate
/// and count. (With the feature `micromath` logarithms are as coarse as that says.)
///
/// Source: Loader, Fast and Accurate Computation of Binomial Probabilities, 2000 (the saddle-point
/// expansion). Flash: `2 D + C D` reals per state. Work: a multiply-add per channel and state for a count
/// below 16. For others a logarithm per channel, once for all states, and per channel and state up to 14
/// divisions and as many times three multiply-adds where count and rate are within a factor of three, the
/// fewer the closer they are, else three multiply-adds. A multiply-add more a direction.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Poisson<const D: usize, W: RealParameter = f32> {
    rate: [W::Real; D],
    log_rate: [W; D],
}

/// A [`Poisson`] whose number of channels is known at run time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[doc(hidden)]
pub struct PoissonView<'a, W: RealParameter> {
    /// Rates, `[channel]`: expected counts per sample.
    pub rate: &'a [W::Real],
    /// Logarithms of the rates and their tangents, `[channel]`; `-inf` without tangent if the rate is zero.
    pub log_rate: &'a [W],
}

impl<const D: usize, W: RealParameter> Poisson<D, W> {
    /// A distribution from numbers already checked, as an export writes them;
    /// [`validate`](Emission::validate) checks them again.
    pub const fn from_parts(rate: [W::Real; D], log_rate: [W; D]) -> Self {
        Self { rate, log_rate }
    }

    /// Rates, `[channel]`: expected counts per sample.
    pub const fn rate(&self) -> &[W::Real; D] {
        &self.rate
    }

    /// View of the distribution with its size at run time.
    #[inline]
    pub const fn view(&self) -> PoissonView<'_, W> {
        PoissonView { rate: &self.rate, log_rate: &self.log_rate }
    }
}

impl<const D: usize, T: Real> Poisson<D, T> {
    /// A distribution from its rates, `[channel]`: expected counts per sample.
    ///
    /// # Errors
    /// The first rate that is negative or not finite.
    pub fn new(rate: [T; D]) -> Result<Self, ModelError> {
        let poisson = Self { rate, log_rate: rate.map(T::ln) };
        poisson.validate()?;
        Ok(poisson)
    }
}

/// `log x!` of the counts whose log-likelihoods are what the definition says: no term of theirs is so
/// large that a digit which matters is lost.
const LOG_FACTORIAL: [f64; 16] = [
    0.0,
    0.0,
    core::f64::consts::LN_2,
    1.791_759_469_228_055,
    3.178_053_830_347_945_8,
    4.787_491_742_782_046,
    6.579_251_212_010_101,
    8.525_161_361_065_415,
    10.604_602_902_745_25,
    12.801_827_480_081_469,
    15.104_412_573_075_516,
    17.502_307_845_873_887,
    19.987_214_495_661_885,
    22.552_163_853_123_425,
    25.191_221_182_738_68,
    27.899_271_383_840_89,
];

/// A count as the recursions use it: the cost per channel is paid once for all states.
#[derive(Clone, Copy)]
pub(super) struct Count<T> {
    /// Leading and last bits: each is exact, and the sum the count.
    high: T,
    low: T,
    /// Nearest number.
    value: T,
    /// Logarithm of the count, unless it is small.
    log: Option<T>,
    /// Term added to every state's log-likelihood: `-log x!` of a small count, else `-s(x)`.
    pub(super) common: T,
}

impl<T: Real> Count<T> {
    #[inline]
    pub(super) fn of(x: u32) -> Self {
        let (high, low, value) = (T::from_u32(x & !0xff), T::from_u32(x & 0xff), T::from_u32(x));
        let (log, common) = match LOG_FACTORIAL.as_slice().get(x as usize) {
            Some(&log_factorial) => (None, -T::from_f64(log_factorial)),
            None => {
                let log = value.ln();
                (Some(log), -saddle(value, log))
            }
        };
        Self { high, low, value, log, common }
    }

    /// The log-likelihood at a rate, without the [common](Self::common) term.
    #[inline]
    pub(super) fn log_likelihood(&self, rate: T, log_rate: T) -> T {
        match self.log {
            Some(log) => -self.deviance(rate, log_rate, log),
            // No count takes nothing from a rate of zero, whose logarithm is not finite.
            None if self.value == T::ZERO => -rate,
            None => self.value * log_rate - rate,
        }
    }

    /// `x - rate`, rounded as if both were exact.
    #[inline]
    pub(super) fn difference(&self, rate: T) -> T {
        (self.high - rate) + self.low
    }

    /// `x log (x / rate) - (x - rate)`, which is not negative, to within some roundings of itself.
    #[inline]
    fn deviance(&self, rate: T, log_rate: T, log: T) -> T {
        let difference = self.difference(rate);
        let sum = self.value + rate;
        if difference.abs() + difference.abs() > sum {
            return self.value * (log - log_rate) - difference;
        }
        if difference == T::ZERO {
            return T::ZERO;
        }
        // log (x / rate) = 2 (v + v^3 / 3 + v^5 / 5 + ..)
        let v = difference / sum;
        let (square, mut power) = (v * v, (self.value + self.value) * v);
        let (mut deviance, mut odd) = (difference * v, T::ONE);
        // A quarter of the term before at most: 28 of them in `f64`, and 13 in `f32`, are all there is.
        for _ in 0..32 {
            power = power * square;
            odd = odd + T::ONE + T::ONE;
            let longer = deviance + power / odd;
            if longer == deviance {
                break;
            }
            deviance = longer;
        }
        deviance
    }
}

/// `log x! - (x log x - x)`: `log (2 pi x) / 2` and the rest of Stirling's series, of which five terms are
/// exact from `x = 16` on, to within rounding.
fn saddle<T: Real>(x: T, log: T) -> T {
    let inverse = T::ONE / x;
    let square = inverse * inverse;
    let series = [1.0 / 1188.0, -1.0 / 1680.0, 1.0 / 1260.0, -1.0 / 360.0, 1.0 / 12.0]
        .into_iter()
        .fold(T::ZERO, |sum, coefficient| sum * square + T::from_f64(coefficient));
    T::HALF * log + (T::HALF_LN_TAU + series * inverse)
}

/// Log-likelihoods of some states without their common term, and that term, over the present channels.
#[inline(always)]
pub(super) fn logs<W: RealParameter, const N: usize>(
    states: &[PoissonView<'_, W>; N],
    x: impl Fn(usize) -> Option<u32>,
) -> ([W; N], W::Real) {
    let mut logs = [W::constant(W::Real::ZERO); N];
    let mut common = W::Real::ZERO;
    for d in 0..states.first().map_or(0, |state| state.rate.len()) {
        let Some(x) = x(d) else { continue };
        let count = Count::of(x);
        common = common + count.common;
        for j in 0..N {
            let (state, log) = (&states[j], logs[j]);
            if let (Some(&rate), Some(log_rate)) = (state.rate.get(d), state.log_rate.get(d)) {
                logs[j] = W::new(
                    log.value() + count.log_likelihood(rate, log_rate.value()),
                    log.tangent().plus(log_rate.tangent().scale(count.difference(rate))),
                );
            }
        }
    }
    (logs, common)
}

/// The row of relative likelihoods of the channels that are there.
#[inline(always)]
pub(super) fn row<W: RealParameter, const N: usize>(
    states: &[PoissonView<'_, W>; N],
    x: impl Fn(usize) -> Option<u32>,
) -> Option<Row<W, N>> {
    let (logs, common) = logs(states, x);
    let (likelihood, log_scale) = W::likelihoods(|j| logs[j])?;
    Some(Row { likelihood, log_scale: log_scale + common })
}

impl<W: RealParameter> Emission for PoissonView<'_, W> {
    type Weight = W;
    type Observation = [u32];

    fn log_likelihood(&self, x: &[u32]) -> W {
        let ([log], common) = logs(&[*self], |d| x.get(d).copied());
        W::new(log.value() + common, log.tangent())
    }

    #[inline]
    fn row<const N: usize>(states: &[Self; N], x: &[u32]) -> Option<Row<W, N>> {
        row(states, |d| x.get(d).copied())
    }

    fn check(&self, x: &[u32]) -> Result<(), ObservationError> {
        check_length(x.len(), self.rate.len())
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
            let kind = if !rate.is_finite() {
                ErrorKind::NotFinite
            } else if rate < W::Real::ZERO {
                ErrorKind::Negative
            } else if !near(log_rate.value(), rate.ln()) {
                ErrorKind::Inconsistent
            } else {
                continue;
            };
            return Err(ModelError::new(Part::Parameter("rate"), kind, 0, d));
        }
        check_tangents(self.log_rate.iter().map(|weight| weight.tangent()))
    }
}

impl<const D: usize, W: RealParameter> Emission for Poisson<D, W> {
    type Weight = W;
    type Observation = [u32; D];

    #[inline]
    fn row<const N: usize>(states: &[Self; N], x: &[u32; D]) -> Option<Row<W, N>> {
        row(&states.each_ref().map(Self::view), |d| x.get(d).copied())
    }
    by_view!();
}

/// The readers of expected statistics, at run-time sizes. Slices are `[channel]`.
impl<T: Real> PoissonView<'_, T> {
    /// Adds `weight (1, x - rate)` to `(occupancy, sum)`: from the rate on, lest a large one's digits
    /// be all that is added up.
    #[inline]
    pub fn observe(&self, x: &[u32], weight: T, occupancy: &mut T, sum: &mut [T]) {
        *occupancy = *occupancy + weight;
        for (sum, (&x, &rate)) in sum.iter_mut().zip(x.iter().zip(self.rate)) {
            *sum = *sum + weight * Count::of(x).difference(rate);
        }
    }

    /// Re-expresses statistics that `previous` has observed.
    pub fn adopt(&self, previous: &Self, occupancy: T, sum: &mut [T]) {
        for (sum, (&own, &rate)) in sum.iter_mut().zip(self.rate.iter().zip(previous.rate)) {
            *sum = *sum + occupancy * (rate - own);
        }
    }

    /// The likeliest rates, `rate_d + sum_d / occupancy`; without observations, the view's own.
    pub fn maximise(&self, occupancy: T, sum: &[T], rate: &mut [T]) {
        for (rate, (&own, &sum)) in rate.iter_mut().zip(self.rate.iter().zip(sum)) {
            let estimable = occupancy > T::ZERO && own > T::ZERO;
            // Where there were no counts at all rounding may leave less than none.
            *rate = if estimable { Real::max(own + sum / occupancy, T::ZERO) } else { own };
        }
    }
}

impl<const D: usize, T: Real> SufficientStatistics for Poisson<D, T> {
    type Real = T;
    type Statistics = CountStatistics<T, D>;
    type Score = CountScore<T, D>;
    type WithDirections<const C: usize> = Poisson<D, Dual<T, C>>;

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

    fn adopt(&self, previous: &Self, statistics: &mut CountStatistics<T, D>) {
        self.view().adopt(&previous.view(), statistics.occupancy, &mut statistics.sum);
    }

    /// `E[ sum_t x_d - rate_d ]`: the score of the log-rates is what was summed.
    fn score(&self, statistics: &CountStatistics<T, D>, _: Parametrisation) -> CountScore<T, D> {
        let mut score = statistics.sum;
        for (score, &rate) in score.iter_mut().zip(&self.rate) {
            // A rate of zero stays zero.
            if rate <= T::ZERO {
                *score = T::ZERO;
            }
        }
        score
    }

    fn with_directions<const C: usize>(
        &self,
        directions: &[CountScore<T, D>; C],
        _: Parametrisation,
    ) -> Poisson<D, Dual<T, C>> {
        let mut along = Poisson { rate: self.rate, log_rate: self.log_rate.map(Dual::constant) };
        for (c, direction) in directions.iter().enumerate() {
            let moved = along.log_rate.iter_mut().zip(&self.rate).zip(direction);
            for ((log_rate, &rate), &slope) in moved {
                if rate > T::ZERO {
                    log_rate.tangent[c] = slope;
                }
            }
        }
        along
    }
}

impl<const D: usize, W> Stored for Poisson<D, W>
where
    W: RealParameter<Real: FromBytes + Immutable> + FromBytes + Immutable,
{
    const FAMILY: Family = Family::Poisson;
    const SIZE: usize = D;

    fn for_each_real(&self, take: &mut impl FnMut(W::Real)) {
        let view = self.view();
        view.rate.iter().copied().for_each(&mut *take);
        for_each_real(view.log_rate, take);
    }
}
