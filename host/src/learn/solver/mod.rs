//! Training on features, or on a Gram matrix: a machine for two classes, and one against the rest.
//!
//! | what | file |
//! |---|---|
//! | [`Learner`]: how a machine is trained; [`LEARNERS`]: why the default is the default | `learner.rs` |
//! | [`LinearSvm`]: squared hinge, dual coordinate descent | `svm.rs` |
//! | [`minimise`], [`Design`]: logistic loss or squared hinge, Newton's method on the rows | `primal.rs`, `loss.rs` |
//! | [`Ridge`]: least squares in closed form, and its hold-out; Cholesky factors in blocks | `ridge.rs`, `blocks.rs` |
//! | [`KernelSvm`], [`KernelLogistic`], [`MapLogistic`]: on Gram matrices | `kernel_svm.rs`, `kernel_logistic.rs`, `map_logistic.rs` |
//! | [`KernelMachine`]: several classes, one against the rest | `multi_class.rs` |
//! | [`Nystrom`]: features of a kernel by a few of its items | `nystrom.rs` |
//! | [`Expansion`]: kernel machines, folded into weights where they compile | `expansion.rs` |

pub(crate) mod blocks;
pub(crate) mod expansion;
pub(crate) mod factor;
pub(crate) mod kernel_logistic;
pub(crate) mod kernel_svm;
pub(crate) mod learner;
pub(crate) mod loss;
pub(crate) mod map_logistic;
pub(crate) mod matrix;
pub(crate) mod multi_class;
pub(crate) mod nystrom;
pub(crate) mod pairs;
pub(crate) mod primal;
pub(crate) mod ridge;
pub(crate) mod svm;

pub use expansion::{Expansion, KERNEL_WINDOWS, KernelLearnError, Linear};
pub use kernel_logistic::{KERNEL_LOGISTIC, KernelLogistic};
pub use kernel_svm::{KERNEL_SVM, KernelSvm};
pub use learner::{ClosedForm, ClosedFormHeldOut, Learner, Trains};
pub use loss::{ClassWeight, Costs, Loss, sigmoid};
pub use map_logistic::MapLogistic;
pub use matrix::Matrix;
pub use multi_class::{Expansions, KernelMachine, OnGram};
pub use nystrom::Nystrom;
pub use primal::{Design, LOGISTIC, minimise, objective};
pub use ridge::{KERNEL_RIDGE, RIDGE, RIDGE_AT_MOST, Ridge};
pub use svm::{LINEAR_SVM, LinearSvm};

/// The learners there are, the default first.
///
/// To add one: a file here that has a [`Learner`] and what it trains, its module above, and its place in this
/// line.
///
/// `cargo run --release --example learners -- DATA` holds them against each other on any labelled file:
/// accuracy, objective reached, time. On 2 233 splice sites (a fold held back; C = 0.1, 1, 10) dual
/// coordinate descent got 0.957, 0.955, 0.937, logistic regression 0.946, 0.957, 0.955 in 11, 6 and 3
/// times the time, the support vector machine on the Gram matrix 0.951, 0.953, 0.953, kernel logistic
/// regression what the logistic one got in 104, 37 and 14 times. So the default is the first: as good at
/// the best C, and quickest; at C = 10 it stopped 14 % above the least objective. On 2 994 windows of the
/// watch it got 0.795, 0.821, 0.820, logistic regression 0.784, 0.802, 0.808, the machine on the Gram
/// matrix 0.791, 0.814, 0.810. The kernel machines' cost grows with the square of the number of windows; they are there for
/// kernels that are no inner product of features. `klr` and `kernel-ridge` have the losses of their primal counterparts;
/// `kernel-svm` has the hinge and a free bias, `svm` the squared hinge and one that is penalised.
pub static LEARNERS: &[&Learner] =
    &[&LINEAR_SVM, &LOGISTIC, &RIDGE, &KERNEL_SVM, &KERNEL_LOGISTIC, &KERNEL_RIDGE];

/// The learner of that name.
pub fn learner(name: &str) -> Option<&'static Learner> {
    LEARNERS.iter().copied().find(|learner| learner.name == name)
}
