use core::panic::PanicInfo;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        /// Defined nowhere.
        fn fishweir_a_panic_can_be_reached() -> !;
    }
    // SAFETY: an image that would call it does not link.
    unsafe { fishweir_a_panic_can_be_reached() }
}
