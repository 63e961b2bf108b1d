//! Demand of a sample on a processor and on a battery, as intervals.

use serde::{Deserialize, Serialize};

use super::cost::Cost;
use super::deployed::Deployed;
use super::engine::Engine;
use super::fixed::FixedPoint;
use super::model::States;

/// Instructions of the work that [`Cost`] counts, in one format of numbers.
///
/// The first of each pair give a line below all filters that `firmware/COSTS.md` has measured in that format
/// (categorical and independent Gaussian emissions), the second one above them: so that where a multiply-add is
/// counted dear, an exponential need not be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Takes {
    /// Instructions per multiply-add, with its share of scaling, loops and loads.
    pub multiply_add: [f64; 2],
    /// Instructions per exponential, or per logarithm; in fixed point with the other work of a state.
    pub exponential: [f64; 2],
}

/// A processor core, by the cost of its instructions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Core {
    /// Name, as in [`Board::core`](crate::device::Board).
    pub name: &'static str,
    /// `true` if it has a unit for `f32`.
    pub hard_floats: bool,
    /// Work in floating point.
    pub f32: Takes,
    /// Work in fixed point of 16 bits.
    pub q15: Takes,
}

/// Cores whose filters have been measured. Bounds are a tenth wider than what was, in fixed point a twentieth: a filter
/// of two states takes most of its instructions between multiply-adds.
pub const CORES: [Core; 5] = [
    Core {
        name: "Cortex-M0",
        hard_floats: false,
        f32: Takes { multiply_add: [160.0, 240.0], exponential: [2000.0, 4000.0] },
        q15: Takes { multiply_add: [6.9, 20.0], exponential: [183.0, 219.0] },
    },
    Core {
        name: "Cortex-M3",
        hard_floats: false,
        f32: Takes { multiply_add: [90.0, 140.0], exponential: [1250.0, 2400.0] },
        q15: Takes { multiply_add: [4.6, 13.0], exponential: [127.0, 183.0] },
    },
    Core {
        name: "Cortex-M4F",
        hard_floats: true,
        f32: Takes { multiply_add: [2.5, 5.7], exponential: [54.0, 41.0] },
        q15: Takes { multiply_add: [4.4, 13.0], exponential: [123.0, 161.0] },
    },
    Core {
        name: "Cortex-M33",
        hard_floats: true,
        f32: Takes { multiply_add: [2.5, 5.7], exponential: [54.0, 41.0] },
        q15: Takes { multiply_add: [4.4, 13.0], exponential: [130.0, 244.0] },
    },
    Core {
        name: "RV32IMAC",
        hard_floats: false,
        f32: Takes { multiply_add: [85.0, 130.0], exponential: [1150.0, 2300.0] },
        q15: Takes { multiply_add: [6.3, 16.5], exponential: [146.0, 98.0] },
    },
];

/// Clocks an instruction takes on average: most take one, loads and taken branches two or three. Memory that makes
/// the processor wait comes on top.
///
/// Source: instruction timings in Arm's technical reference manuals of the Cortex-M0, M3 and M4.
pub const CLOCKS: [f64; 2] = [1.0, 2.0];

/// Operating point: sample rate, clock and current.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OperatingPoint {
    /// Samples per second.
    pub rate: f64,
    /// Clocks per second.
    pub clock: f64,
    /// Milliamperes while the processor runs and while it sleeps, from the least to the most; `None` where charge is
    /// not asked for.
    pub current: Option<Currents>,
}

/// Current of a part in milliamperes, from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Currents {
    /// While its processor runs.
    pub run: [f64; 2],
    /// While it sleeps.
    pub sleep: [f64; 2],
}

/// Demand of a stream on a core, from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pace {
    /// The core.
    pub core: &'static str,
    /// `f32`, or `q15` of fixed point.
    pub number: &'static str,
    /// Instructions per sample, a decision read after each.
    pub instructions: [f64; 2],
    /// The share of the time that the processor works; above one it does not keep up.
    pub busy: [f64; 2],
    /// Milliampere-hours per day, sensor and radio aside; `None` where not asked for, or where it does not keep up.
    pub charge: Option<[f64; 2]>,
}

/// Answer to whether a part suffices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Enough {
    /// The part suffices, even for the largest demand.
    Yes,
    /// The part suffices for the least demand, but not for the largest.
    Perhaps,
    /// The part does not suffice, even for the least demand.
    No,
}

