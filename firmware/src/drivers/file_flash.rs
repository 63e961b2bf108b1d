//! Flash in a file, through semihosting: it survives the end of an emulator as flash survives a reset.
//!
//! Each write is a write of the file, so that an emulator which is killed leaves half-written slots.

use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash, check_erase, check_read,
    check_write,
};
use semihosting::fs::File;
use semihosting::io::{Read, Seek, SeekFrom, Write};

const NAME: &core::ffi::CStr = c"fishweir-flash.bin";
const PAGE: usize = 1024;
const PAGES: usize = 16;
const WORD: usize = 4;

/// Why the file is no flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum FileFlashError {
    /// `fishweir-flash.bin` cannot be made, read or written.
    File,
    /// As [`NorFlashErrorKind`] says.
    Refused(NorFlashErrorKind),
}

impl NorFlashError for FileFlashError {
    fn kind(&self) -> NorFlashErrorKind {
        match self {
            Self::File => NorFlashErrorKind::Other,
            Self::Refused(kind) => *kind,
        }
    }
}

impl From<semihosting::io::Error> for FileFlashError {
    fn from(_: semihosting::io::Error) -> Self {
        Self::File
    }
}

impl From<NorFlashErrorKind> for FileFlashError {
    fn from(kind: NorFlashErrorKind) -> Self {
        Self::Refused(kind)
    }
}

/// 16 pages of 1 kB, written a word of four bytes at a time, in `fishweir-flash.bin`.
#[derive(Debug)]
pub struct FileFlash(File);

impl FileFlash {
    /// Opens the file, or makes it: erased flash.
    ///
    /// # Errors
    /// When it can neither be opened nor made.
    pub fn open() -> Result<Self, FileFlashError> {
        let mut options = File::options();
        options.read(true).write(true);
        let file = match options.open(NAME) {
            Ok(file) => file,
            Err(_) => options.create(true).truncate(true).open(NAME)?,
        };
        let length = file.metadata()?.len() as usize;
        let mut flash = Self(file);
        for at in (length / PAGE * PAGE..PAGE * PAGES).step_by(PAGE) {
            flash.fill(at as u32)?;
        }
        Ok(flash)
    }

    fn fill(&mut self, page: u32) -> Result<(), FileFlashError> {
        self.0.seek(SeekFrom::Start(page.into()))?;
        for _ in 0..PAGE / 64 {
            self.0.write_all(&[0xFF; 64])?;
        }
        Ok(())
    }
}

impl ErrorType for FileFlash {
    type Error = FileFlashError;
}

impl ReadNorFlash for FileFlash {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), FileFlashError> {
        check_read(self, offset, bytes.len())?;
        self.0.seek(SeekFrom::Start(offset.into()))?;
        Ok(self.0.read_exact(bytes)?)
    }

    fn capacity(&self) -> usize {
        PAGE * PAGES
    }
}

impl NorFlash for FileFlash {
    const WRITE_SIZE: usize = WORD;
    const ERASE_SIZE: usize = PAGE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), FileFlashError> {
        check_erase(self, from, to)?;
        for page in (from..to).step_by(PAGE) {
            self.fill(page)?;
        }
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), FileFlashError> {
        check_write(self, offset, bytes.len())?;
        for (at, word) in (offset..).step_by(WORD).zip(bytes.as_chunks::<WORD>().0) {
            // Like flash, it clears bits and never sets one.
            let mut old = [0; WORD];
            self.read(at, &mut old)?;
            let new = u32::from_ne_bytes(old) & u32::from_ne_bytes(*word);
            self.0.seek(SeekFrom::Start(at.into()))?;
            self.0.write_all(&new.to_ne_bytes())?;
        }
        Ok(())
    }
}
