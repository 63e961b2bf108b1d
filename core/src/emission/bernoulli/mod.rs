mod marginal;

use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::{
    CountScore, CountStatistics, Emission, Family, Parametrisation, Regularisation, Row, Stored,
    SufficientStatistics, by_view, for_each_real,
};
use crate::error::{ErrorKind, ModelError, ObservationError, Part, check_length, check_tangents};
use crate::number::{Dual, Number, Real, RealParameter, Tangent, shorter};

/// `D` independent yes-or-no channels: `P(x) = prod_d p_d^x_d (1 - p_d)^(1 - x_d)`.
///
/// ```text
/// d log b(x) = sum_d w_d (x_d - p_d)
/// ```
///
/// along a direction that moves the logit `log p_d / (1 - p_d)` by `w_d`: the natural coordinate,
/// whatever the [`Parametrisation`]. A probability of zero or one stays.
///
/// A row of likelihoods is a product of look-ups: no exponential, no logarithm, no scale. Where
/// many channels make it vanish, the filter falls back on logarithms.
///
/// Flash: `2 D` weights per state. Work: `D` multiplications per state, `2 D` more per direction.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Bernoulli<const D: usize, W = f32> {
    yes: [W; D],
    no: [W; D],
}

/// A [`Bernoulli`] whose number of channels is known at run time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[doc(hidden)]
pub struct BernoulliView<'a, W> {
    /// `P(x_d = 1)`, `[channel]`.
    pub yes: &'a [W],
    /// `P(x_d = 0)`, `[channel]`.
    pub no: &'a [W],
}

macro_rules! const_constructor {
    ($($t:ty),*) => {$(
        impl<const D: usize> Bernoulli<D, $t> {
            /// A distribution from the probabilities of yes, `[channel]`.
            ///
            /// # Errors
            /// The first probability that is negative, above one or not finite.
            pub const fn new(probability: [$t; D]) -> Result<Self, ModelError> {
                let mut no = [0.0; D];
                let mut d = 0;
                while d < D {
                    let p = probability[d];
                    if !p.is_finite() {
                        return Err(ModelError::new(Part::Probability, ErrorKind::NotFinite, 0, d));
                    }
                    if p < 0.0 {
                        return Err(ModelError::new(Part::Probability, ErrorKind::Negative, 0, d));
                    }
                    if p > 1.0 {
                        return Err(ModelError::new(Part::Probability, ErrorKind::AboveOne, 0, d));
                    }
                    no[d] = 1.0 - p;
                    d += 1;
                }
                Ok(Self { yes: probability, no })
            }
        }
    )*};
}
const_constructor!(f32, f64);

impl<const D: usize, W> Bernoulli<D, W> {
    /// A distribution from numbers already checked, as an export writes them: the probabilities of
    /// yes and of no, `[channel]`. [`validate`](Emission::validate) checks them again.
    pub const fn from_parts(yes: [W; D], no: [W; D]) -> Self {
        Self { yes, no }
    }

    /// The probabilities of yes, `[channel]`.
    pub const fn probability(&self) -> &[W; D] {
        &self.yes
    }

    /// View of the distribution with its size at run time.
    #[inline]
    pub const fn view(&self) -> BernoulliView<'_, W> {
        BernoulliView { yes: &self.yes, no: &self.no }
    }
}

impl<W: RealParameter> BernoulliView<'_, W> {
    /// Number of factors of a likelihood.
    #[inline(always)]
    fn channels(&self, x: &[bool]) -> usize {
        shorter(shorter(self.yes.len(), self.no.len()), x.len())
    }

    /// A channel's factor of the likelihood.
    #[inline(always)]
    fn factor(&self, x: &[bool], d: usize) -> W {
        if x[d] { self.yes[d] } else { self.no[d] }
    }

    /// `b(x)` with its tangent.
    #[inline(always)]
    fn likelihood(&self, x: &[bool]) -> W {
        let (mut value, mut tangent) = (W::Real::ONE, W::Tangent::ZERO);
        for d in 0..self.channels(x) {
            let factor = self.factor(x, d);
            tangent = tangent.scale(factor.value()).plus(factor.tangent().scale(value));
            value = value * factor.value();
        }
        W::new(value, tangent)
    }
}

impl<W: RealParameter> Emission for BernoulliView<'_, W> {
    type Weight = W;
    type Observation = [bool];
    const SCALED: bool = false;

    fn log_likelihood(&self, x: &[bool]) -> W {
        let mut value = W::Real::ZERO;
        let mut tangent = W::Tangent::ZERO;
        for d in 0..self.channels(x) {
            let factor = self.factor(x, d);
            if factor.value() <= W::Real::ZERO {
                return W::constant(W::Real::NEG_INFINITY);
            }
            value = value + factor.value().ln();
            tangent = tangent.plus(factor.tangent().scale(W::Real::ONE / factor.value()));
        }
        W::new(value, tangent)
    }

    #[inline]
    fn row<const N: usize>(states: &[Self; N], x: &[bool]) -> Option<Row<W, N>> {
        let mut likelihood = [W::constant(W::Real::ZERO); N];
        for j in 0..N {
            likelihood[j] = states[j].likelihood(x);
        }
        Some(Row { likelihood, log_scale: W::Real::ZERO })
    }

    fn check(&self, x: &[bool]) -> Result<(), ObservationError> {
        check_length(x.len(), self.yes.len())
    }

    fn width(&self) -> usize {
        self.yes.len()
    }

    fn validate(&self) -> Result<(), ModelError> {
        for (d, (yes, no)) in self.yes.iter().zip(self.no).enumerate() {
            let (p, q) = (yes.value(), no.value());
            let close = (p + q - W::Real::ONE).abs() <= W::Real::SUM_TOLERANCE;
            let kind = if !p.is_finite() {
                ErrorKind::NotFinite
            } else if p < W::Real::ZERO {
                ErrorKind::Negative
            } else if p > W::Real::ONE {
                ErrorKind::AboveOne
            } else if q < W::Real::ZERO || !close {
                ErrorKind::Inconsistent
            } else {
                continue;
            };
            return Err(ModelError::new(Part::Probability, kind, 0, d));
        }
        check_tangents(self.yes.iter().map(|yes| yes.tangent()))?;
        check_tangents(self.no.iter().map(|no| no.tangent()))
    }
}

