//! The serial port of the board's debugger, at {{baud}} baud: {{tx}}.

use embassy_nrf::peripherals::{{uart}};
use embassy_nrf::uarte::{Config, InterruptHandler, UarteTx};
use embassy_nrf::{Peripherals, bind_interrupts};
use embedded_io::{ErrorKind, ErrorType, Write};

bind_interrupts!(struct Interrupts { {{uart}} => InterruptHandler<{{uart}}>; });

/// The sending end of the port.
pub struct Line(UarteTx<'static>);

impl Line {
    /// Takes the port, once the board has begun.
    pub fn new() -> Self {
        // SAFETY: `board.rs` takes none of those that are taken here.
        let parts = unsafe { Peripherals::steal() };
        // As it comes: {{baud}} baud, eight bits, no parity, one stop bit.
        Self(UarteTx::new(parts.{{uart}}, Interrupts, parts.{{tx}}, Config::default()))
    }
}

impl ErrorType for Line {
    type Error = ErrorKind;
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        self.0.blocking_write(bytes).map(|()| bytes.len()).map_err(|_| ErrorKind::Other)
    }

    fn flush(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
}
