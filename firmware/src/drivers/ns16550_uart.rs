//! The 16550 UART: on PCs, and in a great many parts of all architectures.
//!
//! Register layout and behaviour: National Semiconductor's data sheet of the PC16550D, chapter 8. One
//! byte a register, eight data bits, no parity, one stop bit, sixteen bytes of buffer in each
//! direction, no flow control.

use embedded_io::{ErrorType, Read, ReadReady, Write, WriteReady};
use safe_mmio::fields::{ReadOnly, ReadPureWrite, ReadWrite, WriteOnly};
use safe_mmio::{UniqueMmioPointer, field};

use super::line_error::LineError;

/// The register block, as far as it is used.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Registers {
    /// `RBR` (read) and `THR` (write), offset 0: the oldest received byte; a byte to send. While
    /// [`line::DIVISOR_ACCESS`] is set, `DLL`: the divisor's low byte.
    data: ReadWrite<u8>,
    /// `IER`, offset 1: interrupts that are let through. None: the driver polls. While
    /// [`line::DIVISOR_ACCESS`] is set, `DLM`: the divisor's high byte.
    interrupt_enable: ReadPureWrite<u8>,
    /// `FCR`, offset 2, see [`buffer`]. Reading is another register.
    buffer_control: WriteOnly<u8>,
    /// `LCR`, offset 3, see [`line`].
    line_control: ReadPureWrite<u8>,
    /// `MCR`, offset 4: outputs of the modem. All off.
    modem_control: ReadPureWrite<u8>,
    /// `LSR`, offset 5, see [`status`]. Reading clears the errors.
    line_status: ReadOnly<u8>,
}

/// Bits of `FCR`.
mod buffer {
    pub(super) const ENABLE: u8 = 1 << 0;
    pub(super) const CLEAR_RECEIVED: u8 = 1 << 1;
    pub(super) const CLEAR_TRANSMITTED: u8 = 1 << 2;
}

/// Bits of `LCR`.
mod line {
    pub(super) const EIGHT_BITS: u8 = 0b11;
    pub(super) const DIVISOR_ACCESS: u8 = 1 << 7;
}

/// Bits of `LSR`. The errors but the first are those of the byte that is read next.
mod status {
    pub(super) const DATA_READY: u8 = 1 << 0;
    pub(super) const OVERRUN: u8 = 1 << 1;
    pub(super) const PARITY: u8 = 1 << 2;
    pub(super) const FRAMING: u8 = 1 << 3;
    pub(super) const BREAK: u8 = 1 << 4;
    /// The transmit buffer is empty: it takes sixteen bytes.
    pub(super) const TRANSMIT_EMPTY: u8 = 1 << 5;
    /// The shift register is empty too.
    pub(super) const IDLE: u8 = 1 << 6;
    pub(super) const ERRORS: u8 = OVERRUN | PARITY | FRAMING | BREAK;
}

/// Clocks a sixteenth of a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaudDivisor(u16);

impl BaudDivisor {
    /// The divisor nearest to a baud rate. Evaluate it in a constant: a bad rate fails to compile.
    ///
    /// # Panics
    /// If the divisor is not between 1 and 65535, as the hardware requires.
    #[must_use]
    pub const fn new(clock_hertz: u32, baud: u32) -> Self {
        let divisor = (clock_hertz + 8 * baud) / (16 * baud);
        assert!(divisor >= 1, "baud rate too high for the UART's clock");
        assert!(divisor < 1 << 16, "baud rate too low for the UART's clock");
        Self(divisor as u16)
    }
}

/// The UART, polled.
#[derive(Debug)]
pub struct Ns16550Uart<'a> {
    registers: UniqueMmioPointer<'a, Registers>,
    /// Errors that a read of `LSR` has cleared there, and that no caller has received.
    errors: u8,
    /// A byte that came before the buffers were switched on.
    early: Option<u8>,
}

