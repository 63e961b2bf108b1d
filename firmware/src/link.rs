//! Records over a serial port: frames out, frames in.

use embedded_io::{Read, Write};
use fishweir_core::wire::{Frame, Receiver, RecordBuffer};
use zerocopy::{FromBytes, Immutable, IntoBytes, Unaligned};

/// Errors in a row after which a transport is given up. One by one they are what a UART reports when it
/// lost a byte: the frame around it will be found damaged, and the stream goes on.
const ERRORS_IN_A_ROW: u32 = 32;

/// A serial port that carries [frames](fishweir_core::wire); `T` is the longest record it receives.
#[derive(Debug)]
pub struct Link<'s, S, T> {
    serial: &'s mut S,
    receiver: Receiver,
    room: RecordBuffer<T>,
}

impl<'s, S, T> Link<'s, S, T>
where
    S: Read + Write,
    T: FromBytes + IntoBytes + Unaligned,
{
    /// A link that has heard nothing yet.
    pub fn new(serial: &'s mut S) -> Self {
        Self { serial, receiver: Receiver::new(), room: RecordBuffer::new() }
    }

    /// Waits for the next record that arrives undamaged; `None` at the end of the stream.
    ///
    /// # Errors
    /// When the transport fails again and again.
    pub fn receive(&mut self) -> Result<Option<&[u8]>, S::Error> {
        let mut errors = 0;
        let length = loop {
            let mut byte = 0;
            match self.serial.read(byte.as_mut_bytes()) {
                Ok(0) => return Ok(None),
                Ok(_) => errors = 0,
                Err(error) if errors >= ERRORS_IN_A_ROW => return Err(error),
                Err(_) => {
                    errors += 1;
                    continue;
                }
            }
            if let Some(length) = self.receiver.push(byte, self.room.bytes()) {
                break length;
            }
        };
        Ok(self.room.bytes().get(..length))
    }

    /// Sends a record.
    ///
    /// # Errors
    /// When the transport fails.
    // Out of line: the frames of all records would lie on the caller's stack at once.
    #[inline(never)]
    pub fn send<R>(&mut self, record: &R) -> Result<(), S::Error>
    where
        R: FromBytes + IntoBytes + Immutable + Unaligned,
    {
        self.serial.write_all(Frame::new(record).as_bytes())
    }

    /// Waits until all that was sent has left.
    ///
    /// # Errors
    /// When the transport fails.
    pub fn flush(&mut self) -> Result<(), S::Error> {
        self.serial.flush()
    }

    /// Frames that arrived damaged so far.
    pub fn corrupt(&self) -> u64 {
        self.receiver.corrupt()
    }
}
