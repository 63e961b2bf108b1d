//! Search from a space to a plan.
//!
//! | what | file |
//! |---|---|
//! | [`Plan`](plan::Plan): all that is left open, chosen in one order | `plan.rs` |
//! | the search for a form, by a [`Judge`](judge::Judge) | `forms.rs`, `judge.rs` |
//! | the judge that trains each trial | `training_judge.rs` |
//! | the mirror image and the copies of training series | `varying.rs` |

mod forms;
mod judge;
pub(crate) mod plan;
pub(crate) mod training_judge;
mod varying;
