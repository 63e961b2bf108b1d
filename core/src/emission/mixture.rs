use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::probability::{
    convert_row_direction, convert_row_score, maximise_row, relative, score_row,
};
use super::{
    Emission, Parametrisation, Regularisation, Row, SufficientStatistics, attach, vector_space,
};
use crate::error::{ModelError, ObservationError, Part, check_distribution, check_tangents};
use crate::number::{Number, Parameter, Real, RealParameter, Tangent, UNDERFLOW_EXP, array_of};

/// A mixture of `M` distributions of one family: `b(x) = sum_m weight_m b_m(x)`.
///
/// A mixture is itself an emission, so it nests: `Hmm<Mixture<Gaussian<3>, 2>, 4>` has four states
/// of two components over three channels.
///
/// ```text
/// log b(x) = l + log sum_m weight_m exp(log b_m(x) - l)              l the largest log b_m(x)
/// d b(x)   = sum_m ( dweight_m b_m(x) + weight_m db_m(x) )
/// ```
///
/// so that a direction reaches a component by its responsibility `r_m = weight_m b_m(x) / b(x)`.
///
/// Flash: `M` weights and `M` components per state. Work: `M` log-likelihoods, and `M + 1`
/// exponentials, a state; of families without exponentials none.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Mixture<E: Emission, const M: usize> {
    weight: [E::Weight; M],
    component: [E; M],
}

impl<T: Real, E: Emission<Weight = T>, const M: usize> Mixture<E, M> {
    /// A mixture from its weights and components, `[component]`.
    ///
    /// # Errors
    /// The first weight that is negative or not finite, or a sum that is not one. The components'
    /// own constructors have checked them.
    pub fn new(weight: [T; M], component: [E; M]) -> Result<Self, ModelError> {
        const { assert!(M > 0, "M must be at least 1") };
        check_distribution(weight.iter().copied(), Part::MixtureWeight, 0)?;
        Ok(Self { weight, component })
    }
}

impl<E: Emission<Weight: RealParameter>, const M: usize> Mixture<E, M> {
    /// A mixture from parts already checked, as an export writes them;
    /// [`validate`](Emission::validate) checks them again.
    pub const fn from_parts(weight: [E::Weight; M], component: [E; M]) -> Self {
        Self { weight, component }
    }

    /// The weights, `[component]`.
    pub const fn weight(&self) -> &[E::Weight; M] {
        &self.weight
    }

    /// The components.
    pub const fn component(&self) -> &[E; M] {
        &self.component
    }

    /// `sum_m weight_m likelihood_m`.
    #[inline(always)]
    fn mixed(&self, likelihood: &[E::Weight; M]) -> E::Weight {
        let mut value = <E::Weight as Parameter>::Real::ZERO;
        let mut tangent = <E::Weight as Parameter>::Tangent::ZERO;
        for m in 0..M {
            let (weight, likelihood) = (self.weight[m], likelihood[m]);
            value = value + weight.value() * likelihood.value();
            tangent = tangent
                .plus(weight.tangent().scale(likelihood.value()))
                .plus(likelihood.tangent().scale(weight.value()));
        }
        E::Weight::new(value, tangent)
    }

    /// `exp(log b_m(x) - l)` and `l`, the largest `log b_m(x)` of a component whose weight is not
    /// zero.
    fn relative_likelihoods(
        &self,
        x: &E::Observation,
    ) -> ([E::Weight; M], <E::Weight as Parameter>::Real) {
        let mut likelihood = [E::Weight::constant(Real::NEG_INFINITY); M];
        let mut best = <E::Weight as Parameter>::Real::NEG_INFINITY;
        for m in 0..M {
            likelihood[m] = self.component[m].log_likelihood(x);
            if self.weight[m].value() > <E::Weight as Parameter>::Real::ZERO {
                best = Real::max(best, likelihood[m].value());
            }
        }
        if best.is_finite() {
            for m in 0..M {
                let (log, weight) = (&mut likelihood[m], self.weight[m]);
                // A component that is not there may be infinitely likelier than those that are; only
                // a direction that brings it in has a use for it.
                *log = if weight.value() > <E::Weight as Parameter>::Real::ZERO {
                    log.exp_relative_to(best)
                } else {
                    let one = <E::Weight as Parameter>::Real::ONE;
                    E::Weight::constant(relative(one, log.value() - best))
                };
            }
        }
        (likelihood, best)
    }
}

impl<E: Emission<Weight: RealParameter>, const M: usize> Emission for Mixture<E, M> {
    type Weight = E::Weight;
    type Observation = E::Observation;
    const SCALED: bool = E::SCALED;

    fn log_likelihood(&self, x: &E::Observation) -> E::Weight {
        let (likelihood, best) = self.relative_likelihoods(x);
        if !best.is_finite() {
            return E::Weight::constant(best);
        }
        let sum = self.mixed(&likelihood);
        let reciprocal = <E::Weight as Parameter>::Real::ONE / sum.value();
        E::Weight::new(sum.value().ln() + best, sum.tangent().scale(reciprocal))
    }

