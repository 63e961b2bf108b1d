//! Models without hidden states at run-time sizes: what the core's [`context`](fishweir_core::context)
//! module is for one stream, for data sets. Each is [`Scored`](crate::kernel::Scored): every kernel on
//! scores takes it.
//!
//! | what | file |
//! |---|---|
//! | [`MarkovModel`]: strings of order `k`, with an end, with a padded start, variable-length contexts | `markov.rs` |
//! | [`ContextSet`]: which pasts are told apart, given or chosen from data | `contexts.rs` |
//! | [`PositionModel`]: independent positions of sequences of one length | `positions.rs` |
//! | counts, scores, estimates and information of rows of probabilities | `rows.rs` |
//! | [`DensityModel`]: independent samples of a Gaussian, or of a mixture | `density.rs` |
//! | [`Family`]: any of them, fitted to data | `family.rs` |
//! | the exact information of a mixture of two Gaussians | `mixture.rs` |
//!
//! The rules and the arithmetic of a score are the core's; here they are applied to sizes that are known
//! at run time. A sequence of another kind of samples than the model's has no observation.

mod contexts;
mod density;
mod error;
mod family;
mod markov;
mod mixture;
mod positions;
mod rows;

pub use contexts::ContextSet;
pub use density::DensityModel;
pub use error::ContextModelError;
pub use family::Family;
pub use markov::MarkovModel;
pub use mixture::{MixtureInformation, information_of_means};
pub use positions::PositionModel;
