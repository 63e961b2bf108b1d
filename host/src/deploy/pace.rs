//! What a sample takes of a processor and of a battery, as intervals.

use fishweir_core::artefact::Topology;
use serde::Serialize;

use super::source::EmissionType;
use super::{Cost, Deployed};

/// A processor core, by what its instructions do of the work that [`Cost`] counts.
///
/// The first of each pair give a line below all filters of single precision that `firmware/COSTS.md` has measured
/// (categorical and independent Gaussian emissions), the second one above them: so that where a multiply-add is
/// counted dear, an exponential need not be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Core {
    /// As [`Board::core`](crate::device::Board) names it.
    pub name: &'static str,
    /// Instructions a multiply-add, with what goes with it: scaling, loops, loads.
    pub multiply_add: [f64; 2],
    /// Instructions an exponential, or a logarithm.
    pub exponential: [f64; 2],
}

/// Cores whose filters have been measured. Bounds are a tenth wider than what was.
pub const CORES: [Core; 5] = [
    Core { name: "Cortex-M0", multiply_add: [160.0, 240.0], exponential: [2000.0, 4000.0] },
    Core { name: "Cortex-M3", multiply_add: [90.0, 140.0], exponential: [1250.0, 2400.0] },
    Core { name: "Cortex-M4F", multiply_add: [2.5, 5.7], exponential: [54.0, 41.0] },
    Core { name: "Cortex-M33", multiply_add: [2.5, 5.7], exponential: [54.0, 41.0] },
    Core { name: "RV32IMAC", multiply_add: [85.0, 130.0], exponential: [1150.0, 2300.0] },
];

/// Clocks an instruction takes on average: most take one, loads and taken branches two or three. Memory that makes
/// the processor wait comes on top.
///
/// Source: instruction timings in Arm's technical reference manuals of the Cortex-M0, M3 and M4.
pub const CLOCKS: [f64; 2] = [1.0, 2.0];

/// How fast samples come, and what runs there.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// Samples a second.
    pub rate: f64,
    /// Clocks a second.
    pub clock: f64,
    /// Milliamperes while the processor runs; `None` where charge is not asked for.
    pub current: Option<f64>,
    /// Milliamperes while it sleeps.
    pub sleep: f64,
}

/// What a stream takes of a core, from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pace {
    /// The core.
    pub core: &'static str,
    /// Instructions a sample, a decision read after each.
    pub instructions: [f64; 2],
    /// The share of the time that the processor works; above one it does not keep up.
    pub busy: [f64; 2],
    /// Milliampere-hours a day, sensor and radio aside; `None` where not asked for, or where it does not keep up.
    pub charge: Option<[f64; 2]>,
}

impl Core {
    /// Instructions a sample, with a decision after each: the least leaves out what the decision takes. Square
    /// roots, which kernel machines alone take, are not counted.
    #[must_use]
    pub fn instructions(&self, cost: &Cost) -> [f64; 2] {
        let [least, most] = [0, 1].map(|end| {
            cost.multiply_adds_per_sample as f64 * self.multiply_add[end]
                + cost.exponentials_per_sample as f64 * self.exponential[end]
        });
        let more = cost.exponentials_per_decision + cost.logarithms_per_decision;
        let decision = cost.multiply_adds_per_decision as f64 * self.multiply_add[1]
            + more as f64 * self.exponential[1];
        [least, most + decision]
    }

    /// What a stream takes of the core.
    #[must_use]
    pub fn pace(&self, cost: &Cost, setting: &Setting) -> Pace {
        let instructions = self.instructions(cost);
        let busy = [0, 1].map(|end| instructions[end] * CLOCKS[end] * setting.rate / setting.clock);
        let a_day =
            |current: f64| busy.map(|busy| 24.0 * (busy * current + (1.0 - busy) * setting.sleep));
        let charge = setting.current.filter(|_| busy[1] <= 1.0).map(a_day);
        Pace { core: self.name, instructions, busy, charge }
    }
}

impl Deployed {
    /// What a stream takes of each core; `None` of what [`CORES`] were not measured on: kernel machines, profiles,
    /// dynamical systems, emissions other than categorical and independent Gaussian, states that are known, what is behind a
    /// front end.
    #[must_use]
    pub fn paces(&self, setting: &Setting) -> Option<Vec<Pace>> {
        let apart = self.kernel.is_some() || self.has_systems() || self.profile.is_some();
        // What a sample takes between two rows has not been measured.
        if !self.front().is_empty() {
            return None;
        }
        let known = self.order.is_some() || self.topology() == Topology::STEPS;
        if apart || known {
            return None;
        }
        let family = EmissionType::of(&self.models).family;
        let measured = ["categorical", "gaussian"].contains(&family.name());
        let cost = self.cost();
        measured.then(|| CORES.iter().map(|core| core.pace(&cost, setting)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deploy::cost::FilterWork;
    use crate::runtime::Shape;

    /// The measured filters lie within what is told of them, which is not too wide to be of use.
    #[test]
    fn bounds_hold_for_every_filter_measured() {
        let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../firmware/COSTS.md");
        let table = std::fs::read_to_string(table).expect("the table");
        let (mut core, mut rows) = (None, 0);
        for line in table.lines() {
            if let Some(name) = line.strip_prefix("## ") {
                core = CORES.iter().find(|core| core.name == name);
            }
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let [_, emission @ ("categorical" | "Gaussian"), n, size, c, "f32", measured, ..] =
                cells[..]
            else {
                continue;
            };
            let number = |text: &str| text.replace(' ', "").parse::<usize>().expect("a number");
            let (n, size, c) = (number(n), number(&size[2..]), number(c));
            let name = if emission == "Gaussian" { "gaussian" } else { "categorical" };
            let family = crate::runtime::family::family(name).expect("a family");
            let emission = EmissionType { family, shape: Shape { size, components: 1 } };
            let work = FilterWork::of(n, c, &emission);
            let cost = Cost {
                multiply_adds_per_sample: work.multiply_adds,
                exponentials_per_sample: work.exponentials,
                ..Cost::default()
            };
            let core = core.expect("a core that is known");
            let [least, most] = core.instructions(&cost);
            let measured = number(measured) as f64;
            assert!((least..=most).contains(&measured), "{line}: {least} to {most}");
            assert!(most < 3.0 * least, "{line}: {least} to {most} says nothing");
            rows += 1;
        }
        assert!(rows >= 5 * 8, "{rows} rows read");
    }

    #[test]
    fn a_day_costs_what_running_and_sleeping_take() {
        let core = Core { name: "one", multiply_add: [1.0, 2.0], exponential: [0.0, 0.0] };
        let cost = Cost { multiply_adds_per_sample: 100, ..Cost::default() };
        let setting = Setting { rate: 10.0, clock: 8000.0, current: Some(4.0), sleep: 0.5 };
        let pace = core.pace(&cost, &setting);
        assert_eq!((pace.instructions, pace.busy), ([100.0, 200.0], [0.125, 0.5]));
        assert_eq!(pace.charge, Some([24.0 * (0.5 + 0.4375), 24.0 * (2.0 + 0.25)]));
        let late = Setting { clock: 3999.0, ..setting };
        assert_eq!(core.pace(&cost, &late).charge, None, "it does not keep up");
    }
}
