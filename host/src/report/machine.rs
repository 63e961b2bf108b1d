use std::fmt;

use serde::Serialize;

use super::{Table, counted, grouped};
use crate::classifier::Observations;
use crate::deploy::{Machine, MachineCost, Route};

/// What a kernel machine is and what it costs, before anything is flashed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MachineInspection {
    /// The file.
    pub file: String,
    /// `kernel machine`.
    pub form: &'static str,
    /// Bytes of the file.
    pub file_bytes: usize,
    /// The kernel, in words.
    pub kernel: String,
    /// Classes.
    pub classes: Vec<String>,
    /// What it observes.
    pub observations: Observations,
    /// Items that were trained on.
    pub trained_items: usize,
    /// Of them, stored on the device.
    pub items: usize,
    /// Entries of an item: symbols, or score entries.
    pub entries: usize,
    /// Models that the kernel needs.
    pub models: usize,
    /// Hidden states of each.
    pub states: usize,
    /// Outputs: one for two classes, else one a class.
    pub outputs: usize,
    /// What it costs on a device.
    #[serde(flatten)]
    pub cost: MachineCost,
    /// The ways to such a decision, the one taken first.
    pub routes: Vec<Route>,
}

impl MachineInspection {
    /// Of a deployed machine, from a file of so many bytes that has so many items.
    #[must_use]
    pub fn new(file: String, file_bytes: usize, trained_items: usize, machine: &Machine) -> Self {
        Self {
            file,
            form: "kernel machine",
            file_bytes,
            kernel: machine.kernel_name(),
            classes: machine.classes().to_vec(),
            observations: machine.observations().clone(),
            trained_items,
            items: machine.items(),
            entries: machine.entries(),
            models: machine.models(),
            states: machine.states(),
            outputs: machine.outputs(),
            cost: machine.cost(),
            routes: machine.routes(),
        }
    }
}

impl fmt::Display for MachineInspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}, {} B", self.file, self.form, grouped(self.file_bytes))?;
        let models = counted(self.models, "model");
        let lines = [
            ("kernel", self.kernel.clone()),
            ("classes", format!("{} ({})", self.classes.len(), self.classes.join(", "))),
            ("observes", self.observations.to_string()),
            ("models", format!("{models} of {}", counted(self.states, "hidden state"))),
            (
                "stored",
                format!(
                    "{} of {} entries, of {} trained on; {}",
                    counted(self.items, "item"),
                    grouped(self.entries),
                    grouped(self.trained_items),
                    counted(self.outputs, "output")
                ),
            ),
        ];
        for (name, value) in lines {
            writeln!(f, "  {name:<14} {value}")?;
        }
        let mut table = Table::new(["on a device", ""]);
        let mut row = |name: &str, value: usize, unit: &str| {
            table.row([name.to_owned(), format!("{} {unit}", grouped(value)).trim_end().into()]);
        };
        row("flash, machine", self.cost.model_bytes, "B");
        row("RAM, state of one stream", self.cost.state_bytes, "B");
        row("multiply-adds a sample", self.cost.multiply_adds_per_sample, "");
        row("exponentials a sample", self.cost.exponentials_per_sample, "");
        row("multiply-adds a decision", self.cost.multiply_adds_per_decision, "");
        row("exponentials a decision", self.cost.exponentials_per_decision, "");
        row("logarithms a decision", self.cost.logarithms_per_decision, "");
        write!(f, "\n{table}{}", RouteTable(&self.routes))
    }
}

/// The ways to a decision: what each costs, and why it was taken or not.
pub(super) struct RouteTable<'a>(pub(super) &'a [Route]);

impl fmt::Display for RouteTable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.len() < 2 {
            return Ok(());
        }
        let heads = ["route", "RAM", "flash", "multiply-adds a sample", "a decision"];
        let mut table = Table::new(heads);
        let known = |value: Option<usize>, unit: &str| {
            value.map_or("by items".into(), |value| format!("{}{unit}", grouped(value)))
        };
        for route in self.0 {
            table.row([
                format!("{}{}", route.name, if route.taken { " (taken)" } else { "" }),
                format!("{} B", grouped(route.state_bytes)),
                known(route.model_bytes, " B"),
                grouped(route.multiply_adds_per_sample),
                known(route.multiply_adds_per_decision, ""),
            ]);
        }
        write!(f, "\n{table}")?;
        self.0.iter().try_for_each(|route| writeln!(f, "  {}: {}", route.name, route.why))
    }
}
