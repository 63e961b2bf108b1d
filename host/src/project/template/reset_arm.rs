/// Begins the program anew; RAM stays as it is.
pub fn reset() -> ! {
    cortex_m::peripheral::SCB::sys_reset()
}