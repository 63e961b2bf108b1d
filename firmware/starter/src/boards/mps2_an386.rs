//! Arm MPS2+ AN386 as QEMU emulates it. It talks to the terminal through semihosting.

pub use cortex_m_rt::entry;
use fishweir_core::classify::Decision;
use semihosting::{println, process};

/// The board.
pub struct Board(());

impl Board {
    /// The board: nothing of it is used.
    pub fn new() -> Self {
        Self(())
    }

    /// Waits until the next sample is due: never, as the recording is already there.
    pub fn wait(&mut self) {}

    /// Does some work. An emulator knows no clocks.
    pub fn counted<T>(&mut self, work: impl FnOnce() -> T) -> (T, u32) {
        (work(), 0)
    }

    /// Says what was decided, with the bits of the margin: the host computes the same bits.
    pub fn report(&mut self, samples: usize, class: &str, decision: &Decision, _clocks: u32) {
        // Formatting a float costs 25 kB of flash; thousandths say as much.
        let thousandths = (decision.margin * 1000.0) as u32;
        println!(
            "{samples} samples: {class} leads by {}.{:03} ({:#010x})",
            thousandths / 1000,
            thousandths % 1000,
            decision.margin.to_bits()
        );
    }

    /// The recording has ended.
    pub fn finish(self) -> ! {
        process::exit(0)
    }
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    if let Some(place) = info.location() {
        println!("panicked at {}:{}", place.file(), place.line());
    }
    process::exit(101)
}
