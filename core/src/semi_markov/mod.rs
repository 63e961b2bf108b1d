//! Hidden semi-Markov models: states with durations of their own, and strings with a final state.
//!
//! A segment of state `i` lasts `d` samples with probability `P_i(d)`; the next segment's state is drawn from `transition[i]`.
//! Durations are given as hazards: the probability that a segment ends with its `u`th sample, given that it has lasted so long.
//!
//! ```text
//! h_i(u) = P_i(d = u) / P_i(d >= u)
//! ```
//!
//! The last hazard of a row may be below one. Segments that have lasted so long go on with that hazard: a geometric tail, which
//! negative binomial durations have in the limit.
//!
//! | type | what |
//! |---|---|
//! | [`SegmentChain`] | the recursion over borrowed tables of any size |
//! | [`SegmentModel`] | tables of a fixed size, for flash |
//! | [`SegmentFilter`] | the filter of a stream: likelihood, states, elapsed durations |
//!
//! Sources: Ferguson, "Variable duration models for speech", 1980; Yu, "Hidden semi-Markov models", Artificial Intelligence 174,
//! 2010, sections 2 and 3; for the final state Shawe-Taylor and Cristianini, "Kernel Methods for Pattern Analysis", 2004,
//! definition 12.5.

mod chain;
mod filter;

pub use chain::SegmentChain;
pub use filter::{SegmentBelief, SegmentFilter, SegmentModel};
