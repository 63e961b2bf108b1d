//! The pins, `GPIO`.

use safe_mmio::fields::{ReadPureWrite, WriteOnly};
use safe_mmio::{UniqueMmioPointer, field};
use zerocopy::FromZeros;

/// The register block, as far as it is used.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct Registers {
    _reserved_000: [u32; 0x508 / 4],
    /// `OUTSET`, offset 0x508: pins to be high, a bit each.
    set_high: WriteOnly<u32>,
    _reserved_50c: [u32; (0x700 - 0x50C) / 4],
    /// `PIN_CNF`, offset 0x700, a pin each, see [`configuration`].
    configuration: [ReadPureWrite<u32>; 32],
}

/// Values of `PIN_CNF`: bit 0 is the direction, bit 1 disconnects the input buffer.
mod configuration {
    pub(super) const INPUT: u32 = 0b00;
    pub(super) const OUTPUT: u32 = 0b11;
}

/// Pins of port 0, by number.
#[derive(Debug)]
pub struct Pins<'a> {
    registers: UniqueMmioPointer<'a, Registers>,
}

impl<'a> Pins<'a> {
    /// The pins, as they are.
    #[must_use]
    pub const fn new(registers: UniqueMmioPointer<'a, Registers>) -> Self {
        Self { registers }
    }

    /// Makes a pin an output that is high.
    pub fn output_high(&mut self, pin: Pin) {
        field!(self.registers, set_high).write(1 << pin.0);
        self.configure(pin, configuration::OUTPUT);
    }

    /// Makes a pin an input without a pull.
    pub fn input(&mut self, pin: Pin) {
        self.configure(pin, configuration::INPUT);
    }

    fn configure(&mut self, pin: Pin, value: u32) {
        let mut pins = field!(self.registers, configuration);
        if let Some(mut one) = pins.as_mut_slice().get(pin.0 as usize) {
            one.write(value);
        }
    }
}

/// The number of a pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pin(u32);

impl Pin {
    /// A pin of port 0. Evaluate it in a constant: a wrong number fails to compile.
    ///
    /// # Panics
    /// If there is no such pin.
    #[must_use]
    pub const fn new(number: u32) -> Self {
        assert!(number < 32, "port 0 has 32 pins");
        Self(number)
    }

    /// Returns the number of the pin.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_lie_at_the_documented_offsets() {
        assert_eq!(core::mem::offset_of!(Registers, set_high), 0x508);
        assert_eq!(core::mem::offset_of!(Registers, configuration), 0x700);
    }

    #[test]
    fn only_the_named_pins_change() {
        let mut registers = Registers::new_zeroed();
        registers.configuration = [const { ReadPureWrite(2) }; 32];
        let mut pins = Pins::new(UniqueMmioPointer::from(&mut registers));
        pins.output_high(Pin::new(24));
        pins.input(Pin::new(25));
        assert_eq!(registers.set_high.0, 1 << 24);
        for (number, pin) in registers.configuration.iter().enumerate() {
            let expected = match number {
                24 => 3,
                25 => 0,
                _ => 2,
            };
            assert_eq!(pin.0, expected, "pin {number}");
        }
    }
}
