use std::fmt;

use serde::Serialize;

use super::contract::ContractSummary;
use super::table::{of_missing, on_a_device};
use super::{EmissionSummary, Table, counted, grouped};
use crate::classifier::{Observations, Provenance};
use crate::data::internals::in_one_line;
use crate::deploy::{SpotterCost, SpotterError, SpotterModel};

/// Summary of a spotter and of its cost, before anything is flashed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SpotterInspection {
    /// The file.
    pub file: String,
    /// `spotter`.
    pub form: &'static str,
    /// Bytes of the file.
    pub file_bytes: usize,
    /// Classes of events.
    pub classes: Vec<SpottedSummary>,
    /// Names of the channels; null for symbols.
    pub channels: Option<Vec<String>>,
    /// The symbols in order, words with a line break between them; null for channels.
    pub symbols: Option<String>,
    /// States of the background's model.
    pub background_states: usize,
    /// States of the network, with those that the background is padded by.
    pub states: usize,
    /// Emissions of the states.
    #[serde(flatten)]
    pub emission: EmissionSummary,
    /// Samples after its end within which an event is decided.
    pub lag: u32,
    /// Contract of the training: sample period and channels.
    pub contract: ContractSummary,
    /// Provenance of the training.
    pub provenance: Provenance,
    /// Cost on a device.
    #[serde(flatten)]
    pub cost: SpotterCost,
}

/// A class of a spotter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SpottedSummary {
    /// Name of the class.
    pub class: String,
    /// States of its model.
    pub states: usize,
    /// Samples that its events last on average, as the network has it.
    pub mean_samples: f64,
    /// Probability that it is entered after a sample of background.
    pub entry: f64,
}

impl SpotterInspection {
    /// Summary of a file of `file_bytes` bytes.
    ///
    /// # Errors
    /// [`SpotterError`] for an invalid spotter.
    pub fn new(
        file: String,
        file_bytes: usize,
        model: &SpotterModel,
    ) -> Result<Self, SpotterError> {
        let spotter = model.deploy()?;
        let (channels, symbols) = match &model.observations {
            Observations::Channels(names) => (Some(names.clone()), None),
            Observations::Symbols(symbols) => (None, Some(symbols.clone())),
        };
        let emission = &model.background.emission;
        let classes = model.classes.iter().map(|one| SpottedSummary {
            class: one.name.clone(),
            states: one.model.states(),
            mean_samples: one.exit.recip(),
            entry: one.entry,
        });
        Ok(Self {
            file,
            form: "spotter",
            file_bytes,
            classes: classes.collect(),
            channels,
            symbols,
            background_states: model.background.states(),
            states: spotter.states(),
            emission: EmissionSummary::of(emission.family(), emission.shape()),
            lag: model.lag,
            contract: ContractSummary::new(
                &model.provenance.contract_in_part(),
                &model.observations,
            ),
            provenance: model.provenance.clone(),
            cost: spotter.cost(),
        })
    }
}

impl fmt::Display for SpotterInspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: spotter of events, {} B", self.file, grouped(self.file_bytes))?;
        let observed = match (&self.channels, &self.symbols) {
            (Some(names), _) => {
                format!("{} ({})", counted(names.len(), "channel"), names.join(", "))
            }
            (None, symbols) => {
                symbols.iter().map(|all| format!("symbols {}", in_one_line(all))).collect()
            }
        };
        let classes: usize = self.classes.iter().map(|one| one.states).sum();
        let trained = &self.provenance;
        let mut lines = vec![
            ("observes", observed),
            (
                "network",
                format!(
                    "{}, {}: {classes} of classes and {} of the background",
                    counted(self.states, "state"),
                    self.emission,
                    self.background_states
                ),
            ),
            (
                "decides",
                format!(
                    "at the latest {} after an event's end",
                    counted(self.lag as usize, "sample")
                ),
            ),
            (
                "trained on",
                format!(
                    "{}: {}, {}",
                    trained.named(),
                    counted(trained.series, "series"),
                    counted(trained.windows, "event")
                ),
            ),
        ];
        // An event is of any length: there are no windows.
        let contract = self.contract.lines().into_iter().filter(|(name, _)| *name != "windows");
        lines.splice(3..3, contract);
        let notes = trained.notes.iter().map(|note| ("", note.clone()));
        let version = ("", format!("by fishweir {}", trained.version));
        for (name, value) in lines.into_iter().chain(notes).chain([version]) {
            writeln!(f, "  {name:<14} {value}")?;
        }
        let mut table = Table::new(["class", "states", "mean samples", "entered after a sample"]);
        for SpottedSummary { class, states, mean_samples, entry } in &self.classes {
            let row = [&states.to_string(), &format!("{mean_samples:.0}"), &format!("{entry:.2e}")];
            table.row([class].into_iter().chain(row));
        }
        writeln!(f, "\n{table}")?;
        let cost = &self.cost;
        let rows = [
            ("flash, model", cost.model_bytes, "B"),
            ("RAM, state of one stream", cost.state_bytes, "B"),
            ("multiply-adds per sample", cost.multiply_adds_per_sample, ""),
            ("exponentials per sample", cost.exponentials_per_sample, ""),
            ("logarithms per sample at most", cost.logarithms_per_sample, ""),
        ];
        let missing =
            of_missing(cost.multiply_adds_per_partial_sample, cost.logarithms_per_partial_sample);
        write!(f, "{}", on_a_device(rows.into_iter().chain(missing)))
    }
}
