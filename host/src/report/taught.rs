use std::fmt;

use serde::Serialize;

use super::{counted, grouped};
use crate::deploy::Deployed;
use crate::teach::{Taught, price};

/// Report of classes that were taught.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaughtReport {
    /// The classes, by their places.
    pub classes: Vec<TaughtSummary>,
    /// Bytes of their record.
    pub record_bytes: usize,
    /// The file of the record; `None` if it was not written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Cost on a device.
    pub cost: Option<TeachingCost>,
}

/// A class that was taught.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TaughtSummary {
    /// The name.
    pub class: String,
    /// Windows shown.
    pub windows: u16,
}

/// Classes that the cost of teaching is given for.
const PRICED_CLASSES: usize = 4;

/// Cost of teaching on a device, for at most four taught classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TeachingCost {
    /// Taught classes at most.
    pub classes: usize,
    /// Bytes of flash of the basis.
    pub flash_bytes: usize,
    /// Bytes of RAM of the taught classes.
    pub ram_bytes: usize,
    /// Bytes of the longest record in a slot of flash.
    pub record_bytes: usize,
    /// Multiply-adds per decision.
    pub multiply_adds_per_decision: usize,
}

impl TeachingCost {
    /// Cost of a model; `None` if it cannot be taught.
    #[must_use]
    pub fn of(deployed: &Deployed) -> Option<Self> {
        let [flash_bytes, ram_bytes, record_bytes, multiply_adds_per_decision] =
            price(deployed, PRICED_CLASSES)?;
        let classes = PRICED_CLASSES;
        Some(Self { classes, flash_bytes, ram_bytes, record_bytes, multiply_adds_per_decision })
    }
}

impl fmt::Display for TeachingCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "teaching up to {} classes on a device: {} B of flash, {} B of RAM, {} B in each of two slots, \
             {} multiply-adds per decision",
            self.classes,
            grouped(self.flash_bytes),
            grouped(self.ram_bytes),
            grouped(self.record_bytes),
            grouped(self.multiply_adds_per_decision)
        )
    }
}

impl TaughtReport {
    /// Report of the classes taught to a model, and of the file that they were written to.
    #[must_use]
    pub fn new(
        deployed: &Deployed,
        taught: &Taught,
        record_bytes: usize,
        output: Option<String>,
    ) -> Self {
        let mut classes = Vec::new();
        for (class, windows) in taught.classes() {
            classes.push(TaughtSummary { class: class.to_owned(), windows });
        }
        Self { classes, record_bytes, output, cost: TeachingCost::of(deployed) }
    }
}

impl fmt::Display for TaughtReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.classes.is_empty() {
            writeln!(f, "no taught class")?;
        }
        for TaughtSummary { class, windows } in &self.classes {
            writeln!(f, "{class}: taught by {}", counted(usize::from(*windows), "window"))?;
        }
        if let Some(cost) = &self.cost {
            writeln!(f, "{cost}")?;
        }
        match &self.output {
            Some(output) => writeln!(f, "{} B written to {output}", grouped(self.record_bytes)),
            None => Ok(()),
        }
    }
}
