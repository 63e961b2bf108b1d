//! Boards. A board is a byte stream and a meter; all else is the application's.
//!
//! # To add one
//! 1. A folder here with `mod.rs` (implement [`Board`]) and `memory.x`.
//! 2. `src/bin/<board>.rs`, one line of code, after `mps2_an386.rs`.
//! 3. In `Cargo.toml` a feature and a `[[bin]]` of its name; in `build.rs` a row of `BOARDS`.
//!
//! Peripherals that several boards share live in [`drivers`](crate::drivers).

use embedded_io::{Read, Write};

use crate::meter::Meter;

#[cfg(all(target_arch = "arm", target_os = "none", feature = "mps2-an386"))]
pub mod mps2_an386;

/// What an application needs of a board.
pub trait Board: Sized {
    /// The board's name, for the log.
    const NAME: &'static str;
    /// The byte stream that samples come from and decisions go to.
    type Serial: Read + Write;
    /// What measures the work.
    type Meter: Meter;

    /// Takes the peripherals and starts them; `None` if they have been taken before.
    fn take() -> Option<Self>;

    /// The parts.
    fn split(self) -> (Self::Serial, Self::Meter);
}
