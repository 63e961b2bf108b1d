//! A serial port, at {{baud}} baud: {{tx}}, to which the debug probe has a serial line.

use embassy_rp::Peripherals;
use embassy_rp::uart::{Blocking, Config, UartTx};

/// The sending end of the port.
pub struct Line(UartTx<'static, Blocking>);

impl Line {
    /// Takes the port, once the board has begun.
    pub fn new() -> Self {
        // SAFETY: `board.rs` takes none of those that are taken here.
        let parts = unsafe { Peripherals::steal() };
        // As it comes: {{baud}} baud, eight bits, no parity, one stop bit.
        Self(UartTx::new_blocking(parts.{{uart}}, parts.{{tx}}, Config::default()))
    }
}
{{through}}
