//! Byte streams in memory, for the applications' tests.

use std::collections::VecDeque;
use std::string::String;
use std::vec::Vec;

use embassy_futures::yield_now;
use embedded_io::{ErrorKind, ErrorType, Read, Write};
use fishweir_core::wire::{
    Receiver, Request, SampleIndex, TEXT_PIECE, TextHead, U16, encode, longest,
};
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// Simulated serial line: the bytes and receiver errors that the application reads, and the bytes that it writes.
///
/// After the last byte the stream ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Wire {
    sent: VecDeque<Result<u8, ErrorKind>>,
    received: Vec<u8>,
}

impl Wire {
    pub(super) fn sending(bytes: &[u8]) -> Self {
        Self::default().then(bytes)
    }

    /// Creates a line with errors among the bytes.
    pub(super) fn of(sent: Vec<Result<u8, ErrorKind>>) -> Self {
        Self { sent: sent.into(), received: Vec::new() }
    }

    pub(super) fn then(mut self, bytes: &[u8]) -> Self {
        self.sent.extend(bytes.iter().map(|&byte| Ok(byte)));
        self
    }

    pub(super) fn failing(mut self) -> Self {
        self.sent.push_back(Err(ErrorKind::Other));
        self
    }

    /// Number of unread bytes.
    pub(super) fn unread(&self) -> usize {
        self.sent.len()
    }

    pub(super) fn received(&self) -> &[u8] {
        &self.received
    }

    /// Lines that came in frames.
    pub(super) fn framed_lines(&self) -> Vec<String> {
        framed_lines(&self.received)
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let text = std::str::from_utf8(&self.received).expect("answers are text");
        text.lines().map(String::from).collect()
    }
}

/// Bytes that a host sends: records in frames, samples numbered.
#[derive(Clone, Debug, Default)]
pub(super) struct Sent {
    /// The frame of each record.
    pub(super) frames: Vec<Vec<u8>>,
    pub(super) next: SampleIndex,
}

impl Sent {
    pub(super) fn new() -> Self {
        Self::default()
    }

    fn record(mut self, record: &[u8]) -> Self {
        let mut frame = std::vec![0; longest(record.len())];
        let length = encode(record, &mut frame).expect("room enough");
        frame.truncate(length);
        self.frames.push(frame);
        self
    }

    pub(super) fn ask(self, request: Request) -> Self {
        let head = self.next.head(request.tag());
        self.record(head.as_bytes())
    }

    pub(super) fn sample<W: IntoBytes + Immutable>(self, sample: W) -> Self {
        let head = self.next.head(Request::Sample.tag());
        let mut sent = self.record(&[head.as_bytes(), sample.as_bytes()].concat());
        sent.next = sent.next.next();
        sent
    }

    pub(super) fn symbols(self, symbols: &[u16]) -> Self {
        symbols.iter().fold(self, |sent, &symbol| sent.sample(U16::new(symbol)))
    }

    pub(super) fn missing(self) -> Self {
        let mut sent = self.ask(Request::Missing);
        sent.next = sent.next.next();
        sent
    }

    /// Samples that never set out.
    pub(super) fn skipping(mut self, samples: u16) -> Self {
        self.next.time = self.next.time.wrapping_add(samples);
        self
    }

    pub(super) fn end(self) -> Self {
        let mut sent = self.ask(Request::End);
        sent.next = sent.next.next_stream();
        sent
    }

    /// Lines of text, each in pieces.
    pub(super) fn text(mut self, text: &str) -> Self {
        for line in text.split_inclusive('\n') {
            for piece in line.as_bytes().chunks(TEXT_PIECE) {
                let head = self.next.head(Request::Sample.tag());
                self = self.record(&[head.as_bytes(), piece].concat());
                for byte in piece {
                    let next = self.next;
                    self.next = if *byte == b'\n' { next.next_stream() } else { next.next() };
                }
            }
        }
        self
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        self.frames.concat()
    }
}

/// The frames in bytes that hold nothing else.
pub(super) fn frames_of(bytes: &[u8]) -> Vec<Vec<u8>> {
    let between = bytes.split(|&byte| byte == 0).filter(|frame| !frame.is_empty());
    between.map(|frame| [&[0], frame, &[0]].concat()).collect()
}

/// The lines that frames carry, which must be whole and in order.
pub(super) fn framed_lines(bytes: &[u8]) -> Vec<String> {
    let (mut receiver, mut room) = (Receiver::new(), [0; 64]);
    let (mut lines, mut line) = (Vec::new(), Vec::new());
    for &byte in bytes {
        let Some(length) = receiver.push(byte, &mut room) else { continue };
        let (head, text) = TextHead::read_from_prefix(&room[..length]).expect("a piece of text");
        assert_eq!(head.head.tag, TextHead::TAG);
        assert_eq!(usize::from(head.line.get()), lines.len() % 65_536);
        assert_eq!(usize::from(head.offset.get()), line.len());
        line.extend(text);
        if line.last() == Some(&b'\n') {
            line.pop();
            lines.push(String::from_utf8(core::mem::take(&mut line)).expect("text"));
        }
    }
    assert_eq!((receiver.corrupt(), line.len()), (0, 0));
    lines
}

impl ErrorType for Wire {
    type Error = ErrorKind;
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ErrorKind> {
        let Some(first) = buffer.first_mut() else { return Ok(0) };
        match self.sent.pop_front() {
            Some(byte) => {
                *first = byte?;
                Ok(1)
            }
            None => Ok(0),
        }
    }
}

impl Write for Wire {
    fn write(&mut self, buffer: &[u8]) -> Result<usize, ErrorKind> {
        self.received.extend(buffer);
        Ok(buffer.len())
    }

    fn flush(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
}

/// A line whose every step is waited for, and which takes a few bytes at a time.
pub(super) struct Later<'s, S>(pub(super) &'s mut S);

impl<S: ErrorType> ErrorType for Later<'_, S> {
    type Error = S::Error;
}

impl<S: Read> embedded_io_async::Read for Later<'_, S> {
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, S::Error> {
        yield_now().await;
        self.0.read(buffer)
    }
}

impl<S: Write> embedded_io_async::Write for Later<'_, S> {
    async fn write(&mut self, buffer: &[u8]) -> Result<usize, S::Error> {
        yield_now().await;
        self.0.write(buffer.get(..3).unwrap_or(buffer))
    }

    async fn flush(&mut self) -> Result<(), S::Error> {
        yield_now().await;
        self.0.flush()
    }
}
