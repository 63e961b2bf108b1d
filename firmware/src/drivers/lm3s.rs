//! Clocks and pins of the Stellaris LM3S parts, as far as a serial port needs them. Layout and behaviour:
//! data sheet of the LM3S6965, "System Control" and "GPIO".

use safe_mmio::fields::{ReadPure, ReadPureWrite};
use safe_mmio::{UniqueMmioPointer, field, field_shared};
use zerocopy::FromZeros;

/// The system control's registers, as far as they are used.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct SystemRegisters {
    _reserved_000: [u32; 0x050 / 4],
    /// `RIS`, offset 0x050: what has happened; bit 6, the PLL is stable.
    happened: ReadPure<u32>,
    _reserved_054: [u32; (0x060 - 0x054) / 4],
    /// `RCC`, offset 0x060, see [`clock`].
    clock: ReadPureWrite<u32>,
    _reserved_064: [u32; (0x104 - 0x064) / 4],
    /// `RCGC1`, offset 0x104: clocks to peripherals; bit 0, UART 0.
    clock_gates_1: ReadPureWrite<u32>,
    /// `RCGC2`, offset 0x108: clocks to peripherals; bit 0, port A.
    clock_gates_2: ReadPureWrite<u32>,
}

const PLL_STABLE: u32 = 1 << 6;
const UART_0: u32 = 1 << 0;
const PORT_A: u32 = 1 << 0;

/// Bits of `RCC`.
mod clock {
    /// The crystal oscillator off.
    pub(super) const CRYSTAL_OFF: u32 = 1 << 0;
    /// Field that selects the oscillator: 0 is the crystal's.
    pub(super) const SOURCE: u32 = 0b11 << 4;
    /// Field that selects the frequency of the crystal.
    pub(super) const CRYSTAL: u32 = 0b1111 << 6;
    pub(super) const CRYSTAL_8_MHZ: u32 = 0xE << 6;
    /// Run from the oscillator, not from the PLL.
    pub(super) const BYPASS_PLL: u32 = 1 << 11;
    pub(super) const PLL_OFF: u32 = 1 << 13;
    pub(super) const DIVIDE: u32 = 1 << 22;
    pub(super) const DIVISOR: u32 = 0b1111 << 23;
    /// 200 MHz through 4.
    pub(super) const THROUGH_4: u32 = 3 << 23;
}

/// Clock rate of the core once there is a [`System`].
pub const CLOCK_HERTZ: u32 = 50_000_000;

/// The system control, after the clock has been set.
#[derive(Debug)]
pub struct System<'a> {
    registers: UniqueMmioPointer<'a, SystemRegisters>,
}

impl<'a> System<'a> {
    /// Runs the part at 50 MHz, its fastest, from a crystal of 8 MHz by the PLL. Takes half a
    /// millisecond.
    #[must_use]
    pub fn at_50_megahertz(mut registers: UniqueMmioPointer<'a, SystemRegisters>) -> Self {
        let mut change = |clear: u32, set: u32| {
            field!(registers, clock).modify(|value| value & !clear | set);
        };
        change(clock::DIVIDE | clock::CRYSTAL_OFF, clock::BYPASS_PLL);
        change(clock::CRYSTAL | clock::SOURCE | clock::PLL_OFF, clock::CRYSTAL_8_MHZ);
        change(clock::DIVISOR, clock::THROUGH_4 | clock::DIVIDE);
        while field_shared!(registers, happened).read() & PLL_STABLE == 0 {}
        field!(registers, clock).modify(|value| value & !clock::BYPASS_PLL);
        Self { registers }
    }

    /// Gives UART 0 its clock, and pins 0 and 1 of port A.
    pub fn connect_uart_0(&mut self, mut port_a: UniqueMmioPointer<'_, PortRegisters>) {
        const RECEIVE_AND_TRANSMIT: u32 = 0b11;
        field!(self.registers, clock_gates_1).modify(|gates| gates | UART_0);
        field!(self.registers, clock_gates_2).modify(|gates| gates | PORT_A);
        // For three clocks after it got its own, a peripheral must not be touched: reading takes them.
        field_shared!(self.registers, clock_gates_2).read();
        field_shared!(self.registers, clock_gates_2).read();
        field!(port_a, alternate_function).modify(|pins| pins | RECEIVE_AND_TRANSMIT);
        field!(port_a, digital).modify(|pins| pins | RECEIVE_AND_TRANSMIT);
    }
}

/// A port's registers, as far as they are used: a bit a pin.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct PortRegisters {
    _reserved_000: [u32; 0x420 / 4],
    /// `GPIOAFSEL`, offset 0x420: the pin is a peripheral's.
    alternate_function: ReadPureWrite<u32>,
    _reserved_424: [u32; (0x51C - 0x424) / 4],
    /// `GPIODEN`, offset 0x51C: the pin is digital.
    digital: ReadPureWrite<u32>,
}

// Ordinary memory stands in for the registers: it cannot act, but it shows what the driver does.
#[cfg(test)]
mod tests {
    use core::mem::offset_of;

    use super::*;

    #[test]
    fn registers_lie_at_the_documented_offsets() {
        assert_eq!(offset_of!(SystemRegisters, happened), 0x050);
        assert_eq!(offset_of!(SystemRegisters, clock), 0x060);
        assert_eq!(offset_of!(SystemRegisters, clock_gates_1), 0x104);
        assert_eq!(offset_of!(PortRegisters, alternate_function), 0x420);
        assert_eq!(offset_of!(PortRegisters, digital), 0x51C);
    }

    #[test]
    fn the_clock_is_a_quarter_of_the_pll_from_the_crystal() {
        let mut registers = SystemRegisters::new_zeroed();
        // As after reset: an internal oscillator, undivided, and the PLL off.
        registers.clock = ReadPureWrite(0x078E_3AD1);
        registers.happened = ReadPure(PLL_STABLE);
        let _ = System::at_50_megahertz(UniqueMmioPointer::from(&mut registers));
        let clock = registers.clock.0;
        assert_eq!(clock & (clock::CRYSTAL_OFF | clock::SOURCE), 0);
        assert_eq!(clock & (clock::BYPASS_PLL | clock::PLL_OFF), 0);
        assert_eq!(clock & clock::CRYSTAL, 0xE << 6);
        assert_eq!(clock & (clock::DIVISOR | clock::DIVIDE), 3 << 23 | 1 << 22);
    }

    #[test]
    fn the_uart_gets_a_clock_and_two_pins() {
        let mut registers = SystemRegisters::new_zeroed();
        let mut port = PortRegisters::new_zeroed();
        registers.happened = ReadPure(PLL_STABLE);
        System::at_50_megahertz(UniqueMmioPointer::from(&mut registers))
            .connect_uart_0(UniqueMmioPointer::from(&mut port));
        assert_eq!((registers.clock_gates_1.0, registers.clock_gates_2.0), (1, 1));
        assert_eq!((port.alternate_function.0, port.digital.0), (3, 3));
    }
}
