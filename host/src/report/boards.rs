//! Boards that suit a model: room, time and battery, for people.

use std::fmt;

use serde::Serialize;

use super::table::Table;
use crate::deploy::{CLOCKS, Enough, OperatingPoint, Pace};
use crate::device::Clock;
use crate::project::{PROJECT_BOARDS, Power, ProjectBoard, ProjectModel, Room};
use crate::words::{grouped, grouped_to_three_digits, to_three_digits};

/// Samples of a project's self-test: from none, if streams are very short, to sixty-four each of four recordings.
const SELF_TEST: [usize; 2] = [0, 4 * 64];

/// A model on every board, in every format that it has.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Boards {
    /// Samples per second, where that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Boards, by name and number format.
    pub boards: Vec<OnBoard>,
}

/// A model on a board, in one format.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OnBoard {
    /// The board.
    pub board: &'static str,
    /// The core on it.
    pub core: &'static str,
    /// Clocks per second, and of which part.
    pub clock_hertz: u32,
    /// The part.
    pub part: &'static str,
    /// `f32`, or `q15` of fixed point.
    pub number: &'static str,
    /// Use of the memories.
    #[serde(flatten)]
    pub room: Room,
    /// Answer to whether the memories suffice.
    pub holds: Enough,
    /// Demand on the core; null without a rate, and for models that no core was measured on.
    pub pace: Option<Pace>,
    /// Published current of the part; null if nothing was found.
    pub power: Option<&'static Power>,
    /// `true` if the core has a unit for `f32`.
    #[serde(skip)]
    hard_floats: bool,
}

impl Boards {
    /// Boards for a model in all its formats, at a rate if requested.
    pub fn new(formats: &[ProjectModel<'_>], rate: Option<f64>) -> Self {
        let on = |board: &'static ProjectBoard| {
            formats.iter().map(move |&model| OnBoard::of(board, model, SELF_TEST, rate))
        };
        Self { rate, boards: PROJECT_BOARDS.iter().flat_map(on).collect() }
    }

    /// Line on the boards that hold the model in a number format; empty without such a format.
    fn line(&self, number: &str) -> Option<String> {
        let of: Vec<_> = self.boards.iter().filter(|one| one.number == number).collect();
        let names = |holds: Enough| {
            let short = |one: &&OnBoard| one.short();
            let of = of.iter().copied().filter(move |one| one.holds == holds);
            of.map(|one| short(&one)).collect::<Vec<_>>().join(", ")
        };
        let what = if number == "q15" { "fixed point" } else { number };
        let not = [(Enough::No, "no room on"), (Enough::Perhaps, "perhaps on")]
            .map(|(holds, words)| (words, names(holds)));
        let not: Vec<String> = not
            .into_iter()
            .filter(|(_, names)| !names.is_empty())
            .map(|(words, names)| format!("{words} {names}"))
            .collect();
        let fits = of.iter().filter(|one| one.holds == Enough::Yes).count();
        (!of.is_empty()).then(|| match (not.is_empty(), fits) {
            (true, _) => format!("in {what}: room on every board"),
            (false, 0) => format!("in {what}: {}", not.join("; ")),
            (false, _) => format!("in {what}: {}; room on all others", not.join("; ")),
        })
    }
}

impl OnBoard {
    /// Suitability of a board for a model, with `self_test` samples for its self-test.
    pub fn of(
        board: &'static ProjectBoard,
        model: ProjectModel<'_>,
        self_test: [usize; 2],
        rate: Option<f64>,
    ) -> Self {
        let room = Room::of(board, model, self_test);
        let Clock { hertz, part } = board.clock;
        let (core, power) = (board.takes(), board.power());
        let pace = rate.zip(core).zip(model.work()).map(|((rate, core), work)| {
            let current = power.map(|power| power.currents);
            core.pace(&work, &OperatingPoint { rate, clock: hertz.into(), current })
        });
        Self {
            board: board.name,
            core: board.core,
            clock_hertz: hertz,
            part,
            number: model.number(),
            room,
            holds: room.holds(),
            pace,
            power,
            hard_floats: core.is_some_and(|core| core.hard_floats),
        }
    }

    /// The same for an image that takes this room.
    #[must_use]
    pub fn with_room(self, room: Room) -> Self {
        Self { room, holds: room.holds(), ..self }
    }

    /// Describes the shortage in a few words.
    pub fn short(&self) -> String {
        format!("{} ({})", self.board, self.room.short())
    }
}

impl fmt::Display for Boards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in ["f32", "q15"].into_iter().filter_map(|number| self.line(number)) {
            writeln!(f, "  {line}")?;
        }
        let Some(rate) = self.rate else { return Ok(()) };
        writeln!(f)?;
        let heads = [
            "board",
            "core",
            "MHz",
            "numbers",
            "room",
            "instructions per sample",
            "busy",
            "keeps up",
            "mAh a day",
        ];
        let mut table = Table::new(heads);
        // Fixed point is for parts without a unit for floats: elsewhere it is slower.
        let told = self.boards.iter().filter(|one| one.number == "f32" || !one.hard_floats);
        for one in told {
            let mut row = vec![
                one.board.to_owned(),
                one.core.to_owned(),
                to_three_digits(f64::from(one.clock_hertz) / 1e6),
                one.number.to_owned(),
                one.holds.word().to_owned(),
            ];
            row.extend(one.pace.iter().flat_map(|pace| cells(pace, one.power.is_some())));
            table.row(row);
        }
        write!(f, "{table}")?;
        if self.boards.iter().all(|one| one.pace.is_none()) {
            return writeln!(
                f,
                "  instructions per sample: unknown for these models; `fishweir run` counts them on an emulated board"
            );
        }
        writeln!(
            f,
            "  {} samples per second with a decision after each, {} to {} clocks per instruction, without wait \
             states of the flash;\n  emulated boards at the clock of a part with their core",
            grouped_to_three_digits(rate),
            CLOCKS[0],
            CLOCKS[1]
        )?;
        // Boards may have one part.
        let mut powers: Vec<&Power> = vec![];
        for power in self.boards.iter().filter_map(|one| one.power).filter(|_| f.alternate()) {
            if !powers.contains(&power) {
                powers.push(power);
            }
        }
        for Power { part, currents, conditions, asleep, source, .. } in powers {
            writeln!(
                f,
                "  {part}: {} mA running ({conditions}), {} mA asleep ({asleep}); {source}",
                interval(currents.run),
                interval(currents.sleep)
            )?;
        }
        writeln!(
            f,
            "  mAh a day: without sensor and radio, from the makers' figures; none: no figure at that clock was found: \
             give a clock and its current;\n  blank: it may not keep up"
        )
    }
}

/// Text of an interval from the least to the most, or of one number.
fn interval([least, most]: [f64; 2]) -> String {
    if least == most {
        to_three_digits(least)
    } else {
        format!("{} to {}", to_three_digits(least), to_three_digits(most))
    }
}

/// Instructions, load, whether it keeps up, and the charge of a day, as far as known.
pub(super) fn cells(pace: &Pace, drawn: bool) -> [String; 4] {
    let busy = pace.busy.map(|busy| grouped_to_three_digits(100.0 * busy));
    let charge = match pace.charge {
        Some(charge) => interval(charge),
        None if drawn => String::new(),
        None => "none".into(),
    };
    [
        pace.instructions.map(|count| grouped(count.round() as usize)).join(" to "),
        format!("{} to {} %", busy[0], busy[1]),
        pace.keeps_up().word().to_owned(),
        charge,
    ]
}
