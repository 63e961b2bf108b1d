//! Lent buffer: recursions that look back over a finished sequence. The caller lends the rows; the
//! recursions allocate nothing.
//!
//! | recursion | reads | buffer |
//! |---|---|---|
//! | [`posteriors`] | smoothed states, expected transitions, log-likelihood | `T` rows of `N` |

mod forward_backward;

pub use forward_backward::{SequenceError, posteriors};
