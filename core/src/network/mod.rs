//! Events of categories: a classifier and an alarm, sums of look-ups in tables of a Bayesian network.
//!
//! | what | reads | state | work an event |
//! |---|---|---|---|
//! | [`FactorClassifier`] with `O` outputs | a [`Decision`](crate::classify::Decision) | `2 O` reals | `2 n` integer operations, `n O` additions |
//! | [`Discrepancy`] over `C` cells | how far the events of late are from the network | `C + 2 n + 3` reals | `2 n` integer operations, `2 sum r_i + 2 n` additions with or without a product; a reading `n` divisions and additions |
//! | [`Coreset`](crate::kernel::Coreset) by [`EventFeatures`] | `K` events that stand for all | `K n` integers, `2 C` reals | `6 K n` integer operations, `K sum r_i + 2 C` multiply-adds |
//!
//! `n` nodes with `r_i` states. An event is a slice with the number of each node's state, [`MISSING`] for a node without one.
//!
//! Source: Leppä-aho, Silander and Roos, "Bayesian network Fisher kernel for categorical feature spaces",
//! 2020.

mod discrepancy;
mod event_features;
mod node_sum;
mod terms;

pub use discrepancy::{Discrepancy, DiscrepancyReading, DiscrepancyState, DiscrepancyTables};
pub use event_features::EventFeatures;
pub use node_sum::FactorClassifier;
pub use terms::{FactorLayout, TermsError};

/// The state of a missing node.
pub const MISSING: u16 = u16::MAX;
