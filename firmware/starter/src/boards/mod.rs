//! Boards. Each has `entry`, the attribute of its `main`, and `Board` with the same five functions.

#[cfg(feature = "mps2-an386")]
mod mps2_an386;
#[cfg(feature = "mps2-an386")]
pub use mps2_an386::{Board, entry};

#[cfg(feature = "nrf52840-dk")]
mod nrf52840_dk;
#[cfg(feature = "nrf52840-dk")]
pub use nrf52840_dk::{Board, entry};

#[cfg(feature = "rp2040-pico")]
mod rp2040_pico;
#[cfg(feature = "rp2040-pico")]
pub use rp2040_pico::{Board, entry};

/// Samples come fifty times a second.
#[cfg(feature = "probe")]
const SAMPLE_PERIOD_US: u32 = 20_000;

/// The core's 24-bit SysTick as a counter of clocks.
#[cfg(feature = "probe")]
fn start_counter(systick: &mut cortex_m::peripheral::SYST) {
    systick.set_clock_source(cortex_m::peripheral::syst::SystClkSource::Core);
    systick.set_reload(COUNTER_RANGE - 1);
    systick.clear_current();
    systick.enable_counter();
}

/// Does some work and says how many clocks of the core it took: less than `COUNTER_RANGE`.
#[cfg(feature = "probe")]
fn counted<T>(work: impl FnOnce() -> T) -> (T, u32) {
    let start = cortex_m::peripheral::SYST::get_current();
    // Reading a counter is no barrier: without these the optimiser may move work across it.
    let result = core::hint::black_box(core::hint::black_box(work)());
    let end = cortex_m::peripheral::SYST::get_current();
    (result, start.wrapping_sub(end) % COUNTER_RANGE)
}

#[cfg(feature = "probe")]
const COUNTER_RANGE: u32 = 1 << 24;
