//! Models without hidden states at run-time sizes: what the core's [`context`](fishweir_core::context)
//! module is for one stream, for data sets.
//!
//! | what | file |
//! |---|---|
//! | the exact information of a mixture of two Gaussians | `mixture.rs` |

mod mixture;

pub use mixture::{MixtureInformation, information_of_means};
