//! Parts of a computation, each by a process, a machine or a device of its own, and how they are put together.
//!
//! | part | file |
//! |---|---|
//! | expected statistics of the models of a file over some leaves of a data set | `expected.rs` |
//! | tiles of a Gram matrix | `tile.rs` |
//! | shares of some work | `share.rs` |
//! | the models: what they expect of data, and what the sums make of them | `models.rs` |
//!
//! A part names its models and its data by their [fingerprints](crate::sums::Digest), and the leaves that it has. Parts of
//! other models or data, repeated and missing ones are refused.

mod expected;
mod models;
mod share;
mod tile;

pub use expected::{ExpectedSums, ModelSums, PartError};
pub use models::ModelFile;
pub use share::Share;
pub use tile::{GramTile, JoinedTiles, TileError, TilePlace};
