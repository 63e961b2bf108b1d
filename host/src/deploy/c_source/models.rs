//! The models of a C source: their emissions and chains, as tables, and the recursions that they take.

use std::fmt::Write as _;

use super::literals::{define, floats, in_comment, string_list, table};
use super::{CSourceError, Part};
use crate::classifier::Observations;
use crate::deploy::model::{DeployedModel, States};
use crate::deploy::source::{EmissionType, observed};
use crate::runtime::Observed;
use crate::runtime::family::{DeployedEmission, Weight};

/// Models of one family and one number of states.
pub(super) struct Models<'a> {
    pub(super) observations: &'a Observations,
    pub(super) models: &'a [DeployedModel],
    pub(super) states: States,
    pub(super) directions: usize,
    /// Channels of a row that a model reads.
    pub(super) seen: usize,
    /// `true` if channels may be missing.
    pub(super) in_part: bool,
}

impl Models<'_> {
    /// Checks that the emissions are written in C.
    pub(super) fn check(&self) -> Result<(), CSourceError> {
        let EmissionType { family, shape } = EmissionType::of(self.models);
        match ["categorical", "gaussian"].contains(&family.name()) {
            true => Ok(()),
            false => Err(CSourceError::Without(format!("a model with {}", family.words(shape)))),
        }
    }

    /// Hidden states, positions or contexts of each model.
    pub(super) fn rows(&self) -> usize {
        self.models.first().map_or(0, |model| model.emission.len())
    }

    fn is_hidden(&self) -> bool {
        self.states == States::Hidden
    }

    fn is_over_symbols(&self) -> bool {
        EmissionType::of(self.models).family.observes() == Observed::Symbol
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
    pub(super) fn sizes(&self) -> String {
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
        let (rows, hidden) = (self.rows(), self.is_hidden());
        let sizes = [
            ("STATES", number(rows)),
            ("KNOWN_STATES", number(usize::from(!hidden))),
            ("ROW", number(if hidden { rows } else { 1 })),
            ("DIRECTIONS", number(self.directions)),
        ];
        text + &define("Private: sizes of a model.", &sizes)
    }

    /// The declaration of what pushes a sample.
    pub(super) fn push_declaration(&self) -> Part<'static> {
        match self.is_over_symbols() {
            true => include_str!("text/push_symbol.h").into(),
            false => include_str!("text/push_channels.h").into(),
        }
    }

    /// What pushes a sample.
    pub(super) fn push(&self) -> Part<'static> {
        match self.is_over_symbols() {
            true => include_str!("text/push_symbol.c").into(),
            false => include_str!("text/push_channels.c").into(),
        }
    }

    /// The source up to the recursion of one model: arithmetic, tables, emissions, filter, states.
    pub(super) fn recursion(&self) -> [Part<'static>; 6] {
        let emission = match self.is_over_symbols() {
            true => include_str!("text/categorical.c"),
            false => include_str!("text/gaussian.c"),
        };
        let (known, states) = match self.states {
            States::Hidden => ("", include_str!("text/hidden.c")),
            States::Steps => (include_str!("text/known.c"), include_str!("text/positions.c")),
            States::Order(_) => (include_str!("text/known.c"), include_str!("text/contexts.c")),
        };
        [
            include_str!("text/number.c").into(),
            self.tables().into(),
            emission.into(),
            include_str!("text/filter.c").into(),
            known.into(),
            states.into(),
        ]
    }

    fn tables(&self) -> String {
        let mut text = format!(
            "\n/* 1 if a stream begins with a prediction, whose sum need not be one. */\n#define BEGINS_RAISED {}\n",
            u8::from(self.is_hidden()),
        );
        if let States::Order(order) = self.states {
            let _ = writeln!(text, "/* Symbols of a context. */\n#define ORDER {order}");
        }
        self.chains(&mut text);
        if self.is_over_symbols() {
            self.probabilities(&mut text);
        } else {
            self.gaussians(&mut text);
        }
        text
    }

    fn chains(&self, text: &mut String) {
        if !self.is_hidden() {
            return;
        }
        let (models, states) = (self.models, self.rows());
        let initial = models.iter().flat_map(|model| &model.initial).map(number);
        let initial: Vec<String> = initial.collect();
        *text += &table("number", "INITIAL", &[models.len(), states], &initial);
        let transition = models.iter().flat_map(|model| model.transition.iter().flatten());
        let transition: Vec<String> = transition.map(number).collect();
        *text += &table("number", "TRANSITION", &[models.len(), states, states], &transition);
    }

    fn emissions(&self) -> impl Iterator<Item = &DeployedEmission> {
        self.models.iter().flat_map(|model| &model.emission)
    }

    fn probabilities(&self, text: &mut String) {
        let entries = self.emissions().flat_map(|one| one.weights(0)).map(number);
        let entries: Vec<String> = entries.collect();
        let sizes = [self.models.len(), self.rows(), self.observations.size()];
        *text += &table("number", "PROBABILITY", &sizes, &entries);
    }

    fn gaussians(&self, text: &mut String) {
        let (models, rows, seen) = (self.models.len(), self.rows(), self.seen);
        let _ = writeln!(text, "/* Numbers of a row that a model reads. */\n#define SEEN {seen}");
        for (name, field) in [("MEAN", 0), ("RATE", 1)] {
            let entries = floats(self.emissions().flat_map(|one| one.reals(field)));
            *text += &table("float", name, &[models, rows, seen], &entries);
        }
        let constant = self.emissions().flat_map(|one| one.weights(2)).map(number);
        let constant: Vec<String> = constant.collect();
        *text += &table("number", "CONSTANT", &[models, rows], &constant);
        for (name, field) in [("LINEAR", 3), ("QUADRATIC", 4)] {
            if self.directions > 0 {
                let rates = self.emissions().flat_map(|one| one.rates(field)).flatten();
                let sizes = [models, rows, seen, self.directions];
                *text += &table("float", name, &sizes, &floats(rates));
            }
        }
    }
}

/// A number with its rates, as a structure of C.
fn number(weight: &Weight) -> String {
    let all = floats([&weight.value].into_iter().chain(&weight.tangent));
    format!("{{{{{}}}}}", all.join(", "))
}
