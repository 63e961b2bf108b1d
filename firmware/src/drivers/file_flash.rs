//! Flash in a file, through semihosting: it survives the end of an emulator as flash survives a reset.
//!
//! Power can be lost at will: where there is a file `fishweir-power.bin`, its first four bytes say after how
//! many steps, little-endian. A step is a word written, or 64 bytes erased; the last one stays half done, and
//! the program ends.

use embedded_storage::nor_flash::{
    ErrorType, MultiwriteNorFlash, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash,
    check_erase, check_read, check_write,
};
use fishweir_core::wire::Exit;
use semihosting::fs::File;
use semihosting::io::{Read, Seek, SeekFrom, Write};

const NAME: &core::ffi::CStr = c"fishweir-flash.bin";
const POWER: &core::ffi::CStr = c"fishweir-power.bin";
const PAGE: usize = 1024;
const PAGES: usize = 32;
const WORD: usize = 4;
/// Bytes of it.
pub const BYTES: usize = PAGES * PAGE;
/// Bytes erased in one step.
const PIECE: usize = 64;

/// Reason why the file is no flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum FileFlashError {
    /// `fishweir-flash.bin` cannot be made, read or written.
    File,
    /// An error of the flash, of this kind.
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
pub struct FileFlash {
    file: File,
    /// Steps until the power is lost; `None` where it is not.
    steps_left: Option<u32>,
}

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
        let mut flash = Self { file, steps_left: None };
        for at in (length / PAGE * PAGE..PAGE * PAGES).step_by(PAGE) {
            flash.fill(at as u32)?;
        }
        if let Ok(mut file) = File::open(POWER) {
            let mut steps = [0; 4];
            file.read_exact(&mut steps)?;
            flash.steps_left = Some(u32::from_le_bytes(steps));
        }
        Ok(flash)
    }

    fn fill(&mut self, page: u32) -> Result<(), FileFlashError> {
        for piece in (page..).step_by(PIECE).take(PAGE / PIECE) {
            self.step(piece, &[0xFF; PIECE])?;
        }
        Ok(())
    }

    /// Writes to the file, half of it where the power is lost.
    fn step(&mut self, at: u32, bytes: &[u8]) -> Result<(), FileFlashError> {
        self.file.seek(SeekFrom::Start(at.into()))?;
        let Some(left) = &mut self.steps_left else { return Ok(self.file.write_all(bytes)?) };
        if let Some(fewer) = left.checked_sub(1) {
            *left = fewer;
            return Ok(self.file.write_all(bytes)?);
        }
        self.file.write_all(bytes.get(..bytes.len() / 2).unwrap_or(bytes))?;
        crate::image::end(Exit::Failed)
    }
}

impl MultiwriteNorFlash for FileFlash {}

impl ErrorType for FileFlash {
    type Error = FileFlashError;
}

impl ReadNorFlash for FileFlash {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), FileFlashError> {
        check_read(self, offset, bytes.len())?;
        self.file.seek(SeekFrom::Start(offset.into()))?;
        Ok(self.file.read_exact(bytes)?)
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
            self.step(at, &new.to_ne_bytes())?;
        }
        Ok(())
    }
}
