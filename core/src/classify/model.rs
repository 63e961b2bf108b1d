use core::fmt::Debug;

use crate::context::{ContextBelief, ContextLikelihood, ContextModel, ContextRule};
use crate::dynamics::{Dynamics, Kalman, KalmanState};
use crate::emission::{Emission, Marginal};
use crate::error::ModelError;
use crate::filter::{Belief, Forward, Streaming};
use crate::hmm::{Hmm, NumberOf, ReadingOf, RealOf};
use crate::number::{
    Arithmetic, Number, NumberFormat, Parameter, Real, RealParameter, Scalar, Tangent,
};
use crate::profile_hmm::{Cell, ProfileBelief, ProfileFilter, ProfileHmm};

/// A model whose log-likelihood streams, with its directional derivatives: an item of a
/// [`StreamClassifier`](super::StreamClassifier)'s bank.
pub trait StreamModel {
    /// Observation of one sample.
    type Observation: ?Sized;
    /// The reals that it is read in.
    type Real: Real;
    /// State of the model on a stream.
    type State: Copy + Debug + PartialEq;
    /// `log p(x_1..t)` and its derivatives.
    type Reading: Scalar<Real = Self::Real>;
    /// Directions attached.
    const DIRECTIONS: usize;
    /// The format of its numbers.
    const FORMAT: NumberFormat;

    /// The recursion that forms its likelihood.
    fn likelihood(
        &self,
    ) -> impl Streaming<Observation = Self::Observation, State = Self::State, Reading = Self::Reading>;

    /// `log p(x_1..t)` and its derivatives as the nearest numbers and what those drop.
    fn log_parts(&self, state: &Self::State) -> [Self::Reading; 2];

    /// Checks every number.
    ///
    /// # Errors
    /// Names the first that is wrong.
    fn validate(&self) -> Result<(), ModelError>;
}

/// Directions attached to the weights of an emission family.
const fn directions<E: Emission>() -> usize {
    <<E::Weight as Parameter>::Tangent as Tangent<RealOf<E>>>::DIRECTIONS
}

/// Evidence of the forward filter.
impl<E: Emission, const N: usize> StreamModel for Hmm<E, N> {
    type Observation = E::Observation;
    type Real = RealOf<E>;
    type State = Belief<NumberOf<E>, N>;
    type Reading = ReadingOf<E>;
    const DIRECTIONS: usize = directions::<E>();
    const FORMAT: NumberFormat = <E::Weight as Parameter>::FORMAT;

    #[inline(always)]
    fn likelihood(
        &self,
    ) -> impl Streaming<Observation = E::Observation, State = Self::State, Reading = Self::Reading>
    {
        Forward::of(self)
    }

    #[inline]
    fn log_parts(&self, state: &Self::State) -> [Self::Reading; 2] {
        let [high, low] = state.evidence().log_parts();
        [E::in_units(self.emission(), high), E::in_units(self.emission(), low)]
    }

    fn validate(&self) -> Result<(), ModelError> {
        Self::validate(self)
    }
}

/// The context is known: a product, and no sum over states.
impl<R, E, const C: usize> StreamModel for ContextModel<R, E, C>
where
    E: Emission,
    R: ContextRule<E::Observation, C>,
{
    type Observation = E::Observation;
    type Real = RealOf<E>;
    type State = ContextBelief<R::History, NumberOf<E>>;
    type Reading = ReadingOf<E>;
    const DIRECTIONS: usize = directions::<E>();
    const FORMAT: NumberFormat = <E::Weight as Parameter>::FORMAT;

    #[inline(always)]
    fn likelihood(
        &self,
    ) -> impl Streaming<Observation = E::Observation, State = Self::State, Reading = Self::Reading>
    {
        ContextLikelihood::of(self)
    }

    #[inline]
    fn log_parts(&self, state: &Self::State) -> [Self::Reading; 2] {
        let parts = state.likelihood().evidence().log_parts();
        let [high, low] = parts;
        [E::in_units(self.emission(), high), E::in_units(self.emission(), low)]
    }

    fn validate(&self) -> Result<(), ModelError> {
        Self::validate(self)
    }
}

/// Evidence of the forward recursion of a profile: log-odds against its null model, as if the stream so
/// far were complete.
impl<W, const K: usize, const A: usize> StreamModel for ProfileHmm<W, K, A>
where
    W: RealParameter,
{
    type Observation = usize;
    type Real = W::Real;
    type State = ProfileBelief<W::Number, [Cell<W::Number>; K]>;
    type Reading = <W::Number as Number>::Reading;
    const DIRECTIONS: usize = <W::Tangent as Tangent<W::Real>>::DIRECTIONS;
    const FORMAT: NumberFormat = W::FORMAT;

    #[inline(always)]
    fn likelihood(
        &self,
    ) -> impl Streaming<Observation = usize, State = Self::State, Reading = Self::Reading> {
        ProfileFilter::of(self)
    }

    #[inline]
    fn log_parts(&self, state: &Self::State) -> [Self::Reading; 2] {
        ProfileFilter::of(self).log_parts(state)
    }

    fn validate(&self) -> Result<(), ModelError> {
        Self::validate(self)
    }
}

/// Evidence of the Kalman filter.
impl<const N: usize, const D: usize, W: Arithmetic> StreamModel for Dynamics<N, D, W> {
    type Observation = [<W as Parameter>::Real; D];
    type Real = <W as Parameter>::Real;
    type State = KalmanState<W, N>;
    type Reading = W;
    const DIRECTIONS: usize = <W::Tangent as Tangent<Self::Real>>::DIRECTIONS;
    const FORMAT: NumberFormat = W::FORMAT;

    #[inline(always)]
    fn likelihood(
        &self,
    ) -> impl Streaming<Observation = Self::Observation, State = Self::State, Reading = W> {
        Kalman::of(self)
    }

    #[inline]
    fn log_parts(&self, state: &Self::State) -> [W; 2] {
        state.density().log_parts()
    }

    fn validate(&self) -> Result<(), ModelError> {
        Self::validate(self)
    }
}

/// Kalman filter for samples that may lack channels.
impl<const N: usize, const D: usize, W: Arithmetic> StreamModel for Marginal<Dynamics<N, D, W>> {
    type Observation = [Option<<W as Parameter>::Real>; D];
    type Real = <W as Parameter>::Real;
    type State = KalmanState<W, N>;
    type Reading = W;
    const DIRECTIONS: usize = <W::Tangent as Tangent<Self::Real>>::DIRECTIONS;
    const FORMAT: NumberFormat = W::FORMAT;

    #[inline(always)]
    fn likelihood(
        &self,
    ) -> impl Streaming<Observation = Self::Observation, State = Self::State, Reading = W> {
        Marginal::new(Kalman::of(self.system()))
    }

    #[inline]
    fn log_parts(&self, state: &Self::State) -> [W; 2] {
        state.density().log_parts()
    }

    fn validate(&self) -> Result<(), ModelError> {
        self.system().validate()
    }
}
