//! Lines of text as they arrive, and common parts of answers.

use core::fmt;

use fishweir_core::classify::{Decision, ScoreOutOfRange};
use fishweir_core::wire::{Gap, Head, LONGEST_GAP, Request, SampleIndex, TEXT_PIECE};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::link::{Link, ReadErrors};

/// Ends the conversation on a terminal: Ctrl-D.
pub const END_OF_TRANSMISSION: u8 = 4;

/// Format in which lines of text travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Form {
    /// Pieces of up to [`TEXT_PIECE`] bytes, each in a frame with checksum, number of the line and offset: damage is detected
    /// and costs the line that it is in. Requests `S`, `I` and `X`, as [`fishweir_core::wire`] has them.
    Frames,
    /// Bytes as of a terminal: text, line feeds, Ctrl-D. Nothing protects them: a byte that the line drops, doubles or
    /// changes without an error of its receiver goes unnoticed.
    Terminal,
}

/// The next item that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    Byte(u8),
    /// Bytes of the line in hand were lost: how many, where that is known.
    Lost(Option<u16>),
    LineFeed,
    /// The host asks for a description of the program.
    Info,
    /// The conversation has ended.
    Ended,
}

/// Room for a piece.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Longest {
    head: Head,
    text: [u8; TEXT_PIECE],
}

/// The receiving end of lines of text.
pub(super) enum Receiver {
    Frames(Pieces),
    Terminal(Typed),
}

impl Receiver {
    pub(super) fn new(form: Form) -> Self {
        match form {
            Form::Frames => Self::Frames(Pieces::new()),
            Form::Terminal => Self::Terminal(Typed::default()),
        }
    }

    /// Takes in the result of reading a byte.
    pub(super) fn on_byte<E>(&mut self, heard: Result<Option<u8>, E>) -> Result<(), E> {
        match self {
            Self::Frames(pieces) => pieces.on_byte(heard),
            Self::Terminal(typed) => typed.on_byte(heard),
        }
    }

    /// The next item that has arrived; `None` if more bytes are needed first.
    pub(super) fn next(&mut self) -> Option<Heard> {
        match self {
            Self::Frames(pieces) => pieces.next(),
            Self::Terminal(typed) => typed.heard.take(),
        }
    }

    /// Position of the next byte of text expected; `None` without frames.
    pub(super) fn place(&self) -> Option<SampleIndex> {
        match self {
            Self::Frames(pieces) => Some(pieces.next),
            Self::Terminal(_) => None,
        }
    }

    /// Frames that arrived damaged.
    pub(super) fn corrupt(&self) -> u64 {
        match self {
            Self::Frames(pieces) => pieces.link.corrupt(),
            Self::Terminal(_) => 0,
        }
    }
}

/// Text without frames.
#[derive(Default)]
pub(super) struct Typed {
    errors: ReadErrors,
    heard: Option<Heard>,
}

impl Typed {
    fn on_byte<E>(&mut self, heard: Result<Option<u8>, E>) -> Result<(), E> {
        self.heard = match self.errors.check(heard)? {
            None => Some(Heard::Lost(None)),
            Some(None | Some(END_OF_TRANSMISSION)) => Some(Heard::Ended),
            Some(Some(b'\n')) => Some(Heard::LineFeed),
            Some(Some(b'\r')) => None,
            Some(Some(byte)) => Some(Heard::Byte(byte)),
        };
        Ok(())
    }
}

/// Text in frames.
pub(super) struct Pieces {
    link: Link<Longest>,
    /// Position of the next byte expected: number of its line, and offset.
    next: SampleIndex,
    /// Number of lines that end before the current piece and whose ends were lost: less than 128 behind is the past.
    lines: u8,
    /// `true` once the loss of the next of them has been reported.
    told: bool,
    /// Bytes lost before the piece in hand, of its line.
    lost: u16,
    text: [u8; TEXT_PIECE],
    /// Bytes of the current piece that were passed on; `length` counts all.
    at: usize,
    length: usize,
    /// Event after the current piece.
    then: Option<Heard>,
}

impl Pieces {
    fn new() -> Self {
        Self {
            link: Link::new(),
            next: SampleIndex::default(),
            lines: 0,
            told: false,
            lost: 0,
            text: [0; TEXT_PIECE],
            at: 0,
            length: 0,
            then: None,
        }
    }

    fn on_byte<E>(&mut self, heard: Result<Option<u8>, E>) -> Result<(), E> {
        let heard = match heard {
            Ok(None) => {
                self.then = Some(Heard::Ended);
                return Ok(());
            }
            Ok(Some(byte)) => Ok(byte),
            Err(error) => Err(error),
        };
        let Some(record) = self.link.on_byte(heard)? else { return Ok(()) };
        let Some((head, text)) = Head::split(record) else { return Ok(()) };
        let (place, before) = (head.sample_index(), self.next);
        match Request::from_tag(head.tag) {
            Some(Request::Info) => self.then = Some(Heard::Info),
            Some(request @ (Request::Sample | Request::Stop)) => {
                let text = text.get(..TEXT_PIECE).unwrap_or(text);
                let stop = request == Request::Stop;
                let lines = place.stream.wrapping_sub(before.stream);
                if lines > u8::MAX / 2 {
                    // The past: of a line that came twice, or of a host that did not ask for the place.
                    self.then = stop.then_some(Heard::Ended);
                    return Ok(());
                }
                let Some(Gap { lost, .. }) = self.next.reach(place) else {
                    self.then = stop.then_some(Heard::Ended);
                    return Ok(());
                };
                self.lines = lines;
                self.lost = lost;
                self.at = 0;
                self.length = text.len();
                self.text.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
                self.then = stop.then_some(Heard::Ended);
            }
            // No application for text serves others.
            _ => {}
        }
        Ok(())
    }

    fn next(&mut self) -> Option<Heard> {
        if self.lines > 0 {
            if !self.told {
                self.told = true;
                return Some(Heard::Lost(None));
            }
            self.told = false;
            self.lines -= 1;
            return Some(Heard::LineFeed);
        }
        if self.lost > 0 {
            let lost = self.lost.min(LONGEST_GAP);
            self.lost = 0;
            return Some(Heard::Lost(Some(lost)));
        }
        while self.at < self.length {
            let byte = self.text.get(self.at).copied().unwrap_or_default();
            self.at += 1;
            self.next = if byte == b'\n' { self.next.next_stream() } else { self.next.next() };
            match byte {
                b'\r' => {}
                b'\n' => return Some(Heard::LineFeed),
                byte => return Some(Heard::Byte(byte)),
            }
        }
        self.then.take()
    }
}

/// A class, by its name or, if it has none, its number.
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

/// The class decided for and the bits of its margin; `-` and zero if nothing can be decided.
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
