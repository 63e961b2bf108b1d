use core::fmt::Debug;

use super::{Emission, Parametrisation};
use crate::error::ModelError;
use crate::number::{Dual, Real};

/// A value made of a fixed number of reals, its *entries*, in a fixed order: statistics, scores and
/// directions.
///
/// A real is one, an array of them is one, and a struct of them becomes one by naming its fields.
/// [`across`](Self::across) is the one way to reach the entries; the rest follows from it.
pub trait VectorSpace<T: Real>: Copy + PartialEq + Debug + 'static {
    /// Number of entries.
    const LENGTH: usize;
    /// All entries zero.
    const ZERO: Self;

    /// Calls `f` for each entry with that entry of all `N` columns: changes are written back.
    ///
    /// This is how forward-only statistics move: for each entry, the vector over the current states
    /// is transformed in place, with `N` reals of scratch.
    fn across<const N: usize>(columns: &mut [Self; N], f: &mut impl FnMut(&mut [T; N]));

    /// Calls `f` with each entry.
    #[inline]
    fn for_each(&self, mut f: impl FnMut(T)) {
        Self::across(&mut [*self], &mut |[entry]| f(*entry));
    }

    /// Calls `f` with each entry, which it may change.
    #[inline]
    fn for_each_mut(&mut self, mut f: impl FnMut(&mut T)) {
        let mut columns = [*self];
        Self::across(&mut columns, &mut |[entry]| f(entry));
        [*self] = columns;
    }

    /// `self += factor other`, entry by entry.
    #[inline]
    fn add_scaled(&mut self, factor: T, other: &Self) {
        let mut columns = [*self, *other];
        Self::across(&mut columns, &mut |[entry, other]| *entry = *entry + factor * *other);
        [*self, _] = columns;
    }

    /// `self *= factor`, entry by entry.
    #[inline]
    fn scale(&mut self, factor: T) {
        self.for_each_mut(|entry| *entry = *entry * factor);
    }

    /// The sum of products, entry by entry: a direction's dot product with a score.
    #[inline]
    fn dot(&self, other: &Self) -> T {
        let mut sum = T::ZERO;
        Self::across(&mut [*self, *other], &mut |[a, b]| sum = sum + *a * *b);
        sum
    }

    /// Writes the entries to `flat` in order and returns their number: all, or as many as fit.
    fn write_to(&self, flat: &mut [T]) -> usize {
        let mut written = 0;
        let mut rest = flat.iter_mut();
        self.for_each(|entry| {
            if let Some(slot) = rest.next() {
                *slot = entry;
                written += 1;
            }
        });
        written
    }

    /// The value with these entries, in order; `None` where `flat` holds another number of them.
    fn read_from(flat: &[T]) -> Option<Self> {
        if flat.len() != Self::LENGTH {
            return None;
        }
        let mut value = Self::ZERO;
        let mut rest = flat.iter();
        value.for_each_mut(|entry| *entry = rest.next().copied().unwrap_or(T::ZERO));
        Some(value)
    }
}

impl<T: Real> VectorSpace<T> for T {
    const LENGTH: usize = 1;
    const ZERO: Self = <T as crate::number::Number>::ZERO;

    #[inline(always)]
    fn across<const N: usize>(columns: &mut [T; N], f: &mut impl FnMut(&mut [T; N])) {
        f(columns);
    }
}

impl<T: Real, S: VectorSpace<T>, const L: usize> VectorSpace<T> for [S; L] {
    const LENGTH: usize = L * S::LENGTH;
    const ZERO: Self = [S::ZERO; L];

    #[inline(always)]
    fn across<const N: usize>(columns: &mut [Self; N], f: &mut impl FnMut(&mut [T; N])) {
        for entry in 0..L {
            let mut part = [S::ZERO; N];
            for n in 0..N {
                part[n] = columns[n][entry];
            }
            S::across(&mut part, f);
            for n in 0..N {
                columns[n][entry] = part[n];
            }
        }
    }
}

/// Makes a struct over a real `T` a vector space: its entries are its fields' in the order named.
macro_rules! vector_space {
    (impl<$t:ident $(, $generic:ident: $bound:path)* $(; $(const $size:ident),+)?> $type:ty {
        $($field:ident: $field_type:ty),+
    }) => {
        impl<$t: $crate::number::Real $(, $generic: $bound)* $($(, const $size: usize)+)?>
            $crate::emission::VectorSpace<$t> for $type
        {
            const LENGTH: usize =
                0 $(+ <$field_type as $crate::emission::VectorSpace<$t>>::LENGTH)+;
            const ZERO: Self = Self {
                $($field: <$field_type as $crate::emission::VectorSpace<$t>>::ZERO),+
            };

            #[inline(always)]
            fn across<const COLUMNS: usize>(
                columns: &mut [Self; COLUMNS],
                f: &mut impl FnMut(&mut [$t; COLUMNS]),
            ) {
                $(
                    let mut part =
                        [<$field_type as $crate::emission::VectorSpace<$t>>::ZERO; COLUMNS];
                    for n in 0..COLUMNS {
                        part[n] = columns[n].$field;
                    }
                    <$field_type as $crate::emission::VectorSpace<$t>>::across(&mut part, f);
                    for n in 0..COLUMNS {
                        columns[n].$field = part[n];
                    }
                )+
            }
        }
    };
}
pub(crate) use vector_space;

