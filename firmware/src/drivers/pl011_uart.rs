//! Arm's PrimeCell UART, PL011: in Stellaris and Tiva parts, RP2040, many application processors.
//!
//! Register layout and behaviour: its reference manual (Arm DDI 0183), chapter 3. Eight data bits, no
//! parity, one stop bit, sixteen bytes of buffer in each direction, no flow control.

use embedded_io::{ErrorType, Read, ReadReady, Write, WriteReady};
use safe_mmio::fields::{ReadPure, ReadPureWrite, ReadWrite};
use safe_mmio::{UniqueMmioPointer, field, field_shared};
use zerocopy::FromZeros;

use super::line_error::LineError;

/// The register block, as far as it is used.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct Registers {
    /// `UARTDR`, offset 0x00. A write sends bits 7:0; a read takes the oldest received byte, and with it
    /// what was wrong with it, see [`data`].
    data: ReadWrite<u32>,
    _reserved_04: [u32; (0x18 - 0x04) / 4],
    /// `UARTFR`, offset 0x18, see [`flag`].
    flags: ReadPure<u32>,
    _reserved_1c: [u32; (0x24 - 0x1C) / 4],
    /// `UARTIBRD`, offset 0x24, bits 15:0: whole clocks a sixteenth of a bit.
    integer_divisor: ReadPureWrite<u32>,
    /// `UARTFBRD`, offset 0x28, bits 5:0: 64ths of it.
    fractional_divisor: ReadPureWrite<u32>,
    /// `UARTLCR_H`, offset 0x2C, see [`line`]. Writing it takes over the divisors too.
    line: ReadPureWrite<u32>,
    /// `UARTCR`, offset 0x30, see [`control`].
    control: ReadPureWrite<u32>,
    _reserved_34: u32,
    /// `UARTIMSC`, offset 0x38: interrupts that are let through. None: the driver polls.
    interrupt_mask: ReadPureWrite<u32>,
}

/// Bits of `UARTDR` when read, in addition to the byte.
mod data {
    pub(super) const FRAMING: u32 = 1 << 8;
    pub(super) const PARITY: u32 = 1 << 9;
    pub(super) const BREAK: u32 = 1 << 10;
    /// The byte is good, but after it others were lost.
    pub(super) const OVERRUN: u32 = 1 << 11;
}

/// Bits of `UARTFR`.
mod flag {
    /// A byte is being sent, or waits to be.
    pub(super) const BUSY: u32 = 1 << 3;
    pub(super) const RECEIVE_EMPTY: u32 = 1 << 4;
    pub(super) const TRANSMIT_FULL: u32 = 1 << 5;
}

/// Bits of `UARTLCR_H`.
mod line {
    pub(super) const BUFFERED: u32 = 1 << 4;
    pub(super) const EIGHT_BITS: u32 = 0b11 << 5;
}

/// Bits of `UARTCR`.
mod control {
    pub(super) const ENABLE: u32 = 1 << 0;
    pub(super) const TRANSMIT_ENABLE: u32 = 1 << 8;
    pub(super) const RECEIVE_ENABLE: u32 = 1 << 9;
}

/// Clocks a sixteenth of a bit, in 64ths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaudDivisor(u32);

impl BaudDivisor {
    /// The divisor nearest to a baud rate. Evaluate it in a constant: a bad rate fails to compile.
    ///
    /// # Panics
    /// If the divisor is not between 1 and 65535, as the hardware requires.
    #[must_use]
    pub const fn new(clock_hertz: u32, baud: u32) -> Self {
        let divisor = (4 * clock_hertz as u64 + baud as u64 / 2) / baud as u64;
        assert!(divisor >= 1 << 6, "baud rate too high for the UART's clock");
        assert!(divisor <= 0xFFFF << 6, "baud rate too low for the UART's clock");
        Self(divisor as u32)
    }
}

/// The UART, polled.
#[derive(Debug)]
pub struct Pl011Uart<'a> {
    registers: UniqueMmioPointer<'a, Registers>,
    /// Bytes were lost after the one that was read last.
    overrun: bool,
}

impl<'a> Pl011Uart<'a> {
    /// Sets the baud rate and switches both directions on. The part's clock to the UART is on, and its
    /// pins are the UART's.
    #[must_use]
    pub fn new(mut registers: UniqueMmioPointer<'a, Registers>, divisor: BaudDivisor) -> Self {
        // Off while line and divisors change; the buffers are flushed by switching them off.
        field!(registers, control).write(0);
        field!(registers, line).write(0);
        field!(registers, interrupt_mask).write(0);
        field!(registers, integer_divisor).write(divisor.0 >> 6);
        field!(registers, fractional_divisor).write(divisor.0 & 0x3F);
        field!(registers, line).write(line::EIGHT_BITS | line::BUFFERED);
        field!(registers, control)
            .write(control::ENABLE | control::TRANSMIT_ENABLE | control::RECEIVE_ENABLE);
        Self { registers, overrun: false }
    }

    fn flag(&self, flag: u32) -> bool {
        field_shared!(self.registers, flags).read() & flag != 0
    }
}

impl ErrorType for Pl011Uart<'_> {
    type Error = LineError;
}

