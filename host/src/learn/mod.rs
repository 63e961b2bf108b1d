//! Learning: from labelled windows to a classifier of streams.
//!
//! Several classifiers, one form: a maximum-likelihood Bayes classifier with a model a class, and
//! machines on what those models say of a window: Fisher scores, log-odds with their tangents,
//! expected counts. All these are a [`Classifier`](crate::classifier::Classifier), so all compile to the
//! same stream. Kernel machines on Fisher scores, and on kernels by marginalisation, do not: they are a
//! [`deploy::Expansion`](crate::deploy::Expansion). Training gives either, as a
//! [`ModelKind`](crate::deploy::ModelKind).
//!
//! | what | file |
//! |---|---|
//! | [`train`], [`Trainer`]: class models, inner cross-validation, a machine | `train.rs`, `problem.rs` |
//! | [`TrainOptions`]: what can be trained, and how | `options.rs` |
//! | [`FeatureMap`]: from windows to features, from weights to directions | `features.rs` |
//! | [`Metric`]: the scaling of features, whitening among it | `metric.rs` |
//! | [`Learner`]: which machine, and why the default is the default | `machine.rs` |
//! | [`LinearSvm`]: squared hinge, dual coordinate descent | `svm.rs` |
//! | [`minimise`]: logistic loss or squared hinge, Newton's method on the rows | `primal.rs`, `loss.rs` |
//! | [`KernelSvm`], [`KernelLogistic`], [`MapLogistic`]: on Gram matrices | `kernel_svm.rs`, `kernel_logistic.rs`, `map_logistic.rs` |
//! | [`KernelMachine`]: several classes, one against the rest | `multi_class.rs` |
//! | machines with Gaussian, polynomial and cosine kernels on scores; a [`Metric`] as one affine map | `score_machine.rs`, `affine.rs` |
//! | [`train_fixed_length`], [`WindowKernel`]: machines on the kernel values of windows | `on_windows.rs` |
//! | [`Expansion`]: kernel machines, folded into weights where they compile | `expansion.rs` |

mod affine;
mod augment;
mod choice;
mod expansion;
mod factor;
mod features;
mod kernel_logistic;
mod kernel_svm;
mod loss;
mod machine;
mod map_logistic;
mod metric;
mod multi_class;
mod on_windows;
mod one_model;
mod options;
mod primal;
mod problem;
mod score_machine;
mod svm;
mod train;

pub use affine::Affine;
pub use augment::{Augment, AugmentError, Mirror};
pub use choice::{Candidate, Choice, Setting};
pub use expansion::{Expansion, KernelLearnError, Linear};
pub use features::{FeatureMap, Features, Scaling};
pub use kernel_logistic::KernelLogistic;
pub use kernel_svm::KernelSvm;
pub use loss::{ClassWeight, Costs, Loss, sigmoid};
pub use machine::{KERNEL_WINDOWS, Learner};
pub use map_logistic::MapLogistic;
pub use metric::Metric;
pub use multi_class::{KernelLearner, KernelMachine};
pub use on_windows::{WindowKernel, WindowMachine, train_fixed_length};
pub(crate) use one_model::centre_and_scale;
pub use one_model::fit_one;
pub use options::{ClassifierKind, ScoreModels, TrainError, TrainOptions};
pub use primal::{minimise, objective};
pub use svm::{LinearSvm, Matrix};
pub use train::{Trained, Trainer, train};
