//! The APB UART of Arm's Cortex-M System Design Kit (CMSDK), as on the MPS2 and MPS2+ boards.
//!
//! Register layout and behaviour: the kit's reference manual (Arm DDI 0479), chapter 4. Eight data bits,
//! no parity, one stop bit, one byte of buffer in each direction, no flow control: a receiver that is
//! not read in time loses a byte, and [`LineError::Overrun`] says so.

use embedded_io::{ErrorType, Read, ReadReady, Write, WriteReady};
use safe_mmio::fields::{ReadPureWrite, ReadWrite};
use safe_mmio::{UniqueMmioPointer, field, field_shared};

use super::line_error::LineError;

/// The register block, 4 kB apart on the MPS2 boards.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Registers {
    /// `DATA`, offset 0x000, bits 7:0. A read takes the received byte, a write sends one.
    data: ReadWrite<u32>,
    /// `STATE`, offset 0x004, see [`state`]. The overrun bits are cleared by writing ones.
    state: ReadPureWrite<u32>,
    /// `CTRL`, offset 0x008, see [`control`].
    control: ReadPureWrite<u32>,
    /// `INTSTATUS` (read) and `INTCLEAR` (write ones), offset 0x00C. Bits 3:0 are receive overrun,
    /// transmit overrun, receive, transmit. Unused here: the driver polls.
    interrupt: ReadPureWrite<u32>,
    /// `BAUDDIV`, offset 0x010, bits 19:0: peripheral clocks a bit, at least 16.
    baud_divisor: ReadPureWrite<u32>,
}

/// Bits of `STATE`.
mod state {
    /// The transmit buffer is full: a byte written now is lost.
    pub(super) const TRANSMIT_FULL: u32 = 1 << 0;
    /// The receive buffer holds a byte.
    pub(super) const RECEIVE_FULL: u32 = 1 << 1;
    /// A byte arrived while the receive buffer was full, and was lost.
    pub(super) const RECEIVE_OVERRUN: u32 = 1 << 3;
}

/// Bits of `CTRL`. The interrupt enables (bits 2 to 5) and the test mode (bit 6) stay off.
mod control {
    pub(super) const TRANSMIT_ENABLE: u32 = 1 << 0;
    pub(super) const RECEIVE_ENABLE: u32 = 1 << 1;
}

/// Peripheral clocks per bit: the content of `BAUDDIV`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaudDivisor(u32);

impl BaudDivisor {
    /// The divisor nearest to a baud rate. Evaluate it in a constant: a bad rate fails to compile.
    ///
    /// # Panics
    /// If the divisor is not between 16 and `2^20 - 1`, as the hardware requires.
    #[must_use]
    pub const fn new(clock_hertz: u32, baud: u32) -> Self {
        let divisor = (clock_hertz + baud / 2) / baud;
        assert!(divisor >= 16, "baud rate too high for the UART's clock");
        assert!(divisor < 1 << 20, "baud rate too low for the UART's clock");
        Self(divisor)
    }
}

/// The UART, polled.
#[derive(Debug)]
pub struct CmsdkUart<'a> {
    registers: UniqueMmioPointer<'a, Registers>,
}

impl<'a> CmsdkUart<'a> {
    /// Sets the baud rate and switches both directions on.
    #[must_use]
    pub fn new(mut registers: UniqueMmioPointer<'a, Registers>, divisor: BaudDivisor) -> Self {
        // Off while the divisor changes; what an earlier user left in STATE is not ours to report.
        field!(registers, control).write(0);
        field!(registers, baud_divisor).write(divisor.0);
        field!(registers, state).write(state::RECEIVE_OVERRUN);
        field!(registers, control).write(control::TRANSMIT_ENABLE | control::RECEIVE_ENABLE);
        Self { registers }
    }

    fn state(&self) -> u32 {
        field_shared!(self.registers, state).read()
    }

    /// A received byte if there is one.
    fn poll(&mut self) -> Result<Option<u8>, LineError> {
        let state = self.state();
        if state & state::RECEIVE_OVERRUN != 0 {
            field!(self.registers, state).write(state::RECEIVE_OVERRUN);
            return Err(LineError::Overrun);
        }
        Ok((state & state::RECEIVE_FULL != 0).then(|| field!(self.registers, data).read() as u8))
    }

    /// Waits until the transmit buffer has room.
    fn wait_for_room(&self) {
        while self.state() & state::TRANSMIT_FULL != 0 {}
    }
}