/// Constraints on a maximum-likelihood estimate, which keep it a distribution even for few observations. [`NONE`](Self::NONE)
/// sets none.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Regularisation<T = f32> {
    /// The least variance of a channel (of a channel given those before it, for a full covariance
    /// matrix), in squared units of the channel.
    pub variance_floor: T,
    /// Initial value of every count of a row of probabilities (a symmetric Dirichlet prior with
    /// exponent `pseudo_count + 1`). A probability of exactly zero stays zero.
    pub pseudo_count: T,
}

impl<T: Real> Regularisation<T> {
    /// Plain maximum likelihood.
    pub const NONE: Self = Self {
        variance_floor: <T as crate::number::Number>::ZERO,
        pseudo_count: <T as crate::number::Number>::ZERO,
    };
}

/// An emission family whose expected sufficient statistics can be collected: one engine, two
/// readers.
///
/// An engine weighs each observation with the posterior probability of the state
/// ([`observe`](Self::observe)); what it has collected is linear in the weights, and a
/// [`VectorSpace`]. Then [`maximise`](Self::maximise) reads it as a new distribution (Baum-Welch,
/// online EM), and [`score`](Self::score) as the gradient of the log-likelihood (Fisher's identity).
///
/// Statistics are relative to the distribution that observed them: Gaussians collect moments of
/// `z = (x - mean) / sigma`, which keep their precision in `f32` however far the mean is from zero.
/// Whoever replaces a model half-way carries them over ([`adopt`](Self::adopt)).
pub trait SufficientStatistics: Emission<Weight = Self::Real> + Copy + 'static {
    /// The real numbers of the distribution.
    type Real: Real;
    /// Expected sufficient statistics of one state's observations.
    type Statistics: VectorSpace<Self::Real>;
    /// The distribution's part of a score: an entry per parameter. Also a direction's part.
    type Score: VectorSpace<Self::Real>;
    /// The distribution with `C` directions attached.
    type WithDirections<const C: usize>: Emission<Weight = Dual<Self::Real, C>, Observation = Self::Observation>
        + Copy
        + 'static;

    /// `statistics += weight s(x)`: takes in an observation that the state made with probability
    /// `weight`. Nothing else than an observation that the state can make may have a weight other
    /// than zero.
    fn observe(&self, x: &Self::Observation, weight: Self::Real, statistics: &mut Self::Statistics);

    /// Adds the statistics that the score of probabilities that are exactly zero needs, in the `ratio`
    /// parametrisation: the limit of count / probability as the probability vanishes, which no
    /// count can tell. It is kept where the count would be, for that is zero for ever.
    ///
    /// With `prior` the weight before the observation's likelihood,
    /// `prior exp(log b(x) - log_scale) = weight` (where `b(x)` is zero, so is the weight, and
    /// `prior` need not be). Engines that serve training alone have no need to call it.
    #[inline]
    fn observe_zeros(
        &self,
        x: &Self::Observation,
        prior: Self::Real,
        log_scale: Self::Real,
        statistics: &mut Self::Statistics,
    ) {
        let _ = (x, prior, log_scale, statistics);
    }

    /// Re-expresses statistics that `previous` has observed as if this distribution had.
    #[inline]
    fn adopt(&self, previous: &Self, statistics: &mut Self::Statistics) {
        let _ = (previous, statistics);
    }

    /// The distribution under which the statistics are likeliest; without observations, this
    /// one. Probabilities that are exactly zero stay zero.
    ///
    /// # Errors
    /// The first parameter for which there is no estimate: a variance that is not positive (raise
    /// the floor) or a number that is not finite.
    fn maximise(
        &self,
        statistics: &Self::Statistics,
        regularisation: &Regularisation<Self::Real>,
    ) -> Result<Self, ModelError>;

    /// The gradient of the log-likelihood with respect to this distribution's parameters.
    fn score(&self, statistics: &Self::Statistics, parametrisation: Parametrisation)
    -> Self::Score;

    /// Attaches `C` directions, given in a parametrisation: rates of change of the parameters.
    fn with_directions<const C: usize>(
        &self,
        directions: &[Self::Score; C],
        parametrisation: Parametrisation,
    ) -> Self::WithDirections<C>;

    /// A score in another parametrisation, by the chain rule. As it is, of a family that has one
    /// parametrisation only.
    ///
    /// # Errors
    /// The first probability of exactly zero that a `softmax` score would have to be divided by.
    fn convert_score(
        &self,
        score: &Self::Score,
        _from: Parametrisation,
        _to: Parametrisation,
    ) -> Result<Self::Score, ModelError> {
        Ok(*score)
    }

    /// A direction in another parametrisation, so that it moves the distribution alike. As it is, of a
    /// family that has one parametrisation only.
    ///
    /// # Errors
    /// The first probability of exactly zero that a `ratio` direction moves and logits cannot.
    fn convert_direction(
        &self,
        direction: &Self::Score,
        _from: Parametrisation,
        _to: Parametrisation,
    ) -> Result<Self::Score, ModelError> {
        Ok(*direction)
    }
}

/// Expected statistics of channels of counts ([`Poisson`](super::Poisson)) or of yes and no
/// ([`Bernoulli`](super::Bernoulli)).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct CountStatistics<T, const D: usize> {
    /// `E[ sum_t 1 ]`: how many observations.
    pub occupancy: T,
    /// `E[ sum_t x_d ]`, `[channel]`; of counts `E[ sum_t x_d - rate_d ]`, with the rate that observed them.
    pub sum: [T; D],
}
vector_space! {
    impl<T; const D> CountStatistics<T, D> { occupancy: T, sum: [T; D] }
}

/// Part of a score or a direction for counts: one entry per channel.
pub type CountScore<T, const D: usize> = [T; D];
