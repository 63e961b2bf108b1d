//! Constant memory: recursions that stream. A state never grows, and every reading is valid after
//! every sample.
//!
//! | recursion | reads | state (reals) |
//! |---|---|---|
//! | [`Forward`] | log-likelihood, filtered and predicted states | `N` |
//! | [`Forward`] over [`Dual`](crate::number::Dual) weights: the tangent filter | `C` directional derivatives too | `N (1 + C)` |

mod forward;
mod recursion;

pub use forward::{Belief, Forward};
pub use recursion::{Recursion, Running};
