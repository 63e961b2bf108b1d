use std::fmt;

use serde::Serialize;

use super::{DataSummary, counted};
use crate::model::ModelSet;

/// Result of a fit of models alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelsReport {
    /// Data of the fit.
    #[serde(flatten)]
    pub data: DataSummary,
    /// The models, in order.
    pub models: Vec<ModelSummary>,
    /// File of the models.
    pub output: String,
}

/// A fitted model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModelSummary {
    /// Name of a class, or of an item.
    pub name: String,
    /// Kind of model, as a noun.
    pub kind: &'static str,
    /// Entries of its score.
    pub parameters: usize,
}

/// Models that are printed one by one; of more there is a count.
const LISTED: usize = 12;

impl ModelsReport {
    /// Report of a set and its file.
    pub fn of(data: DataSummary, set: &ModelSet, output: String) -> Self {
        let summary = |one: &crate::model::NamedModel| {
            let any = one.model.any();
            ModelSummary { name: one.name.clone(), kind: any.noun(), parameters: any.parameters() }
        };
        Self { data, models: set.models.iter().map(summary).collect(), output }
    }
}

impl fmt::Display for ModelsReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.data)?;
        for ModelSummary { name, kind, parameters } in self.models.iter().take(LISTED) {
            // What has no score has none to count.
            let parameters = match parameters {
                0 => String::new(),
                _ => format!(", {}", counted(*parameters, "parameter")),
            };
            writeln!(f, "{name}: {kind}{parameters}")?;
        }
        if self.models.len() > LISTED {
            writeln!(f, "... and {} more", self.models.len() - LISTED)?;
        }
        writeln!(f, "{} written to {}", counted(self.models.len(), "model"), self.output)
    }
}
