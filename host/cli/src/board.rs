//! The board of a command: a name, or the path of a folder.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};
use fishweir::device::{BOARDS, Board};
use fishweir::project::{PROJECT_BOARDS, ProjectBoard};

/// Takes a known name, or what else `load` takes.
#[derive(Clone)]
struct BoardParser<T> {
    names: Vec<PossibleValue>,
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
        let is_known = self.names.iter().any(|name| name.get_name() == text);
        if !is_known && !std::path::Path::new(value).join("board.toml").is_file() {
            // It lists the names.
            PossibleValuesParser::new(self.names.clone()).parse_ref(command, argument, value)?;
        }
        (self.load)(&text).map_err(|what| Error::raw(ErrorKind::ValueValidation, what + "\n"))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.names.iter().cloned()))
    }
}

/// The boards that are emulated.
pub(super) fn emulated() -> impl TypedValueParser<Value = &'static Board> {
    let names = BOARDS.iter().map(|board| PossibleValue::new(board.name).help(board.core));
    BoardParser {
        names: names.collect(),
        load: |name| Board::named(name).map_err(|error| error.to_string()),
    }
}

/// The boards that projects are for.
pub(super) fn of_projects() -> impl TypedValueParser<Value = &'static ProjectBoard> {
    let names = PROJECT_BOARDS.iter().map(|board| {
        PossibleValue::new(board.name).help(format!("{}, {}", board.title, board.core))
    });
    BoardParser {
        names: names.collect(),
        load: |name| ProjectBoard::named(name).map_err(|error| error.to_string()),
    }
}
