//! A serial port, at {{baud}} baud: {{tx}} and {{rx}}, to which the debug probe has a serial line.

use core::marker::PhantomData;

use embassy_rp::peripherals::{{uart}};
use embassy_rp::uart::{BufferedInterruptHandler, BufferedUart, Config};
use embassy_rp::{Peripherals, bind_interrupts};
{{attended?}}use embassy_time::{Duration, with_timeout};
{{attended?}}
{{attended?}}use crate::board::Board;

bind_interrupts!(struct Interrupts { {{uart}}_IRQ => BufferedInterruptHandler<{{uart}}>; });

/// Bytes received and bytes to be sent.
pub struct Buffers([u8; 256], [u8; 256]);

impl Default for Buffers {
    fn default() -> Self {
        Self([0; 256], [0; 256])
    }
}

/// The port.
pub struct Line<'b> {
    port: BufferedUart,
{{attended?}}    board: Board,
    buffers: PhantomData<&'b mut Buffers>,
}

impl<'b> Line<'b> {
    /// Takes the port.
    pub fn new({{owner}}buffers: &'b mut Buffers) -> Self {
        // SAFETY: `board.rs` takes none of those that are taken here.
        let parts = unsafe { Peripherals::steal() };
        let Buffers(received, sent) = buffers;
        // As it comes: {{baud}} baud, eight bits, no parity, one stop bit.
        let config = Config::default();
        let port = BufferedUart::new(
            parts.{{uart}},
            parts.{{tx}},
            parts.{{rx}},
            Interrupts,
            sent,
            received,
            config,
        );
        Self { port, {{owned}}buffers: PhantomData }
    }
}
{{through}}
