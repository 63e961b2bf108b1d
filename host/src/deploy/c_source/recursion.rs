//! What a C source takes of its models, in whatever numbers they are.

use std::fmt::Write as _;

use super::Part;
use super::literals::{define, in_comment, string_list};
use crate::classifier::Observations;
use crate::deploy::model::States;
use crate::deploy::source::observed;

/// Sizes that the recursions of all numbers have.
#[derive(Clone, Copy)]
pub(super) struct Sizes<'a> {
    pub(super) observations: &'a Observations,
    /// Hidden states, positions or contexts of each model.
    pub(super) rows: usize,
    pub(super) states: States,
    pub(super) directions: usize,
    /// Channels of a row that a model reads.
    pub(super) seen: usize,
    /// `true` if channels may be missing.
    pub(super) in_part: bool,
    /// States of the background of a spotter, whose rows have the best path into each state.
    pub(super) background: Option<usize>,
}

/// Models of one family and one number of states, with the parts of a source that are written for their numbers.
pub(super) trait Recursion {
    /// Sizes of the models.
    fn sizes(&self) -> Sizes<'_>;
    /// Number of the models.
    fn count(&self) -> usize;
    /// The state of one model, for the header.
    fn belief(&self) -> Part<'static>;
    /// The source up to the recursion of one model: arithmetic, tables, emissions, filter, states.
    fn recursion(&self) -> Vec<Part<'static>>;
    /// Declaration and definition of what pushes a sample.
    fn push(&self) -> [Part<'static>; 2];
    /// The source of what reads evidence from models, and from codebooks.
    fn reading(&self) -> [Part<'static>; 2];
    /// Binary places of channels that are given as integers; `None` of models in floating point.
    fn places(&self) -> Option<&[i16]>;
}

impl Sizes<'_> {
    pub(super) fn is_hidden(&self) -> bool {
        self.states == States::Hidden
    }

    pub(super) fn is_over_symbols(&self) -> bool {
        matches!(self.observations, Observations::Symbols(_))
    }

    /// The comment that begins both files.
    pub(super) fn comment(&self, what: &str, notes: &[String]) -> String {
        let mut text = format!(
            "/* {what}, exported by fishweir {}. Change the model, not this file.\n *\n * Observes {}.\n",
            env!("CARGO_PKG_VERSION"),
            in_comment(&observed(self.observations)),
        );
        for note in notes {
            // Writing to a string does not fail.
            let _ = writeln!(text, " * {}", in_comment(note));
        }
        text + " *\n * Nothing allocates, nothing is global: a stream is used by one thread at a time. Answers have the bits of the\n \
                * host's if every operation is rounded to float: compile without -ffast-math. */\n"
    }

    /// Macros of the header: what is observed, and the sizes of a model's state.
    pub(super) fn macros(&self) -> String {
        let (channels, symbols) = match self.observations {
            Observations::Channels(names) => (names.as_slice(), 0),
            Observations::Symbols(_) => (&[][..], self.observations.size()),
        };
        let number = |number: usize| number.to_string();
        let mut text = define(
            "Channels of a sample, or symbols of the alphabet; the other is 0.",
            &[("CHANNELS", number(channels.len())), ("SYMBOLS", number(symbols))],
        );
        if !channels.is_empty() {
            let names = [("CHANNEL_NAMES", string_list(channels))];
            text += &define("Names of the channels, by index.", &names);
        }
        text += &define(
            "1 if channels may be missing.",
            &[("MISSING_CHANNELS", number(usize::from(self.in_part)))],
        );
        let hidden = self.is_hidden();
        let sizes = [
            ("STATES", number(self.rows)),
            ("KNOWN_STATES", number(usize::from(!hidden))),
            ("ROW", number(if hidden { self.rows } else { 1 })),
            ("DIRECTIONS", number(self.directions)),
        ];
        text + &define("Private: sizes of a model.", &sizes)
    }

    /// The macros of a source that choose among recursions.
    pub(super) fn choices(&self) -> String {
        let hidden = self.is_hidden();
        let mut text = format!(
            "\n/* 1 if a stream begins with a prediction, whose sum need not be one; and if time passes without a sample. */\n\
             #define BEGINS_RAISED {}\n#define ADVANCES {}\n\
             /* Entries of a model's rows that it uses, and the model whose emissions it has. */\n",
            u8::from(hidden && self.background.is_none()),
            u8::from(hidden),
        );
        text += &match self.background {
            Some(states) => format!(
                "#define ROWS(model) ((model) == 0 ? ROW : {states})\n#define EMISSION(model) ((model) * 0)\n"
            ),
            None => "#define ROWS(model) ROW\n#define EMISSION(model) (model)\n".to_owned(),
        };
        if let States::Order(order) = self.states {
            let _ = writeln!(text, "/* Symbols of a context. */\n#define ORDER {order}");
        }
        if !self.is_over_symbols() {
            let _ = writeln!(
                text,
                "/* Numbers of a row that a model reads. */\n#define SEEN {}",
                self.seen
            );
        }
        text
    }

    /// How the states follow each other.
    pub(super) fn steps(&self) -> Part<'static> {
        match self.states {
            States::Hidden => include_str!("text/hidden.c"),
            States::Steps => include_str!("text/positions.c"),
            States::Order(_) => include_str!("text/contexts.c"),
        }
        .into()
    }

    /// Declaration and definition of what pushes a symbol.
    pub(super) const fn push_symbol() -> [Part<'static>; 2] {
        [
            Part::Borrowed(include_str!("text/push_symbol.h")),
            Part::Borrowed(include_str!("text/push_symbol.c")),
        ]
    }
}
