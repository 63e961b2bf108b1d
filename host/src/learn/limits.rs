//! Limits on the cost of a classifier on a device.

use std::fmt;

use serde::Serialize;

use crate::deploy::Cost;

/// Resource of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// Bytes of the model in flash.
    Flash,
    /// Bytes of a stream's state.
    Ram,
    /// Multiply-adds per sample.
    Operations,
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Flash => "bytes of flash",
            Self::Ram => "bytes of RAM",
            Self::Operations => "multiply-adds per sample",
        })
    }
}

/// The most that a classifier may take on a device; `None` where it does not matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Bytes of the model in flash.
    pub flash: Option<usize>,
    /// Bytes of a stream's state.
    pub ram: Option<usize>,
    /// Multiply-adds per sample.
    pub operations: Option<usize>,
}

impl Limits {
    /// First excess of a cost: the amount, the limit and the resource.
    pub(crate) fn excess(&self, cost: &Cost) -> Option<(usize, usize, Resource)> {
        let each = [
            (self.flash, cost.model_bytes, Resource::Flash),
            (self.ram, cost.state_bytes, Resource::Ram),
            (self.operations, cost.multiply_adds_per_sample, Resource::Operations),
        ];
        let over = |(most, takes, what): (Option<usize>, usize, _)| {
            most.filter(|&most| takes > most).map(|most| (takes, most, what))
        };
        each.into_iter().find_map(over)
    }
}
