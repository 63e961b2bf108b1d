//! Two slots at the end of the flash, for models that come over the line.

{{mapped?}}use core::slice;

use embedded_storage::nor_flash::{
    ErrorType, MultiwriteNorFlash, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash,
};
{{flash_use}}
{{mapped?}}use fishweir_device::update::MappedFlash;
{{copied?}}use fishweir_device::update::Mirror;

/// Where they begin, and their bytes: the program's flash ends before.
const START: u32 = {{slots_start}};
const LENGTH: usize = {{slots_bytes}};
/// The same from the beginning of the flash.
const OFFSET: u32 = START - {{flash_base}};

/// The driver of the flash.
type Flash = {{flash_type}};

/// The end of the flash.
pub struct End(Flash);

{{mapped?}}/// The slots, as memory.
{{mapped?}}pub type Slots<'m> = End;
{{copied?}}/// The slots, with a copy in RAM: the processor does not see the flash as memory.
{{copied?}}pub type Slots<'m> = Mirror<'m, End>;

/// RAM that they take.
{{mapped?}}#[derive(Default)]
{{mapped?}}pub struct Memory(());
{{copied?}}pub struct Memory([u64; LENGTH / 8]);
{{copied?}}
{{copied?}}impl Default for Memory {
{{copied?}}    fn default() -> Self {
{{copied?}}        Self([0; LENGTH / 8])
{{copied?}}    }
{{copied?}}}

/// Takes the flash; `None` if it cannot be read.
{{mapped?}}pub fn slots(_memory: &mut Memory) -> Option<Slots<'_>> {
{{copied?}}pub fn slots(memory: &mut Memory) -> Option<Slots<'_>> {
    // SAFETY: nothing else takes the flash.
    let parts = unsafe { Peripherals::steal() };
    let end = End({{flash_new}});
{{mapped?}}    Some(end)
{{copied?}}    Mirror::new(end, &mut memory.0).ok()
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
