//! Demand of a stream on processors and batteries, for people.

use std::fmt;

use serde::Serialize;

use super::table::Table;
use crate::deploy::{CLOCKS, CORES, Currents, OperatingPoint, Pace, Work};
use crate::words::{grouped, grouped_to_three_digits, to_three_digits};

/// Pace of a model on several cores, and its charge per day.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Paces {
    /// Operating point: sample rate, clock and current.
    pub setting: OperatingPoint,
    /// Paces by core; null for classifiers that no core was measured on.
    pub cores: Option<Vec<Pace>>,
    /// Paces in fixed point; null for classifiers without fixed point, or not measured.
    pub fixed_point: Option<Vec<Pace>>,
}

impl Paces {
    /// Paces from the work per sample in floating point and in fixed point.
    pub fn new(setting: OperatingPoint, floating: Option<Work>, fixed: Option<Work>) -> Self {
        let of = |work: Option<Work>| {
            work.map(|work| CORES.iter().map(|core| core.pace(&work, &setting)).collect())
        };
        Self { setting, cores: of(floating), fixed_point: of(fixed) }
    }
}

impl fmt::Display for Paces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OperatingPoint { rate, clock, current } = self.setting;
        let Some(cores) = &self.cores else {
            return writeln!(
                f,
                "  instructions per sample: unknown for these models; `fishweir run` counts them on an emulated board"
            );
        };
        let charge = current.map_or("", |_| "mAh a day");
        let heads =
            ["core", "numbers", "instructions per sample", "processor busy", "keeps up", charge];
        let mut table = Table::new(heads);
        let mut row =
            |pace: &Pace| {
                let names = [pace.core.to_owned(), pace.number.to_owned()];
                let percent = pace.busy.map(|busy| grouped_to_three_digits(100.0 * busy));
                table.row(names.into_iter().chain([
                    pace.instructions.map(|count| grouped(count.round() as usize)).join(" to "),
                    format!("{} to {} %", percent[0], percent[1]),
                    pace.keeps_up().word().to_owned(),
                    pace.charge.map_or_else(String::new, |charge| {
                        charge.map(to_three_digits).join(" to ")
                    }),
                ]));
            };
        for (index, core) in CORES.iter().enumerate() {
            cores.get(index).into_iter().for_each(&mut row);
            // Where there is a unit for floats, fixed point is slower.
            let fixed = self.fixed_point.iter().filter(|_| !core.hard_floats);
            fixed.filter_map(|fixed| fixed.get(index)).for_each(&mut row);
        }
        write!(f, "{table}")?;
        write!(
            f,
            "  {} samples per second with a decision after each, at {} MHz and {} to {} clocks per instruction,\n  \
             without wait states of the flash",
            grouped_to_three_digits(rate),
            to_three_digits(clock / 1e6),
            CLOCKS[0],
            CLOCKS[1]
        )?;
        match current {
            Some(Currents { run, sleep }) => writeln!(
                f,
                "; {} mA running, {} mA asleep, without sensor and radio",
                to_three_digits(run[1]),
                to_three_digits(sleep[1])
            ),
            None => writeln!(f),
        }
    }
}
