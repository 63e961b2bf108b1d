//! Published power consumption of parts.

use serde::Serialize;

use crate::deploy::Currents;
use crate::device::{Clock, PowerFile, kept};

/// Current of a part at a clock, from its maker's document.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Power {
    /// The part.
    pub part: &'static str,
    /// Clocks per second.
    pub hertz: u32,
    /// Milliamperes, from the least to the most of the conditions that are published.
    pub currents: Currents,
    /// Conditions of the measurement.
    pub conditions: &'static str,
    /// Sleep mode: RAM is kept, and a timer ends it.
    pub asleep: &'static str,
    /// Title and tables of the document.
    pub source: &'static str,
}

impl Power {
    /// What a board's folder says of a part at a clock. A least figure is a typical one: no document has a minimum.
    pub(super) fn of_file(clock: Clock, file: &PowerFile) -> Self {
        Self {
            part: clock.part,
            hertz: clock.hertz,
            currents: Currents { run: file.run, sleep: file.sleep },
            conditions: kept(&file.conditions),
            asleep: kept(&file.asleep),
            source: kept(&file.source),
        }
    }
}