    #[inline]
    fn row<const N: usize>(states: &[Self; N], x: &E::Observation) -> Option<Row<E::Weight, N>> {
        let zero = <E::Weight as Parameter>::Real::ZERO;
        let mut likelihood = [E::Weight::constant(zero); N];
        if !E::SCALED {
            for j in 0..N {
                likelihood[j] = states[j].mixed(&E::row(&states[j].component, x)?.likelihood);
            }
            return Some(Row { likelihood, log_scale: zero });
        }
        let mut scale = [<E::Weight as Parameter>::Real::NEG_INFINITY; N];
        let mut log_scale = <E::Weight as Parameter>::Real::NEG_INFINITY;
        for j in 0..N {
            // Too far from one state is not too far from all.
            let Some(row) = E::row(&states[j].component, x) else { continue };
            likelihood[j] = states[j].mixed(&row.likelihood);
            scale[j] = row.log_scale;
            log_scale = Real::max(log_scale, row.log_scale);
        }
        if log_scale == <E::Weight as Parameter>::Real::NEG_INFINITY {
            return None;
        }
        for j in 0..N {
            let factor = (scale[j] - log_scale).exp();
            let tangent = likelihood[j].tangent().scale(factor);
            likelihood[j] = E::Weight::new(likelihood[j].value() * factor, tangent);
        }
        Some(Row { likelihood, log_scale })
    }

    fn check(&self, x: &E::Observation) -> Result<(), ObservationError> {
        self.component.iter().try_for_each(|component| component.check(x))
    }

    #[inline(always)]
    fn is_missing(x: &E::Observation) -> bool {
        E::is_missing(x)
    }

    fn width(&self) -> usize {
        let mut widest = 1;
        for m in 0..M {
            widest = widest.max(self.component[m].width());
        }
        widest * M
    }

    fn validate(&self) -> Result<(), ModelError> {
        check_distribution(self.weight.iter().map(|w| w.value()), Part::MixtureWeight, 0)?;
        check_tangents(self.weight.iter().map(|weight| weight.tangent()))?;
        for (m, component) in self.component.iter().enumerate() {
            component.validate().map_err(|error| ModelError {
                entry: m * component.width() + error.entry,
                ..error
            })?;
        }
        Ok(())
    }
}

/// Expected statistics of a [`Mixture`]'s observations.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct MixtureStatistics<S, T, const M: usize> {
    /// Expected count of each component, `[component]`.
    pub weight: [T; M],
    /// Each component's statistics of the observations it made, `[component]`.
    pub component: [S; M],
}
vector_space! {
    impl<T, S: crate::emission::VectorSpace<T>; const M> MixtureStatistics<S, T, M> {
        weight: [T; M],
        component: [S; M]
    }
}

/// A [`Mixture`]'s part of a score or a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct MixtureScore<S, T, const M: usize> {
    /// Score with respect to the weights, `[component]`.
    pub weight: [T; M],
    /// Score with respect to the components' parameters, `[component]`.
    pub component: [S; M],
}
vector_space! {
    impl<T, S: crate::emission::VectorSpace<T>; const M> MixtureScore<S, T, M> {
        weight: [T; M],
        component: [S; M]
    }
}

impl<E: SufficientStatistics, const M: usize> Mixture<E, M> {
    /// `r_m = P(component m | x)`, `[component]`; `None` where the mixture cannot make `x`.
    pub fn responsibilities(&self, x: &E::Observation) -> Option<[E::Real; M]> {
        let zero = E::Real::ZERO;
        let mut responsibility = [zero; M];
        let mut weigh = |likelihood: &[E::Real; M]| {
            let mut sum = zero;
            for m in 0..M {
                // A component out of the mixture may be infinitely likelier than those in it.
                let weight = self.weight[m];
                responsibility[m] = if weight > zero { weight * likelihood[m] } else { zero };
                sum = sum + responsibility[m];
            }
            sum
        };
        let mut sum = weigh(&E::row(&self.component, x)?.likelihood);
        if !sum.is_at_least(UNDERFLOW_EXP) {
            let (likelihood, best) = self.relative_likelihoods(x);
            if !best.is_finite() {
                return None;
            }
            sum = weigh(&likelihood);
        }
        Some(array_of(zero, |m| responsibility[m] / sum))
    }
}

impl<E: SufficientStatistics, const M: usize> SufficientStatistics for Mixture<E, M> {
    type Real = E::Real;
    type Statistics = MixtureStatistics<E::Statistics, E::Real, M>;
    type Score = MixtureScore<E::Score, E::Real, M>;
    type WithDirections<const C: usize> = Mixture<E::WithDirections<C>, M>;

