//! Frames over a pair of byte streams.

use std::io::{self, ErrorKind, Read, Write};
use std::time::{Duration, Instant};

use fishweir_core::wire::{CHECKSUM_LENGTH, Head, Receiver, encode, longest};

use super::{DeviceError, Options};

/// Event on the line.
pub(super) enum LineEvent {
    /// A record: its head, and the rest.
    Record(Head, Vec<u8>),
    /// Nothing for as long as a read waits.
    Silence,
    /// The end of the stream.
    End,
}

/// The device's side of a serial line.
pub(super) struct Line<'o, R> {
    reader: R,
    options: &'o Options,
    receiver: Receiver,
    /// The record being received and its checksum.
    record: Vec<u8>,
    chunk: Vec<u8>,
    taken: usize,
    last_heard: Instant,
}

/// Enough for all records but the answers of large banks.
const RECORD: usize = 256;
const CHUNK: usize = 4096;

impl<'o, R: Read> Line<'o, R> {
    pub(super) fn new(reader: R, options: &'o Options) -> Self {
        Self {
            reader,
            options,
            receiver: Receiver::new(),
            record: vec![0; RECORD + CHECKSUM_LENGTH],
            chunk: Vec::with_capacity(CHUNK),
            taken: 0,
            last_heard: Instant::now(),
        }
    }

    /// Makes room for records of `bytes` bytes.
    pub(super) fn expect_records_of(&mut self, bytes: usize) {
        self.record.resize(RECORD.max(bytes) + CHECKSUM_LENGTH, 0);
    }

    /// Longest wait for the device.
    pub(super) fn patience(&self) -> Duration {
        self.options.patience
    }

    /// Frames that arrived damaged.
    pub(super) fn corrupt(&self) -> u64 {
        self.receiver.corrupt()
    }

    /// Waits for the next event. `answers` is for the error's message.
    pub(super) fn hear(&mut self, answers: usize) -> Result<LineEvent, DeviceError> {
        loop {
            while let Some(&byte) = self.chunk.get(self.taken) {
                self.taken += 1;
                let Some(length) = self.receiver.push(byte, &mut self.record) else { continue };
                let whole = &self.record[..length];
                let Some((head, rest)) = Head::split(whole) else {
                    let what = format!("{length} bytes, less than a head");
                    return Err(DeviceError::BadRecord { answers, what });
                };
                return Ok(LineEvent::Record(head, rest.to_vec()));
            }
            self.taken = 0;
            self.chunk.resize(CHUNK, 0);
            let read = self.reader.read(&mut self.chunk);
            self.chunk.truncate(*read.as_ref().unwrap_or(&0));
            match read {
                Ok(0) => return Ok(LineEvent::End),
                Ok(_) => self.last_heard = Instant::now(),
                Err(error) => match error.kind() {
                    ErrorKind::Interrupted => {}
                    ErrorKind::ConnectionReset => return Ok(LineEvent::End),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                        if self.last_heard.elapsed() < self.options.patience {
                            return Ok(LineEvent::Silence);
                        }
                        let seconds = self.options.patience.as_secs();
                        return Err(DeviceError::Silent { seconds, answers });
                    }
                    _ => return Err(DeviceError::Link(error)),
                },
            }
        }
    }
}

/// Writes a record in its frame.
pub(super) fn send(writer: &mut impl Write, record: &[u8]) -> io::Result<()> {
    let mut frame = vec![0; longest(record.len())];
    // Long enough by its making.
    let length = encode(record, &mut frame).unwrap_or_default();
    writer.write_all(&frame[..length])
}
