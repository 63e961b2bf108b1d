//! Selection: one inner cross-validation for everything that is chosen.
//!
//! | what | file |
//! |---|---|
//! | inner folds, grids of settings, the verdicts on what is held back | `choice.rs` |
//! | what is held out in closed form, and the last of it kept | `held_out.rs` |
//! | the result of a form, and when one leads another | `judged.rs` |

pub(crate) mod choice;
pub(crate) mod held_out;
pub(crate) mod judged;
