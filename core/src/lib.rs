//! Hidden Markov models, Fisher scores and stream classifiers for microcontrollers: exact, sample by
//! sample, in fixed memory.
#![no_std]
#![forbid(unsafe_code)]

pub mod artefact;
pub mod classify;
pub mod emission;
mod error;
pub mod filter;
#[cfg(feature = "defmt")]
mod format;
pub mod hmm;
pub mod number;
pub mod score;
pub mod smooth;

pub use error::{Flaw, ModelError, ObservationError, Part};

/// The version whose generators [`emission::Sample`] draws with.
pub use rand_core;
