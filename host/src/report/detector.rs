use std::fmt;

use serde::Serialize;

use super::contract::ContractSummary;
use super::table::{of_missing, on_a_device};
use super::{EmissionSummary, counted, grouped, to_three_digits};
use crate::classifier::Provenance;
use crate::deploy::{CalibrationError, ChangeLimit, DetectorCost, DetectorModel};

/// Summary of a detector of change and its cost on a device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DetectorInspection {
    /// The file.
    pub file: String,
    /// `detector`.
    pub form: &'static str,
    /// Bytes of the file.
    pub file_bytes: usize,
    /// Description of the observations.
    pub observes: String,
    /// Hidden states of the model.
    pub states: usize,
    /// Emissions of the states.
    #[serde(flatten)]
    pub emission: EmissionSummary,
    /// Length of the memory in samples.
    pub memory: f64,
    /// Limits of the log-likelihood, in nats.
    pub fit: ChangeLimit,
    /// `true` if a change of a known direction is looked for.
    pub has_direction: bool,
    /// Limits of the derivative along the change.
    pub drift: ChangeLimit,
    /// Contract of the training: sample period and channels.
    pub contract: ContractSummary,
    /// Provenance of the training.
    pub provenance: Provenance,
    /// Cost on a device.
    #[serde(flatten)]
    pub cost: DetectorCost,
}

impl DetectorInspection {
    /// Summary of a file of `file_bytes` bytes.
    ///
    /// # Errors
    /// [`CalibrationError`] for an invalid detector.
    pub fn new(
        file: String,
        file_bytes: usize,
        model: &DetectorModel,
    ) -> Result<Self, CalibrationError> {
        let detector = model.deploy()?;
        let emission = &model.normal.emission;
        Ok(Self {
            file,
            form: "detector",
            file_bytes,
            observes: model.observations.to_string(),
            states: detector.states(),
            emission: EmissionSummary::of(emission.family(), emission.shape()),
            memory: model.memory,
            fit: model.fit,
            has_direction: model.has_direction(),
            drift: model.drift,
            contract: ContractSummary::new(
                &model.provenance.contract_in_part(),
                &model.observations,
            ),
            provenance: model.provenance.clone(),
            cost: detector.cost(),
        })
    }
}

impl fmt::Display for DetectorInspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: detector of change, {} B", self.file, grouped(self.file_bytes))?;
        let limit = |ChangeLimit { mean, threshold }: ChangeLimit| {
            format!(
                "alarm if the sum of recent deviations is beyond ±{}; mean {} per sample",
                to_three_digits(threshold.into()),
                to_three_digits(mean.into())
            )
        };
        let trained = &self.provenance;
        let mut lines = vec![
            ("observes", self.observes.clone()),
            ("model", format!("{}, {}", counted(self.states, "hidden state"), self.emission)),
            ("memory", format!("{} samples", to_three_digits(self.memory))),
            ("likelihood", limit(self.fit)),
        ];
        if self.has_direction {
            lines.push(("change", limit(self.drift)));
        }
        let contract = self.contract.lines().into_iter().filter(|(name, _)| *name != "windows");
        lines.extend(contract);
        let series = counted(trained.series, "series");
        lines.push(("trained on", format!("{}: {series}", trained.named())));
        let notes = trained.notes.iter().map(|note| ("", note.clone()));
        let version = ("", format!("by fishweir {}", trained.version));
        for (name, value) in lines.into_iter().chain(notes).chain([version]) {
            writeln!(f, "  {name:<14} {value}")?;
        }
        let cost = &self.cost;
        let rows = [
            ("flash, model", cost.model_bytes, "B"),
            ("RAM, state of one stream", cost.state_bytes, "B"),
            ("multiply-adds per sample", cost.multiply_adds_per_sample, ""),
            ("exponentials per sample", cost.exponentials_per_sample, ""),
        ];
        let missing =
            of_missing(cost.multiply_adds_per_partial_sample, cost.logarithms_per_partial_sample);
        write!(f, "\n{}", on_a_device(rows.into_iter().chain(missing)))
    }
}
