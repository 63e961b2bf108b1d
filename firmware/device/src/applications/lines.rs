//! Requests and answers as lines of text, for a terminal and for programs alike.
//!
//! Integers are decimal. A real is the eight hexadecimal digits of its bits: exact, and printing
//! decimals would cost more flash than a model.

use core::fmt;

use embedded_io::{Read, Write, WriteFmtError};
use fishweir_core::classify::{Decision, ScoreOutOfRange};

/// Ends the conversation: Ctrl-D.
pub const END_OF_TRANSMISSION: u8 = 4;

/// Which end a line has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    LineFeed,
    /// No other line follows.
    Ended,
}

#[derive(Default)]
pub(super) struct Receiver {
    failing: bool,
}

impl Receiver {
    /// Hands on the bytes of a line as they come, and `None` where one was lost, up to its end; an error
    /// where reading fails twice in succession.
    pub(super) fn line<S: Read>(
        &mut self,
        serial: &mut S,
        mut take: impl FnMut(Option<u8>),
    ) -> Result<End, S::Error> {
        loop {
            let mut byte = 0;
            let read = serial.read(core::slice::from_mut(&mut byte));
            let failed = core::mem::replace(&mut self.failing, read.is_err());
            match (read, byte) {
                (Err(error), _) if failed => return Err(error),
                (Err(_), _) => take(None),
                (Ok(0), _) | (Ok(_), END_OF_TRANSMISSION) => return Ok(End::Ended),
                (Ok(_), b'\n') => return Ok(End::LineFeed),
                (Ok(_), b'\r') => {}
                (Ok(_), byte) => take(Some(byte)),
            }
        }
    }
}

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
    pub(super) fn of(index: usize, names: &[&'a str]) -> Self {
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
