//! Search from a space to a plan: a form of class models by a judge, then a mirror image, jittered copies and the machine's
//! setting.
//!
//! | what | file |
//! |---|---|
//! | the search for a form | `forms.rs` |
//! | the mirror image and the copies of training series | `varying.rs` |
//! | [`Judge`](judge::Judge): how well a trial decides what is held back; the one that trains it | `judge.rs`, `trained.rs` |
//! | how long it will take on this machine | `work.rs` |

pub(crate) mod forms;
pub(crate) mod judge;
pub(crate) mod trained;
pub(crate) mod varying;
pub(crate) mod work;
