//! Training on some series: what a trial is trained on, and what is held back of it.
//!
//! | what | file |
//! |---|---|
//! | [`TrainingSet`](set::TrainingSet): series, varied; class models, features and machines of them | `set.rs`, `class_models.rs` |
//! | models that were fitted before | `fits.rs` |
//! | choices by what is held back, in inner folds or in closed form | `inner_folds.rs`, `held_out.rs` |
//! | one model of all series | `one_model.rs` |

mod class_models;
pub(crate) mod fits;
pub(crate) mod held_out;
mod inner_folds;
pub(crate) mod one_model;
pub(crate) mod set;
