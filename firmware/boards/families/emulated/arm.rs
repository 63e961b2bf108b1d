//! {{board}} as QEMU emulates it: start-up code, and nothing of its peripherals.

pub use cortex_m_rt::entry;
use semihosting::process;

/// The board.
pub struct Board({{pace_field}});

impl Board {
    /// The board: nothing of it is used.
    pub fn new() -> Self {
        Self({{pace_start}})
    }

{{wait}}

    /// Feeds the watchdog; this board has none.
    pub fn feed(&mut self) {}

    /// Shows a class; this board has no display.
    pub fn show(&mut self, _class: usize) {}

    /// The recordings have been played, and the emulator is left.
    pub fn end_of_recordings(&mut self) {
        process::exit(0)
    }

    /// Ends a program that cannot go on.
    pub fn give_up(&mut self) -> ! {
        process::exit(1)
    }
}

/// Begins the program anew; RAM stays as it is.
pub fn reset() -> ! {
    cortex_m::peripheral::SCB::sys_reset()
}
