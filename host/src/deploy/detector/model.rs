//! Parts of a detector, and its file.

use std::collections::BTreeMap;

use fishweir_core::classify::Limit;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::super::attach::{Names, attach};
use super::super::cost::{FilterWork, belief_bytes};
use super::super::error::DeployError;
use super::super::model::DeployedModel;
use super::super::source::EmissionType;
use super::{CalibrationError, Detector};
use crate::classifier::{self, Direction, Observations, Provenance};
use crate::runtime::Hmm;
use crate::runtime::family::reals;

/// A detector of change in `f64`, in the sensor's own units: a fitted model, a direction and calibrated limits.
///
/// It [`deploy`](Self::deploy)s as a [`Detector`]. Its file is JSON with a checksum, as a classifier's is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DetectorModel {
    /// Observations of the model.
    pub observations: Observations,
    /// Model of normal series.
    pub normal: Hmm,
    /// Direction of the expected change; zero if unknown.
    pub direction: Direction,
    /// Length of the memory in samples.
    pub memory: f64,
    /// Limits of the log-likelihood.
    pub fit: ChangeLimit,
    /// Limits of the derivative along the direction.
    pub drift: ChangeLimit,
    /// Provenance of the training; its notes say how the limits were set.
    pub provenance: Provenance,
}

/// Normal range of a statistic, as [`Limit`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeLimit {
    /// Average contribution of an observed sample while nothing changes, in nats.
    pub mean: f32,
    /// Largest distance from zero of the faded sum of deviations from the mean, in nats.
    pub threshold: f32,
}

impl From<ChangeLimit> for Limit {
    fn from(ChangeLimit { mean, threshold }: ChangeLimit) -> Self {
        Self { mean, threshold }
    }
}

impl From<Limit> for ChangeLimit {
    fn from(Limit { mean, threshold }: Limit) -> Self {
        Self { mean, threshold }
    }
}

classifier::has_a_file!(DetectorModel);

impl DetectorModel {
    /// Returns true if a change of a known direction is looked for.
    pub fn has_direction(&self) -> bool {
        self.direction != Direction::zero(&self.normal)
    }

    /// Returns true if bytes are the file of a detector, by the names of its fields.
    ///
    /// The values may still be invalid.
    pub fn is_one(bytes: &[u8]) -> bool {
        let content = classifier::unseal("", bytes).and_then(|content| content.parse());
        content.is_ok_and(|found: BTreeMap<String, IgnoredAny>| {
            ["normal", "direction", "drift"].iter().all(|&name| found.contains_key(name))
        })
    }

    fn check(&self) -> Result<(), String> {
        self.observations.kind().map_err(|error| error.to_string())?;
        let limits = [self.fit, self.drift];
        let good = |limit: &ChangeLimit| limit.mean.is_finite() && limit.threshold > 0.0;
        if !limits.iter().all(good) {
            return Err(
                "a limit whose mean is not finite, or whose threshold is not positive".into()
            );
        }
        if !(self.memory.is_finite() && self.memory >= 1.0) {
            return Err("a memory of less than one sample".into());
        }
        self.deploy().map(drop).map_err(|error| error.to_string())
    }

    /// Converts the detector to the numbers of a device.
    ///
    /// # Errors
    /// [`CalibrationError`] for an invalid model, a direction of another shape, and a number that a device cannot hold.
    pub fn deploy(&self) -> Result<Detector, CalibrationError> {
        Ok(Detector {
            observations: self.observations.clone(),
            model: deployed(&self.normal, &self.direction, &self.observations)?,
            lost: lost(self.memory),
            fit: self.fit.into(),
            drift: self.drift.into(),
            notes: self.provenance.notes.clone(),
            in_part: self.provenance.contract_in_part().lacks_some(),
        })
    }
}

/// `1 - lambda` of a memory in samples.
pub(super) fn lost(memory: f64) -> f32 {
    (1.0 / memory) as f32
}

/// A model in the numbers of a device, with one direction.
///
/// # Errors
/// [`CalibrationError`].
pub(super) fn deployed(
    model: &Hmm,
    direction: &Direction,
    observations: &Observations,
) -> Result<DeployedModel, CalibrationError> {
    model.validate()?;
    if !direction.fits(model, None) {
        return Err(CalibrationError::Shape("the direction"));
    }
    let symbols = matches!(observations, Observations::Symbols(_));
    if observations.size() != model.size() || symbols != model.emission.is_over_symbols() {
        return Err(CalibrationError::Shape("the observation"));
    }
    let attached: Result<_, DeployError> =
        attach((0, Names::of(&[], 1, observations)), model, &[direction], model.states());
    Ok(attached?)
}

