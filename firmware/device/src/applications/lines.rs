//! Requests and answers as lines of text, for a terminal and for programs alike.
//!
//! Integers are decimal. A real is the eight hexadecimal digits of its bits: exact, and printing
//! decimals would cost more flash than a model.
//!
//! A [`Conversation`] knows no serial line: bytes in, lines out. [`converse`] leads it over a line that is waited for
//! alone, [`converse_async`] over one that others run beside.

use core::{fmt, mem, slice};

use embedded_io::{Read, ReadExactError, Write, WriteFmtError};
use fishweir_core::classify::{Decision, ScoreOutOfRange};
use zerocopy::{FromBytes, IntoBytes};

/// Ends the conversation: Ctrl-D.
pub const END_OF_TRANSMISSION: u8 = 4;

/// Bytes in, lines out.
pub(super) trait Conversation {
    /// Why it breaks off, over a transport with errors `E`.
    type Error<E>: From<E>;

    /// The next line that is due. Asked until there is none before anything is heard.
    fn due(&mut self) -> Option<impl fmt::Display>;

    /// Whether nothing more is heard.
    fn is_over(&self) -> bool;

    /// Takes in what reading a byte came to, `None` at the end of the transport.
    fn hear<E>(&mut self, heard: Result<Option<u8>, E>) -> Result<(), Self::Error<E>>;
}

/// Leads a conversation over a serial line to its end.
pub(super) fn converse<S: Read + Write, C: Conversation>(
    serial: &mut S,
    conversation: &mut C,
) -> Result<(), C::Error<S::Error>> {
    loop {
        while let Some(line) = conversation.due() {
            write_line(serial, format_args!("{line}"))?;
        }
        if conversation.is_over() {
            return Ok(());
        }
        let mut byte = 0;
        let read = serial.read(slice::from_mut(&mut byte));
        conversation.hear(read.map(|length| (length > 0).then_some(byte)))?;
    }
}

/// [`converse`] over a line that others run beside: the same bytes out.
#[cfg(any(feature = "async", test))]
pub(super) async fn converse_async<S, C>(
    serial: &mut S,
    conversation: &mut C,
) -> Result<(), C::Error<S::Error>>
where
    S: embedded_io_async::Read + embedded_io_async::Write,
    C: Conversation,
{
    loop {
        while let Some(line) = conversation.due() {
            write_line_async(serial, line).await?;
        }
        if conversation.is_over() {
            return Ok(());
        }
        let mut byte = 0;
        let read = serial.read(slice::from_mut(&mut byte)).await;
        conversation.hear(read.map(|length| (length > 0).then_some(byte)))?;
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

/// [`write_line`] to one that others run beside: the same bytes.
#[cfg(any(feature = "async", test))]
pub(super) async fn write_line_async<S: embedded_io_async::Write>(
    serial: &mut S,
    line: impl fmt::Display,
) -> Result<(), S::Error> {
    let mut room = [0; 32];
    let mut text = Text { line, said: 0 };
    loop {
        let piece = text.next(&mut room);
        if piece.is_empty() {
            return serial.flush().await;
        }
        serial.write_all(piece).await?;
    }
}

/// A line that is said in pieces, for whom a formatter cannot wait. It is formatted anew for each piece: lines have no
/// greatest length then, and little room is needed.
#[cfg(any(feature = "async", test))]
struct Text<L> {
    line: L,
    /// Bytes of it that have been given.
    said: usize,
}

#[cfg(any(feature = "async", test))]
impl<L: fmt::Display> Text<L> {
    /// The next bytes of the line and of its end; none after the last.
    fn next<'r>(&mut self, room: &'r mut [u8]) -> &'r [u8] {
        let mut piece = Piece { skip: self.said, room, length: 0 };
        // It ends where the room does.
        let _ = fmt::write(&mut piece, format_args!("{}\n", self.line));
        let Piece { room, length, .. } = piece;
        self.said += length;
        room.get(..length).unwrap_or_default()
    }
}

