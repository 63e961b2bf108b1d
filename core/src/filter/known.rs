use super::Belief;
use crate::emission::Emission;
use crate::error::ObservationError;
use crate::number::{Parameter, Scalar};

/// Belief of a model whose state is known: one entry, the likelihood.
impl<X: Scalar> Belief<X, 1> {
    /// Takes in a sample that a state which is known emits: by a product, or by a sum where the number
    /// [adds logarithms](Scalar::add_log).
    ///
    /// # Errors
    /// An invalid or impossible observation. The state is unchanged.
    #[inline]
    pub(crate) fn observe_known<E>(
        &mut self,
        emission: &E,
        x: &E::Observation,
    ) -> Result<(), ObservationError>
    where
        E: Emission<Weight = X::Weight>,
        X::Weight: Parameter<LogScale = X::LogScale>,
    {
        match X::add_log(&mut self.ledger, || emission.log_likelihood(x)) {
            Some(true) => {
                (self.row, self.age) = ([X::ONE], 1);
                Ok(())
            }
            Some(false) => {
                emission.check(x)?;
                Err(ObservationError::Impossible)
            }
            None => {
                let before = if self.is_new() { [X::ONE] } else { self.row };
                self.observe(core::array::from_ref(emission), &before, x)
            }
        }
    }
}
