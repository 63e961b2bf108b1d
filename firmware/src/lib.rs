//! fishweir on microcontrollers: thin boards to run the applications of [`fishweir_device`] on.
#![doc = include_str!("../README.md")]
#![no_std]

#[cfg(test)]
extern crate std;

pub mod boards;
pub mod drivers;
#[cfg(all(target_os = "none", feature = "image"))]
pub mod image;
#[cfg(all(target_os = "none", feature = "measure"))]
pub mod measure;
