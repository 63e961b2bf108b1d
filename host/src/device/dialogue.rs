//! Conversations with applications that answer in lines of text: `detect_change`, `spot_events`, `symbols`, `events`.

use std::collections::VecDeque;
use std::io::{self, Read};

use fishweir_core::wire::{CHECKSUM_LENGTH, Receiver, Request, SampleIndex, TEXT_PIECE, TextHead};
use zerocopy::{FromBytes, IntoBytes};

use super::Input;
use super::line::send;
use super::session::teach_request;

/// Requests in frames, each sample and each byte of text with its number.
///
/// ```
/// use fishweir::device::{Dialogue, Input};
/// use fishweir_core::wire::Request;
///
/// let mut dialogue = Dialogue::new();
/// dialogue.push(Input::Vector(&[0.5, -1.0]));
/// dialogue.push(Input::Missing);
/// dialogue.ask(Request::Report);
/// dialogue.ask(Request::Stop);
/// assert_eq!(dialogue.bytes().iter().filter(|&&byte| byte == 0).count(), 8);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dialogue {
    bytes: Vec<u8>,
    next: SampleIndex,
}

impl Dialogue {
    /// A dialogue with a device that has just started.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sends a sample, the start of the next stream, or the request to save.
    pub fn push(&mut self, input: Input<'_>) {
        let request = match input {
            Input::Reset => {
                self.next = self.next.next_stream();
                return;
            }
            Input::Save => return self.ask(Request::Save),
            Input::Teach(action, name) => {
                let record = teach_request(self.next, action, name);
                return self.record(&record);
            }
            Input::Missing => Request::Missing,
            Input::Vector(_) | Input::Symbol(_) => Request::Sample,
        };
        let mut record = self.next.head(request.tag()).as_bytes().to_vec();
        match input {
            Input::Vector(values) => record.extend(values.iter().flat_map(|x| x.to_le_bytes())),
            Input::Symbol(symbol) => record.extend(symbol.to_le_bytes()),
            _ => {}
        }
        self.record(&record);
        self.next = self.next.next();
    }

    /// Leaves samples out, as a line does that loses them.
    pub fn lose(&mut self, samples: u16) {
        self.next.time = self.next.time.wrapping_add(samples);
    }

    /// Sends a request without a payload. [`Request::End`] ends the stream.
    pub fn ask(&mut self, request: Request) {
        let head = self.next.head(request.tag());
        self.record(head.as_bytes());
        if request == Request::End {
            self.next = self.next.next_stream();
        }
    }

    /// Sends text, each line in pieces of its own.
    pub fn text(&mut self, text: &str) {
        for line in text.split_inclusive('\n') {
            for piece in line.as_bytes().chunks(TEXT_PIECE) {
                let head = self.next.head(Request::Sample.tag());
                self.record(&[head.as_bytes(), piece].concat());
                // A line feed is the last byte of its line.
                for byte in piece {
                    let next = self.next;
                    self.next = if *byte == b'\n' { next.next_stream() } else { next.next() };
                }
            }
        }
    }

    /// Returns all frames.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the frames since the last call, and keeps the place of the next sample.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    fn record(&mut self, record: &[u8]) {
        // Writing to memory does not fail.
        let _ = send(&mut self.bytes, record);
    }
}

/// Lines that come in frames, in order; a line of which a piece was lost or damaged is `None`.
#[derive(Debug)]
pub struct FramedLines<R> {
    reader: R,
    receiver: Receiver,
    room: [u8; size_of::<TextHead>() + TEXT_PIECE + CHECKSUM_LENGTH],
    /// Number of the line in hand.
    number: u16,
    line: Vec<u8>,
    is_whole: bool,
    ready: VecDeque<Option<String>>,
}

impl<R: Read> FramedLines<R> {
    /// Reads from the first line of a conversation on.
    pub fn new(reader: R) -> Self {
        Self {
            reader,
            receiver: Receiver::new(),
            room: [0; _],
            number: 0,
            line: Vec::new(),
            is_whole: true,
            ready: VecDeque::new(),
        }
    }

    fn take(&mut self, length: usize) {
        let room = self.room;
        let Ok((head, text)) = TextHead::read_from_prefix(&room[..length]) else { return };
        if head.head.tag != TextHead::TAG {
            return;
        }
        // The device begins anew: its greeting is the first line of each conversation.
        if (head.line.get(), head.offset.get()) == (0, 0) && text.starts_with(b"ready") {
            self.number = 0;
            self.line.clear();
            self.is_whole = true;
        }
        let ahead = head.line.get().wrapping_sub(self.number);
        if ahead > u16::MAX / 2 {
            return;
        }
        for _ in 0..ahead {
            self.is_whole = false;
            self.end_line();
        }
        self.is_whole &= usize::from(head.offset.get()) == self.line.len() % (1 << 16);
        self.line.extend_from_slice(text);
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
            self.end_line();
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8(line).ok().filter(|_| self.is_whole);
        self.ready.push_back(line);
        self.number = self.number.wrapping_add(1);
        self.is_whole = true;
    }
}

impl<R: Read> Iterator for FramedLines<R> {
    type Item = io::Result<Option<String>>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut bytes = [0; 4096];
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Some(Ok(line));
            }
            let read = match self.reader.read(&mut bytes) {
                Ok(0) => return None,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Some(Err(error)),
            };
            for &byte in &bytes[..read] {
                if let Some(length) = self.receiver.push(byte, &mut self.room) {
                    self.take(length);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(lines: &[&str]) -> Vec<Vec<u8>> {
        let mut frames = Vec::new();
        for (number, line) in lines.iter().enumerate() {
            let line = format!("{line}\n");
            for (at, piece) in line.as_bytes().chunks(TEXT_PIECE).enumerate() {
                let head = TextHead {
                    head: SampleIndex::default().head(TextHead::TAG),
                    line: (number as u16).into(),
                    offset: ((at * TEXT_PIECE) as u16).into(),
                };
                let mut frame = Vec::new();
                send(&mut frame, &[head.as_bytes(), piece].concat()).expect("memory");
                frames.push(frame);
            }
        }
        frames
    }

    fn read(bytes: &[u8]) -> Vec<Option<String>> {
        FramedLines::new(bytes).collect::<io::Result<_>>().expect("memory")
    }

    #[test]
    fn every_lost_dropped_or_changed_byte_costs_its_line_and_no_other() {
        let long = "event 119 70 115 4301798e a class with a long name, and longer";
        let lines = ["ready 2 0", long, "refused 3", "alarm 7 fit 3f800000"];
        let frames = frames(&lines);
        let whole = read(&frames.concat());
        assert_eq!(whole, lines.map(|line| Some(line.to_owned())));
        let line_of = [0, 1, 1, 2, 3];
        for (index, &line) in line_of.iter().enumerate() {
            let mut without = frames.clone();
            without.remove(index);
            let mut expected = whole.clone();
            expected[line] = None;
            if line == 3 {
                // Nothing after it says that it was there.
                expected.pop();
            }
            assert_eq!(read(&without.concat()), expected);
            for at in 0..frames[index].len() {
                for way in 0..10 {
                    let mut damaged = frames.clone();
                    match way {
                        0 => drop(damaged[index].remove(at)),
                        1 => damaged[index].insert(at, frames[index][at]),
                        _ => damaged[index][at] ^= 1 << (way - 2),
                    }
                    let read = read(&damaged.concat());
                    assert!(read == whole || read == expected, "{index} {at} {way}: {read:?}");
                }
            }
        }
    }
}
