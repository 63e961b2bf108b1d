//! Measures the work by the core's counter of cycles.

use cortex_m::Peripherals;
use cortex_m::peripheral::DWT;
use fishweir_device::meter::Meter;

/// The counter.
pub struct Cycles(());

/// Starts the counter.
pub fn start() -> Cycles {
    // SAFETY: nothing else uses the counter, or switches it off.
    let mut core = unsafe { Peripherals::steal() };
    core.DCB.enable_trace();
    core.DWT.enable_cycle_counter();
    Cycles(())
}

impl Meter for Cycles {
    /// The clock that `board.rs` leaves the core at.
    const TICKS_PER_SECOND: u32 = {{hertz}};

    fn now(&self) -> u32 {
        DWT::cycle_count()
    }

    fn elapsed(&self, start: u32) -> u32 {
        DWT::cycle_count().wrapping_sub(start)
    }
}
