//! The part's own flash, through its controller `NVMC`: chapter 6 of the reference manual.
//!
//! Pages of 1 kB, words of four bytes. The processor halts while a page is erased (22 ms) or a word is
//! written (46 us), and bytes that arrive at the serial port meanwhile are lost. A page bears 20 000
//! erasures.

use embedded_storage::nor_flash::{
    ErrorType, MultiwriteNorFlash, NorFlash, NorFlashErrorKind, ReadNorFlash, check_erase,
    check_read, check_write,
};
use fishweir_device::update::MappedFlash;
use safe_mmio::fields::{ReadPure, ReadPureWrite, WriteOnly};
use safe_mmio::{UniqueMmioPointer, field, field_shared};

/// The register block, as far as it is used.
#[derive(Debug)]
#[repr(C)]
pub struct Registers {
    _reserved_000: [u32; 0x400 / 4],
    /// `READY`, offset 0x400: 1 when nothing is being written or erased.
    ready: ReadPure<u32>,
    _reserved_404: [u32; (0x504 - 0x404) / 4],
    /// `CONFIG`, offset 0x504: what may be done, see [`allow`].
    config: ReadPureWrite<u32>,
    /// `ERASEPAGE`, offset 0x508: the address of the page to erase.
    erase_page: WriteOnly<u32>,
}

/// Values of `CONFIG`.
mod allow {
    pub(super) const READING: u32 = 0;
    pub(super) const WRITING: u32 = 1;
    pub(super) const ERASING: u32 = 2;
}

/// Bytes of a page.
pub const PAGE: usize = 1024;
/// Bytes of a word.
pub const WORD: usize = 4;

/// Some pages of the flash.
#[derive(Debug)]
pub struct Flash<'a> {
    registers: UniqueMmioPointer<'a, Registers>,
    words: UniqueMmioPointer<'a, [ReadPureWrite<u32>]>,
}

impl<'a> Flash<'a> {
    /// The flash of these words: whole pages, which hold neither program nor constants.
    #[must_use]
    pub const fn new(
        registers: UniqueMmioPointer<'a, Registers>,
        words: UniqueMmioPointer<'a, [ReadPureWrite<u32>]>,
    ) -> Self {
        Self { registers, words }
    }

    fn allow(&mut self, what: u32) {
        field!(self.registers, config).write(what);
        self.wait();
    }

    fn wait(&self) {
        while field_shared!(self.registers, ready).read() == 0 {}
    }
}

impl ErrorType for Flash<'_> {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Flash<'_> {
    const READ_SIZE: usize = WORD;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        check_read(self, offset, bytes.len())?;
        for (index, to) in (offset as usize / WORD..).zip(bytes.chunks_exact_mut(WORD)) {
            let word = self.words.get(index).ok_or(NorFlashErrorKind::OutOfBounds)?;
            to.copy_from_slice(&word.read().to_le_bytes());
        }
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.words.len() * WORD
    }
}

impl NorFlash for Flash<'_> {
    const WRITE_SIZE: usize = WORD;
    const ERASE_SIZE: usize = PAGE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        check_erase(self, from, to)?;
        let start = self.words.ptr().addr() as u32;
        self.allow(allow::ERASING);
        for page in (from..to).step_by(PAGE) {
            field!(self.registers, erase_page).write(start + page);
            self.wait();
        }
        self.allow(allow::READING);
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        check_write(self, offset, bytes.len())?;
        self.allow(allow::WRITING);
        for (index, &from) in (offset as usize / WORD..).zip(bytes.as_chunks().0) {
            if let Some(mut word) = self.words.get(index) {
                word.write(u32::from_le_bytes(from));
            }
            self.wait();
        }
        self.allow(allow::READING);
        Ok(())
    }
}

/// A word may be written twice before its page is erased.
impl MultiwriteNorFlash for Flash<'_> {}

impl MappedFlash for Flash<'_> {
    #[allow(unsafe_code, reason = "flash is memory")]
    fn bytes(&self) -> &[u8] {
        let words = self.words.ptr();
        // SAFETY: these words are memory for as long as the pointer to them lives, which is unique; they
        // change only through `&mut self`.
        unsafe { core::slice::from_raw_parts(words.cast(), words.len() * WORD) }
    }
}

// Ordinary memory stands in for flash and registers: it cannot erase, but it shows what the driver does.
#[cfg(test)]
mod tests {
    use zerocopy::FromZeros;

    use super::*;

    #[test]
    fn registers_lie_at_the_documented_offsets() {
        assert_eq!(core::mem::offset_of!(Registers, ready), 0x400);
        assert_eq!(core::mem::offset_of!(Registers, config), 0x504);
        assert_eq!(core::mem::offset_of!(Registers, erase_page), 0x508);
    }

    #[test]
    fn words_are_written_where_they_are_read_and_writing_is_off_afterwards() {
        let mut registers = Registers {
            _reserved_000: FromZeros::new_zeroed(),
            ready: ReadPure(1),
            _reserved_404: FromZeros::new_zeroed(),
            config: ReadPureWrite(7),
            erase_page: WriteOnly(0),
        };
        let mut words = [const { ReadPureWrite(u32::MAX) }; 2 * PAGE / WORD];
        let mut flash = Flash::new((&mut registers).into(), (&mut words[..]).into());
        assert_eq!(flash.capacity(), 2 * PAGE);
        assert_eq!(flash.write(PAGE as u32 + 4, &[1, 2, 3, 4, 5, 6, 7, 8]), Ok(()));
        let mut read = [0; 12];
        assert_eq!(flash.read(PAGE as u32, &mut read), Ok(()));
        assert_eq!(read, [255, 255, 255, 255, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(flash.bytes().len(), 2 * PAGE);
        assert_eq!(flash.bytes()[PAGE..PAGE + 12], read);
        assert_eq!(flash.write(2, &[0; 4]), Err(NorFlashErrorKind::NotAligned));
        assert_eq!(flash.read(2 * PAGE as u32, &mut read), Err(NorFlashErrorKind::OutOfBounds));
        assert_eq!(flash.erase(PAGE as u32, 2 * PAGE as u32), Ok(()));
        assert_eq!(registers.config.0, allow::READING);
    }
}
