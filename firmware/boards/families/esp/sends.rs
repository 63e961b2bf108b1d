//! The serial port behind the board's USB bridge, at {{baud}} baud: {{uart}} on {{tx}}.

use esp_hal::Blocking;
use esp_hal::peripherals::Peripherals;
use esp_hal::uart::{Config, UartTx};

/// The sending end of the port.
pub struct Line(UartTx<'static, Blocking>);

impl Line {
    /// Takes the port, once the board has begun.
    pub fn new() -> Self {
        // SAFETY: `board.rs` takes none of those that are taken here.
        let parts = unsafe { Peripherals::steal() };
        // As it comes: {{baud}} baud, eight bits, no parity, one stop bit.
        match UartTx::new(parts.{{uart}}, Config::default()) {
            Ok(port) => Self(port.with_tx(parts.{{tx}})),
            Err(error) => defmt::panic!("no serial port: {}", error),
        }
    }
}
{{through}}
