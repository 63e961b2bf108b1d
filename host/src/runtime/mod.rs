//! Models at run-time sizes, run by the core's const-generic recursions.
//!
//! A recursion with its sizes known at compile time is several times faster than one that learns
//! them at run time, and there is one implementation of each. So the host picks the const here, in
//! one place: a model with `n` states runs as one with the next size in [`STATE_SIZES`], padded with
//! states that cannot be reached and that change no bit of any result.

pub(crate) mod check;
mod error;
pub mod family;
mod hmm;
pub(crate) mod numbers;
mod potential;
mod sizes;

pub use error::HmmError;
pub use family::{
    Block, CategoricalVec, Distribution, Drawn, EmissionDirection, Emissions, FAMILIES, Family,
    HostReal, HostWeight, Observed, Parts, Regularisation, RowState, Shape, Weighed, Width, family,
};
pub use hmm::Hmm;
pub(crate) use potential::Potential;
pub use sizes::{LARGEST_ALPHABET, STATE_SIZES, padded_states};
pub(crate) use sizes::{
    SIZES, at_sizes, padded, padded_rows, padded_to, with_all_sizes, with_states, with_three_sizes,
    with_two_sizes,
};