#[cfg(any(feature = "async", test))]
struct Piece<'r> {
    /// Bytes before it.
    skip: usize,
    room: &'r mut [u8],
    length: usize,
}

#[cfg(any(feature = "async", test))]
impl fmt::Write for Piece<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let skipped = self.skip.min(text.len());
        self.skip -= skipped;
        let text = text.as_bytes().get(skipped..).unwrap_or_default();
        let free = self.room.get_mut(self.length..).unwrap_or_default();
        free.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
        let written = text.len().min(free.len());
        self.length += written;
        if written < text.len() { Err(fmt::Error) } else { Ok(()) }
    }
}

/// What came of a line of text.
pub(super) enum Heard {
    Byte(u8),
    /// A byte was lost.
    Lost,
    /// Nothing of it.
    Nothing,
    LineFeed,
    /// The line has ended, and no other follows.
    Ended,
}

/// The receiving end of lines of text.
#[derive(Default)]
pub(super) struct Receiver {
    failing: bool,
}

impl Receiver {
    /// What reading a byte came to; an error where reading fails twice in succession.
    pub(super) fn hear<E>(&mut self, heard: Result<Option<u8>, E>) -> Result<Heard, E> {
        let failed = mem::replace(&mut self.failing, heard.is_err());
        Ok(match heard {
            Err(error) if failed => return Err(error),
            Err(_) => Heard::Lost,
            Ok(None | Some(END_OF_TRANSMISSION)) => Heard::Ended,
            Ok(Some(b'\n')) => Heard::LineFeed,
            Ok(Some(b'\r')) => Heard::Nothing,
            Ok(Some(byte)) => Heard::Byte(byte),
        })
    }
}

/// A request of a byte, or a sample.
pub(super) enum Request<W> {
    /// `S`, and the bytes after it.
    Sample(W),
    Tag(u8),
    /// The transport has ended.
    End,
}

/// The receiving end of such requests.
pub(super) struct Requests<W> {
    sample: W,
    /// Bytes of a sample that are here; none where no sample has begun.
    here: Option<usize>,
}

impl<W: FromBytes + IntoBytes> Requests<W> {
    pub(super) fn new() -> Self {
        Self { sample: W::new_zeroed(), here: None }
    }

    /// What reading a byte came to: the request that is complete by it. An error where reading fails, or where the
    /// transport ends inside a sample.
    pub(super) fn hear<E>(
        &mut self,
        heard: Result<Option<u8>, E>,
    ) -> Result<Option<Request<W>>, ReadExactError<E>> {
        let here = match (self.here, heard?) {
            (None, None) => return Ok(Some(Request::End)),
            (Some(_), None) => return Err(ReadExactError::UnexpectedEof),
            (None, Some(b'S')) => 0,
            (None, Some(tag)) => return Ok(Some(Request::Tag(tag))),
            (Some(here), Some(byte)) => {
                if let Some(slot) = self.sample.as_mut_bytes().get_mut(here) {
                    *slot = byte;
                }
                here + 1
            }
        };
        self.here = (here < size_of::<W>()).then_some(here);
        Ok(match self.here {
            Some(_) => None,
            None => Some(Request::Sample(mem::replace(&mut self.sample, W::new_zeroed()))),
        })
    }
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

#[cfg(test)]
mod tests {
    use std::string::String;
    use std::vec::Vec;

    use super::*;

    #[test]
    fn a_line_in_pieces_is_the_line_whatever_their_room() {
        let letters: String = ('a'..='z').chain('\u{e4}'..='\u{fc}').collect();
        for length in [0, 1, 31, 32, 33, letters.chars().count()] {
            let line: String = letters.chars().take(length).collect();
            for room in 1..70 {
                let mut text = Text { line: Class::Named(&line), said: 0 };
                let mut room = std::vec![0; room];
                let mut said = Vec::<u8>::new();
                loop {
                    let piece = text.next(&mut room);
                    if piece.is_empty() {
                        break;
                    }
                    said.extend(piece);
                }
                assert_eq!(said, std::format!("{line}\n").as_bytes());
            }
        }
    }
}