impl<const D: usize, W: RealParameter> Emission for Bernoulli<D, W> {
    type Weight = W;
    type Observation = [bool; D];
    const SCALED: bool = false;

    #[inline]
    fn row<const N: usize>(states: &[Self; N], x: &[bool; D]) -> Option<Row<W, N>> {
        let mut likelihood = [W::constant(W::Real::ZERO); N];
        for j in 0..N {
            likelihood[j] = states[j].view().likelihood(x);
        }
        Some(Row { likelihood, log_scale: W::Real::ZERO })
    }
    by_view!();
}

/// The readers of expected statistics, at run-time sizes. Slices are `[channel]`.
impl<T: Real> BernoulliView<'_, T> {
    /// Adds `weight (1, x)` to `(occupancy, sum)`.
    #[inline]
    pub fn observe(&self, x: &[bool], weight: T, occupancy: &mut T, sum: &mut [T]) {
        *occupancy = *occupancy + weight;
        for (sum, &x) in sum.iter_mut().zip(x) {
            if x {
                *sum = *sum + weight;
            }
        }
    }

    /// The likeliest probabilities of yes, `(sum_d + a) / (occupancy + 2 a)` with `a` the
    /// pseudo-count; where nothing was counted, or the probability is zero or one, the view's own.
    pub fn maximise(&self, occupancy: T, sum: &[T], pseudo_count: T, probability: &mut [T]) {
        let total = occupancy + (pseudo_count + pseudo_count);
        for (estimate, (&own, &sum)) in probability.iter_mut().zip(self.yes.iter().zip(sum)) {
            let estimable = total > T::ZERO && own > T::ZERO && own < T::ONE;
            *estimate = if estimable { (sum + pseudo_count) / total } else { own };
            // Expectations that sum to the occupancy may, rounded, exceed it.
            if *estimate > T::ONE {
                *estimate = T::ONE;
            }
        }
    }

    /// The score of the logits, `sum_d - p_d occupancy`.
    pub fn score(&self, occupancy: T, sum: &[T], score: &mut [T]) {
        for (score, (&p, &sum)) in score.iter_mut().zip(self.yes.iter().zip(sum)) {
            *score = sum - p * occupancy;
        }
    }
}

impl<const D: usize, T: Real> SufficientStatistics for Bernoulli<D, T> {
    type Real = T;
    type Statistics = CountStatistics<T, D>;
    type Score = CountScore<T, D>;
    type WithDirections<const C: usize> = Bernoulli<D, Dual<T, C>>;

    #[inline]
    fn observe(&self, x: &[bool; D], weight: T, statistics: &mut CountStatistics<T, D>) {
        self.view().observe(x, weight, &mut statistics.occupancy, &mut statistics.sum);
    }

    fn maximise(
        &self,
        statistics: &CountStatistics<T, D>,
        regularisation: &Regularisation<T>,
    ) -> Result<Self, ModelError> {
        let CountStatistics { occupancy, sum } = statistics;
        let mut yes = self.yes;
        self.view().maximise(*occupancy, sum, regularisation.pseudo_count, &mut yes);
        let estimate = Self { yes, no: yes.map(|p| T::ONE - p) };
        estimate.validate()?;
        Ok(estimate)
    }

    fn score(&self, statistics: &CountStatistics<T, D>, _: Parametrisation) -> CountScore<T, D> {
        let mut score = [T::ZERO; D];
        self.view().score(statistics.occupancy, &statistics.sum, &mut score);
        score
    }

    fn with_directions<const C: usize>(
        &self,
        directions: &[CountScore<T, D>; C],
        _: Parametrisation,
    ) -> Bernoulli<D, Dual<T, C>> {
        let mut along = Bernoulli {
            yes: self.yes.map(Dual::<T, C>::constant),
            no: self.no.map(Dual::constant),
        };
        for (c, direction) in directions.iter().enumerate() {
            let moved = along.yes.iter_mut().zip(&mut along.no).zip(direction);
            for ((yes, no), &slope) in moved {
                let rate = yes.value * no.value * slope;
                yes.tangent[c] = rate;
                no.tangent[c] = -rate;
            }
        }
        along
    }
}

/// A uniform number per channel.
#[cfg(feature = "sample")]
impl<const D: usize, W: RealParameter> super::Sample for Bernoulli<D, W> {
    fn sample<R: rand_core::Rng + ?Sized>(&self, rng: &mut R) -> [bool; D] {
        let mut x = [false; D];
        for (x, p) in x.iter_mut().zip(self.view().yes) {
            *x = super::sample::uniform::<W::Real, R>(rng) < p.value();
        }
        x
    }
}

impl<const D: usize, W: RealParameter + FromBytes + Immutable> Stored for Bernoulli<D, W> {
    const FAMILY: Family = Family::Bernoulli;
    const SIZE: usize = D;

    fn for_each_real(&self, take: &mut impl FnMut(W::Real)) {
        let view = self.view();
        for_each_real(view.yes.iter().chain(view.no), take);
    }
}
