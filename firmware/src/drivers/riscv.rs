//! Peripherals of RISC-V cores: a counter of cycles, a timer, the trap handler.
#![allow(unsafe_code, reason = "the trap handler")]

use riscv::register::mcycle;
use riscv_rt::TrapFrame;
use safe_mmio::fields::ReadPure;
use safe_mmio::{SharedMmioPointer, UniqueMmioPointer};

use super::counter::Counter;

/// The low word of `mcycle`, the core's own counter of clocks.
///
/// Under QEMU with `-icount shift=0` it counts instructions, one per nanosecond.
#[derive(Clone, Copy, Debug)]
pub struct Cycles<const CORE_HERTZ: u32>;

impl<const CORE_HERTZ: u32> Counter for Cycles<CORE_HERTZ> {
    const HERTZ: u32 = CORE_HERTZ;
    const BITS: u32 = 32;

    #[inline(always)]
    fn now(&self) -> u32 {
        mcycle::read() as u32
    }
}

/// The low word of `mtime`, the machine's timer (Privileged Architecture, section 3.2.1). It runs from
/// reset.
#[derive(Clone, Copy, Debug)]
pub struct MachineTime<'a, const HERTZ: u32> {
    low_word: SharedMmioPointer<'a, ReadPure<u32>>,
}

impl<'a, const HERTZ: u32> MachineTime<'a, HERTZ> {
    /// The timer whose low word this is.
    #[must_use]
    pub fn new(low_word: UniqueMmioPointer<'a, ReadPure<u32>>) -> Self {
        Self { low_word: low_word.into() }
    }
}

impl<const HERTZ: u32> Counter for MachineTime<'_, HERTZ> {
    const HERTZ: u32 = HERTZ;
    const BITS: u32 = 32;

    fn now(&self) -> u32 {
        self.low_word.read()
    }
}

// SAFETY: the name and the signature are those that riscv-rt asks for.
#[unsafe(export_name = "ExceptionHandler")]
fn exception_handler(frame: &TrapFrame) -> ! {
    let at = riscv::register::mepc::read();
    defmt::error!("exception at {=usize:#010x}, called from {=usize:#010x}", at, frame.ra);
    crate::image::end(fishweir_core::wire::Exit::HardFault)
}
