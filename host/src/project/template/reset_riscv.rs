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