//! Mean map kernels between sequences: inner products of the means of what features say of their parts, in
//! the feature space of a radial basis function.
//!
//! | what | file |
//! |---|---|
//! | [`EmpiricalMap`]: means over the windows of a sequence | `empirical.rs`, words of symbols in `words.rs` |
//! | [`LatentMap`]: means over samples and hidden states, and over pairs of states, given the sequence | `latent.rs` |
//! | [`Rbf`]: the function, in both conventions | `rbf.rs` |
//! | tables each of whose indices is mixed | `mixing.rs` |
//!
//! Those of symbols are linear in features, word frequencies and expected counts each of whose indices is
//! mixed: a linear machine on them is one on the counts themselves, with the mixing folded into its weights,
//! and compiles to directions. Those of channels, and whatever is exponentiated, have no such features.
//!
//! Source: Mehta and Gray, "Generative and Latent Mean Map Kernels", 2010; Smola, Gretton, Song and
//! Schoelkopf, "A Hilbert Space Embedding for Distributions", 2007.

mod empirical;
mod latent;
mod mixing;
mod rbf;
mod words;

pub use empirical::EmpiricalMap;
pub(crate) use empirical::mix_words;
pub(crate) use latent::mix;
pub use latent::{Cliques, LatentMap};
pub use mixing::Mixing;
pub use rbf::{Convention, Rbf};
pub use words::LARGEST_ORDER;

pub use crate::kernel::error::WORDS_AT_MOST;
pub(crate) use words::{counts, words_of};
