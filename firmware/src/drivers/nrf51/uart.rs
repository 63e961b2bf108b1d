//! The serial port, `UART`. Eight data bits, no parity, one stop bit, six bytes of buffer
//! for what is received and none for what is sent, no flow control.

use embedded_io::{ErrorType, Read, ReadReady, Write, WriteReady};
use safe_mmio::fields::{ReadOnly, ReadPureWrite, WriteOnly};
use safe_mmio::{UniqueMmioPointer, field, field_shared};
use zerocopy::FromZeros;

use super::pins::Pin;
use super::{NONE, START};
use crate::drivers::line_error::LineError;

/// The register block.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct Registers {
    /// `TASKS_STARTRX`, offset 0x000.
    start_receiver: WriteOnly<u32>,
    _reserved_004: u32,
    /// `TASKS_STARTTX`, offset 0x008.
    start_transmitter: WriteOnly<u32>,
    _reserved_00c: [u32; (0x108 - 0x00C) / 4],
    /// `EVENTS_RXDRDY`, offset 0x108: a byte waits in `RXD`.
    received: ReadPureWrite<u32>,
    _reserved_10c: [u32; (0x11C - 0x10C) / 4],
    /// `EVENTS_TXDRDY`, offset 0x11C: the byte written to `TXD` has been sent.
    sent: ReadPureWrite<u32>,
    _reserved_120: u32,
    /// `EVENTS_ERROR`, offset 0x124: `ERRORSRC` says which.
    error: ReadPureWrite<u32>,
    _reserved_128: [u32; (0x308 - 0x128) / 4],
    /// `INTENCLR`, offset 0x308: interrupts to switch off. All: the driver polls.
    disable_interrupts: WriteOnly<u32>,
    _reserved_30c: [u32; (0x480 - 0x30C) / 4],
    /// `ERRORSRC`, offset 0x480, see [`source`]. Cleared by writing ones.
    error_source: ReadPureWrite<u32>,
    _reserved_484: [u32; (0x500 - 0x484) / 4],
    /// `ENABLE`, offset 0x500: [`ENABLED`] hands the pins to the UART.
    enable: ReadPureWrite<u32>,
    _reserved_504: u32,
    /// `PSELRTS`, offset 0x508, and those below: the number of a pin, or [`DISCONNECTED`].
    ready_to_send_pin: ReadPureWrite<u32>,
    /// `PSELTXD`, offset 0x50C.
    transmit_pin: ReadPureWrite<u32>,
    /// `PSELCTS`, offset 0x510.
    clear_to_send_pin: ReadPureWrite<u32>,
    /// `PSELRXD`, offset 0x514.
    receive_pin: ReadPureWrite<u32>,
    /// `RXD`, offset 0x518: takes the oldest received byte.
    receive_data: ReadOnly<u32>,
    /// `TXD`, offset 0x51C: sends a byte.
    transmit_data: WriteOnly<u32>,
    _reserved_520: u32,
    /// `BAUDRATE`, offset 0x524, see [`BaudRate`].
    baud_rate: ReadPureWrite<u32>,
    _reserved_528: [u32; (0x56C - 0x528) / 4],
    /// `CONFIG`, offset 0x56C: 0 is neither parity nor flow control.
    configuration: ReadPureWrite<u32>,
}

/// Bits of `ERRORSRC`.
mod source {
    pub(super) const OVERRUN: u32 = 1 << 0;
    pub(super) const PARITY: u32 = 1 << 1;
    pub(super) const FRAMING: u32 = 1 << 2;
    pub(super) const BREAK: u32 = 1 << 3;
    pub(super) const ALL: u32 = OVERRUN | PARITY | FRAMING | BREAK;
}

const ENABLED: u32 = 4;
const DISCONNECTED: u32 = 0xFFFF_FFFF;
const ALL_INTERRUPTS: u32 = 0xFFFF_FFFF;
const NO_PARITY_NO_FLOW_CONTROL: u32 = 0;

/// A rate that the UART supports: the content of `BAUDRATE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum BaudRate {
    /// 9600 baud.
    Baud9600 = 0x0027_5000,
    /// 38400 baud.
    Baud38400 = 0x009D_5000,
    /// 115200 baud.
    Baud115200 = 0x01D7_E000,
    /// 1 Mbaud.
    Baud1M = 0x1000_0000,
}

