//! Search from a request to a plan: every possible form of class models, listed once and priced; a search among them by
//! a judge; then a mirror image, jittered copies and the machine's setting.
//!
//! | what | file |
//! |---|---|
//! | what a request and its effort leave open | `open.rs` |
//! | [`Space`](space::Space): the forms there are on some series, checked | `space.rs`, `listing.rs`, `validate.rs` |
//! | what each costs on a device, and a training on this machine | `price.rs`, `limits.rs`, `work.rs` |
//! | [`Trial`](trial::Trial), [`Plan`](trial::Plan): what is tried, what is fitted | `trial.rs` |
//! | [`Judge`](judge::Judge): how well a trial decides what is held back, in folds or in closed form | `judge.rs`, `trained.rs`, `choice.rs`, `held_out.rs` |
//! | the search for a form, and when one leads another | `forms.rs`, `judged.rs` |
//! | the mirror image and the copies of training series | `varying.rs` |

pub(crate) mod choice;
pub(crate) mod forms;
pub(crate) mod held_out;
pub(crate) mod judge;
pub(crate) mod judged;
pub(crate) mod limits;
pub(crate) mod list;
pub(crate) mod listing;
pub(crate) mod open;
pub(crate) mod price;
pub(crate) mod space;
pub(crate) mod trained;
pub(crate) mod trial;
pub(crate) mod validate;
pub(crate) mod varying;
pub(crate) mod work;
