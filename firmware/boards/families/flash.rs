//! Two slots at the end of the flash, for what comes over the line.

{{mapped?}}use core::slice;

use embedded_storage::nor_flash::{
    ErrorType, MultiwriteNorFlash, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash,
};
{{flash_use}}
{{mapped?}}use fishweir_device::update::MappedFlash;

/// Start of the slots, and their bytes: the program's flash ends before.
const START: u32 = {{slots_start}};
pub const LENGTH: usize = {{slots_bytes}};
/// Offset of the slots in the flash.
const OFFSET: u32 = START - {{flash_base}};

/// The driver of the flash.
type Flash = {{flash_type}};

/// The end of the flash.
pub struct End(Flash);

/// Type of the flash.
pub type Own = End;

/// Takes the flash.
pub fn open() -> Option<Own> {
    // SAFETY: nothing else takes the flash.
    let parts = unsafe { Peripherals::steal() };
    Some(End({{flash_new}}))
}

impl ErrorType for End {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for End {
    const READ_SIZE: usize = <Flash as ReadNorFlash>::READ_SIZE;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
        ReadNorFlash::read(&mut self.0, OFFSET + offset, bytes).map_err(|error| error.kind())
    }

    fn capacity(&self) -> usize {
        LENGTH
    }
}

impl NorFlash for End {
    const WRITE_SIZE: usize = <Flash as NorFlash>::WRITE_SIZE;
    const ERASE_SIZE: usize = <Flash as NorFlash>::ERASE_SIZE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
        NorFlash::erase(&mut self.0, OFFSET + from, OFFSET + to).map_err(|error| error.kind())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        NorFlash::write(&mut self.0, OFFSET + offset, bytes).map_err(|error| error.kind())
    }
}

// Bits of what is written can be cleared once more.
impl MultiwriteNorFlash for End {}
{{mapped?}}
{{mapped?}}impl MappedFlash for End {
{{mapped?}}    fn bytes(&self) -> &[u8] {
{{mapped?}}        // SAFETY: flash that is always there, and that nothing writes while `self` is lent.
{{mapped?}}        unsafe { slice::from_raw_parts(START as *const u8, LENGTH) }
{{mapped?}}    }
{{mapped?}}}
