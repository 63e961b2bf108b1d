//! Peripherals of Nordic's nRF51 series. Layout and behaviour: its reference manual, version 3.0.
//!
//! They share a pattern: writing 1 to a *task* register starts something, an *event* register reads 1
//! once something has happened, until 0 is written to it.

pub mod clock;
pub mod flash;
pub mod pins;
pub mod timer;
pub mod uart;

/// Starts a task.
const START: u32 = 1;
/// An event that has not happened.
const NONE: u32 = 0;
