//! What a stream takes of processors and batteries, for people.

use std::fmt;

use serde::Serialize;

use super::table::Table;
use crate::deploy::{CLOCKS, Pace, Setting};
use crate::words::{grouped, to_three_digits};

/// Whether a model keeps up, and what a day costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Paces {
    /// How fast samples come, and what runs there.
    pub setting: Setting,
    /// By core; null for what no core was measured on.
    pub cores: Option<Vec<Pace>>,
}

impl fmt::Display for Paces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Setting { rate, clock, current, sleep } = self.setting;
        let Some(cores) = &self.cores else {
            return writeln!(
                f,
                "  instructions a sample: not told of these models; `fishweir run` counts them on an emulated board"
            );
        };
        let charge = current.map_or("", |_| "mAh a day");
        let mut table =
            Table::new(["core", "instructions a sample", "processor busy", "keeps up", charge]);
        for Pace { core, instructions, busy, charge } in cores {
            let keeps_up = match busy {
                [_, most] if *most <= 1.0 => "yes",
                [least, _] if *least > 1.0 => "no",
                _ => "perhaps",
            };
            let percent = busy.map(|busy| to_three_digits(100.0 * busy));
            table.row([
                (*core).to_owned(),
                instructions.map(|count| grouped(count.round() as usize)).join(" to "),
                format!("{} to {} %", percent[0], percent[1]),
                keeps_up.to_owned(),
                charge.map_or_else(String::new, |charge| charge.map(to_three_digits).join(" to ")),
            ]);
        }
        write!(f, "{table}")?;
        write!(
            f,
            "  {} samples a second, a decision after each, at {} MHz and {} to {} clocks an instruction,\n  \
             without waits for slow flash",
            to_three_digits(rate),
            to_three_digits(clock / 1e6),
            CLOCKS[0],
            CLOCKS[1]
        )?;
        match current {
            Some(current) => writeln!(
                f,
                "; {} mA running, {} mA asleep, without sensor and radio",
                to_three_digits(current),
                to_three_digits(sleep)
            ),
            None => writeln!(f),
        }
    }
}
