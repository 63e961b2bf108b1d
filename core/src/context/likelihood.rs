use super::{ContextModel, ContextRule};
use crate::emission::Emission;
use crate::error::ObservationError;
use crate::filter::{Belief, Streaming};
use crate::hmm::{NumberOf, ReadingOf};
use crate::number::Number;

/// The log-likelihood of a [`ContextModel`], and over [`Dual`](crate::number::Dual) weights its
/// directional derivatives.
///
/// ```text
/// log p(x_1..t)   = sum_s log b_c(s)(x_s)
/// d log p(x_1..t) = sum_s d log b_c(s)(x_s) = w . score(x_1..t)
/// ```
///
/// It is the product that the [forward filter](crate::filter::Forward) would form if the state were
/// known, kept in the same numbers: scaled by powers of two, the derivative centred.
///
/// In fixed point it is that sum itself, of integers, and exact: see
/// [`CategoricalLogQ15`](crate::emission::CategoricalLogQ15).
///
/// State: `1 + D` reals, a ledger, and the rule's history. Work per sample: a likelihood and `1 + 2D`
/// multiplications; no logarithm but the family's own.
#[derive(Debug)]
pub struct ContextLikelihood<'m, R, E, const C: usize> {
    model: &'m ContextModel<R, E, C>,
}

impl<R, E, const C: usize> Clone for ContextLikelihood<'_, R, E, C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<R, E, const C: usize> Copy for ContextLikelihood<'_, R, E, C> {}

/// State of a [`ContextLikelihood`]: the position in the string, and the likelihood.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContextBelief<P, X: Number> {
    history: P,
    likelihood: Belief<X, 1>,
}

impl<P: Copy, X: Number> ContextBelief<P, X> {
    /// History that the rule keeps of the stream.
    pub const fn history(&self) -> P {
        self.history
    }

    /// The likelihood, for differences of logarithms.
    pub const fn likelihood(&self) -> &Belief<X, 1> {
        &self.likelihood
    }
}

impl<'m, R, E, const C: usize> ContextLikelihood<'m, R, E, C> {
    /// The likelihood of a stream under a model.
    pub const fn of(model: &'m ContextModel<R, E, C>) -> Self {
        Self { model }
    }

    /// The model.
    pub const fn model(&self) -> &'m ContextModel<R, E, C> {
        self.model
    }
}

impl<R, E, const C: usize> Streaming for ContextLikelihood<'_, R, E, C>
where
    E: Emission,
    R: ContextRule<E::Observation, C>,
{
    type Observation = E::Observation;
    type State = ContextBelief<R::History, NumberOf<E>>;
    /// `log p(x_1..t)`, with its tangent over dual numbers.
    type Reading = ReadingOf<E>;

    #[inline]
    fn initial_state(&self) -> Self::State {
        ContextBelief { history: self.model.rule().start(), likelihood: Belief::NEW }
    }

    #[inline]
    fn step(&self, state: &mut Self::State, x: &E::Observation) -> Result<(), ObservationError> {
        let (context, next) = self.model.rule().step(state.history, x)?;
        if let Some(emission) = context.and_then(|context| self.model.emission().get(context)) {
            state.likelihood.observe_known(emission, x)?;
        }
        state.history = next;
        Ok(())
    }

    #[inline]
    fn step_missing(&self, state: &mut Self::State) {
        state.history = self.model.rule().skip(state.history);
    }

    #[inline]
    fn read(&self, state: &Self::State) -> ReadingOf<E> {
        E::in_units(self.model.emission(), state.likelihood.log())
    }
}
