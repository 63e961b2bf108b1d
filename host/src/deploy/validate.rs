//! The checks of the core over a deployed model.

use std::slice::from_ref;

use fishweir_core::ModelError;
use fishweir_core::emission::Emission;
use fishweir_core::hmm::Hmm;
use fishweir_core::number::Dual;

use super::block::{Build, hmm, states_of};
use super::model::{DeployedModel, States};
use crate::runtime::{CategoricalVec, RowState, with_states};

/// Checks the numbers of a model.
pub(super) fn validate_model(
    model: &DeployedModel,
    states: States,
    directions: usize,
) -> Result<(), ModelError> {
    // Tangents are checked one output at a time: they are the same numbers in any block.
    (0..directions.max(1)).try_for_each(|output| match model.is_over_symbols() {
        true => along::<CategoricalVec<Dual<f32, 1>>>(model, states, output),
        false => along::<RowState<Dual<f32, 1>>>(model, states, output),
    })
}

fn along<E: Build<f32>>(
    model: &DeployedModel,
    states: States,
    output: usize,
) -> Result<(), ModelError> {
    if states == States::Hidden {
        return with_states!(model.initial.len(), N => {
            let hmm: Hmm<E, N> = hmm(model, output);
            validate(&hmm, model.emission.len())
        });
    }
    model.emission.iter().enumerate().try_for_each(|(row, emission)| {
        let [emission] = states_of::<f32, E, 1>(from_ref(emission), output);
        let row = if states == States::Steps { row } else { 0 };
        emission.validate().map_err(|error| error.of_state(row))
    })
}

/// Checks a model at a compiled size, of which `states` states are its own.
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
