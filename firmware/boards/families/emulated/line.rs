//! The serial port of the emulated board: a byte at a time, watched.

use core::convert::Infallible;

use embedded_io::{ErrorType{{reads}}, Write};

/// The registers of the port.
const PORT: usize = {{port}};

/// Values that switch it on, by register.
const START: &[(usize, {{register}})] = &[{{start}}];

/// Register of a byte to be sent; register, mask and value by which it has gone.
const DATA: usize = {{data}};
const STATUS: (usize, {{register}}, {{register}}) = {{status}};

/// The port.
pub struct Line(());

impl Line {
    /// Takes the port.
    pub fn new({{arguments}}) -> Self {
        START.iter().for_each(|&(register, value)| write(register, value));
        Self(())
    }
}

fn write(register: usize, value: {{register}}) {
    // SAFETY: the board has this register of its port at this address, and nothing else uses it.
    unsafe { ((PORT + register) as *mut {{register}}).write_volatile(value) }
}

fn read(register: usize) -> {{register}} {
    // SAFETY: as above.
    unsafe { ((PORT + register) as *const {{register}}).read_volatile() }
}

impl ErrorType for Line {
    type Error = Infallible;
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        for &byte in bytes {
            {{ready}}write(DATA, byte.into());
            let (register, mask, value) = STATUS;
            while read(register) & mask != value {}
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        {{flushed}}Ok(())
    }
}
{{reading}}