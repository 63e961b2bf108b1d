use std::fmt;

use serde::Serialize;

use super::machine::RouteTable;
use super::{Table, counted, grouped};
use crate::classifier::Provenance;
use crate::deploy::{Cost, Route};

/// What a model is and what it costs, before anything is flashed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// The file.
    pub file: String,
    /// `model` or `artefact`.
    pub form: String,
    /// Bytes of the file.
    pub file_bytes: usize,
    /// `bayes`, `fisher`, `top` or `count`; an artefact does not tell the last three apart, and says
    /// `fisher`.
    pub classifier: String,
    /// How it is computed on a device: `log_likelihoods` or `directions`.
    pub route: String,
    /// Classes.
    pub classes: Vec<String>,
    /// Names of the channels; null for symbols.
    pub channels: Option<Vec<String>>,
    /// The symbols in order; null for channels.
    pub symbols: Option<String>,
    /// Models in the bank.
    pub models: usize,
    /// States of each model.
    pub states: usize,
    /// Whether states follow one another, a position each: known, and not summed over.
    pub known_states: bool,
    /// Outputs: one for two classes, else one a class.
    pub outputs: usize,
    /// Directions that each model carries: the tangent filter's width.
    pub directions: usize,
    /// How evidence grows with length.
    pub normalisation: String,
    /// How it was trained; null for an artefact, which does not say.
    pub provenance: Option<Provenance>,
    /// What it costs on a device.
    #[serde(flatten)]
    pub cost: Cost,
    /// Bytes of its binary artefact: the model, a header and the labels.
    pub artefact_bytes: usize,
    /// The ways to evaluate it, the one taken first.
    pub routes: Vec<Route>,
}

impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}, {} B", self.file, self.form, grouped(self.file_bytes))?;
        let by = |filter| if self.known_states { "position by position" } else { filter };
        let (route, why) = match (self.directions, self.classifier.as_str()) {
            (0, _) => (
                format!("log-likelihoods, {}", by("by the forward filter")),
                "the Bayes rule is linear in them: no direction, no score".to_owned(),
            ),
            (count, name) => {
                let what = match name {
                    "top" => "log-odds of class models and their tangents",
                    "count" => "expected statistics",
                    _ => "Fisher scores",
                };
                let directions = counted(count, "direction");
                (
                    format!("{what} along {directions}, {}", by("by the tangent filter")),
                    format!(
                        "linear in {what}, so compiled to directions: no feature vector and no \
                         training window on the device"
                    ),
                )
            }
        };
        let observed = match (&self.channels, &self.symbols) {
            (Some(names), _) => {
                format!("{} ({})", counted(names.len(), "channel"), names.join(", "))
            }
            (None, Some(symbols)) => {
                format!("{} ({symbols})", counted(symbols.chars().count(), "symbol"))
            }
            (None, None) => "nothing".to_owned(),
        };
        let mut lines = vec![
            ("classifier", format!("{}: {route}", self.classifier)),
            ("", why),
            ("classes", format!("{} ({})", self.classes.len(), self.classes.join(", "))),
            ("observes", observed),
            (
                "models",
                format!(
                    "{} of {}, {}",
                    self.models,
                    counted(
                        self.states,
                        if self.known_states { "position" } else { "hidden state" }
                    ),
                    counted(self.outputs, "output")
                ),
            ),
            ("normalisation", self.normalisation.replace('_', " ")),
        ];
        if let Some(trained) = &self.provenance {
            let windows = match &trained.windowing {
                Some(by) => format!(
                    "{} of {} every {}",
                    counted(trained.windows, "window"),
                    by.length,
                    by.hop
                ),
                None => "in whole".into(),
            };
            let series = counted(trained.series, "series");
            lines.push(("trained on", format!("{}: {series}, {windows}", trained.data)));
            lines.extend(trained.notes.iter().map(|note| ("", note.clone())));
            lines.push(("", format!("by fishweir {}", trained.version)));
        }
        for (name, value) in lines {
            writeln!(f, "  {name:<14} {value}")?;
        }
        let mut table = Table::new(["on a device", ""]);
        let mut row = |name: &str, value: usize, unit: &str| {
            table.row([name.to_owned(), format!("{} {unit}", grouped(value)).trim_end().into()]);
        };
        row("flash, model", self.cost.model_bytes, "B");
        row("RAM, state of one stream", self.cost.state_bytes, "B");
        row("multiply-adds a sample", self.cost.multiply_adds_per_sample, "");
        row("exponentials a sample", self.cost.exponentials_per_sample, "");
        row("logarithms a decision", self.cost.logarithms_per_decision, "");
        row("binary artefact", self.artefact_bytes, "B");
        write!(f, "\n{table}{}", RouteTable(&self.routes))
    }
}
