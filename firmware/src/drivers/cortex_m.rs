//! What Cortex-M cores have: the SysTick counter, the fault handler.
#![allow(unsafe_code, reason = "the fault handler")]

use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m_rt::{ExceptionFrame, exception};

use super::counter::Counter;

/// SysTick as a free-running counter of core clocks, 24 bits wide.
///
/// At 25 MHz it wraps after 671 ms, far longer than a push. Under QEMU with `-icount shift=0` an
/// instruction takes 1 ns of virtual time, so that a tick of 40 ns is 40 instructions; a single
/// difference is off by up to one tick, their sum over many pushes is not.
#[derive(Clone, Copy, Debug)]
pub struct SysTick<const CORE_HERTZ: u32>(());

const LAST: u32 = (1 << 24) - 1;

impl<const CORE_HERTZ: u32> SysTick<CORE_HERTZ> {
    /// Starts the counter.
    #[must_use]
    pub fn new(mut systick: SYST) -> Self {
        systick.set_clock_source(SystClkSource::Core);
        systick.set_reload(LAST);
        systick.clear_current();
        systick.enable_counter();
        Self(())
    }
}

impl<const CORE_HERTZ: u32> Counter for SysTick<CORE_HERTZ> {
    const HERTZ: u32 = CORE_HERTZ;
    const BITS: u32 = 24;

    #[inline(always)]
    fn now(&self) -> u32 {
        // It counts downwards.
        LAST - SYST::get_current()
    }
}

// SAFETY: the handler is a function of the documented signature and does not return.
#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    defmt::error!("hard fault at {=u32:#010x}", frame.pc());
    crate::image::end(fishweir_core::wire::Exit::HardFault)
}
