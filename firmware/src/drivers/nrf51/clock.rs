//! The clock control, `CLOCK`.

use safe_mmio::fields::{ReadPureWrite, WriteOnly};
use safe_mmio::{UniqueMmioPointer, field, field_shared};

use super::{NONE, START};

/// The registers of the high-frequency clock.
#[derive(Debug)]
#[repr(C)]
pub struct Registers {
    /// `TASKS_HFCLKSTART`, offset 0x000: start the crystal oscillator.
    start_crystal: WriteOnly<u32>,
    _reserved_004: [u32; (0x100 - 0x004) / 4],
    /// `EVENTS_HFCLKSTARTED`, offset 0x100: it runs.
    crystal_started: ReadPureWrite<u32>,
}

/// Runs core and peripherals from the crystal, and waits until they do. After reset they run from an RC
/// oscillator at 16 MHz too, which is too inexact for a serial port.
pub fn use_crystal(mut registers: UniqueMmioPointer<'_, Registers>) {
    field!(registers, crystal_started).write(NONE);
    field!(registers, start_crystal).write(START);
    while field_shared!(registers, crystal_started).read() == NONE {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_lie_at_the_documented_offsets() {
        assert_eq!(core::mem::offset_of!(Registers, start_crystal), 0x000);
        assert_eq!(core::mem::offset_of!(Registers, crystal_started), 0x100);
    }
}