/// RAM, flash and work of a detector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DetectorCost {
    /// Bytes of the state on a 32-bit device: the size of the core's `ChangeState`.
    pub state_bytes: usize,
    /// Bytes of the model in flash: the size of the core's `ChangeDetector`.
    pub model_bytes: usize,
    /// Multiply-adds per sample: recursion and emissions, without the exponentials.
    pub multiply_adds_per_sample: usize,
    /// Exponentials per sample.
    pub exponentials_per_sample: usize,
    /// Multiply-adds, at most, that missing channels add to a sample. Zero where none may be missing.
    pub multiply_adds_per_partial_sample: usize,
    /// Logarithms, at most, that missing channels add to a sample.
    pub logarithms_per_partial_sample: usize,
}

impl Detector {
    /// Cost on a device: a forward filter over dual numbers of one direction, and six numbers.
    pub fn cost(&self) -> DetectorCost {
        let emission = EmissionType::of(std::slice::from_ref(&self.model));
        let states = self.states();
        let work = FilterWork::of(states, 1, &emission);
        let weights = 2 * (states + states * states);
        let missing = if self.in_part { states } else { 0 };
        let partial = emission.family.work_of_missing(emission.shape, 1);
        let reals = states * reals(emission.family, emission.shape, 1);
        DetectorCost {
            state_bytes: belief_bytes(states, 1) + FADING,
            model_bytes: 4 * (weights + reals + LIMITS),
            multiply_adds_per_sample: work.multiply_adds,
            exponentials_per_sample: work.exponentials,
            multiply_adds_per_partial_sample: missing * partial.0,
            logarithms_per_partial_sample: missing * partial.1,
        }
    }
}

/// Bytes of the faded sums, in addition to a belief.
const FADING: usize = 24;
/// Numbers of the memory and the two limits.
const LIMITS: usize = 5;

#[cfg(test)]
mod tests {
    use fishweir_core::classify::{ChangeDetector, ChangeState};
    use fishweir_core::emission::Gaussian;
    use fishweir_core::number::Dual;

    use super::*;
    use crate::runtime::Emissions;

    fn model() -> DetectorModel {
        let mean = vec![vec![0.0, 1.0], vec![2.0, -1.0]];
        let normal = Hmm {
            initial: vec![0.5; 2],
            transition: vec![vec![0.9, 0.1], vec![0.2, 0.8]],
            emission: Emissions::gaussian(mean, vec![vec![1.0, 2.0]; 2]),
        };
        DetectorModel {
            observations: Observations::Channels(vec!["x".into(), "y".into()]),
            direction: Direction::offset(&normal, 1).expect("a mean"),
            normal,
            memory: 50.0,
            fit: ChangeLimit { mean: -2.5, threshold: 8.0 },
            drift: ChangeLimit { mean: 0.1, threshold: 3.0 },
            provenance: Provenance::default(),
        }
    }

    #[test]
    fn a_detector_is_read_as_it_was_written() {
        let model = model();
        let text = model.to_json().expect("JSON");
        assert!(DetectorModel::is_one(text.as_bytes()));
        let again = DetectorModel::parse("d.json", text.as_bytes()).expect("the same");
        assert_eq!(again, model);
        assert_eq!(again.deploy().expect("sound"), model.deploy().expect("sound"));
        for spoil in [
            |one: &mut DetectorModel| one.fit.threshold = 0.0,
            |one: &mut DetectorModel| one.memory = 0.5,
            |one: &mut DetectorModel| one.normal.transition.truncate(1),
            |one: &mut DetectorModel| one.observations = Observations::Symbols("HT".into()),
        ] {
            let mut spoilt = model.clone();
            spoil(&mut spoilt);
            let text = spoilt.to_json().expect("JSON");
            assert!(DetectorModel::parse("d.json", text.as_bytes()).is_err());
        }
    }

    #[test]
    fn costs_are_the_sizes_of_the_types() {
        let cost = model().deploy().expect("sound").cost();
        type Emission = Gaussian<2, Dual<f32, 1>>;
        assert_eq!(cost.state_bytes, size_of::<ChangeState<Dual<f32, 1>, 2>>());
        assert_eq!(cost.model_bytes, size_of::<ChangeDetector<Emission, 2, 1>>());
    }
}