impl<'a> Ns16550Uart<'a> {
    /// Sets the baud rate and switches the buffers on. That empties them: one good byte that has been
    /// received before is kept.
    #[must_use]
    pub fn new(mut registers: UniqueMmioPointer<'a, Registers>, divisor: BaudDivisor) -> Self {
        let status = field!(registers, line_status).read();
        let early = (status & (status::DATA_READY | status::ERRORS) == status::DATA_READY)
            .then(|| field!(registers, data).read());
        let [low, high] = divisor.0.to_le_bytes();
        field!(registers, line_control).write(line::DIVISOR_ACCESS);
        field!(registers, data).write(low);
        field!(registers, interrupt_enable).write(high);
        field!(registers, line_control).write(line::EIGHT_BITS);
        field!(registers, interrupt_enable).write(0);
        field!(registers, modem_control).write(0);
        field!(registers, buffer_control)
            .write(buffer::ENABLE | buffer::CLEAR_RECEIVED | buffer::CLEAR_TRANSMITTED);
        // Errors that an earlier user left there are not ours to report.
        field!(registers, line_status).read();
        Self { registers, errors: 0, early }
    }

    fn status(&mut self) -> u8 {
        let status = field!(self.registers, line_status).read();
        self.errors |= status & status::ERRORS;
        status
    }

    /// Returns an error that no caller has received: lost bytes first, then the fault of the next byte.
    fn take_error(&mut self) -> Option<LineError> {
        let errors = self.errors;
        if errors & status::OVERRUN != 0 {
            self.errors &= !status::OVERRUN;
            return Some(LineError::Overrun);
        }
        self.errors = 0;
        // A break shows as a framing error too.
        [
            (status::BREAK, LineError::Break),
            (status::FRAMING, LineError::Framing),
            (status::PARITY, LineError::Parity),
        ]
        .into_iter()
        .find_map(|(bit, error)| (errors & bit != 0).then_some(error))
    }
}

impl ErrorType for Ns16550Uart<'_> {
    type Error = LineError;
}

impl Read for Ns16550Uart<'_> {
    /// Waits for one byte.
    ///
    /// # Errors
    /// What was wrong with the byte, which is dropped; [`LineError::Overrun`], and the next byte read is
    /// good.
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, LineError> {
        let Some(first) = buffer.first_mut() else { return Ok(0) };
        if let Some(early) = self.early.take() {
            *first = early;
            return Ok(1);
        }
        loop {
            let ready = self.status() & status::DATA_READY != 0;
            match self.take_error() {
                Some(LineError::Overrun) => return Err(LineError::Overrun),
                Some(error) => {
                    // The byte that it came with.
                    field!(self.registers, data).read();
                    return Err(error);
                }
                None if ready => {
                    *first = field!(self.registers, data).read();
                    return Ok(1);
                }
                None => {}
            }
        }
    }
}

impl ReadReady for Ns16550Uart<'_> {
    fn read_ready(&mut self) -> Result<bool, LineError> {
        Ok(self.early.is_some() || self.status() & status::DATA_READY != 0 || self.errors != 0)
    }
}

impl Write for Ns16550Uart<'_> {
    /// Writes the whole buffer, waiting for room before each byte.
    fn write(&mut self, buffer: &[u8]) -> Result<usize, LineError> {
        for &byte in buffer {
            while self.status() & status::TRANSMIT_EMPTY == 0 {}
            field!(self.registers, data).write(byte);
        }
        Ok(buffer.len())
    }

    /// Waits until the last stop bit is on the line.
    fn flush(&mut self) -> Result<(), LineError> {
        while self.status() & status::IDLE == 0 {}
        Ok(())
    }
}

impl WriteReady for Ns16550Uart<'_> {
    fn write_ready(&mut self) -> Result<bool, LineError> {
        Ok(self.status() & status::TRANSMIT_EMPTY != 0)
    }
}

// Ordinary memory stands in for the registers: it cannot act, but it shows what the driver does.
#[cfg(test)]
mod tests {
    use core::mem::offset_of;

    use super::*;

    const BAUD: BaudDivisor = BaudDivisor::new(3_686_400, 9_600);

    #[test]
    fn registers_lie_at_the_documented_offsets() {
        assert_eq!(offset_of!(Registers, interrupt_enable), 1);
        assert_eq!(offset_of!(Registers, buffer_control), 2);
        assert_eq!(offset_of!(Registers, line_control), 3);
        assert_eq!(offset_of!(Registers, modem_control), 4);
        assert_eq!(offset_of!(Registers, line_status), 5);
    }

