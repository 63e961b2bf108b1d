//! Kernels between sequences, and the matrices of their values.
//!
//! | what | file |
//! |---|---|
//! | [`Gram`], [`CrossGram`]: kernel values of all pairs, computed in parallel | `gram.rs` |
//! | [`write_gram`]: CSV, NumPy's `.npy`, LIBSVM's precomputed kernel | `format.rs` |
//! | [`marginal`]: kernels that sum over hidden models, against stored sequences | `marginal/` |

mod format;
mod gram;
pub mod marginal;

pub use format::{FormatError, GramFormat, Items, gram_bytes, write_gram};
pub use gram::{CrossGram, Gram, GramError, Spectrum};
