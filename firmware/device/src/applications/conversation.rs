//! Conversations whose answers are lines of text: bytes in, lines out.
//!
//! Integers are decimal. A real is the eight hexadecimal digits of its bits: exact, and printing
//! decimals would cost more flash than a model.
//!
//! A [`Conversation`] knows no serial line. [`converse`] leads it over a line that is waited for
//! alone, [`converse_async`] over one that others run beside.

use core::{fmt, slice};

use embedded_io::{Read, Write};
use fishweir_core::wire::{SampleIndex, TEXT_PIECE, TextHead, encode, longest};
use zerocopy::IntoBytes;

/// Bytes in, lines out.
pub(super) trait Conversation {
    /// Returns the next line that is due. Called until it returns `None`, before the next byte is read.
    fn due(&mut self) -> Option<impl fmt::Display>;

    /// Returns whether the conversation takes no more bytes.
    fn is_over(&self) -> bool;

    /// Position of the next sample expected, for the frames of the answers; `None` if lines travel without frames.
    fn place(&self) -> Option<SampleIndex>;

    /// Takes in the result of reading a byte, `None` at the end of the transport.
    ///
    /// # Errors
    /// As [`ReadErrors::check`](crate::link::ReadErrors::check).
    fn on_byte<E>(&mut self, heard: Result<Option<u8>, E>) -> Result<(), E>;
}

/// Leads a conversation over a serial line to its end.
pub(super) fn converse<S: Read + Write, C: Conversation>(
    serial: &mut S,
    conversation: &mut C,
) -> Result<(), S::Error> {
    let mut lines = 0;
    loop {
        let place = conversation.place();
        if let Some(line) = conversation.due() {
            write(serial, line, place.map(|place| (place, lines)))?;
            lines = lines.wrapping_add(1);
            continue;
        }
        if conversation.is_over() {
            return Ok(());
        }
        let mut byte = 0;
        let read = serial.read(slice::from_mut(&mut byte));
        conversation.on_byte(read.map(|length| (length > 0).then_some(byte)))?;
    }
}

/// [`converse`] over a line that others run beside: the same bytes out.
#[cfg(any(feature = "async", test))]
pub(super) async fn converse_async<S, C>(
    serial: &mut S,
    conversation: &mut C,
) -> Result<(), S::Error>
where
    S: embedded_io_async::Read + embedded_io_async::Write,
    C: Conversation,
{
    let mut lines = 0;
    loop {
        let place = conversation.place();
        if let Some(line) = conversation.due() {
            write_async(serial, line, place.map(|place| (place, lines))).await?;
            lines = lines.wrapping_add(1);
            continue;
        }
        if conversation.is_over() {
            return Ok(());
        }
        let mut byte = 0;
        let read = serial.read(slice::from_mut(&mut byte)).await;
        conversation.on_byte(read.map(|length| (length > 0).then_some(byte)))?;
    }
}

/// Writes a line without frames and lets it go.
pub(super) fn write_line<S: Write>(
    serial: &mut S,
    line: impl fmt::Display,
) -> Result<(), S::Error> {
    write(serial, line, None)
}

/// [`write_line`] to one that others run beside: the same bytes.
#[cfg(any(feature = "async", test))]
pub(super) async fn write_line_async<S: embedded_io_async::Write>(
    serial: &mut S,
    line: impl fmt::Display,
) -> Result<(), S::Error> {
    write_async(serial, line, None).await
}

fn write<S: Write>(
    serial: &mut S,
    line: impl fmt::Display,
    frames: Option<(SampleIndex, u16)>,
) -> Result<(), S::Error> {
    let mut text = Text { line, said: 0, frames };
    let mut room = [0; ROOM];
    loop {
        let piece = text.next(&mut room);
        if piece.is_empty() {
            return serial.flush();
        }
        serial.write_all(piece)?;
    }
}

#[cfg(any(feature = "async", test))]
async fn write_async<S: embedded_io_async::Write>(
    serial: &mut S,
    line: impl fmt::Display,
    frames: Option<(SampleIndex, u16)>,
) -> Result<(), S::Error> {
    let mut text = Text { line, said: 0, frames };
    let mut room = [0; ROOM];
    loop {
        let piece = text.next(&mut room);
        if piece.is_empty() {
            return serial.flush().await;
        }
        serial.write_all(piece).await?;
    }
}

/// Bytes before the text of a piece in its record.
const HEAD: usize = size_of::<TextHead>();

/// The longest piece in its frame.
const ROOM: usize = longest(HEAD + TEXT_PIECE);

/// A line that is written in pieces, each in a frame where lines have frames. It is formatted anew for each piece: lines have
/// no greatest length then, and little room is needed.
struct Text<L> {
    line: L,
    /// Bytes of it that have been given.
    said: usize,
    /// The place and the number of the line that its frames carry.
    frames: Option<(SampleIndex, u16)>,
}

impl<L: fmt::Display> Text<L> {
    /// The next bytes of the line and of its end, in their frame; empty after the last.
    fn next<'r>(&mut self, room: &'r mut [u8; ROOM]) -> &'r [u8] {
        let mut record = [0; HEAD + TEXT_PIECE];
        let mut piece =
            Piece { skip: self.said, room: record.get_mut(HEAD..).unwrap_or_default(), length: 0 };
        // It ends where the room does.
        let _ = fmt::write(&mut piece, format_args!("{}\n", self.line));
        let Piece { length, .. } = piece;
        let offset = self.said as u16;
        self.said += length;
        if length == 0 {
            return &[];
        }
        let Some((place, line)) = self.frames else {
            let text = record.get(HEAD..HEAD + length).unwrap_or_default();
            room.iter_mut().zip(text).for_each(|(to, &from)| *to = from);
            return room.get(..text.len()).unwrap_or_default();
        };
        let head =
            TextHead { head: place.head(TextHead::TAG), line: line.into(), offset: offset.into() };
        let _ = head.write_to_prefix(&mut record);
        let record = record.get(..HEAD + length).unwrap_or_default();
        let length = encode(record, room).unwrap_or(0);
        room.get(..length).unwrap_or_default()
    }
}

struct Piece<'r> {
    /// Bytes before it.
    skip: usize,
    room: &'r mut [u8],
    length: usize,
}

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

#[cfg(test)]
mod tests {
    use std::format;
    use std::string::String;
    use std::vec::Vec;

    use fishweir_core::wire::Receiver;

    use super::*;
    use crate::applications::wire::framed_lines;

    fn pieces(line: &str, frames: Option<(SampleIndex, u16)>) -> Vec<u8> {
        let mut text = Text { line, said: 0, frames };
        let (mut room, mut said) = ([0; ROOM], Vec::new());
        loop {
            let piece = text.next(&mut room);
            if piece.is_empty() {
                return said;
            }
            said.extend(piece);
        }
    }

    #[test]
    fn a_line_in_pieces_is_the_line_with_and_without_frames() {
        let letters: String = ('a'..='z').chain('\u{e4}'..='\u{fc}').collect();
        let place = SampleIndex { stream: 3, time: 0x0201 };
        for length in 0..=letters.chars().count() {
            let line: String = letters.chars().take(length).collect();
            assert_eq!(pieces(&line, None), format!("{line}\n").as_bytes());
            let framed = pieces(&line, Some((place, 0)));
            assert_eq!(framed_lines(&framed), core::slice::from_ref(&line));
            let (mut receiver, mut room) = (Receiver::new(), [0; 64]);
            for &byte in &framed {
                if receiver.push(byte, &mut room).is_some() {
                    assert_eq!(room[..6], [b'L', 3, 1, 2, 0, 0]);
                }
            }
        }
    }
}
