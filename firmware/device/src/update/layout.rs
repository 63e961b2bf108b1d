//! Layout of the two slots, and the order of writing.

use embedded_storage::nor_flash::MultiwriteNorFlash;
use fishweir_core::update::HEADER_LENGTH;
use fishweir_core::wire::UPDATE_CHUNK;

use crate::storage::{ERASED, HEADER_ROOM, Slots, StorageError, ValidSlot, digest};

/// Flash that the processor sees as memory.
///
/// It must start at a multiple of eight bytes, and allow zeros to be written over what has been.
pub trait MappedFlash: MultiwriteNorFlash {
    /// All of it, as it is now.
    fn bytes(&self) -> &[u8];
}

impl<F: MappedFlash> MappedFlash for &mut F {
    fn bytes(&self) -> &[u8] {
        (**self).bytes()
    }
}

/// Bytes of a slot before the update.
pub const ROOM: u32 = 6 * HEADER_ROOM as u32;

/// Mark that is written once into a slot, at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Mark {
    FirstTrial = 2,
    SecondTrial = 3,
    Confirmed = 4,
    Refused = 5,
}

const TAKE: [u8; 4] = *b"TAKE";
const RECEIVING_AT: u32 = HEADER_ROOM as u32;

static CRC: crc::Crc<u32, crc::NoTable> = crc::Crc::<u32, crc::NoTable>::new(&crc::CRC_32_ISO_HDLC);

/// Two slots for updates.
#[derive(Debug)]
pub(super) struct UpdateSlots<F> {
    slots: Slots<F>,
}

impl<F: MappedFlash> UpdateSlots<F> {
    pub(super) fn new(flash: F) -> Self {
        Self { slots: Slots::with_room(flash, ROOM) }
    }

    /// The longest update that fits.
    pub(super) fn longest(&self) -> usize {
        self.slots.longest()
    }

    /// The update that a slot holds, if it was found good once and is whole.
    pub(super) fn check(&mut self, slot: u32) -> Result<Option<ValidSlot>, F::Error> {
        self.slots.check(slot)
    }

    /// The first bytes of a slot's content, complete or not.
    pub(super) fn bytes(&self, slot: u32, length: usize) -> &[u8] {
        let start = self.slots.value_at(slot) as usize;
        self.slots.flash.bytes().get(start..).and_then(|rest| rest.get(..length)).unwrap_or(&[])
    }

    fn before(&self, slot: u32, at: u32, length: usize) -> &[u8] {
        let start = (self.slots.start(slot) + at) as usize;
        self.slots.flash.bytes().get(start..).and_then(|rest| rest.get(..length)).unwrap_or(&[])
    }

    pub(super) fn is_marked(&self, slot: u32, mark: Mark) -> bool {
        let at = mark as u32 * HEADER_ROOM as u32;
        self.before(slot, at, F::WRITE_SIZE).iter().any(|&byte| byte != ERASED)
    }

    pub(super) fn mark(&mut self, slot: u32, mark: Mark) -> Result<(), F::Error> {
        self.clear(slot, mark as u32 * HEADER_ROOM as u32, F::WRITE_SIZE)
    }

    fn clear(&mut self, slot: u32, at: u32, length: usize) -> Result<(), F::Error> {
        let zeros = [0; HEADER_ROOM];
        let at = self.slots.start(slot) + at;
        self.slots.flash.write(at, zeros.get(..length).unwrap_or(&zeros))
    }

    /// Returns the mark of a slot that receives an update with this header.
    // Out of line: it has several callers.
    #[inline(never)]
    fn receiving(header: &[u8]) -> [u8; HEADER_ROOM] {
        let mut mark = [ERASED; HEADER_ROOM];
        let words = TAKE.into_iter().chain(CRC.checksum(header).to_le_bytes());
        mark.iter_mut().zip(words).for_each(|(to, from)| *to = from);
        mark
    }

    /// Returns whether a slot is receiving the update with this header.
    pub(super) fn receives(&self, slot: u32, header: &[u8; HEADER_LENGTH]) -> bool {
        self.bytes(slot, HEADER_LENGTH) == header
            && self.before(slot, RECEIVING_AT, HEADER_ROOM) == Self::receiving(header)
            && self.before(slot, 0, HEADER_ROOM).iter().all(|&byte| byte == ERASED)
    }

    /// Returns the offset at which to continue an update of `length` bytes.
    ///
    /// It is that of the last piece with written bytes, which may be incomplete and is written again.
    pub(super) fn reached(&self, slot: u32, length: usize) -> usize {
        let written = self.bytes(slot, length).iter().rposition(|&byte| byte != ERASED);
        (written.unwrap_or(0) / UPDATE_CHUNK * UPDATE_CHUNK).max(HEADER_LENGTH)
    }

    /// Invalidates the content of a slot. Only then may it be erased: of a page half erased the header
    /// might be left, and a mark be gone.
    pub(super) fn void(&mut self, slot: u32) -> Result<(), F::Error> {
        self.clear(slot, 0, HEADER_ROOM)?;
        self.clear(slot, RECEIVING_AT, HEADER_ROOM)
    }

    /// Empties a slot for the update with this header.
    pub(super) fn begin(
        &mut self,
        slot: u32,
        header: &[u8; HEADER_LENGTH],
    ) -> Result<(), F::Error> {
        self.void(slot)?;
        self.slots.erase(slot)?;
        self.slots.put(slot, 0, header)?;
        let at = self.slots.start(slot) + RECEIVING_AT;
        self.slots.flash.write(at, &Self::receiving(header))
    }

    /// Writes a piece; an error where it does not read back.
    pub(super) fn put(
        &mut self,
        slot: u32,
        from: usize,
        piece: &[u8],
    ) -> Result<(), StorageError<F::Error>> {
        self.slots.put(slot, from as u32, piece)?;
        let kept = self.bytes(slot, from + piece.len()).get(from..) == Some(piece);
        if kept { Ok(()) } else { Err(StorageError::NotKept) }
    }

    /// Makes an update that is all there count.
    pub(super) fn seal(
        &mut self,
        slot: u32,
        version: u32,
        length: usize,
    ) -> Result<ValidSlot, StorageError<F::Error>> {
        let mut digest = digest(version, length as u32);
        digest.update(self.bytes(slot, length));
        let whole = ValidSlot { slot, number: version, length };
        self.slots.seal(whole, digest.finalize())?;
        Ok(whole)
    }
}
