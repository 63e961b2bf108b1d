//! The serial port of the board's debugger, at {{baud}} baud: {{uart}} on {{tx}}.

use embassy_stm32::Peripherals;
use embassy_stm32::mode::Blocking;
use embassy_stm32::usart::{Config, UartTx};

/// The sending end of the port.
pub struct Line(UartTx<'static, Blocking>);

impl Line {
    /// Takes the port, once the board has begun.
    pub fn new() -> Self {
        // SAFETY: `board.rs` takes none of those that are taken here.
        let parts = unsafe { Peripherals::steal() };
        // As it comes: {{baud}} baud, eight bits, no parity, one stop bit.
        match UartTx::new_blocking(parts.{{uart}}, parts.{{tx}}, Config::default()) {
            Ok(port) => Self(port),
            Err(error) => defmt::panic!("no serial port: {}", error),
        }
    }
}
{{through}}
