//! The serial port of the board's debugger, at {{baud}} baud: {{tx}} and {{rx}}.

use embassy_nrf::buffered_uarte::{BufferedUarte, InterruptHandler};
use embassy_nrf::peripherals::{{uart}};
use embassy_nrf::uarte::Config;
use embassy_nrf::{Peripherals, bind_interrupts};
{{attended?}}use embassy_time::{Duration, with_timeout};
{{attended?}}
{{attended?}}use crate::board::Board;

bind_interrupts!(struct Interrupts { {{uart}} => InterruptHandler<{{uart}}>; });

/// Bytes received and bytes to be sent.
pub struct Buffers([u8; 256], [u8; 256]);

impl Default for Buffers {
    fn default() -> Self {
        Self([0; 256], [0; 256])
    }
}

/// The port.
pub struct Line<'b> {
    port: BufferedUarte<'b>,
{{attended?}}    board: Board,
}

impl<'b> Line<'b> {
    /// Takes the port.
    pub fn new({{owner}}buffers: &'b mut Buffers) -> Self {
        // SAFETY: `board.rs` takes none of those that are taken here.
        let parts = unsafe { Peripherals::steal() };
        let Buffers(received, sent) = buffers;
        let port = BufferedUarte::new(
            parts.{{uart}},
            parts.TIMER1,
            parts.PPI_CH0,
            parts.PPI_CH1,
            parts.PPI_GROUP0,
            parts.{{rx}},
            parts.{{tx}},
            Interrupts,
            // As it comes: {{baud}} baud, eight bits, no parity, one stop bit.
            Config::default(),
            received,
            sent,
        );
        Self { port{{owned_last}} }
    }
}
{{through}}
