//! Records over a serial line: bytes in, records out.

use fishweir_core::wire::{Receiver, RecordBuffer};
use zerocopy::{FromBytes, IntoBytes, Unaligned};

/// Errors in a row after which a transport is given up. One by one they are what a UART reports when it
/// lost a byte: the frame around it will be found damaged, and the stream goes on.
const ERRORS_IN_A_ROW: u32 = 32;

/// The receiving end of a line that carries [frames](fishweir_core::wire); `T` is the longest record it takes.
///
/// RAM: a record, its checksum, and 24 bytes on a 32-bit part. Work: that of
/// [`Receiver::push`], and a branch.
#[derive(Debug)]
pub struct Link<T> {
    receiver: Receiver,
    room: RecordBuffer<T>,
    /// Reads that failed since the last byte.
    errors: u32,
}

impl<T: FromBytes + IntoBytes + Unaligned> Link<T> {
    /// A link that has heard nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self { receiver: Receiver::new(), room: RecordBuffer::new(), errors: 0 }
    }

    /// Takes in what reading a byte came to, and gives the record that it completes undamaged.
    ///
    /// # Errors
    /// When the transport failed again and again: the last of its errors.
    pub fn hear<E>(&mut self, byte: Result<u8, E>) -> Result<Option<&[u8]>, E> {
        match byte {
            Ok(byte) => {
                self.errors = 0;
                let length = self.receiver.push(byte, self.room.bytes());
                Ok(length.and_then(|length| self.room.bytes().get(..length)))
            }
            Err(error) if self.errors >= ERRORS_IN_A_ROW => Err(error),
            Err(_) => {
                self.errors += 1;
                Ok(None)
            }
        }
    }

    /// Frames that arrived damaged so far.
    #[must_use]
    pub fn corrupt(&self) -> u64 {
        self.receiver.corrupt()
    }
}

impl<T: FromBytes + IntoBytes + Unaligned> Default for Link<T> {
    fn default() -> Self {
        Self::new()
    }
}