impl Read for Pl011Uart<'_> {
    /// Waits for one byte.
    ///
    /// # Errors
    /// What was wrong with the byte, which is dropped; [`LineError::Overrun`] in place of lost bytes.
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, LineError> {
        let Some(first) = buffer.first_mut() else { return Ok(0) };
        if core::mem::take(&mut self.overrun) {
            return Err(LineError::Overrun);
        }
        while self.flag(flag::RECEIVE_EMPTY) {}
        let data = field!(self.registers, data).read();
        self.overrun = data & data::OVERRUN != 0;
        // A break shows as a framing error too.
        for (bit, error) in [
            (data::BREAK, LineError::Break),
            (data::FRAMING, LineError::Framing),
            (data::PARITY, LineError::Parity),
        ] {
            if data & bit != 0 {
                return Err(error);
            }
        }
        *first = data as u8;
        Ok(1)
    }
}

impl ReadReady for Pl011Uart<'_> {
    fn read_ready(&mut self) -> Result<bool, LineError> {
        Ok(self.overrun || !self.flag(flag::RECEIVE_EMPTY))
    }
}

impl Write for Pl011Uart<'_> {
    /// Writes the whole buffer, waiting for room before each byte.
    fn write(&mut self, buffer: &[u8]) -> Result<usize, LineError> {
        for &byte in buffer {
            while self.flag(flag::TRANSMIT_FULL) {}
            field!(self.registers, data).write(u32::from(byte));
        }
        Ok(buffer.len())
    }

    /// Waits until the last stop bit is on the line.
    fn flush(&mut self) -> Result<(), LineError> {
        while self.flag(flag::BUSY) {}
        Ok(())
    }
}

impl WriteReady for Pl011Uart<'_> {
    fn write_ready(&mut self) -> Result<bool, LineError> {
        Ok(!self.flag(flag::TRANSMIT_FULL))
    }
}

// Ordinary memory stands in for the registers: it cannot act, but it shows what the driver does.
#[cfg(test)]
mod tests {
    use core::mem::offset_of;

    use super::*;

    const BAUD: BaudDivisor = BaudDivisor::new(50_000_000, 115_200);

    #[test]
    fn registers_lie_at_the_documented_offsets() {
        assert_eq!(offset_of!(Registers, flags), 0x18);
        assert_eq!(offset_of!(Registers, integer_divisor), 0x24);
        assert_eq!(offset_of!(Registers, fractional_divisor), 0x28);
        assert_eq!(offset_of!(Registers, line), 0x2C);
        assert_eq!(offset_of!(Registers, control), 0x30);
        assert_eq!(offset_of!(Registers, interrupt_mask), 0x38);
    }

    #[test]
    fn new_sets_the_rate_and_enables_both_directions() {
        let mut registers = Registers::new_zeroed();
        registers.interrupt_mask.0 = 0x7FF;
        let _ = Pl011Uart::new(UniqueMmioPointer::from(&mut registers), BAUD);
        // 50 MHz / (16 x 115200) = 27.127 = 27 + 8/64.
        assert_eq!((registers.integer_divisor.0, registers.fractional_divisor.0), (27, 8));
        assert_eq!(registers.line.0, 0x70);
        assert_eq!(registers.control.0, 0x301);
        assert_eq!(registers.interrupt_mask.0, 0);
    }

    /// A UART that has received this, and never anything else.
    fn received(data: u32, test: impl FnOnce(Pl011Uart<'_>)) {
        let mut registers = Registers::new_zeroed();
        let mut uart = Pl011Uart::new(UniqueMmioPointer::from(&mut registers), BAUD);
        field!(uart.registers, data).write(data);
        test(uart);
    }

    #[test]
    fn a_byte_is_read_and_an_empty_buffer_takes_none() {
        received(0x5A, |mut uart| {
            let mut buffer = [0; 4];
            assert_eq!(uart.read_ready(), Ok(true));
            assert_eq!(uart.read(&mut []), Ok(0));
            assert_eq!(uart.read(&mut buffer), Ok(1));
            assert_eq!(buffer, [0x5A, 0, 0, 0]);
        });
        let mut registers =
            Registers { flags: ReadPure(flag::RECEIVE_EMPTY), ..Registers::new_zeroed() };
        let mut uart = Pl011Uart::new(UniqueMmioPointer::from(&mut registers), BAUD);
        assert_eq!(uart.read_ready(), Ok(false));
    }

    #[test]
    fn a_bad_byte_is_an_error_of_its_kind() {
        for (data, error) in [
            (data::FRAMING | 0x41, LineError::Framing),
            (data::PARITY | 0x41, LineError::Parity),
            (data::BREAK | data::FRAMING, LineError::Break),
        ] {
            received(data, |mut uart| assert_eq!(uart.read(&mut [0]), Err(error)));
        }
    }

    #[test]
    fn lost_bytes_are_an_error_after_the_last_good_one() {
        received(data::OVERRUN | 0x41, |mut uart| {
            let mut byte = [0];
            assert_eq!(uart.read(&mut byte), Ok(1));
            assert_eq!(byte, [0x41]);
            assert_eq!(uart.read_ready(), Ok(true));
            assert_eq!(uart.read(&mut byte), Err(LineError::Overrun));
        });
    }

    #[test]
    fn a_byte_is_written_when_there_is_room() {
        let mut registers = Registers::new_zeroed();
        let mut uart = Pl011Uart::new(UniqueMmioPointer::from(&mut registers), BAUD);
        assert_eq!(uart.write(b"ab"), Ok(2));
        assert_eq!(uart.write_ready(), Ok(true));
        assert_eq!(uart.flush(), Ok(()));
        assert_eq!(registers.data.0, u32::from(b'b'));
        registers.flags = ReadPure(flag::TRANSMIT_FULL);
        let mut uart = Pl011Uart::new(UniqueMmioPointer::from(&mut registers), BAUD);
        assert_eq!(uart.write_ready(), Ok(false));
    }
}
