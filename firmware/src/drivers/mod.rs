//! Peripherals that boards share.

use core::num::NonZero;
use core::ptr::NonNull;

pub mod bridge;
pub mod cmsdk_uart;
#[cfg(all(target_arch = "arm", target_os = "none", feature = "image"))]
pub mod cortex_m;
pub mod counter;
#[cfg(all(target_os = "none", feature = "image"))]
pub mod file_flash;
pub mod line_error;
pub mod lm3s;
#[cfg(all(target_os = "none", feature = "image"))]
pub mod logged_pin;
pub mod nrf51;
pub mod ns16550_uart;
pub mod pl011_uart;
#[cfg(all(target_arch = "riscv32", target_os = "none", feature = "image"))]
pub mod riscv;
#[cfg(all(target_os = "none", feature = "image"))]
pub mod stack;

/// Returns the address of a block of registers. Evaluate it in a constant.
///
/// # Panics
/// At address 0.
#[must_use]
pub const fn registers_at<R>(address: usize) -> NonNull<R> {
    NonNull::without_provenance(NonZero::new(address).expect("no registers at address 0"))
}