impl Enough {
    /// Compares the supply with the least and the largest demand.
    pub fn of<T: PartialOrd>(there: T, [least, most]: [T; 2]) -> Self {
        if most <= there {
            Self::Yes
        } else if least <= there {
            Self::Perhaps
        } else {
            Self::No
        }
    }

    /// Combines two answers: both must hold.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Perhaps, _) | (_, Self::Perhaps) => Self::Perhaps,
            (Self::Yes, Self::Yes) => Self::Yes,
        }
    }

    /// `yes`, `perhaps` or `no`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Perhaps => "perhaps",
            Self::No => "no",
        }
    }
}

impl Pace {
    /// Returns whether the processor keeps up.
    pub fn keeps_up(&self) -> Enough {
        Enough::of(1.0, self.busy)
    }
}

/// Cost of a classifier, by the format of its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Floating point of 32 bits.
    F32(Cost),
    /// Fixed point of 16.
    Q15(Cost),
}

impl Core {
    /// The core that runs the instructions of one of this name: a Cortex-M0+ has those of a Cortex-M0, a core without
    /// atomic instructions all others, a Cortex-M4 without a unit for floats no more that count here than a Cortex-M3, and a
    /// Cortex-M7 those of a Cortex-M4F.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        let same = match name {
            "Cortex-M0+" => "Cortex-M0",
            "Cortex-M4" => "Cortex-M3",
            "Cortex-M7" => "Cortex-M4F",
            "RV32IMC" => "RV32IMAC",
            name => name,
        };
        CORES.iter().find(|core| core.name == same)
    }

    /// Instructions per sample, with a decision after each: the least leaves out what the decision takes, which is read
    /// in `f32` from fixed point too, and what missing channels take. Square roots, which kernel machines alone take, are
    /// not counted; a logarithm counts as an exponential.
    #[must_use]
    pub fn instructions(&self, work: &Work) -> [f64; 2] {
        let (takes, cost) = match work {
            Work::F32(cost) => (&self.f32, cost),
            Work::Q15(cost) => (&self.q15, cost),
        };
        let at = |end: usize| {
            cost.multiply_adds_per_sample as f64 * takes.multiply_add[end]
                + cost.exponentials_per_sample as f64 * takes.exponential[end]
        };
        let (least, most) = (at(0), at(1));
        let more = cost.exponentials_per_decision + cost.logarithms_per_decision;
        let decision = cost.multiply_adds_per_decision as f64 * self.f32.multiply_add[1]
            + more as f64 * self.f32.exponential[1];
        let missing = cost.multiply_adds_per_partial_sample as f64 * takes.multiply_add[1]
            + cost.logarithms_per_partial_sample as f64 * takes.exponential[1];
        [least, most + decision + missing]
    }

    /// Demand of a stream on the core.
    #[must_use]
    pub fn pace(&self, work: &Work, setting: &OperatingPoint) -> Pace {
        let instructions = self.instructions(work);
        let busy = [0, 1].map(|end| instructions[end] * CLOCKS[end] * setting.rate / setting.clock);
        let a_day = |Currents { run, sleep }: Currents| {
            [0, 1].map(|end| 24.0 * (busy[end] * run[end] + (1.0 - busy[end]) * sleep[end]))
        };
        let charge = setting.current.filter(|_| busy[1] <= 1.0).map(a_day);
        let number = match work {
            Work::F32(_) => "f32",
            Work::Q15(_) => "q15",
        };
        Pace { core: self.name, number, instructions, busy, charge }
    }
}

/// Cost of a classifier on a device, with the time that a sample takes where it is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceCost {
    /// Memory and operations.
    #[serde(flatten)]
    pub cost: Cost,
    /// Seconds per sample on a Cortex-M4F at 64 MHz, from the least to the most, a decision read after each; null for
    /// classifiers that were not measured.
    pub seconds_per_sample: Option<[f64; 2]>,
}

/// The core of [`DeviceCost`] among [`CORES`], and its clocks per second.
const TIMED: (usize, f64) = (2, 64e6);

impl Deployed {
    /// Cost on a device, with the time that a sample takes.
    #[must_use]
    pub fn device_cost(&self) -> DeviceCost {
        let (core, clock) = TIMED;
        let setting = OperatingPoint { rate: 1.0, clock, current: None };
        let seconds = self.work().map(|work| CORES[core].pace(&work, &setting).busy);
        DeviceCost { cost: self.cost(), seconds_per_sample: seconds }
    }

