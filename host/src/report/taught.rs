use std::fmt;

use serde::Serialize;

use super::grouped;
use crate::deploy::Deployed;
use crate::teach::price;

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
