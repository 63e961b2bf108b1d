//! Classification of a stream in firmware, on top of [`fishweir_core`].
//!
//! A conversation over a serial line, applications, updates of the model in the field, slots in flash that survive power loss. No
//! std, no allocation, no unsafe code.
//!
//! | module | what is in it |
//! |---|---|
//! | [`alarm`] | a pin that says that an alarm is raised |
//! | [`meter`] | measurement of time and stack by a board |
//! | [`classifier`] | traits of classifiers and of samples on the wire |
//! | [`storage`] | two slots in flash for one value, over `embedded-storage` |
//! | [`update`] | a model that is replaced in the field: received, tried, confirmed or rolled back |
//! | [`link`] | bytes and errors of a serial line in, records out |
//! | [`session`] | bytes in, frames out: the conversation without a serial line |
//! | [`applications`] | the programs: over `embedded-io`, with the feature `async` over `embedded-io-async`, and over the buses of `embedded-hal` |
//!
//! Modules import from those above them, never from below.
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod alarm;
pub mod applications;
pub mod classifier;
pub mod link;
mod log;
pub mod meter;
pub mod session;
pub mod storage;
pub mod update;

/// Compiles and runs the README's examples.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
