//! The serial port behind the board's USB bridge, at {{baud}} baud: {{uart}} on {{rx}} and {{tx}}.

use core::marker::PhantomData;

{{attended?}}use embassy_time::{Duration, with_timeout};
use esp_hal::Async;
use esp_hal::peripherals::Peripherals;
use esp_hal::uart::{Config, Uart};
{{attended?}}
{{attended?}}use crate::board::Board;

/// The port has buffers of its own.
#[derive(Default)]
pub struct Buffers(());

/// The port.
pub struct Line<'b> {
    port: Uart<'static, Async>,
{{attended?}}    board: Board,
    buffers: PhantomData<&'b mut Buffers>,
}

impl<'b> Line<'b> {
    /// Takes the port.
    pub fn new({{owner}}_buffers: &'b mut Buffers) -> Self {
        // SAFETY: `board.rs` takes none of those that are taken here.
        let parts = unsafe { Peripherals::steal() };
        // As it comes: {{baud}} baud, eight bits, no parity, one stop bit.
        match Uart::new(parts.{{uart}}, Config::default()) {
            Ok(port) => {
                let port = port.with_rx(parts.{{rx}}).with_tx(parts.{{tx}}).into_async();
                Self { port, {{owned}}buffers: PhantomData }
            }
            Err(error) => defmt::panic!("no serial port: {}", error),
        }
    }
}
{{through}}
