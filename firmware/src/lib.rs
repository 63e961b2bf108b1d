//! fishweir on microcontrollers: applications written once, and thin boards to run them on.
#![doc = include_str!("../README.md")]
#![no_std]

#[cfg(test)]
extern crate std;

pub mod applications;
pub mod boards;
pub mod classifier;
pub mod drivers;
#[cfg(all(target_os = "none", feature = "image"))]
pub mod image;
pub mod link;
mod log;
#[cfg(all(target_os = "none", feature = "measure"))]
pub mod measure;
pub mod meter;
pub mod storage;
pub mod update;
