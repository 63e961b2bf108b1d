//! Learning networks from records.
//!
//! | what | file |
//! |---|---|
//! | [`Prior`], [`fit_parameters`]: tables from counts | `parameters.rs` |
//! | [`ExpectationMaximisation`]: tables from records with missing fields, or with hidden nodes | `em.rs` |
//! | [`CountSums`]: parts of a pass of it, for many processes | `parts.rs` |
//! | [`Score`]: BIC, BDeu | `score.rs` |
//! | [`HillClimb`], [`Constraints`]: a graph by adding, dropping and turning edges | `climb.rs` |
//! | [`chow_liu`], [`naive_bayes`], [`tree_augmented`], [`k_dependence`]: graphs by mutual information | `trees.rs` |
//!
//! A graph does not depend on the order of the columns: searches work on columns in the order of their
//! names, and break ties by it.

mod climb;
mod columns;
mod counts;
mod em;
mod parameters;
mod parts;
mod score;
mod trees;

pub use climb::{Climbed, Constraints, HillClimb};
pub use em::{EmFit, ExpectationMaximisation};
pub(super) use parameters::check_records;
pub use parameters::{Prior, fit_parameters};
pub use parts::{CountSums, CountSumsError};
pub use score::{Score, graph_score};
pub use trees::{chow_liu, k_dependence, naive_bayes, tree_augmented};
