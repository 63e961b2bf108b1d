//! Peripherals that more than one board has.

pub mod cmsdk_uart;
#[cfg(all(target_arch = "arm", target_os = "none", feature = "image"))]
pub mod cortex_m;
#[cfg(all(target_arch = "arm", target_os = "none", feature = "measure"))]
pub mod stack_gauge;
