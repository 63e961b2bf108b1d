//! The receiving end of a serial line: bytes and errors in, records out.
//!
//! # One rule for errors
//!
//! Every application hears its line through [`ReadErrors`]:
//!
//! - A read that fails is a lost byte, as a UART reports an overrun. The frame around it will be found damaged, its sample
//!   will be missing, and the conversation goes on.
//! - [`ReadErrors::LIMIT`] failed reads in a row mean that the transport is gone. The next failure ends the conversation
//!   with that error.
//! - A write that fails ends the conversation: nobody hears the answers.
//! - The end of the transport ends the conversation without an error, wherever it comes. A frame that it cuts is not taken.

use fishweir_core::wire::{Receiver, RecordBuffer};
use zerocopy::{FromBytes, IntoBytes, Unaligned};

/// Counts failed reads: the one rule of all lines, which the [module](self) states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ReadErrors {
    /// Number of errors since the last byte.
    in_a_row: u32,
}

impl ReadErrors {
    /// Failed reads in a row that a line survives.
    pub const LIMIT: u32 = 32;

    /// Returns the byte that was read, or `None` if one was lost.
    ///
    /// # Errors
    /// The error after [`LIMIT`](Self::LIMIT) others in a row.
    pub fn check<T, E>(&mut self, read: Result<T, E>) -> Result<Option<T>, E> {
        match read {
            Ok(read) => {
                self.in_a_row = 0;
                Ok(Some(read))
            }
            Err(error) if self.in_a_row >= Self::LIMIT => Err(error),
            Err(_) => {
                self.in_a_row += 1;
                Ok(None)
            }
        }
    }
}

/// The receiving end of a line that carries [frames](fishweir_core::wire); `T` is the longest record it takes.
///
/// RAM: a record, its checksum, and 24 bytes on a 32-bit part. Work: that of
/// [`Receiver::push`], and a branch.
#[derive(Debug)]
pub struct Link<T> {
    receiver: Receiver,
    room: RecordBuffer<T>,
    errors: ReadErrors,
}

impl<T: FromBytes + IntoBytes + Unaligned> Link<T> {
    /// A link before any byte.
    #[must_use]
    pub fn new() -> Self {
        Self { receiver: Receiver::new(), room: RecordBuffer::new(), errors: ReadErrors::default() }
    }

    /// Takes in the result of reading a byte, and returns the record that it completes undamaged.
    ///
    /// # Errors
    /// As [`ReadErrors::check`].
    pub fn on_byte<E>(&mut self, byte: Result<u8, E>) -> Result<Option<&[u8]>, E> {
        let Some(byte) = self.errors.check(byte)? else { return Ok(None) };
        let length = self.receiver.push(byte, self.room.bytes());
        Ok(length.and_then(|length| self.room.bytes().get(..length)))
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
