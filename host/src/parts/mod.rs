//! Parts of a computation, each by a process, a machine or a device of its own, and how they are put together.
//!
//! | part | file |
//! |---|---|
//! | expected statistics of the models of a file over some leaves of a data set | `expected.rs` |
//! | the same, by counts that devices send | `counted.rs` |
//! | tiles of a Gram matrix | `tile.rs` |
//! | sums of rows of features | `feature_sums.rs` |
//! | the machine of a linear classifier, which follows from such sums | `machine.rs` |
//! | folds of cross-validations | `folds.rs` |
//! | shares of some work | `share.rs` |
//! | the models: what they expect of data, and what the sums make of them | `models.rs` |
//!
//! A part names its models and its data by their [fingerprints](crate::sums::Digest), and the leaves that it has. Parts of
//! other models or data, repeated and missing ones are refused.

mod counted;
mod expected;
mod feature_sums;
mod folds;
mod machine;
mod models;
mod share;
mod tile;

pub use expected::{ExpectedSums, ModelSums, PartError};
pub use feature_sums::FeatureSums;
pub use folds::{FoldPart, FoldPartError};
pub use machine::MachineFile;
pub use models::ModelFile;
pub use share::Share;
pub use tile::{GramTile, JoinedTiles, TileError, TilePlace};
