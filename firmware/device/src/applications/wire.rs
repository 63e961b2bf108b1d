//! Byte streams in memory, for the applications' tests.

use std::collections::VecDeque;
use std::string::String;
use std::vec::Vec;

use embassy_futures::yield_now;
use embedded_io::{ErrorKind, ErrorType, Read, Write};

/// What the other end sends, errors of the receiver among it, and what it gets. After the last byte
/// the stream ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Wire {
    sent: VecDeque<Result<u8, ErrorKind>>,
    received: Vec<u8>,
}

impl Wire {
    pub(super) fn sending(bytes: &[u8]) -> Self {
        Self::default().then(bytes)
    }

    pub(super) fn then(mut self, bytes: &[u8]) -> Self {
        self.sent.extend(bytes.iter().map(|&byte| Ok(byte)));
        self
    }

    pub(super) fn failing(mut self) -> Self {
        self.sent.push_back(Err(ErrorKind::Other));
        self
    }

    /// Bytes that nobody has read.
    pub(super) fn unread(&self) -> usize {
        self.sent.len()
    }

    pub(super) fn received(&self) -> &[u8] {
        &self.received
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let text = std::str::from_utf8(&self.received).expect("answers are text");
        text.lines().map(String::from).collect()
    }
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
