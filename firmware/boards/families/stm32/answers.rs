//! The serial port of the board's debugger, at {{baud}} baud: {{uart}} on {{tx}} and {{rx}}.

use embassy_stm32::peripherals::{{uart}};
use embassy_stm32::usart::{BufferedInterruptHandler, BufferedUart, Config};
use embassy_stm32::{Peripherals, bind_interrupts};
{{attended?}}use embassy_time::{Duration, with_timeout};
{{attended?}}
{{attended?}}use crate::board::Board;

bind_interrupts!(struct Interrupts { {{interrupt}} => BufferedInterruptHandler<{{uart}}>; });

/// Bytes received and bytes to be sent.
pub struct Buffers([u8; 256], [u8; 256]);

impl Default for Buffers {
    fn default() -> Self {
        Self([0; 256], [0; 256])
    }
}

/// The port.
pub struct Line<'b> {
    port: BufferedUart<'b>,
{{attended?}}    board: Board,
}

impl<'b> Line<'b> {
    /// Takes the port.
    pub fn new({{owner}}buffers: &'b mut Buffers) -> Self {
        // SAFETY: `board.rs` takes none of those that are taken here.
        let parts = unsafe { Peripherals::steal() };
        let Buffers(received, sent) = buffers;
        let port = BufferedUart::new(
            parts.{{uart}},
            parts.{{rx}},
            parts.{{tx}},
            sent,
            received,
            Interrupts,
            // As it comes: {{baud}} baud, eight bits, no parity, one stop bit.
            Config::default(),
        );
        match port {
            Ok(port) => Self { port{{owned_last}} },
            Err(error) => defmt::panic!("no serial port: {}", error),
        }
    }
}
{{through}}
