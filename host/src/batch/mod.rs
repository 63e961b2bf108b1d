//! Many sequences under one model: side by side in lanes, and over threads.
//!
//! | asked for | file |
//! |---|---|
//! | [`log_likelihoods`] | `likelihood.rs` |
//! | the likeliest path of one, [`ViterbiPath`] | `decode.rs` |
//! | [`posteriors`] | `smoothing.rs` |
//! | [`expectations`]: what Baum-Welch and scores read | `expectations.rs` |
//! | any of them of the same sequences again, [`Batch`] | `side_by_side.rs` |
//!
//! A lane holds what the core's single recursion would hold, bit for bit, so no result depends on
//! the machine's vector width, on the number of threads or on what other sequences are in a batch.
//! The loops over lanes are compiled for several instruction sets, and the machine's best is taken
//! when the program runs.
//!
//! Sequences of similar length share a group of lanes: 32 of symbols for their likelihoods, in two sets that
//! take their steps in turn; else 16, or for posteriors over more than four states 8. Groups share the threads.
//! What would fill too few lanes goes through the single recursion. Where a chain of many states has but one path, what is
//! expected is counted along it (`known.rs`).
//!
//! | what lanes observe | file | likelihoods |
//! |---|---|---|
//! | symbols of an alphabet that fits a byte | `symbols.rs` | looked up, of up to 16 symbols in registers |
//! | channels, where the family has those of many samples at once | `channels.rs` | of 32 steps at once |
//! | other channels, for posteriors | `group.rs` | lane by lane |
//!
//! Likelihoods of anything else are those of the single recursion, sequence by sequence.

mod channels;
mod decode;
mod expectations;
mod filter;
mod group;
mod known;
mod likelihood;
mod side_by_side;
mod smoothing;
mod symbols;
mod tally;

pub(crate) use decode::path;
pub use decode::{DecodeError, ViterbiPath, decode_mixed};
pub use expectations::expectations;
pub(crate) use expectations::expectations_to_sum;
pub use likelihood::log_likelihoods;
pub(crate) use likelihood::of_valid as log_likelihoods_of_valid;
pub use side_by_side::Batch;
pub use smoothing::{Posterior, posteriors};
pub(crate) use smoothing::{Reader, Smoothed, each_smoothed};
pub(crate) use symbols::Lookup;
pub(crate) use tally::Accumulate;
pub use tally::Expectations;

/// Sets of lanes of symbols that take their steps in turn.
const SETS: usize = 2;

/// Sequences side by side, mostly: they fill a register of the widest vector units in `f32`, two in `f64`.
#[doc(hidden)]
pub const LANES: usize = 16;
