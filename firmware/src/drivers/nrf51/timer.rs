//! A timer, `TIMER`, as a free-running counter. An nRF51 has no SysTick.
#![allow(unsafe_code, reason = "a register that is written behind a shared pointer")]

use safe_mmio::fields::{ReadPure, ReadPureWrite, WriteOnly};
use safe_mmio::{SharedMmioPointer, UniqueMmioPointer, field, field_shared};
use zerocopy::FromZeros;

use super::START;
use crate::drivers::counter::Counter;

/// The register block, as far as it is used.
#[derive(Debug, FromZeros)]
#[repr(C)]
pub struct Registers {
    /// `TASKS_START`, offset 0x000.
    start: WriteOnly<u32>,
    /// `TASKS_STOP`, offset 0x004.
    stop: WriteOnly<u32>,
    _reserved_008: u32,
    /// `TASKS_CLEAR`, offset 0x00C: count from 0.
    clear: WriteOnly<u32>,
    _reserved_010: [u32; (0x040 - 0x010) / 4],
    /// `TASKS_CAPTURE[0]`, offset 0x040: copy the count to `CC[0]`.
    capture: WriteOnly<u32>,
    _reserved_044: [u32; (0x504 - 0x044) / 4],
    /// `MODE`, offset 0x504: 0 counts clocks.
    mode: ReadPureWrite<u32>,
    /// `BITMODE`, offset 0x508: 3 is 32 bits. Only timer 0 has as many.
    bits: ReadPureWrite<u32>,
    _reserved_50c: u32,
    /// `PRESCALER`, offset 0x510: the clock is divided by 2 to this.
    prescaler: ReadPureWrite<u32>,
    _reserved_514: [u32; (0x540 - 0x514) / 4],
    /// `CC[0]`, offset 0x540: the count captured.
    captured: ReadPure<u32>,
}

const COUNT_CLOCKS: u32 = 0;
const BITS_32: u32 = 3;
const UNDIVIDED: u32 = 0;

/// Timer 0 counting the 16 MHz clock, 32 bits wide: it wraps after 268 s.
///
/// Under QEMU with `-icount shift=0` a tick of 62.5 ns is 62.5 instructions.
#[derive(Clone, Copy, Debug)]
pub struct Timer<'a> {
    registers: SharedMmioPointer<'a, Registers>,
}

impl<'a> Timer<'a> {
    /// Starts the timer, which must be timer 0.
    #[must_use]
    pub fn new(mut registers: UniqueMmioPointer<'a, Registers>) -> Self {
        // Mode and width may change while it is stopped only.
        field!(registers, stop).write(START);
        field!(registers, mode).write(COUNT_CLOCKS);
        field!(registers, bits).write(BITS_32);
        field!(registers, prescaler).write(UNDIVIDED);
        field!(registers, clear).write(START);
        field!(registers, start).write(START);
        Self { registers: registers.into() }
    }
}

impl Counter for Timer<'_> {
    const HERTZ: u32 = 16_000_000;
    const BITS: u32 = 32;

    #[inline(always)]
    fn now(&self) -> u32 {
        let capture = field_shared!(self.registers, capture).ptr().cast_mut();
        // SAFETY: a register that triggers a copy and holds nothing, so that copies of this timer may
        // all write it; the pointer comes from the unique one that `new` was given.
        unsafe { capture.write_volatile(WriteOnly(START)) };
        field_shared!(self.registers, captured).read()
    }
}

// Ordinary memory stands in for the registers: it cannot act, but it shows what the driver does.
#[cfg(test)]
mod tests {
    use core::mem::offset_of;

    use super::*;

    #[test]
    fn registers_lie_at_the_documented_offsets() {
        assert_eq!(offset_of!(Registers, clear), 0x00C);
        assert_eq!(offset_of!(Registers, capture), 0x040);
        assert_eq!(offset_of!(Registers, mode), 0x504);
        assert_eq!(offset_of!(Registers, prescaler), 0x510);
        assert_eq!(offset_of!(Registers, captured), 0x540);
    }

    #[test]
    fn the_count_is_captured_and_read() {
        let mut registers = Registers::new_zeroed();
        registers.captured = ReadPure(1234);
        registers.prescaler = ReadPureWrite(4);
        let timer = Timer::new(UniqueMmioPointer::from(&mut registers));
        assert_eq!(timer.now(), 1234);
        assert_eq!(timer.since(1230), 4);
        assert_eq!((registers.start.0, registers.capture.0), (1, 1));
        assert_eq!((registers.bits.0, registers.prescaler.0), (3, 0));
    }
}
