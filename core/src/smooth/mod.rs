//! Lent buffer: recursions that look back. The caller lends the rows, or sizes a window; the
//! recursions allocate nothing.
//!
//! | recursion | reads | memory |
//! |---|---|---|
//! | [`posteriors`] | smoothed states at all times, expected transitions, log-likelihood | `T` rows of `N` reals |
//! | `BackwardLanes` | the same of sequences side by side | `T` rows of `N` lanes |
//! | [`posteriors_checkpointed`] | the same, from the last sample to the first | about `2 sqrt(T)` rows |
//! | [`FixedLag`] | the smoothed state `LAG` samples ago, as a stream | `LAG + 1` rows |
//! | [`viterbi`] | the best path and its log-probability | `T` rows of `N` indices |
//! | [`OnlineViterbi`] | the best path's states once they are beyond doubt, as a stream | `WINDOW` rows of `N` indices |
//! | [`Viterbi`] | the best path's log-probability, as a stream | one row |
//! | [`draw_path`] | a path drawn from its posterior | `T` rows of `N` reals |
//! | [`Ancestral`] | states and observations drawn from the model | one index |

#[cfg(feature = "sample")]
mod ancestral;
mod backward;
mod batch;
mod checkpointed;
#[cfg(feature = "sample")]
mod draw_path;
mod error;
mod fixed_lag;
mod forward_backward;
#[cfg(feature = "heapless")]
mod online_viterbi;
mod state_index;
mod viterbi;

#[cfg(feature = "sample")]
pub use ancestral::{Ancestral, Draw};
pub use batch::BackwardLanes;
pub use checkpointed::{checkpoints_for, posteriors_checkpointed};
#[cfg(feature = "sample")]
pub use draw_path::draw_path;
pub use error::SequenceError;
pub use fixed_lag::{FixedLag, LagWindow, LaggedPosterior};
pub use forward_backward::posteriors;
#[cfg(feature = "heapless")]
pub use online_viterbi::{Decoded, DecodingWindow, OnlineViterbi};
pub use state_index::StateIndex;
pub use viterbi::{Survivors, Viterbi, viterbi};
