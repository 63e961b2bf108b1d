//! Serial ports as files, where the system has no other: WebAssembly on WASI.
//!
//! Whoever runs the program sets the rate of the port. A read of the file waits for some tens of milliseconds, and then times out.

use std::fs::File;
use std::io::{self, Read, Write};
use std::time::Duration;

/// A port that the system shows as a file.
#[derive(Debug)]
pub(super) struct SerialPort(File);

impl SerialPort {
    pub(super) fn open(name: &str, _baud: u32) -> io::Result<Self> {
        File::options().read(true).write(true).open(name).map(Self)
    }

    pub(super) fn set_read_timeout(&mut self, _: Duration) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn set_write_timeout(&mut self, _: Duration) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn discard_buffers(&self) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        (&self.0).read(into)
    }

    pub(super) fn write(&self, from: &[u8]) -> io::Result<usize> {
        (&self.0).write(from)
    }
}
