//! A serial port, at {{baud}} baud: GPIO 0 and 1, pins 1 and 2, to which the debug probe has a serial line.

use core::marker::PhantomData;

use embassy_rp::peripherals::UART0;
use embassy_rp::uart::{BufferedInterruptHandler, BufferedUart, Config};
use embassy_rp::{Peripherals, bind_interrupts};
use embassy_time::{Duration, with_timeout};

use crate::board::Board;

bind_interrupts!(struct Interrupts { UART0_IRQ => BufferedInterruptHandler<UART0>; });

/// Bytes received and bytes to be sent.
pub struct Buffers([u8; 256], [u8; 256]);

impl Default for Buffers {
    fn default() -> Self {
        Self([0; 256], [0; 256])
    }
}

/// The port, and the board whose watchdog is fed while nothing comes.
pub struct Line<'b> {
    port: BufferedUart,
    board: Board,
    buffers: PhantomData<&'b mut Buffers>,
}

impl<'b> Line<'b> {
    /// Takes the port.
    pub fn new(board: Board, buffers: &'b mut Buffers) -> Self {
        // SAFETY: `board.rs` takes none of those that are taken here.
        let parts = unsafe { Peripherals::steal() };
        let Buffers(received, sent) = buffers;
        // As it comes: {{baud}} baud, eight bits, no parity, one stop bit.
        let config = Config::default();
        let port = BufferedUart::new(
            parts.UART0,
            parts.PIN_0,
            parts.PIN_1,
            Interrupts,
            sent,
            received,
            config,
        );
        Self { port, board, buffers: PhantomData }
    }
}
{{through}}
