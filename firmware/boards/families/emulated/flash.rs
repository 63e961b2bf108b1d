//! Two slots for what comes over the line, in a file: it survives the end of an emulator as flash survives a reset.

use embedded_storage::nor_flash::{
    ErrorType, MultiwriteNorFlash, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash,
    check_erase, check_read, check_write,
};
use semihosting::fs::File;
use semihosting::io::{Read, Seek, SeekFrom, Write};

const NAME: &core::ffi::CStr = c"fishweir-flash.bin";
const PAGE: usize = 1024;
const PAGES: usize = 32;
const WORD: usize = 4;
/// Bytes of it.
pub const LENGTH: usize = PAGES * PAGE;
/// Bytes erased in one step.
const PIECE: usize = 64;

/// Type of the flash.
pub type Own = FileFlash;

/// Opens the file; `None` if it cannot be read or made.
pub fn open() -> Option<Own> {
    FileFlash::open().ok()
}

/// Power of the flash.
pub trait Power: Sized {
    /// The power when the flash is opened.
    ///
    /// # Errors
    /// When a file that says so cannot be read.
    fn begin() -> Result<Self, FileFlashError>;

    /// Returns whether it lasts for one step more: a word written, or 64 bytes erased.
    fn lasts(&mut self) -> bool;

    /// The power is gone, and the last step half done.
    fn end() -> !;
}

/// Power that is never lost.
#[derive(Debug)]
pub struct Steady;

impl Power for Steady {
    fn begin() -> Result<Self, FileFlashError> {
        Ok(Self)
    }

    fn lasts(&mut self) -> bool {
        true
    }

    fn end() -> ! {
        semihosting::process::exit(1)
    }
}

/// Reason why the file is no flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// 32 pages of 1 kB, written a word of four bytes at a time, in `fishweir-flash.bin`.
#[derive(Debug)]
pub struct FileFlash<P = Steady> {
    file: File,
    power: P,
}

impl<P: Power> FileFlash<P> {
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
        let mut flash = Self { file, power: P::begin()? };
        for at in (length / PAGE * PAGE..LENGTH).step_by(PAGE) {
            flash.file.seek(SeekFrom::Start(at as u64))?;
            flash.file.write_all(&[0xFF; PAGE])?;
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
        if self.power.lasts() {
            return Ok(self.file.write_all(bytes)?);
        }
        self.file.write_all(bytes.get(..bytes.len() / 2).unwrap_or(bytes))?;
        P::end()
    }
}

impl<P> MultiwriteNorFlash for FileFlash<P> where P: Power {}

impl<P> ErrorType for FileFlash<P> {
    type Error = FileFlashError;
}

impl<P: Power> ReadNorFlash for FileFlash<P> {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), FileFlashError> {
        check_read(self, offset, bytes.len())?;
        self.file.seek(SeekFrom::Start(offset.into()))?;
        Ok(self.file.read_exact(bytes)?)
    }

    fn capacity(&self) -> usize {
        LENGTH
    }
}

impl<P: Power> NorFlash for FileFlash<P> {
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
