//! A model that is replaced in the field: received in pieces, tried, confirmed, or rolled back.
//!
//! Two [slots](crate::storage) in flash hold an [update](fishweir_core::update) each, which is read in place; the
//! model that the image was built with is the third, and cannot be lost. Whatever the sender sends and whenever
//! the power goes, one of them runs, whole:
//!
//! | offset in a slot | bytes | what |
//! |---|---|---|
//! | 0 | 32 | header of the slot, [as ever](crate::storage), its number the model's version: written when all is received and found good |
//! | 32 | 32 | *receiving*: `TAKE` and the CRC-32 of the update's header; written when the slot is erased and that header is there |
//! | 64 | 32 | *first trial* |
//! | 96 | 32 | *second trial* |
//! | 128 | 32 | *confirmed* |
//! | 160 | 32 | *refused* |
//! | 192 | | the update |
//!
//! A mark that is not erased is set; marks are written once, each by itself, so that power lost during one leaves
//! it set or not. An update is
//!
//! - *received* when it has the shape and numeric profile of the image, is newer than all that the slots hold
//!   and than the image's own model, is whole, is signed where that is asked for, and decides as its self-test
//!   says;
//! - *on trial* from the next stream, or the next reset, on;
//! - *confirmed* when it has taken in as many samples as the application asks for;
//! - *refused* when it is still on trial at the second reset: the model before it runs again.
//!
//! While a model is on trial no update is taken: the other slot holds the one to fall back on.

mod layout;
mod mirror;
mod receiver;
mod trust;

pub use layout::{MappedFlash, ROOM};
pub use mirror::Mirror;
pub use receiver::Updates;
#[cfg(any(feature = "ed25519", test))]
pub use trust::Ed25519;
pub use trust::{NoSignature, Trust};

#[cfg(test)]
pub(crate) mod tests;