    /// Work per sample; `None` for classifiers that [`CORES`] were not measured on.
    ///
    /// Those are kernel machines, profiles, dynamical systems, emissions other than categorical and independent Gaussian, known
    /// states, and all behind a front end.
    #[must_use]
    pub fn work(&self) -> Option<Work> {
        // The cost of a sample between two rows has not been measured.
        if !self.front().is_empty() {
            return None;
        }
        let Engine::Bank(bank) = &self.engine else { return None };
        let measured = bank.states == States::Hidden
            && ["categorical", "gaussian"].contains(&bank.emission().family.name());
        measured.then(|| Work::F32(self.cost()))
    }
}

impl FixedPoint {
    /// Work per sample; `None` for known states, which [`CORES`] were not measured on.
    #[must_use]
    pub fn work(&self) -> Option<Work> {
        (self.engine.states == States::Hidden).then(|| Work::Q15(self.cost()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classifier::{CodebooksSize, Observations};
    use crate::data::Lags;
    use crate::data::internals::FrontEnd;
    use crate::deploy::cost::{FilterWork, Priced, codebooks_cost};
    use crate::deploy::fixed::FixedShape;
    use crate::deploy::source::EmissionType;
    use crate::runtime::Shape;

    fn page(path: &str) -> String {
        let path = format!("{}/../{path}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).expect("the page")
    }

    fn number(text: &str) -> usize {
        text.replace(' ', "").parse().expect("a number")
    }

    fn type_of(emission: &str, size: usize) -> EmissionType {
        let name = if emission == "Gaussian" { "gaussian" } else { "categorical" };
        let family = crate::runtime::family::family(name).expect("a family");
        EmissionType { family, shape: Shape { size, components: 1 } }
    }

    #[track_caller]
    fn holds(core: &Core, work: &Work, measured: usize, line: &str) {
        let [least, most] = core.instructions(work);
        assert!((least..=most).contains(&(measured as f64)), "{line}: {least} to {most}");
    }

    fn fixed(
        emission: &str,
        [models, states, size, outputs]: [usize; 4],
        lags: Lags,
    ) -> FixedShape {
        let observations = match emission {
            "Gaussian" => {
                Observations::Channels((0..size).map(|channel| channel.to_string()).collect())
            }
            _ => Observations::Symbols(('a'..).take(size).collect()),
        };
        let directions = if outputs == 0 { 0 } else { outputs };
        let hidden = States::Hidden;
        FixedShape {
            states: hidden,
            observations,
            models,
            rows: states,
            directions,
            outputs,
            lags,
            in_part: false,
        }
    }

    /// The measured filters lie within the predicted bounds, which are not too wide to be of use.
    #[test]
    fn bounds_hold_for_every_filter_measured() {
        let (mut core, mut rows) = (None, [0, 0]);
        for line in page("firmware/COSTS.md").lines() {
            if let Some(name) = line.strip_prefix("## ") {
                core = CORES.iter().find(|core| core.name == name);
            }
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let [_, emission @ ("categorical" | "Gaussian"), n, size, c, format, measured, ..] =
                cells[..]
            else {
                continue;
            };
            let (n, size, c) = (number(n), number(&size[2..]), number(c));
            let work = match format {
                "f32" => {
                    let work = FilterWork::of(n, c, &type_of(emission, size));
                    Work::F32(Cost {
                        multiply_adds_per_sample: work.multiply_adds,
                        exponentials_per_sample: work.exponentials,
                        ..Cost::default()
                    })
                }
                "Q15" => {
                    let shape = fixed(emission, [1, n, size, c], Lags::default());
                    let Cost { multiply_adds_per_sample, exponentials_per_sample, .. } =
                        shape.cost();
                    Work::Q15(Cost {
                        multiply_adds_per_sample,
                        exponentials_per_sample,
                        ..Cost::default()
                    })
                }
                other => panic!("{line}: {other}"),
            };
            let core = core.expect("a core that is known");
            holds(core, &work, number(measured), line);
            let [least, most] = core.instructions(&work);
            assert!(most < 3.0 * least, "{line}: {least} to {most} says nothing");
            rows[usize::from(format == "Q15")] += 1;
        }
        assert!(rows.iter().all(|&rows| rows >= 5 * 8), "{rows:?} rows read");
    }

    /// Whole classifiers of the recordings lie there too, in both formats: what `fit` takes by default, and two without
    /// lags and codebooks.
    #[test]
    fn bounds_hold_for_the_whole_classifiers_that_were_measured() {
        let lags = Lags::new(vec![1, 2, 4, 8, 16, 32]).expect("lags").apart();
        let (none, front) = (Lags::default(), FrontEnd::default());
        let books = Some(CodebooksSize { books: 24, depth: 256, levels: 2 });
        let (channels, states) = (6, 4);
        let floats = |models, directions, outputs, lags: &Lags, codebooks| {
            let EmissionType { family, shape } = type_of("Gaussian", lags.seen_width(channels));
            let sizes = Priced {
                family,
                shape,
                models,
                states,
                directions,
                outputs,
                channels,
                front: &front,
                lags,
                codebooks,
                channel_bytes: 4,
            };
            Work::F32(sizes.cost())
        };
        let in_fixed = |models, directions, outputs, lags: &Lags, codebooks| {
            let shape = fixed("Gaussian", [models, states, channels, outputs], lags.clone());
            let mut cost = FixedShape { directions, ..shape }.cost();
            cost.multiply_adds_per_sample +=
                codebooks_cost(codebooks, channels, outputs, 2).multiply_adds_per_sample;
            Work::Q15(cost)
        };
        let mut rows = 0;
        for line in page("host/docs/MEASURED.md").lines() {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let (of, board, q15, f32) = match cells[..] {
                [_, of @ ("Bayes" | "Fisher, seven outputs"), board, q15, f32, _, _, _, _] => {
                    (of, board, q15, f32)
                }
                [_, board, q15, f32, "4 744, 8 248 B", _, _, _] => ("default", board, q15, f32),
                _ => continue,
            };
            let (integers, reals) = match of {
                "Bayes" => (in_fixed(7, 0, 7, &none, None), floats(7, 0, 7, &none, None)),
                "default" => (in_fixed(6, 7, 7, &lags, books), floats(6, 7, 7, &lags, books)),
                _ => (in_fixed(7, 7, 7, &none, None), floats(7, 7, 7, &none, None)),
            };
            let name = board.split(' ').next().unwrap_or_default();
            // Other tables are of other things.
            let Some(core) = Core::named(name) else { continue };
            holds(core, &integers, number(q15), line);
            rows += 1;
            // In `f32` the default is too large for the smallest part.
            if f32 != "too large" {
                holds(core, &reals, number(f32), line);
                rows += 1;
            }
        }
        assert_eq!(rows, 4 * 2 + 3 + 2, "figures read");
    }

    #[test]
    fn a_day_costs_what_running_and_sleeping_take() {
        let takes = Takes { multiply_add: [1.0, 2.0], exponential: [0.0, 0.0] };
        let core = Core { name: "one", hard_floats: true, f32: takes, q15: takes };
        let work = Work::F32(Cost { multiply_adds_per_sample: 100, ..Cost::default() });
        let current = Some(Currents { run: [4.0, 5.0], sleep: [0.5, 0.6] });
        let setting = OperatingPoint { rate: 10.0, clock: 8000.0, current };
        let pace = core.pace(&work, &setting);
        assert_eq!((pace.instructions, pace.busy), ([100.0, 200.0], [0.125, 0.5]));
        assert_eq!(pace.charge, Some([24.0 * (0.5 + 0.4375), 24.0 * (2.5 + 0.3)]));
        assert_eq!(pace.keeps_up(), Enough::Yes);
        let late = core.pace(&work, &OperatingPoint { clock: 3999.0, ..setting });
        assert_eq!((late.charge, late.keeps_up()), (None, Enough::Perhaps), "it may not keep up");
        let late = core.pace(&work, &OperatingPoint { clock: 999.0, ..setting });
        assert_eq!(late.keeps_up(), Enough::No);
    }

    #[test]
    fn every_board_has_a_core_that_was_measured() {
        let same = ["Cortex-M0+", "Cortex-M4", "Cortex-M7", "RV32IMC"];
        for name in same.into_iter().chain(CORES.map(|core| core.name)) {
            assert!(Core::named(name).is_some(), "{name}");
        }
        assert_eq!(Core::named("abacus"), None);
    }
}
