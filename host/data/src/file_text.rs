//! The text of a file that memory need not hold.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::encoding::Encoding;
use super::error::DataError;

/// The text of a file, in order.
pub(super) struct Text {
    name: String,
    reader: Box<dyn Read>,
    /// What was read and not taken.
    pub(super) buffer: Vec<u8>,
    pub(super) ended: bool,
    /// Of all that was read.
    checksum: crc32fast::Hasher,
}

impl Text {
    /// Opens a file, packed or not.
    pub(super) fn open(path: &Path, name: &str) -> Result<Self, DataError> {
        let failed = |source| DataError::Io { file: name.to_owned(), source };
        let mut file = BufReader::with_capacity(1 << 16, File::open(path).map_err(failed)?);
        let begin = file.fill_buf().map_err(failed)?;
        let reader: Box<dyn Read> = match begin {
            [0x1F, 0x8B, ..] => Box::new(MultiGzDecoder::new(file)),
            #[cfg(feature = "parquet")]
            begin if begin.starts_with(super::parquet::MAGIC) => {
                let rows = super::parquet::ParquetText::open(file.into_inner());
                let damaged = |what| DataError::Header { line: 1, file: name.to_owned(), what };
                Box::new(rows.map_err(damaged)?)
            }
            _ => Box::new(file),
        };
        let checksum = crc32fast::Hasher::new();
        let mut text =
            Self { name: name.to_owned(), reader, buffer: Vec::new(), ended: false, checksum };
        text.begin()?;
        Ok(text)
    }

    /// Leaves out a byte order mark.
    fn begin(&mut self) -> Result<(), DataError> {
        self.read_to(16)?;
        if Encoding::is_wide(&self.buffer) {
            let (file, what) = (self.name.clone(), "its text must be in UTF-8; convert it");
            return Err(DataError::NoChunks { file, what: what.to_owned() });
        }
        if self.buffer.starts_with(Encoding::MARK) {
            self.take(Encoding::MARK.len());
        }
        self.checksum.update(&self.buffer);
        Ok(())
    }

    /// Reads until the buffer has `wanted` bytes, or the file ends.
    pub(super) fn fill(&mut self, wanted: usize) -> Result<(), DataError> {
        let before = self.buffer.len();
        self.read_to(wanted)?;
        self.checksum.update(&self.buffer[before..]);
        Ok(())
    }

    fn read_to(&mut self, wanted: usize) -> Result<(), DataError> {
        let mut filled = self.buffer.len();
        if filled >= wanted {
            return Ok(());
        }
        self.buffer.resize(wanted, 0);
        while filled < wanted && !self.ended {
            match self.reader.read(&mut self.buffer[filled..]) {
                Ok(0) => self.ended = true,
                Ok(count) => filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(error)),
            }
        }
        self.buffer.truncate(filled);
        Ok(())
    }

    /// CRC-32 of all that was read.
    pub(super) fn checksum(&self) -> u32 {
        self.checksum.clone().finalize()
    }

    fn failed(&self, source: std::io::Error) -> DataError {
        let file = self.name.clone();
        match source.kind() {
            ErrorKind::UnexpectedEof => DataError::Gzip { file, what: "ends too early".to_owned() },
            // A page of Parquet.
            ErrorKind::Other => DataError::Header { line: 1, file, what: source.to_string() },
            ErrorKind::InvalidInput | ErrorKind::InvalidData => {
                DataError::Gzip { file, what: format!("is damaged: {source}") }
            }
            _ => DataError::Io { file, source },
        }
    }

    /// Takes bytes off the front.
    pub(super) fn take(&mut self, count: usize) {
        self.buffer.drain(..count.min(self.buffer.len()));
    }
}

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Text").field("name", &self.name).finish_non_exhaustive()
    }
}
