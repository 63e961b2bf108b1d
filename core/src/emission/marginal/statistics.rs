use super::{Marginal, Marginalise};
use crate::emission::{
    Parametrisation, Regularisation, SufficientStatistics, VectorSpace, vector_space,
};
use crate::error::ModelError;
use crate::number::{Dual, Real};

/// A family whose expected statistics can be collected from observations that lack channels.
///
/// Statistics are those of complete observations: a missing channel counts as what is expected of it, given the
/// state and the other channels, under the distribution that observes. The score is then read from them as ever.
/// An estimate of channels that are independent leaves out what was missing: the weights of the missing channels
/// are kept beside ([`PartialStatistics`]).
pub trait MarginalStatistics: Marginalise + SufficientStatistics {
    /// The weight of the observations in which a channel was missing, `[channel]`; empty of a family whose estimate is
    /// that of the completed statistics.
    type Missing: VectorSpace<Self::Real>;
    /// The distribution with `C` directions attached.
    type Along<const C: usize>: Marginalise<Weight = Dual<Self::Real, C>, Partial = Self::Partial>
        + Copy
        + 'static;

    /// Attaches `C` directions: [`with_directions`](SufficientStatistics::with_directions).
    fn along<const C: usize>(
        &self,
        directions: &[Self::Score; C],
        parametrisation: Parametrisation,
    ) -> Self::Along<C>;

    /// Adds the expectation of an observation, given the present channels.
    fn observe_partial(
        &self,
        x: &Self::Partial,
        weight: Self::Real,
        statistics: &mut Self::Statistics,
        missing: &mut Self::Missing,
    );

    /// Re-expresses statistics that `previous` has completed: [`adopt`](SufficientStatistics::adopt).
    fn adopt_partial(
        &self,
        previous: &Self,
        statistics: &mut Self::Statistics,
        missing: &Self::Missing,
    );

    /// The likeliest distribution: [`maximise`](SufficientStatistics::maximise).
    ///
    /// # Errors
    /// As there.
    fn maximise_partial(
        &self,
        statistics: &Self::Statistics,
        missing: &Self::Missing,
        regularisation: &Regularisation<Self::Real>,
    ) -> Result<Self, ModelError>;
}

/// Expected statistics of a [`Marginal`]'s observations.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PartialStatistics<S, M> {
    /// Statistics of complete observations, of which missing channels are as expected.
    pub complete: S,
    /// The weights of the observations in which a channel was missing.
    pub missing: M,
}
vector_space! {
    impl<T, S: crate::emission::VectorSpace<T>, M: crate::emission::VectorSpace<T>>
        PartialStatistics<S, M>
    {
        complete: S,
        missing: M
    }
}

impl<E: MarginalStatistics> SufficientStatistics for Marginal<E> {
    type Real = E::Real;
    type Statistics = PartialStatistics<E::Statistics, E::Missing>;
    type Score = E::Score;
    type WithDirections<const C: usize> = Marginal<E::Along<C>>;

    #[inline]
    fn observe(&self, x: &E::Partial, weight: E::Real, statistics: &mut Self::Statistics) {
        let PartialStatistics { complete, missing } = statistics;
        match E::complete(x) {
            Some(x) => self.0.observe(&x, weight, complete),
            None if E::is_empty(x) => {}
            None => self.0.observe_partial(x, weight, complete, missing),
        }
    }

    fn observe_zeros(
        &self,
        x: &E::Partial,
        prior: E::Real,
        log_scale: E::Real,
        statistics: &mut Self::Statistics,
    ) {
        if let Some(x) = E::complete(x) {
            self.0.observe_zeros(&x, prior, log_scale, &mut statistics.complete);
        }
    }

    fn adopt(&self, previous: &Self, statistics: &mut Self::Statistics) {
        self.0.adopt_partial(&previous.0, &mut statistics.complete, &statistics.missing);
    }

    fn maximise(
        &self,
        statistics: &Self::Statistics,
        regularisation: &Regularisation<E::Real>,
    ) -> Result<Self, ModelError> {
        let PartialStatistics { complete, missing } = statistics;
        self.0.maximise_partial(complete, missing, regularisation).map(Self)
    }

    fn score(
        &self,
        statistics: &Self::Statistics,
        parametrisation: Parametrisation,
    ) -> Self::Score {
        self.0.score(&statistics.complete, parametrisation)
    }

    fn with_directions<const C: usize>(
        &self,
        directions: &[E::Score; C],
        parametrisation: Parametrisation,
    ) -> Marginal<E::Along<C>> {
        Marginal(self.0.along(directions, parametrisation))
    }

    fn convert_score(
        &self,
        score: &E::Score,
        from: Parametrisation,
        to: Parametrisation,
    ) -> Result<E::Score, ModelError> {
        self.0.convert_score(score, from, to)
    }

    fn convert_direction(
        &self,
        direction: &E::Score,
        from: Parametrisation,
        to: Parametrisation,
    ) -> Result<E::Score, ModelError> {
        self.0.convert_direction(direction, from, to)
    }
}

/// Returns the factor on a channel's sums that turns averages over all observations into those over the ones with it.
///
/// `None` if the channel was never present, or always.
pub(crate) fn there<T: Real>(occupancy: T, missing: T) -> Option<T> {
    let count = occupancy - missing;
    (missing > T::ZERO && count > T::ZERO).then(|| occupancy / count)
}

/// Within [`MarginalStatistics`]: directions by the family's own.
macro_rules! along {
    () => {
        type Along<const C: usize> =
            <Self as $crate::emission::SufficientStatistics>::WithDirections<C>;

        fn along<const C: usize>(
            &self,
            directions: &[Self::Score; C],
            parametrisation: $crate::emission::Parametrisation,
        ) -> Self::Along<C> {
            $crate::emission::SufficientStatistics::with_directions(
                self,
                directions,
                parametrisation,
            )
        }
    };
}
pub(crate) use along;
