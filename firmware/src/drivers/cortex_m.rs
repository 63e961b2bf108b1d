//! What every Cortex-M has: the SysTick counter, a painted stack, the fault handler.
#![allow(unsafe_code, reason = "linker symbols and the fault handler")]

use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m_rt::{ExceptionFrame, exception};

use crate::meter::Meter;

/// SysTick as a free-running counter of core clocks: 24 bits, downwards.
///
/// At 25 MHz it wraps after 671 ms, far longer than a push. Under QEMU with `-icount shift=0` an
/// instruction takes 1 ns of virtual time, so that a tick of 40 ns is 40 instructions; a single
/// difference is off by up to one tick, their sum over many pushes is not.
#[derive(Debug)]
pub struct SysTickMeter<const CORE_HERTZ: u32>(());

const RANGE: u32 = 1 << 24;

impl<const CORE_HERTZ: u32> SysTickMeter<CORE_HERTZ> {
    /// Starts the counter.
    #[must_use]
    pub fn new(mut systick: SYST) -> Self {
        systick.set_clock_source(SystClkSource::Core);
        systick.set_reload(RANGE - 1);
        systick.clear_current();
        systick.enable_counter();
        Self(())
    }
}

impl<const CORE_HERTZ: u32> Meter for SysTickMeter<CORE_HERTZ> {
    const TICKS_PER_SECOND: u32 = CORE_HERTZ;

    fn now(&self) -> u32 {
        SYST::get_current()
    }

    fn elapsed(&self, start: u32) -> u32 {
        start.wrapping_sub(SYST::get_current()) % RANGE
    }

    fn stack_bytes(&self) -> u32 {
        stack_bytes()
    }
}

/// How deep the stack has been: the start-up code paints it, and what is no longer painted was used.
fn stack_bytes() -> u32 {
    unsafe extern "C" {
        static mut _stack_end: u32;
        static mut _stack_start: u32;
    }
    let top = (&raw const _stack_start).addr();
    let mut word = &raw const _stack_end;
    while word.addr() < top {
        // SAFETY: `word` is aligned and lies between the two ends of the stack's memory, which is
        // RAM that belongs to the program; a volatile read of a word in use yields some value.
        if unsafe { word.read_volatile() } != cortex_m_rt::STACK_PAINT_VALUE {
            break;
        }
        word = word.wrapping_add(1);
    }
    (top - word.addr()) as u32
}

// SAFETY: the handler is a function of the documented signature and does not return.
#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    defmt::error!("hard fault at {=u32:#010x}", frame.pc());
    crate::image::end(crate::protocol::Exit::HardFault)
}
