//! The checksum by which a device knows a model.

use super::attach::{Names, attach};
use super::error::DeployError;
use super::model::DeployedModel;
use crate::classifier::Observations;
use crate::runtime::Hmm;

/// The CRC-32 of a model as a device holds it, of `states` states and without directions: the core's
/// [`model_checksum`](fishweir_core::artefact::model_checksum).
///
/// # Errors
/// [`DeployError`] naming what `f32` does not hold.
pub fn device_checksum(model: &Hmm, states: usize) -> Result<u32, DeployError> {
    let observations = Observations::Channels(Vec::new());
    let names = Names::of(&[], 1, &observations);
    let deployed: DeployedModel = attach((0, names), model, &[], states)?;
    let mut hasher = crc32fast::Hasher::new();
    deployed.for_each_real(&mut |real: f32| hasher.update(&real.to_le_bytes()));
    Ok(hasher.finalize())
}
