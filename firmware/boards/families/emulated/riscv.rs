//! QEMU's RISC-V machine `virt`: start-up code, and of its peripherals the one that resets it.

pub use riscv_rt::entry;
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
    /// The SiFive test device of the machine, and the value that resets it.
    const TEST_DEVICE: *mut u32 = 0x10_0000 as *mut u32;
    const RESET: u32 = 0x7777;
    // SAFETY: the machine has this device at this address.
    unsafe { TEST_DEVICE.write_volatile(RESET) };
    loop {
        riscv::asm::wfi();
    }
}
