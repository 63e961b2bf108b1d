//! Peripherals of Cortex-M cores: the SysTick counter, its interrupt, the fault handler.
#![allow(unsafe_code, reason = "the handlers")]

use core::sync::atomic::{AtomicU32, Ordering};

use cortex_m::peripheral::syst::SystClkSource;
use cortex_m::peripheral::{SCB, SYST};
use cortex_m_rt::{ExceptionFrame, exception};

use super::counter::{Counter, extended};

/// SysTick as a free-running counter of core clocks: 24 bits of its own, and eight that its interrupt
/// counts.
///
/// At 25 MHz it wraps after 171 s, longer than the host waits for an answer. The interrupt takes some
/// twenty instructions in 2^24 clocks; one round may pass while interrupts are off, not two. Under QEMU
/// with `-icount shift=0` an instruction takes 1 ns of virtual time, so that a tick of 40 ns is 40
/// instructions; a single difference is off by up to one tick, their sum over many pushes is not.
#[derive(Clone, Copy, Debug)]
pub struct SysTick<const CORE_HERTZ: u32>(());

const BITS: u32 = 24;
const LAST: u32 = (1 << BITS) - 1;

/// Rounds of the counter.
static ROUNDS: AtomicU32 = AtomicU32::new(0);

impl<const CORE_HERTZ: u32> SysTick<CORE_HERTZ> {
    /// Starts the counter.
    #[must_use]
    pub fn new(mut systick: SYST) -> Self {
        systick.set_clock_source(SystClkSource::Core);
        systick.set_reload(LAST);
        systick.clear_current();
        systick.enable_interrupt();
        systick.enable_counter();
        Self(())
    }
}

impl<const CORE_HERTZ: u32> Counter for SysTick<CORE_HERTZ> {
    const HERTZ: u32 = CORE_HERTZ;
    const BITS: u32 = 32;

    #[inline(always)]
    fn now(&self) -> u32 {
        extended::<BITS>(
            || ROUNDS.load(Ordering::SeqCst),
            // It counts downwards, and interrupts when it gets to zero.
            || SYST::get_current().wrapping_neg() & LAST,
            SCB::is_pendst_pending,
        )
    }
}

#[exception]
fn SysTick() {
    // The one that writes: no core needs more than a load and a store.
    ROUNDS.store(ROUNDS.load(Ordering::SeqCst).wrapping_add(1), Ordering::SeqCst);
}

// SAFETY: the handler is a function of the documented signature and does not return.
#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    defmt::error!("hard fault at {=u32:#010x}", frame.pc());
    crate::image::end(fishweir_core::wire::Exit::HardFault)
}
