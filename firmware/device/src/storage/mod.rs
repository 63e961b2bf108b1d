//! Two slots in flash for one value: whenever the power goes, one of them holds a whole value.
//!
//! A value is any bytes; nothing here knows what they mean. The flash is halved:
//!
//! | offset in a slot | bytes | what |
//! |---|---|---|
//! | 0 | 4 | `WEIR` |
//! | 4 | 4 | number of the value: 1, 2, ... |
//! | 8 | 4 | its length |
//! | 12 | 4 | CRC-32 (ISO-HDLC) of number, length and value |
//! | 32 | | the value |
//!
//! Saving erases the slot that does not hold the newest value, writes the value, and writes the header
//! last. Until the header is whole the slot is void, and the other one still holds the value before; a
//! header or value that is half written or half erased fails its checksum (but for one in `2^32`).
//!
//! What else is kept in slots and may not be written in one piece, [updates](crate::update), uses the same ones.
//!
//! The crate `sequential-storage` keeps maps and queues of many items, spread over many pages, and wears
//! them evenly. Here is one value, longer than the page of a small part (1 kB on nRF51) if need be, which
//! it does not allow, and no executor to drive its futures. Each save erases one slot: flash that bears
//! 20 000 erasures bears 40 000 saves, one per hour for four years.

use core::fmt;

use embedded_storage::nor_flash::{NorFlash, NorFlashError, NorFlashErrorKind};

#[cfg(test)]
pub(crate) mod tests;

/// Bytes of a slot before the value: the header, padded to the write size of any flash.
pub const HEADER_ROOM: usize = 32;

const MAGIC: [u8; 4] = *b"WEIR";
const CHUNK: usize = 32;
/// Value of erased flash.
pub(crate) const ERASED: u8 = 0xFF;

static CRC: crc::Crc<u32, crc::NoTable> = crc::Crc::<u32, crc::NoTable>::new(&crc::CRC_32_ISO_HDLC);

/// Reason why a value was not saved or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum StorageError<E> {
    /// The flash failed.
    Flash(E),
    /// The value is longer than a slot, or than the buffer it is to be read into.
    TooLong,
    /// The written value does not read back: the flash is worn out.
    NotKept,
}

impl<E: NorFlashError> StorageError<E> {
    /// Converts the flash's error into the kind that all drivers share.
    pub fn kind(self) -> StorageError<NorFlashErrorKind> {
        match self {
            Self::Flash(error) => StorageError::Flash(error.kind()),
            Self::TooLong => StorageError::TooLong,
            Self::NotKept => StorageError::NotKept,
        }
    }
}

impl<E> From<E> for StorageError<E> {
    fn from(error: E) -> Self {
        Self::Flash(error)
    }
}

impl<E: fmt::Debug> fmt::Display for StorageError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flash(error) => write!(f, "flash: {error:?}"),
            Self::TooLong => f.write_str("the value is too long for its slot or buffer"),
            Self::NotKept => f.write_str("what was written does not read back: flash worn out"),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for StorageError<E> {}

/// A value that was saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredRecord<'b> {
    /// Number of values saved, this one included.
    pub number: u32,
    /// Bytes of the value.
    pub value: &'b [u8],
}

/// A value that is whole, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ValidSlot {
    pub(crate) slot: u32,
    pub(crate) number: u32,
    pub(crate) length: usize,
}

/// Two slots in a region of flash.
///
/// RAM: the flash driver, and 64 bytes of stack while it works.
#[derive(Debug)]
pub struct Slots<F> {
    pub(crate) flash: F,
    /// Bytes of a slot before the value.
    room: u32,
}

impl<F: NorFlash> Slots<F> {
    /// Slots in the whole of a region: each takes half of its pages.
    pub const fn new(flash: F) -> Self {
        Self::with_room(flash, HEADER_ROOM as u32)
    }

    /// Slots whose values begin after `room` bytes, a multiple of [`HEADER_ROOM`] that begins with the header.
    pub(crate) const fn with_room(flash: F, room: u32) -> Self {
        const {
            assert!(F::READ_SIZE <= CHUNK && CHUNK.is_multiple_of(F::READ_SIZE));
            assert!(F::WRITE_SIZE <= CHUNK && CHUNK.is_multiple_of(F::WRITE_SIZE));
            assert!(F::ERASE_SIZE >= CHUNK && F::ERASE_SIZE.is_multiple_of(CHUNK));
        }
        Self { flash, room }
    }

    /// The longest value that fits.
    pub fn longest(&self) -> usize {
        (self.slot_bytes() as usize).saturating_sub(self.room as usize)
    }

