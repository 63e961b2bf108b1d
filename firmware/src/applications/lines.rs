//! Answers as lines of text, for a terminal and for programs alike.
//!
//! Integers are decimal. A real is the eight hexadecimal digits of its bits: exact, and printing
//! decimals would cost more flash than a model.

use core::fmt;

use embedded_io::{Write, WriteFmtError};
use fishweir_core::classify::{Decision, ScoreOutOfRange};

/// Writes a line and lets it go.
pub(super) fn write_line<S: Write>(
    serial: &mut S,
    line: fmt::Arguments<'_>,
) -> Result<(), S::Error> {
    match serial.write_fmt(line) {
        Err(WriteFmtError::Other(error)) => return Err(error),
        // Nothing that is formatted here fails by itself.
        Err(WriteFmtError::FmtError) | Ok(()) => {}
    }
    serial.write_all(b"\n")?;
    serial.flush()
}

/// A class, by its name or, where it has none, its number.
#[derive(Clone, Copy)]
pub(super) enum Class<'a> {
    Named(&'a str),
    Numbered(usize),
}

impl<'a> Class<'a> {
    fn of(index: usize, names: &[&'a str]) -> Self {
        names.get(index).map_or(Self::Numbered(index), |name| Self::Named(name))
    }
}

/// The class decided for and the bits of its margin; `-` and zero where nothing can be decided.
pub(super) fn decided<'a>(
    decision: Result<Decision, ScoreOutOfRange>,
    names: &[&'a str],
) -> (Class<'a>, u32) {
    match decision {
        Ok(Decision { class, margin }) => (Class::of(class, names), margin.to_bits()),
        Err(ScoreOutOfRange) => (Class::Named("-"), 0),
    }
}

impl fmt::Display for Class<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::Numbered(index) => write!(f, "{index}"),
        }
    }
}
