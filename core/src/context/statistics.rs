use super::{ContextModel, ContextRule};
use crate::emission::{SufficientStatistics, VectorSpace};
use crate::error::ObservationError;
use crate::filter::{Belief, Streaming};
use crate::number::{Compensated, Number};

/// The sufficient statistics of a stream under a [`ContextModel`], by context: counts of symbols,
/// moments of channels. What a score and an estimate are read from.
///
/// Sums are compensated: after `10^8` samples a count in `f32` has the digits it had after `10^3`.
///
/// State, with `S` statistics an emission: `2 C S` reals and the rule's history. Work per sample: `S` compensated
/// additions, and what the family needs to observe one.
#[derive(Debug)]
pub struct ContextStatistics<'m, R, E, const C: usize> {
    model: &'m ContextModel<R, E, C>,
}

impl<R, E, const C: usize> Clone for ContextStatistics<'_, R, E, C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<R, E, const C: usize> Copy for ContextStatistics<'_, R, E, C> {}

/// State of [`ContextStatistics`]: the position in the string, and compensated sums.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ContextStatisticsState<P, S, const C: usize> {
    history: P,
    sum: [S; C],
    carry: [S; C],
}

impl<'m, R, E, const C: usize> ContextStatistics<'m, R, E, C> {
    /// The statistics of a stream under a model.
    pub const fn of(model: &'m ContextModel<R, E, C>) -> Self {
        Self { model }
    }

    /// The model.
    pub const fn model(&self) -> &'m ContextModel<R, E, C> {
        self.model
    }
}

impl<R, E, const C: usize> Streaming for ContextStatistics<'_, R, E, C>
where
    E: SufficientStatistics,
    R: ContextRule<E::Observation, C>,
{
    type Observation = E::Observation;
    type State = ContextStatisticsState<R::History, E::Statistics, C>;
    /// `[context]`.
    type Reading = [E::Statistics; C];

    fn initial_state(&self) -> Self::State {
        let zero = [E::Statistics::ZERO; C];
        ContextStatisticsState { history: self.model.rule().start(), sum: zero, carry: zero }
    }

    #[inline]
    fn step(&self, state: &mut Self::State, x: &E::Observation) -> Result<(), ObservationError> {
        let (context, next) = self.model.rule().step(state.history, x)?;
        if let Some(context) = context
            && let Some(emission) = self.model.emission().get(context)
            && let (Some(sum), Some(carry)) =
                (state.sum.get_mut(context), state.carry.get_mut(context))
        {
            // Refuses what the likelihood would.
            let mut likelihood = Belief::NEW;
            likelihood.observe(core::array::from_ref(emission), &[E::Real::ONE], x)?;
            let mut term = E::Statistics::ZERO;
            emission.observe(x, E::Real::ONE, &mut term);
            let mut columns = [*sum, *carry, term];
            E::Statistics::across(&mut columns, &mut |[sum, carry, term]| {
                let mut accumulated = Compensated::from_parts(*sum, *carry);
                accumulated.add(*term);
                (*sum, *carry) = accumulated.parts();
            });
            [*sum, *carry, _] = columns;
        }
        state.history = next;
        Ok(())
    }

    #[inline]
    fn step_missing(&self, state: &mut Self::State) {
        state.history = self.model.rule().skip(state.history);
    }

    fn read(&self, state: &Self::State) -> [E::Statistics; C] {
        let mut statistics = state.sum;
        for (sum, carry) in statistics.iter_mut().zip(&state.carry) {
            sum.add_scaled(E::Real::ONE, carry);
        }
        statistics
    }
}
