use std::fmt;

use serde::Serialize;

use super::grouped;

/// File that was written, with its main properties.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Written {
    /// Description of the file.
    pub what: String,
    /// The file.
    pub output: String,
    /// Bytes of flash, where it is for a device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flash: Option<usize>,
    /// Bytes of state there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ram: Option<usize>,
    /// Threshold of an alarm's statistic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f32>,
}

impl Written {
    /// Creates a report on a file that takes no room on a device.
    pub fn new(what: String, output: String) -> Self {
        Self { what, output, flash: None, ram: None, threshold: None }
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: written to {}", self.what, self.output)?;
        if let (Some(flash), Some(ram)) = (self.flash, self.ram) {
            let (flash, ram) = (grouped(flash), grouped(ram));
            writeln!(f, "{flash} B of flash and {ram} B of state on a device, code aside")?;
        }
        self.threshold.iter().try_for_each(|threshold| writeln!(f, "threshold {threshold:.3}"))
    }
}