    /// Registers with this status for ever.
    fn with_status(status: u8) -> Registers {
        Registers { line_status: ReadOnly(status), ..Registers::default() }
    }

    #[test]
    fn new_sets_the_rate_and_the_format() {
        let mut registers = with_status(status::ERRORS);
        let uart = Ns16550Uart::new(UniqueMmioPointer::from(&mut registers), BAUD);
        assert_eq!(uart.errors, 0);
        // 3.6864 MHz / (16 x 9600) = 24; the interrupt enables lie where its high byte went.
        assert_eq!((registers.data.0, registers.interrupt_enable.0), (24, 0));
        assert_eq!((registers.line_control.0, registers.buffer_control.0), (3, 7));
    }

    #[test]
    fn a_byte_that_came_before_is_not_lost() {
        let mut registers = with_status(status::DATA_READY);
        registers.data = ReadWrite(0x49);
        let mut uart = Ns16550Uart::new(UniqueMmioPointer::from(&mut registers), BAUD);
        field!(uart.registers, data).write(0x53);
        let mut byte = [0];
        assert_eq!(uart.read_ready(), Ok(true));
        assert_eq!((uart.read(&mut byte), byte), (Ok(1), [0x49]));
        assert_eq!((uart.read(&mut byte), byte), (Ok(1), [0x53]));
    }

    #[test]
    fn a_byte_is_read_and_an_empty_buffer_takes_none() {
        let mut registers = with_status(status::DATA_READY);
        let mut uart = Ns16550Uart::new(UniqueMmioPointer::from(&mut registers), BAUD);
        uart.early = None;
        field!(uart.registers, data).write(0x5A);
        let mut buffer = [0; 4];
        assert_eq!(uart.read_ready(), Ok(true));
        assert_eq!(uart.read(&mut []), Ok(0));
        assert_eq!(uart.read(&mut buffer), Ok(1));
        assert_eq!(buffer, [0x5A, 0, 0, 0]);
        let mut registers = with_status(0);
        let mut uart = Ns16550Uart::new(UniqueMmioPointer::from(&mut registers), BAUD);
        assert_eq!(uart.read_ready(), Ok(false));
    }

    #[test]
    fn errors_are_told_by_kind() {
        for (status, error) in [
            (status::OVERRUN | status::FRAMING, LineError::Overrun),
            (status::BREAK | status::FRAMING, LineError::Break),
            (status::FRAMING, LineError::Framing),
            (status::PARITY, LineError::Parity),
        ] {
            let mut registers = with_status(status | status::DATA_READY);
            let mut uart = Ns16550Uart::new(UniqueMmioPointer::from(&mut registers), BAUD);
            assert_eq!(uart.read(&mut [0]), Err(error));
        }
    }

    #[test]
    fn an_error_that_a_look_has_cleared_in_the_hardware_is_still_told() {
        let mut registers = with_status(0);
        let mut uart = Ns16550Uart::new(UniqueMmioPointer::from(&mut registers), BAUD);
        uart.errors = status::OVERRUN | status::PARITY;
        assert_eq!(uart.read_ready(), Ok(true));
        assert_eq!(uart.read(&mut [0]), Err(LineError::Overrun));
        assert_eq!(uart.read(&mut [0]), Err(LineError::Parity));
        assert_eq!(uart.read_ready(), Ok(false));
    }

    #[test]
    fn a_byte_is_written_when_there_is_room() {
        let mut registers = with_status(status::TRANSMIT_EMPTY | status::IDLE);
        let mut uart = Ns16550Uart::new(UniqueMmioPointer::from(&mut registers), BAUD);
        assert_eq!(uart.write(b"ab"), Ok(2));
        assert_eq!(uart.write_ready(), Ok(true));
        assert_eq!(uart.flush(), Ok(()));
        assert_eq!(registers.data.0, b'b');
        let mut registers = with_status(0);
        let mut uart = Ns16550Uart::new(UniqueMmioPointer::from(&mut registers), BAUD);
        assert_eq!(uart.write_ready(), Ok(false));
    }
}
