//! Published power consumption of parts.

use serde::Serialize;

use super::PROJECT_BOARDS;
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

    /// Published current of a part at a clock, from the folder of any board that has it; `None` if nothing was found.
    #[must_use]
    pub fn of(clock: Clock) -> Option<&'static Self> {
        let published = PROJECT_BOARDS.iter().filter_map(|board| board.power.as_ref());
        published.into_iter().find(|power| power.part == clock.part && power.hertz == clock.hertz)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_published_is_in_order() {
        let published: Vec<&Power> =
            PROJECT_BOARDS.iter().filter_map(|board| board.power.as_ref()).collect();
        assert!(published.len() >= 6);
        for &Power { part, currents: Currents { run, sleep }, .. } in &published {
            assert!(0.0 < sleep[0] && sleep[0] <= sleep[1] && sleep[1] < run[0], "{part}");
            assert!(run[0] <= run[1], "{part}");
        }
        let &Power { part, hertz, .. } = published[0];
        assert!(Power::of(Clock { hertz, part }).is_some());
        assert_eq!(Power::of(Clock { hertz: hertz + 1, part }), None, "a figure is of one clock");
    }
}