/// The UART, polled.
#[derive(Debug)]
pub struct Uart<'a> {
    registers: UniqueMmioPointer<'a, Registers>,
    /// A byte was written to `TXD`, and its end has not been waited for.
    sending: bool,
}

impl<'a> Uart<'a> {
    /// Sets the baud rate and switches both directions on. The pin to transmit by is an output that is
    /// high, the other an input.
    #[must_use]
    pub fn new(
        mut registers: UniqueMmioPointer<'a, Registers>,
        transmit: Pin,
        receive: Pin,
        rate: BaudRate,
    ) -> Self {
        field!(registers, disable_interrupts).write(ALL_INTERRUPTS);
        field!(registers, ready_to_send_pin).write(DISCONNECTED);
        field!(registers, clear_to_send_pin).write(DISCONNECTED);
        field!(registers, transmit_pin).write(transmit.number());
        field!(registers, receive_pin).write(receive.number());
        field!(registers, baud_rate).write(rate as u32);
        field!(registers, configuration).write(NO_PARITY_NO_FLOW_CONTROL);
        field!(registers, enable).write(ENABLED);
        // What an earlier user left there is not ours to report.
        field!(registers, error_source).write(source::ALL);
        field!(registers, error).write(NONE);
        field!(registers, received).write(NONE);
        field!(registers, sent).write(NONE);
        field!(registers, start_receiver).write(START);
        field!(registers, start_transmitter).write(START);
        Self { registers, sending: false }
    }

    /// Returns the error since the last call: lost bytes before all others.
    fn take_error(&mut self) -> Option<LineError> {
        if field_shared!(self.registers, error).read() == NONE {
            return None;
        }
        field!(self.registers, error).write(NONE);
        let source = field_shared!(self.registers, error_source).read();
        field!(self.registers, error_source).write(source);
        [
            (source::OVERRUN, LineError::Overrun),
            // A break shows as a framing error too.
            (source::BREAK, LineError::Break),
            (source::FRAMING, LineError::Framing),
            (source::PARITY, LineError::Parity),
        ]
        .into_iter()
        .find_map(|(bit, error)| (source & bit != 0).then_some(error))
    }

    fn has_received(&self) -> bool {
        field_shared!(self.registers, received).read() != NONE
    }

    /// Waits until the byte written last has been sent.
    fn wait_until_sent(&mut self) {
        if core::mem::take(&mut self.sending) {
            while field_shared!(self.registers, sent).read() == NONE {}
            field!(self.registers, sent).write(NONE);
        }
    }
}

impl ErrorType for Uart<'_> {
    type Error = LineError;
}

impl Read for Uart<'_> {
    /// Waits for one byte.
    ///
    /// # Errors
    /// What went wrong on the line since the last read.
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, LineError> {
        let Some(first) = buffer.first_mut() else { return Ok(0) };
        loop {
            if let Some(error) = self.take_error() {
                return Err(error);
            }
            if self.has_received() {
                // Cleared before `RXD` is read: reading it brings the next byte, and its event.
                field!(self.registers, received).write(NONE);
                *first = field!(self.registers, receive_data).read() as u8;
                return Ok(1);
            }
        }
    }
}

impl ReadReady for Uart<'_> {
    fn read_ready(&mut self) -> Result<bool, LineError> {
        // An error is ready too: the next read reports it.
        Ok(self.has_received() || field_shared!(self.registers, error).read() != NONE)
    }
}

impl Write for Uart<'_> {
    /// Writes the whole buffer, waiting before each byte until the one before has been sent.
    fn write(&mut self, buffer: &[u8]) -> Result<usize, LineError> {
        for &byte in buffer {
            self.wait_until_sent();
            field!(self.registers, transmit_data).write(u32::from(byte));
            self.sending = true;
        }
        Ok(buffer.len())
    }

    /// Waits until the last byte has been sent.
    fn flush(&mut self) -> Result<(), LineError> {
        self.wait_until_sent();
        Ok(())
    }
}

impl WriteReady for Uart<'_> {
    fn write_ready(&mut self) -> Result<bool, LineError> {
        Ok(!self.sending || field_shared!(self.registers, sent).read() != NONE)
    }
}

// Ordinary memory stands in for the registers: it cannot act, but it shows what the driver does.
#[cfg(test)]
mod tests {
    use core::mem::offset_of;