    fn observe(&self, x: &E::Observation, weight: E::Real, statistics: &mut Self::Statistics) {
        let Some(responsibilities) = self.responsibilities(x) else { return };
        for m in 0..M {
            let share = weight * responsibilities[m];
            if share > E::Real::ZERO {
                statistics.weight[m] = statistics.weight[m] + share;
                self.component[m].observe(x, share, &mut statistics.component[m]);
            }
        }
    }

    fn observe_zeros(
        &self,
        x: &E::Observation,
        prior: E::Real,
        log_scale: E::Real,
        statistics: &mut Self::Statistics,
    ) {
        if prior <= E::Real::ZERO {
            return;
        }
        let counts = statistics.weight.iter_mut().zip(&mut statistics.component);
        for ((component, &weight), (count, collected)) in
            self.component.iter().zip(&self.weight).zip(counts)
        {
            if weight > E::Real::ZERO {
                component.observe_zeros(x, prior * weight, log_scale, collected);
            } else {
                let log = component.log_likelihood(x);
                if log.is_finite() {
                    *count = *count + relative(prior, log - log_scale);
                }
            }
        }
    }

    fn adopt(&self, previous: &Self, statistics: &mut Self::Statistics) {
        let components = self.component.iter().zip(&previous.component);
        for ((component, previous), collected) in components.zip(&mut statistics.component) {
            component.adopt(previous, collected);
        }
    }

    fn maximise(
        &self,
        statistics: &Self::Statistics,
        regularisation: &Regularisation<E::Real>,
    ) -> Result<Self, ModelError> {
        let mut estimate = *self;
        let counts = &statistics.weight;
        maximise_row(&self.weight, counts, regularisation.pseudo_count, &mut estimate.weight);
        check_distribution(estimate.weight.iter().copied(), Part::MixtureWeight, 0)?;
        let components = estimate.component.iter_mut().zip(&statistics.component);
        for (m, (component, collected)) in components.enumerate() {
            *component = component.maximise(collected, regularisation).map_err(|error| {
                ModelError { entry: m * component.width() + error.entry, ..error }
            })?;
        }
        Ok(estimate)
    }

    fn score(
        &self,
        statistics: &Self::Statistics,
        parametrisation: Parametrisation,
    ) -> Self::Score {
        let mut score = <Self::Score as super::VectorSpace<E::Real>>::ZERO;
        let counts = &statistics.weight;
        score_row(&self.weight, counts, parametrisation.probabilities, &mut score.weight);
        let components = self.component.iter().zip(&statistics.component);
        for (score, (component, collected)) in score.component.iter_mut().zip(components) {
            *score = component.score(collected, parametrisation);
        }
        score
    }

    fn with_directions<const C: usize>(
        &self,
        directions: &[Self::Score; C],
        parametrisation: Parametrisation,
    ) -> Mixture<E::WithDirections<C>, M> {
        let weights = directions.map(|direction| direction.weight);
        Mixture {
            weight: attach::<E::Real, M, C>(&self.weight, &weights, parametrisation.probabilities),
            component: core::array::from_fn(|m| {
                let directions = directions.map(|direction| direction.component[m]);
                self.component[m].with_directions(&directions, parametrisation)
            }),
        }
    }

    fn convert_score(
        &self,
        score: &Self::Score,
        from: Parametrisation,
        to: Parametrisation,
    ) -> Result<Self::Score, ModelError> {
        let mut score = *score;
        let (old, new) = (from.probabilities, to.probabilities);
        convert_row_score(&self.weight, &mut score.weight, old, new, Part::MixtureWeight, 0)?;
        for (m, (score, component)) in score.component.iter_mut().zip(&self.component).enumerate() {
            *score = component.convert_score(score, from, to).map_err(|error| ModelError {
                entry: m * component.width() + error.entry,
                ..error
            })?;
        }
        Ok(score)
    }

    fn convert_direction(
        &self,
        direction: &Self::Score,
        from: Parametrisation,
        to: Parametrisation,
    ) -> Result<Self::Score, ModelError> {
        let mut direction = *direction;
        let (old, new) = (from.probabilities, to.probabilities);
        let weights = &mut direction.weight;
        convert_row_direction(&self.weight, weights, old, new, Part::MixtureWeight, 0)?;
        let components = direction.component.iter_mut().zip(&self.component);
        for (m, (direction, component)) in components.enumerate() {
            let converted = component.convert_direction(direction, from, to);
            *direction = converted.map_err(|error| ModelError {
                entry: m * component.width() + error.entry,
                ..error
            })?;
        }
        Ok(direction)
    }
}

/// A component drawn with the weights, and an observation from it.
#[cfg(feature = "sample")]
impl<E: super::Sample<Weight: RealParameter>, const M: usize> super::Sample for Mixture<E, M> {
    fn sample<R: rand_core::Rng + ?Sized>(&self, rng: &mut R) -> E::Observation {
        // `choose` names one of the M components; the first stands in to prove that to the compiler.
        let m = super::choose(self.weight(), rng);
        const { assert!(M > 0, "M must be at least 1") };
        self.component().get(m).unwrap_or(&self.component()[0]).sample(rng)
    }
}