    /// Reads the newest value to the start of `buffer`, and returns its number; `None` if there is no value.
    ///
    /// # Errors
    /// When the flash fails, or the buffer is shorter than the value.
    pub fn load<'b>(
        &mut self,
        buffer: &'b mut [u8],
    ) -> Result<Option<StoredRecord<'b>>, StorageError<F::Error>> {
        let Some(ValidSlot { slot, number, length }) = self.newest()? else { return Ok(None) };
        let value = buffer.get_mut(..length).ok_or(StorageError::TooLong)?;
        let mut at = self.value_at(slot);
        for piece in value.chunks_mut(CHUNK) {
            let mut chunk = [0; CHUNK];
            self.flash.read(at, &mut chunk)?;
            piece.iter_mut().zip(chunk).for_each(|(to, from)| *to = from);
            at += CHUNK as u32;
        }
        Ok(Some(StoredRecord { number, value }))
    }

    /// Saves a value, and returns the number of values saved, this one included.
    ///
    /// Time: that of erasing half the region and of writing the value. Power may go at any moment.
    ///
    /// # Errors
    /// When the value is too long, when the flash fails, or when it does not keep what was written. The
    /// value before is still there then.
    pub fn save(&mut self, value: &[u8]) -> Result<u32, StorageError<F::Error>> {
        if value.len() > self.longest() {
            return Err(StorageError::TooLong);
        }
        let (slot, number) = match self.newest()? {
            Some(newest) => (1 - newest.slot, newest.number.wrapping_add(1)),
            None => (0, 1),
        };
        self.erase(slot)?;
        self.put(slot, 0, value)?;
        let mut digest = digest(number, value.len() as u32);
        digest.update(value);
        self.seal(ValidSlot { slot, number, length: value.len() }, digest.finalize())?;
        Ok(number)
    }

    /// Erases a slot.
    // Out of line: it has several callers.
    #[inline(never)]
    pub(crate) fn erase(&mut self, slot: u32) -> Result<(), F::Error> {
        let start = self.start(slot);
        self.flash.erase(start, start + self.slot_bytes())
    }

    /// Writes a piece of a value into an erased slot, at `from`, a multiple of the flash's write size.
    // Out of line: it has several callers.
    #[inline(never)]
    pub(crate) fn put(&mut self, slot: u32, from: u32, bytes: &[u8]) -> Result<(), F::Error> {
        let mut at = self.value_at(slot) + from;
        for piece in bytes.chunks(CHUNK) {
            let mut chunk = [ERASED; CHUNK];
            chunk.iter_mut().zip(piece).for_each(|(to, &from)| *to = from);
            let used = piece.len().next_multiple_of(F::WRITE_SIZE);
            self.flash.write(at, chunk.get(..used).unwrap_or(&chunk))?;
            at += CHUNK as u32;
        }
        Ok(())
    }

    /// Writes the header of a value whose bytes are all there: from now on it counts.
    // Out of line: it has several callers.
    #[inline(never)]
    pub(crate) fn seal(
        &mut self,
        value: ValidSlot,
        checksum: u32,
    ) -> Result<(), StorageError<F::Error>> {
        let words = [u32::from_le_bytes(MAGIC), value.number, value.length as u32, checksum];
        let mut header = [ERASED; HEADER_ROOM];
        for (to, word) in header.chunks_exact_mut(4).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        self.flash.write(self.start(value.slot), &header)?;
        if self.check(value.slot)? == Some(value) { Ok(()) } else { Err(StorageError::NotKept) }
    }

    /// Bytes of a slot: whole pages.
    fn slot_bytes(&self) -> u32 {
        (self.flash.capacity() / 2 / F::ERASE_SIZE * F::ERASE_SIZE) as u32
    }

    pub(crate) fn start(&self, slot: u32) -> u32 {
        slot * self.slot_bytes()
    }

    pub(crate) fn value_at(&self, slot: u32) -> u32 {
        self.start(slot) + self.room
    }

    fn newest(&mut self) -> Result<Option<ValidSlot>, F::Error> {
        Ok(match (self.check(0)?, self.check(1)?) {
            (Some(first), Some(second)) => {
                // Numbers wrap around, like those of frames.
                let second_is_newer = second.number.wrapping_sub(first.number) <= u32::MAX / 2;
                Some(if second_is_newer { second } else { first })
            }
            (first, second) => first.or(second),
        })
    }

    /// Returns the content of a slot, if it is complete.
    // Out of line: it has several callers.
    #[inline(never)]
    pub(crate) fn check(&mut self, slot: u32) -> Result<Option<ValidSlot>, F::Error> {
        let start = self.start(slot);
        let mut header = [0; HEADER_ROOM];
        self.flash.read(start, &mut header)?;
        let mut words = header.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word));
        let mut word = || words.next().unwrap_or(0);
        let (magic, number, length, checksum) = (word(), word(), word(), word());
        let longest = self.longest();
        if magic != u32::from_le_bytes(MAGIC) || length as usize > longest {
            return Ok(None);
        }
        let mut digest = digest(number, length);
        let (mut at, mut left) = (self.value_at(slot), length as usize);
        while left > 0 {
            let mut chunk = [0; CHUNK];
            self.flash.read(at, &mut chunk)?;
            let used = left.min(CHUNK);
            digest.update(chunk.get(..used).unwrap_or(&chunk));
            at += CHUNK as u32;
            left -= used;
        }
        let whole = digest.finalize() == checksum;
        Ok(whole.then_some(ValidSlot { slot, number, length: length as usize }))
    }
}

/// Digest of a value's checksum, before its bytes.
pub(crate) fn digest(number: u32, length: u32) -> crc::Digest<'static, u32, crc::NoTable> {
    let mut digest = CRC.digest();
    digest.update(&number.to_le_bytes());
    digest.update(&length.to_le_bytes());
    digest
}