impl ErrorType for CmsdkUart<'_> {
    type Error = LineError;
}

impl Read for CmsdkUart<'_> {
    /// Waits for one byte.
    ///
    /// # Errors
    /// [`LineError::Overrun`], once for each time bytes were lost.
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, LineError> {
        let Some(first) = buffer.first_mut() else { return Ok(0) };
        loop {
            if let Some(byte) = self.poll()? {
                *first = byte;
                return Ok(1);
            }
        }
    }
}

impl ReadReady for CmsdkUart<'_> {
    fn read_ready(&mut self) -> Result<bool, LineError> {
        // An overrun is ready too: the next read reports it.
        Ok(self.state() & (state::RECEIVE_FULL | state::RECEIVE_OVERRUN) != 0)
    }
}

impl Write for CmsdkUart<'_> {
    /// Writes the whole buffer, waiting for room before each byte.
    fn write(&mut self, buffer: &[u8]) -> Result<usize, LineError> {
        for &byte in buffer {
            self.wait_for_room();
            field!(self.registers, data).write(u32::from(byte));
        }
        Ok(buffer.len())
    }

    /// Waits until the last byte has left the buffer. The shift register behind it is not visible.
    fn flush(&mut self) -> Result<(), LineError> {
        self.wait_for_room();
        Ok(())
    }
}

impl WriteReady for CmsdkUart<'_> {
    fn write_ready(&mut self) -> Result<bool, LineError> {
        Ok(self.state() & state::TRANSMIT_FULL == 0)
    }
}

// Ordinary memory stands in for the registers: it cannot act, but it shows what the driver does.
#[cfg(test)]
mod tests {
    use super::*;

    fn uart(registers: &mut Registers) -> CmsdkUart<'_> {
        CmsdkUart::new(UniqueMmioPointer::from(registers), BaudDivisor::new(25_000_000, 115_200))
    }

    #[test]
    fn registers_lie_at_the_documented_offsets() {
        assert_eq!(core::mem::offset_of!(Registers, data), 0x00);
        assert_eq!(core::mem::offset_of!(Registers, state), 0x04);
        assert_eq!(core::mem::offset_of!(Registers, control), 0x08);
        assert_eq!(core::mem::offset_of!(Registers, interrupt), 0x0C);
        assert_eq!(core::mem::offset_of!(Registers, baud_divisor), 0x10);
    }

    #[test]
    fn new_sets_the_rate_and_enables_both_directions() {
        let mut registers = Registers::default();
        let _ = uart(&mut registers);
        assert_eq!(registers.baud_divisor.0, 217);
        assert_eq!(registers.control.0, 0b11);
        assert_eq!(registers.interrupt.0, 0);
    }

    #[test]
    fn a_full_receiver_yields_one_byte_and_an_empty_buffer_none() {
        let mut registers = Registers::default();
        let mut uart = uart(&mut registers);
        field!(uart.registers, state).write(0);
        assert_eq!(uart.read_ready(), Ok(false));
        field!(uart.registers, state).write(state::RECEIVE_FULL);
        field!(uart.registers, data).write(0x1_5A);
        assert_eq!(uart.read_ready(), Ok(true));
        let mut buffer = [0; 4];
        assert_eq!(uart.read(&mut []), Ok(0));
        assert_eq!(uart.read(&mut buffer), Ok(1));
        assert_eq!(buffer, [0x5A, 0, 0, 0]);
    }

    #[test]
    fn an_overrun_is_an_error_and_is_cleared_by_writing_its_bit() {
        let mut registers = Registers::default();
        let mut uart = uart(&mut registers);
        field!(uart.registers, state).write(state::RECEIVE_FULL | state::RECEIVE_OVERRUN);
        assert_eq!(uart.read_ready(), Ok(true));
        assert_eq!(uart.read(&mut [0]), Err(LineError::Overrun));
        assert_eq!(registers.state.0, state::RECEIVE_OVERRUN);
    }

    #[test]
    fn a_byte_is_written_when_there_is_room() {
        let mut registers = Registers::default();
        let mut uart = uart(&mut registers);
        assert_eq!(uart.write(b"ab"), Ok(2));
        assert_eq!(uart.write_ready(), Ok(true));
        field!(uart.registers, state).write(state::TRANSMIT_FULL);
        assert_eq!(uart.write_ready(), Ok(false));
        assert_eq!(registers.data.0, u32::from(b'b'));
    }
}
