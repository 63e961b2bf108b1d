use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::probability::{
    convert_row_direction, convert_row_score, maximise_row, move_row, relative, score_row,
};
use super::{
    Emission, Family, Parametrisation, Probabilities, Regularisation, Row, Stored,
    SufficientStatistics, by_view, for_each_real,
};
use crate::error::{
    ErrorKind, ModelError, ObservationError, Part, check_distribution, check_symbol, check_tangents,
};
use crate::number::{Dual, Number, Real, RealParameter, Tangent};

/// A distribution over `K` symbols: `P(x = k) = p_k`.
///
/// `Categorical<16>` is over `f32`; `Categorical<16, Dual<f32, 2>>` carries two directions. A row of
/// likelihoods is a look-up: no exponential, no logarithm, no scale.
///
/// Flash: `K` weights per state.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Categorical<const K: usize, W = f32> {
    probability: [W; K],
}

/// A [`Categorical`] whose alphabet size is known at run time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[doc(hidden)]
pub struct CategoricalView<'a, W> {
    probability: &'a [W],
}

macro_rules! const_constructor {
    ($($t:ty),*) => {$(
        impl<const K: usize> Categorical<K, $t> {
            /// A distribution from its probabilities, `[symbol]`.
            ///
            /// # Errors
            /// The first probability that is negative or not finite, or a sum that is not one.
            pub const fn new(probability: [$t; K]) -> Result<Self, ModelError> {
                const { assert!(K > 0, "K must be at least 1") };
                let mut sum = 0.0;
                let mut k = 0;
                while k < K {
                    if !probability[k].is_finite() {
                        return Err(ModelError::new(Part::Probability, ErrorKind::NotFinite, 0, k));
                    }
                    if probability[k] < 0.0 {
                        return Err(ModelError::new(Part::Probability, ErrorKind::Negative, 0, k));
                    }
                    sum += probability[k];
                    k += 1;
                }
                if (sum - 1.0).abs() > <$t as Real>::SUM_TOLERANCE {
                    return Err(ModelError::new(Part::Probability, ErrorKind::SumNotOne, 0, 0));
                }
                Ok(Self { probability })
            }
        }
    )*};
}
const_constructor!(f32, f64);

impl<const K: usize, W> Categorical<K, W> {
    /// A distribution from numbers already checked, as an export writes them;
    /// [`validate`](Emission::validate) checks them again.
    pub const fn from_parts(probability: [W; K]) -> Self {
        Self { probability }
    }

    /// The probabilities, `[symbol]`.
    pub const fn probability(&self) -> &[W; K] {
        &self.probability
    }

    /// View of the distribution with its size at run time.
    pub const fn view(&self) -> CategoricalView<'_, W> {
        CategoricalView { probability: &self.probability }
    }
}

impl<T: Real, const K: usize> Categorical<K, T> {
    /// Attaches `C` directions, given as rates of change of the logits, `[direction][symbol]`:
    /// `dp_k = p_k (w_k - sum_l p_l w_l)`. A probability of zero stays zero.
    pub fn along_logits<const C: usize>(
        &self,
        directions: &[[T; K]; C],
    ) -> Categorical<K, Dual<T, C>> {
        Categorical { probability: attach(&self.probability, directions, Probabilities::Softmax) }
    }
}

/// A row of probabilities with its rates of change along `C` directions.
pub(crate) fn attach<T: Real, const K: usize, const C: usize>(
    probability: &[T; K],
    directions: &[[T; K]; C],
    parametrisation: Probabilities,
) -> [Dual<T, C>; K] {
    let mut attached = probability.map(Dual::constant);
    for (c, direction) in directions.iter().enumerate() {
        let mut rates = [T::ZERO; K];
        move_row(probability, direction, parametrisation, &mut rates);
        for (attached, rate) in attached.iter_mut().zip(rates) {
            if let Some(tangent) = attached.tangent.get_mut(c) {
                *tangent = rate;
            }
        }
    }
    attached
}

impl<'a, W: RealParameter> CategoricalView<'a, W> {
    /// A view of probabilities already checked, `[symbol]`.
    pub const fn new(probability: &'a [W]) -> Self {
        Self { probability }
    }
}

