//! Serial ports where a program has none: in WebAssembly.

use std::convert::Infallible;
use std::io::{self, ErrorKind};
use std::time::Duration;

/// A port that nothing opens.
#[derive(Debug)]
pub(super) struct SerialPort(Infallible);

impl SerialPort {
    pub(super) fn open(_: &str, _: u32) -> io::Result<Self> {
        Err(io::Error::new(ErrorKind::Unsupported, "this program has no serial ports"))
    }

    pub(super) fn set_read_timeout(&mut self, _: Duration) -> io::Result<()> {
        match self.0 {}
    }

    pub(super) fn set_write_timeout(&mut self, _: Duration) -> io::Result<()> {
        match self.0 {}
    }

    pub(super) fn discard_buffers(&self) -> io::Result<()> {
        match self.0 {}
    }

    pub(super) fn read(&self, _: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }

    pub(super) fn write(&self, _: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }
}
