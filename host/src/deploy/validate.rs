//! The checks of the core over a deployed classifier.

use std::borrow::Cow;

use fishweir_core::emission::Emission;
use fishweir_core::hmm::Hmm;
use fishweir_core::number::Dual;
use fishweir_core::{ErrorKind, ModelError, Part};

use super::block::hmm;
use super::{Deployed, DeployedEmission, DeployedModel, DeployedProfile, DeployedSystem};
use crate::runtime::{CategoricalVec, RowState, with_states};

impl Deployed {
    /// Checks every number by the core's own checks.
    ///
    /// # Errors
    /// The core's name for the first that is wrong.
    pub fn validate(&self) -> Result<(), ModelError> {
        self.systems.iter().try_for_each(DeployedSystem::validate)?;
        self.profile.iter().try_for_each(DeployedProfile::validate)?;
        self.each_model().try_for_each(|(_, model)| self.validate_model(&model))?;
        self.validate_outputs()?;
        let mut codebooks = self.codebooks.iter();
        codebooks.try_for_each(|books| books.validate(books.largest()))?;
        self.confidence.as_ref().map_or(Ok(()), |confidence| confidence.of_core().validate())
    }

    /// The models and their numbers; of words each context as one of its own.
    pub(super) fn each_model(&self) -> impl Iterator<Item = (usize, Cow<'_, DeployedModel>)> {
        self.models.iter().enumerate().flat_map(|(index, model)| {
            let (whole, contexts) = match self.order {
                None => (Some(Cow::Borrowed(model)), &[][..]),
                Some(_) => (None, model.emission.as_slice()),
            };
            let one = |row: &DeployedEmission| {
                let (initial, transition) = (model.initial.clone(), model.transition.clone());
                Cow::Owned(DeployedModel { initial, transition, emission: vec![row.clone()] })
            };
            whole.into_iter().chain(contexts.iter().map(one)).map(move |model| (index, model))
        })
    }

    /// Checks the numbers of one of its models.
    pub(super) fn validate_model(&self, model: &DeployedModel) -> Result<(), ModelError> {
        with_states!(model.initial.len(), N => {
            // Tangents are checked one output at a time: they are the same numbers in any block.
            for output in 0..self.directions().max(1) {
                if model.is_over_symbols() {
                    let hmm: Hmm<CategoricalVec<Dual<f32, 1>>, N> = hmm(model, output);
                    validate(&hmm, model.emission.len())?;
                } else {
                    let hmm: Hmm<RowState<Dual<f32, 1>>, N> = hmm(model, output);
                    validate(&hmm, model.emission.len())?;
                }
            }
        });
        Ok(())
    }

    /// Checks weights and biases.
    pub(super) fn validate_outputs(&self) -> Result<(), ModelError> {
        let tables = self.weights.iter().map(|row| (Part::LikelihoodWeight, row.as_slice()));
        for (row, (part, values)) in
            tables.chain([(Part::Bias, self.biases.as_slice())]).enumerate()
        {
            if let Some(entry) = values.iter().position(|value| !value.is_finite()) {
                return Err(ModelError::new(part, ErrorKind::NotFinite, row, entry));
            }
        }
        Ok(())
    }
}

/// Checks a model at a compiled size, of which so many states are its own.
pub(super) fn validate<E: Emission, const N: usize>(
    hmm: &Hmm<E, N>,
    states: usize,
) -> Result<(), ModelError> {
    hmm.chain().validate()?;
    let mut emissions = hmm.emission().iter().take(states).enumerate();
    emissions.try_for_each(|(state, emission)| {
        emission.validate().map_err(|error| error.of_state(state))
    })
}
