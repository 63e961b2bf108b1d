//! The model that was compiled in: `Model`, its type, and `load`, which yields it from flash.
//!
//! `build.rs` chooses it: an exported Rust source named by `FISHWEIR_MODEL`, a binary artefact named by
//! `FISHWEIR_ARTEFACT`, or the firmware's `models/default.rs`. A relative path starts at the folder of
//! the firmware.
#![no_std]

include!(concat!(env!("OUT_DIR"), "/model.rs"));