impl<W: RealParameter> Emission for CategoricalView<'_, W> {
    type Weight = W;
    type Observation = usize;
    const SCALED: bool = false;

    fn log_likelihood(&self, &symbol: &usize) -> W {
        match self.probability.get(symbol) {
            Some(p) if p.value() > W::Real::ZERO => {
                W::new(p.value().ln(), p.tangent().scale(W::Real::ONE / p.value()))
            }
            _ => W::constant(W::Real::NEG_INFINITY),
        }
    }

    #[inline]
    fn row<const N: usize>(states: &[Self; N], &symbol: &usize) -> Option<Row<W, N>> {
        let mut likelihood = [W::constant(W::Real::ZERO); N];
        for j in 0..N {
            likelihood[j] = *states[j].probability.get(symbol)?;
        }
        Some(Row { likelihood, log_scale: W::Real::ZERO })
    }

    fn check(&self, &symbol: &usize) -> Result<(), ObservationError> {
        check_symbol(symbol, self.probability.len())
    }

    fn width(&self) -> usize {
        self.probability.len()
    }

    fn validate(&self) -> Result<(), ModelError> {
        check_distribution(self.probability.iter().map(|p| p.value()), Part::Probability, 0)?;
        check_tangents(self.probability.iter().map(|p| p.tangent()))
    }
}

impl<const K: usize, W: RealParameter> Emission for Categorical<K, W> {
    type Weight = W;
    type Observation = usize;
    const SCALED: bool = false;

    #[inline]
    fn row<const N: usize>(states: &[Self; N], &symbol: &usize) -> Option<Row<W, N>> {
        // One bounds check for all states: the alphabet's size is theirs in common.
        if symbol >= K {
            return None;
        }
        let mut likelihood = [W::constant(W::Real::ZERO); N];
        for j in 0..N {
            likelihood[j] = states[j].probability[symbol];
        }
        Some(Row { likelihood, log_scale: W::Real::ZERO })
    }
    by_view!();
}

/// Statistics: expected counts, `[symbol]`. Score and direction: an entry per symbol.
impl<const K: usize, T: Real> SufficientStatistics for Categorical<K, T> {
    type Real = T;
    type Statistics = [T; K];
    type Score = [T; K];
    type WithDirections<const C: usize> = Categorical<K, Dual<T, C>>;

    #[inline]
    fn observe(&self, &symbol: &usize, weight: T, counts: &mut [T; K]) {
        if let Some(count) = counts.get_mut(symbol) {
            *count = *count + weight;
        }
    }

    #[inline]
    fn observe_zeros(&self, &symbol: &usize, prior: T, log_scale: T, counts: &mut [T; K]) {
        if let (Some(count), Some(&p)) =
            (counts.get_mut(symbol), self.probability.as_slice().get(symbol))
            && p == T::ZERO
            && prior > T::ZERO
        {
            *count = *count + relative(prior, -log_scale);
        }
    }

    fn maximise(
        &self,
        counts: &[T; K],
        regularisation: &Regularisation<T>,
    ) -> Result<Self, ModelError> {
        let mut probability = [T::ZERO; K];
        maximise_row(&self.probability, counts, regularisation.pseudo_count, &mut probability);
        let estimate = Self { probability };
        estimate.validate()?;
        Ok(estimate)
    }

    fn score(&self, counts: &[T; K], parametrisation: Parametrisation) -> [T; K] {
        let mut score = [T::ZERO; K];
        score_row(&self.probability, counts, parametrisation.probabilities, &mut score);
        score
    }

    fn with_directions<const C: usize>(
        &self,
        directions: &[[T; K]; C],
        parametrisation: Parametrisation,
    ) -> Categorical<K, Dual<T, C>> {
        Categorical {
            probability: attach(&self.probability, directions, parametrisation.probabilities),
        }
    }

    fn convert_score(
        &self,
        score: &[T; K],
        from: Parametrisation,
        to: Parametrisation,
    ) -> Result<[T; K], ModelError> {
        let (from, to) = (from.probabilities, to.probabilities);
        let mut score = *score;
        convert_row_score(&self.probability, &mut score, from, to, Part::Probability, 0)?;
        Ok(score)
    }

    fn convert_direction(
        &self,
        direction: &[T; K],
        from: Parametrisation,
        to: Parametrisation,
    ) -> Result<[T; K], ModelError> {
        let (from, to) = (from.probabilities, to.probabilities);
        let mut direction = *direction;
        convert_row_direction(&self.probability, &mut direction, from, to, Part::Probability, 0)?;
        Ok(direction)
    }
}

/// A symbol by inversion: one uniform number, at most `K` subtractions.
#[cfg(feature = "sample")]
impl<const K: usize, W: RealParameter> super::Sample for Categorical<K, W> {
    fn sample<R: rand_core::Rng + ?Sized>(&self, rng: &mut R) -> usize {
        super::choose(self.probability(), rng)
    }
}

impl<const K: usize, W: RealParameter + FromBytes + Immutable> Stored for Categorical<K, W> {
    const FAMILY: Family = Family::Categorical;
    const SIZE: usize = K;

    fn for_each_real(&self, take: &mut impl FnMut(W::Real)) {
        for_each_real(self.probability(), take);
    }
}
