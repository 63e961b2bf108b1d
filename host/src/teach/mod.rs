//! Classes that are taught to a deployed classifier by showing windows: on the host, in a device's bits.
//!
//! ```text
//! windows of the training --learn--> Teaching, in the model's file and its artefact
//! windows of a new class  --show---> Taught --to_record--> the bytes that a device keeps in its slot
//! ```
//!
//! The arithmetic is the core's, [`fishweir_core::classify::teach`], and so is the record: windows that were shown to a device and
//! those that were shown here give the same bytes.

mod basis;
mod taught;

pub use basis::{SHRINKAGE, learn, whitened};
pub use fishweir_core::classify::teach::{NAME_LONGEST, TaughtDecision};
pub use taught::{NUMBERS_MOST, TAUGHT_MOST, Taught, TeachFailure, price};
