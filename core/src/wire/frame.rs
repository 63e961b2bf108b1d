use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::U32;
use crate::checksum::CRC;

/// The byte between frames; it occurs nowhere in them.
pub const DELIMITER: u8 = 0;

/// Bytes of the checksum behind a record.
pub const CHECKSUM_LENGTH: usize = size_of::<U32>();

/// The most bytes that the frame of a record of `record` bytes takes, delimiters and checksum included.
#[must_use]
pub const fn longest(record: usize) -> usize {
    cobs::max_encoding_length(record + CHECKSUM_LENGTH) + 2
}

/// Writes the frame of a record to the start of `buffer` and returns its length.
///
/// ```text
/// 0  COBS( record  CRC-32 of the record, little-endian )  0
/// ```
///
/// The delimiter in front ends whatever noise has put on the line since the frame before.
///
/// `None` where the buffer holds fewer than [`longest`] bytes. Work: one pass to stuff the record, one bit by
/// bit for the checksum.
#[must_use]
pub fn encode(record: &[u8], buffer: &mut [u8]) -> Option<usize> {
    if buffer.len() < longest(record.len()) {
        return None;
    }
    let (first, rest) = buffer.split_first_mut()?;
    *first = DELIMITER;
    let mut encoder = cobs::CobsEncoder::new(rest);
    encoder.push(record).ok()?;
    encoder.push(&CRC.checksum(record).to_le_bytes()).ok()?;
    let length = encoder.finalize();
    *rest.get_mut(length)? = DELIMITER;
    Some(length + 2)
}

/// Buffer for a record of type `T` and its checksum, for [`Receiver::push`].
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RecordBuffer<T> {
    record: T,
    checksum: U32,
}

impl<T: FromBytes + IntoBytes + Unaligned> RecordBuffer<T> {
    /// RecordBuffer, empty.
    #[must_use]
    pub fn new() -> Self {
        Self::new_zeroed()
    }

    /// Bytes of the buffer.
    pub fn bytes(&mut self) -> &mut [u8] {
        self.as_mut_bytes()
    }
}

impl<T: FromBytes + IntoBytes + Unaligned> Default for RecordBuffer<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// A record in its frame, ready to be sent: at most 14 bytes more than the record, on the stack.
#[derive(Clone, Copy, Debug)]
pub struct Frame<T> {
    room: FrameRoom<T>,
    length: usize,
}

#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct FrameRoom<T> {
    record: T,
    checksum: U32,
    /// Two delimiters, and a byte for each 254 of the others.
    overhead: [u8; 10],
}

impl<T: FromBytes + IntoBytes + Immutable + Unaligned> Frame<T> {
    /// The frame of a record.
    #[must_use]
    pub fn new(record: &T) -> Self {
        const {
            assert!(longest(size_of::<T>()) <= size_of::<FrameRoom<T>>(), "record over 2 kB");
        }
        // Made in its place: moved, it would lie on the stack twice.
        let mut frame = Self { room: FrameRoom::new_zeroed(), length: 0 };
        frame.length = encode(record.as_bytes(), frame.room.as_mut_bytes()).unwrap_or(0);
        frame
    }

    /// Bytes of the frame, delimiters included.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.room.as_bytes().get(..self.length).unwrap_or(&[])
    }
}

/// Takes frames apart, a byte at a time, and counts those that arrived damaged.
///
/// A frame is taken if it decodes, fits the buffer and its checksum is right; otherwise it is dropped
/// and counted, and the next delimiter begins anew. The checksum is CRC-32/ISO-HDLC, reflected polynomial `0xEDB88320`. It
/// detects
/// - every damage confined to 32 neighbouring bits of record and checksum, so every change of one of their bytes;
/// - all but one in `2^32` of frames damaged at random, or whose stuffing is damaged, which moves zeros of the record.
///
/// A lost or doubled byte changes the length. In a record of fixed length of up to 249 bytes, which stuffing lengthens by one
/// byte, the length shows it whatever the checksum.
///
/// State: 16 bytes on a 32-bit part, and the buffer that is lent. Work: a few branches a byte, and when the
/// frame ends a pass over the record, bit by bit, for the checksum.
#[derive(Debug, Default)]
pub struct Receiver {
    decoder: cobs::DecoderState,
    length: usize,
    corrupt: u64,
}

impl Receiver {
    /// A receiver between two frames.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in a byte. Where it completes a frame, the record lies at the start of `buffer` and its length
    /// is returned. Lend the same buffer until then; it holds a record and [`CHECKSUM_LENGTH`] bytes.
    pub fn push(&mut self, byte: u8, buffer: &mut [u8]) -> Option<usize> {
        use cobs::DecodeResult::{DataComplete, DataContinue, DataStart, NoData};
        match self.decoder.feed(byte) {
            Ok(NoData) => None,
            Ok(DataStart) => {
                self.length = 0;
                None
            }
            Ok(DataContinue(byte)) => {
                if let Some(slot) = buffer.get_mut(self.length) {
                    *slot = byte;
                }
                // Beyond the buffer the length alone says that the frame is too long.
                self.length = self.length.saturating_add(1);
                None
            }
            Ok(DataComplete) => {
                let record = self.record(buffer);
                self.corrupt += u64::from(record.is_none());
                record
            }
            Err(_) => {
                self.corrupt += 1;
                None
            }
        }
    }

    fn record(&self, buffer: &[u8]) -> Option<usize> {
        let (record, checksum) = buffer.get(..self.length)?.split_last_chunk()?;
        let whole = CRC.checksum(record) == u32::from_le_bytes(*checksum);
        (whole && !record.is_empty()).then_some(record.len())
    }

    /// Frames that arrived damaged so far. Noise that splits a frame counts twice, noise that joins two
    /// counts once.
    #[must_use]
    pub fn corrupt(&self) -> u64 {
        self.corrupt
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Receiver {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Receiver {{ corrupt: {=u64} }}", self.corrupt);
    }
}
