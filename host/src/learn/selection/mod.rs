//! Selection: inner folds, verdicts on what is held back, and when one result leads another.
//!
//! | what | file |
//! |---|---|
//! | inner folds, grids of settings, verdicts | `choice.rs` |
//! | the result of a form, and when one leads another | `judged.rs` |
//! | how many forms each stage of a search sees | `halving.rs` |

pub(crate) mod choice;
pub(crate) mod halving;
pub(crate) mod judged;
