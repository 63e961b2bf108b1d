//! The board of a command: a name, or the path of a folder.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};
use fishweir::device::{BOARDS, Board};
use fishweir::project::{PROJECT_BOARDS, ProjectBoard};

/// Takes a known name, or what else `load` takes.
#[derive(Clone)]
struct BoardParser<T> {
    /// What a name is one of.
    what: &'static str,
    /// Reads the boards, which no other command needs.
    names: fn() -> Vec<PossibleValue>,
    /// What helps whoever has another board.
    others: fn(&str) -> String,
    load: fn(&str) -> Result<T, String>,
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for BoardParser<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<T, Error> {
        let text = value.to_string_lossy();
        let names = (self.names)();
        let is_known = names.iter().any(|name| name.get_name() == text);
        if !is_known && !std::path::Path::new(value).join("board.toml").is_file() {
            let names: Vec<&str> = names.iter().map(PossibleValue::get_name).collect();
            let option = argument.and_then(Arg::get_long).map(|name| format!(" (--{name})"));
            let text = format!(
                "`{text}` is no {}{}: {}{}\n",
                self.what,
                option.unwrap_or_default(),
                names.join(", "),
                (self.others)(&text)
            );
            return Err(Error::raw(ErrorKind::InvalidValue, text).with_cmd(command));
        }
        (self.load)(&text).map_err(|what| Error::raw(ErrorKind::ValueValidation, what + "\n"))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.names)().into_iter()))
    }
}

/// The boards that are emulated.
pub(super) fn emulated() -> impl TypedValueParser<Value = &'static Board> {
    BoardParser {
        what: "emulated board",
        names: || {
            BOARDS.iter().map(|board| PossibleValue::new(board.name).help(board.core)).collect()
        },
        others: |name| match PROJECT_BOARDS.iter().any(|board| board.name == name) {
            true => format!(
                ". {name} is a board that is not emulated: `fishweir new FOLDER --application stream --board {name}` writes its program, and \
                 --port compares it"
            ),
            false => "; or name the folder of a board.toml".to_owned(),
        },
        load: |name| Board::named(name).map_err(|error| error.to_string()),
    }
}

/// The boards that projects are for.
pub(super) fn of_projects() -> impl TypedValueParser<Value = &'static ProjectBoard> {
    BoardParser {
        what: "board that is known",
        names: || {
            let name = |board: &ProjectBoard| {
                PossibleValue::new(board.name).help(format!("{}, {}", board.title, board.core))
            };
            PROJECT_BOARDS.iter().map(name).collect()
        },
        others: |_| {
            "; or name the folder of a board.toml, or a chip (--chip, --memories). For Arduino, PlatformIO, ESP-IDF and \
             Zephyr: fishweir export MODEL --c-source FOLDER"
                .to_owned()
        },
        load: |name| ProjectBoard::named(name).map_err(|error| error.to_string()),
    }
}
