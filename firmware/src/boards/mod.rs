//! Boards. A board is a byte stream, a delay and a meter; all else is the application's.
//!
//! An image is built for one of them, chosen by its feature: `Selected`.
//!
//! # To add one
//! 1. A folder here with `mod.rs` (implement [`Board`]) and `memory.x`.
//! 2. Its line in the table below.
//! 3. In `Cargo.toml` a feature of its name; in `build.rs` a row of `BOARDS`.
//!
//! Peripherals that several boards share live in [`drivers`](crate::drivers).

use embedded_hal::delay::DelayNs;
use embedded_io::{Read, Write};
use fishweir_device::meter::Meter;

#[cfg(all(target_os = "none", any(feature = "mps2-an386", feature = "mps2-an505")))]
#[macro_use]
mod mps2;

/// Declares the boards: `feature: module::Type`.
macro_rules! boards {
    ($($feature:literal: $module:ident::$board:ident;)*) => {$(
        #[cfg(all(target_os = "none", feature = $feature))]
        pub mod $module;
        /// The board that this image is built for.
        #[cfg(all(target_os = "none", feature = $feature))]
        pub type Selected = $module::$board;
    )*};
}
boards! {
    "microbit": microbit::Microbit;
    "lm3s6965evb": lm3s6965evb::Lm3s6965evb;
    "mps2-an386": mps2_an386::Mps2An386;
    "mps2-an505": mps2_an505::Mps2An505;
    "riscv-virt": riscv_virt::RiscvVirt;
}

/// Board, as an application needs it.
pub trait Board {
    /// The board's name, for the log.
    const NAME: &'static str;
    /// The byte stream that samples come from and decisions go to.
    type Serial: Read + Write;
    /// Timer for delays.
    type Delay: DelayNs;
    /// Meter of time and stack.
    type Meter: Meter;

    /// Takes the peripherals and starts them; `None` if they have been taken before.
    fn take() -> Option<Parts<Self>>;
}

/// The parts of a board.
#[derive(Debug)]
pub struct Parts<B: Board + ?Sized> {
    /// The byte stream that samples come from and decisions go to.
    pub serial: B::Serial,
    /// Timer for delays.
    pub delay: B::Delay,
    /// Meter of time and stack.
    pub meter: B::Meter,
}
