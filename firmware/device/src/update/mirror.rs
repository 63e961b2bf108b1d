//! Flash that the processor does not see as memory, with a copy in memory: for serial flash and for files.

use embedded_storage::nor_flash::{
    ErrorType, MultiwriteNorFlash, NorFlash, NorFlashErrorKind, ReadNorFlash,
};
use zerocopy::IntoBytes;

use super::layout::MappedFlash;

/// A flash, and all that it holds in RAM.
#[derive(Debug)]
pub struct Mirror<'m, F> {
    flash: F,
    memory: &'m mut [u8],
}

impl<'m, F: ReadNorFlash> Mirror<'m, F>
where
    F::Error: From<NorFlashErrorKind>,
{
    /// Reads the flash into `memory`, whole words so that it is aligned.
    ///
    /// # Errors
    /// When it fails, or holds more than the memory.
    pub fn new(flash: F, memory: &'m mut [u64]) -> Result<Self, F::Error> {
        let mut mirror = Self { flash, memory: memory.as_mut_bytes() };
        mirror.refresh(0, mirror.flash.capacity())?;
        Ok(mirror)
    }

    fn refresh(&mut self, offset: u32, length: usize) -> Result<(), F::Error> {
        let room = self.memory.get_mut(offset as usize..).and_then(|rest| rest.get_mut(..length));
        self.flash.read(offset, room.ok_or(NorFlashErrorKind::OutOfBounds)?)
    }
}

impl<F: ErrorType> ErrorType for Mirror<'_, F> {
    type Error = F::Error;
}

impl<F: ReadNorFlash> ReadNorFlash for Mirror<'_, F> {
    const READ_SIZE: usize = F::READ_SIZE;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), F::Error> {
        self.flash.read(offset, bytes)
    }

    fn capacity(&self) -> usize {
        self.flash.capacity()
    }
}

impl<F: NorFlash> NorFlash for Mirror<'_, F>
where
    F::Error: From<NorFlashErrorKind>,
{
    const WRITE_SIZE: usize = F::WRITE_SIZE;
    const ERASE_SIZE: usize = F::ERASE_SIZE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), F::Error> {
        self.flash.erase(from, to)?;
        self.refresh(from, (to - from) as usize)
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), F::Error> {
        self.flash.write(offset, bytes)?;
        self.refresh(offset, bytes.len())
    }
}

impl<F: MultiwriteNorFlash> MultiwriteNorFlash for Mirror<'_, F> where
    F::Error: From<NorFlashErrorKind>
{
}

impl<F: MultiwriteNorFlash> MappedFlash for Mirror<'_, F>
where
    F::Error: From<NorFlashErrorKind>,
{
    fn bytes(&self) -> &[u8] {
        self.memory.get(..self.flash.capacity()).unwrap_or(self.memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::tests::Flash;

    #[test]
    fn the_copy_is_what_the_flash_holds_and_aligned() {
        let mut memory = [0; 64];
        let mut mirror = Mirror::new(Flash::new(), &mut memory).expect("reads");
        assert_eq!(mirror.bytes(), [0xFF; 384]);
        assert!(mirror.bytes().as_ptr().addr().is_multiple_of(8));
        mirror.write(72, &[1, 2, 3, 4]).expect("writes");
        mirror.write(72, &[1, 0xFF, 1, 0]).expect("writes");
        assert_eq!(mirror.bytes()[70..78], [0xFF, 0xFF, 1, 2, 1, 0, 0xFF, 0xFF]);
        let mut read = [0; 384];
        mirror.read(0, &mut read).expect("reads");
        assert_eq!(mirror.bytes(), read);
        mirror.erase(64, 128).expect("erases");
        assert_eq!(mirror.bytes(), [0xFF; 384]);
        assert!(Mirror::new(Flash::new(), &mut [0; 47]).is_err());
    }
}