    use super::*;

    fn uart(registers: &mut Registers) -> Uart<'_> {
        let (transmit, receive) = (Pin::new(24), Pin::new(25));
        Uart::new(UniqueMmioPointer::from(registers), transmit, receive, BaudRate::Baud115200)
    }

    #[test]
    fn registers_lie_at_the_documented_offsets() {
        assert_eq!(offset_of!(Registers, start_transmitter), 0x008);
        assert_eq!(offset_of!(Registers, received), 0x108);
        assert_eq!(offset_of!(Registers, sent), 0x11C);
        assert_eq!(offset_of!(Registers, error), 0x124);
        assert_eq!(offset_of!(Registers, disable_interrupts), 0x308);
        assert_eq!(offset_of!(Registers, error_source), 0x480);
        assert_eq!(offset_of!(Registers, enable), 0x500);
        assert_eq!(offset_of!(Registers, transmit_pin), 0x50C);
        assert_eq!(offset_of!(Registers, receive_pin), 0x514);
        assert_eq!(offset_of!(Registers, receive_data), 0x518);
        assert_eq!(offset_of!(Registers, transmit_data), 0x51C);
        assert_eq!(offset_of!(Registers, baud_rate), 0x524);
        assert_eq!(offset_of!(Registers, configuration), 0x56C);
    }

    #[test]
    fn new_connects_the_pins_and_starts_both_directions() {
        let mut registers = Registers::new_zeroed();
        registers.received = ReadPureWrite(1);
        let _ = uart(&mut registers);
        assert_eq!((registers.transmit_pin.0, registers.receive_pin.0), (24, 25));
        assert_eq!(registers.ready_to_send_pin.0, DISCONNECTED);
        assert_eq!((registers.enable.0, registers.baud_rate.0), (4, 0x01D7_E000));
        assert_eq!((registers.start_receiver.0, registers.start_transmitter.0), (1, 1));
        assert_eq!(registers.received.0, 0, "a byte of another user is not ours");
    }

    #[test]
    fn a_byte_is_read_and_its_event_cleared() {
        let mut registers = Registers::new_zeroed();
        registers.receive_data = ReadOnly(0x5A);
        let mut uart = uart(&mut registers);
        assert_eq!(uart.read_ready(), Ok(false));
        field!(uart.registers, received).write(1);
        assert_eq!(uart.read_ready(), Ok(true));
        let mut buffer = [0; 4];
        assert_eq!(uart.read(&mut []), Ok(0));
        assert_eq!(uart.read(&mut buffer), Ok(1));
        assert_eq!(buffer, [0x5A, 0, 0, 0]);
        assert_eq!(uart.read_ready(), Ok(false));
    }

    #[test]
    fn errors_are_told_by_kind_and_cleared_by_writing_their_bits() {
        for (bits, error) in [
            (source::OVERRUN | source::FRAMING, LineError::Overrun),
            (source::BREAK | source::FRAMING, LineError::Break),
            (source::FRAMING, LineError::Framing),
            (source::PARITY, LineError::Parity),
        ] {
            let mut registers = Registers::new_zeroed();
            let mut uart = uart(&mut registers);
            field!(uart.registers, error).write(1);
            field!(uart.registers, error_source).write(bits);
            assert_eq!(uart.read_ready(), Ok(true));
            assert_eq!(uart.read(&mut [0]), Err(error));
            assert_eq!(uart.read_ready(), Ok(false));
            assert_eq!(registers.error_source.0, bits);
        }
    }

    #[test]
    fn a_byte_waits_for_the_one_before() {
        let mut registers = Registers::new_zeroed();
        let mut uart = uart(&mut registers);
        assert_eq!(uart.write_ready(), Ok(true));
        assert_eq!(uart.write(b"a"), Ok(1));
        assert_eq!(uart.write_ready(), Ok(false));
        field!(uart.registers, sent).write(1);
        assert_eq!(uart.write_ready(), Ok(true));
        assert_eq!(uart.write(b"b"), Ok(1));
        assert_eq!(uart.write_ready(), Ok(false), "the event was cleared");
        field!(uart.registers, sent).write(1);
        assert_eq!(uart.flush(), Ok(()));
        assert_eq!(registers.transmit_data.0, u32::from(b'b'));
    }
}
