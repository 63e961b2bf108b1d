//! Sums whose bits depend on the terms alone, whoever adds them and in whatever order they arrive.
//!
//! A data set is cut into leaves of [`LEAF`] sequences, in its own order. [`Sums`] adds what belongs to leaves along one
//! binary tree over their indices, so that threads, processes, machines and devices come to the same bits. [`Marked`] keeps
//! the [`Digest`] of the data beside a sum, so that a sum of other data is found out.
//!
//! | what | file |
//! |---|---|
//! | the tree | `tree.rs` |
//! | sums of rows of features, and of their products | `products.rs` |
//! | fingerprints of data and models | `digest.rs` |

mod digest;
mod products;
mod tree;

pub use digest::{Digest, Marked, digests_of};
pub(crate) use products::Products;
pub use tree::{LEAF, Summand, Sums, SumsError};
pub(crate) use tree::{sum_items, sum_leaves};
