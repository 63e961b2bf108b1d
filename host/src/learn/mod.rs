//! Learning: from labelled windows to a classifier of streams.
//!
//! Several classifiers, one form: a maximum-likelihood Bayes classifier with a model a class, and
//! machines on what those models say of a window: Fisher scores, log-odds with their tangents,
//! expected counts. All these are linear in evidence and scores, so all compile to the same stream. Kernel
//! machines on Fisher scores, and on kernels by marginalisation, do not: a device stores their items.
//! Training gives a [`Classifier`](crate::classifier::Classifier) whose
//! [`Rule`](crate::classifier::Rule) says which.
//!
//! # What training sees
//! The series that it is given, and of all others nothing: neither units nor information, scalings or
//! kernel values. Of the whole file there are the names of the classes and of what is observed, which for
//! strings without a given alphabet are the symbols found in it.
//!
//! # Same bytes
//! A training writes the same bytes on any number of threads: what is computed in parallel is added up in
//! one order. And on any x86-64, whatever its vector registers: the lanes of a batch are each one
//! sequence's own arithmetic, without fused multiply-adds. Two things are left out: whitened scalings and
//! the learners `klr` and `ridge` (and so what a search takes of one model), whose linear algebra (nalgebra)
//! fuses and blocks by what the processor has; and another
//! C library, whose `exp`, `ln` and `sin` (priors, drawn copies, logistic losses, Gaussian kernels) may
//! differ in the last bit.
//!
//! | what | file |
//! |---|---|
//! | [`train`], [`Trainer`]: class models, inner cross-validation, a machine | `train.rs`, `problem.rs`, `fits.rs` |
//! | [`Form`]: what class models are made of, and how it is chosen | `form.rs`, `search.rs` |
//! | [`Limits`]: what they may cost; [`Effort`]: what a training takes | `limits.rs`, `price.rs`, `effort.rs` |
//! | [`Augment`], [`Vectors`]: training series turned, mirrored, stretched | `augment.rs`, `vectors.rs` |
//! | [`ClassifierKind`], [`TrainOptions`]: what can be trained, and how | `kind.rs`, `options.rs` |
//! | [`FeatureMap`]: from windows to features, from weights to directions | `features.rs` |
//! | [`Metric`]: the scaling of features, whitening among it | `metric.rs` |
//! | [`Learner`]: how a machine is trained; [`LEARNERS`]: why the default is the default | `learner.rs`, `machine.rs` |
//! | [`LinearSvm`]: squared hinge, dual coordinate descent | `svm.rs` |
//! | [`minimise`], [`Design`]: logistic loss or squared hinge, Newton's method on the rows | `primal.rs`, `loss.rs` |
//! | [`Ridge`]: least squares in closed form, and what is held out of it; Cholesky factors in blocks | `ridge.rs`, `blocks.rs` |
//! | [`KernelSvm`], [`KernelLogistic`], [`MapLogistic`]: on Gram matrices | `kernel_svm.rs`, `kernel_logistic.rs`, `map_logistic.rs` |
//! | [`KernelMachine`]: several classes, one against the rest | `multi_class.rs` |
//! | machines with Gaussian, polynomial and cosine kernels on scores; a [`Metric`] as one affine map | `score_machine.rs`, `affine.rs` |
//! | [`Nystrom`]: features of a kernel by a few of its items | `nystrom.rs` |
//! | [`train_fixed_length`], [`WindowKernel`]: machines on the kernel values of windows | `on_windows.rs` |
//! | [`Choice`]: the one inner cross-validation, by which settings are chosen | `choice.rs` |
//! | [`DetectorPlan`]: a detector of change, fitted, calibrated and tried on normal series | `detector.rs` |
//! | [`SpotPlan`]: a spotter of events from series marked sample by sample | `spotting.rs` |
//! | the same from windows, for comparison | `windowed_events.rs` |
//! | [`SpotValidation`]: both on series that neither has seen | `spot_validation.rs` |
//! | [`Expansion`]: kernel machines, folded into weights where they compile | `expansion.rs` |

mod affine;
mod augment;
mod blocks;
mod channels;
mod choice;
mod class_models;
mod detector;
mod error;
mod expansion;
mod factor;
mod features;
mod fits;
mod held_out;
mod judge;
mod judged;
mod kernel_logistic;
mod kernel_svm;
mod kind;
mod learner;
mod limits;
mod list;
mod listing;
mod loss;
mod machine;
mod map_logistic;
mod matrix;
mod metric;
mod multi_class;
mod nystrom;
mod on_windows;
mod one_model;
mod open;
mod pairs;
mod price;
pub(crate) mod primal;
mod request;
mod ridge;
mod score_machine;
mod search;
mod space;
mod spot_validation;
mod spotting;
mod svm;
mod train;
mod training_set;
mod trial;
mod validate;
mod varying;
mod vectors;
mod windowed_events;
mod work;

pub use crate::classifier::{
    Candidate, Choice, ChosenBy, CopiesCandidate, CopiesChoice, Form, FormCandidate, FormChoice,
    Lead, Price, Scaling, ScoreModels, Selection, Setting,
};
pub use affine::Affine;
pub use augment::{Augment, AugmentError, Mirror};
pub use channels::{
    Disparity, coarse_channels, constant_channels, disparate_channels, refused_samples,
    scarce_classes,
};
pub use detector::{
    Change, Changes, Delays, DetectorError, DetectorPlan, DetectorTrial, FalseAlarms,
};
pub use error::TrainError;
pub use expansion::{Expansion, KERNEL_WINDOWS, KernelLearnError, Linear};
pub use features::{FeatureKind, FeatureMap, Features};
pub use kernel_logistic::{KERNEL_LOGISTIC, KernelLogistic};
pub use kernel_svm::{KERNEL_SVM, KernelSvm};
pub use kind::ClassifierKind;
pub use learner::{ClosedForm, ClosedFormHeldOut, Learner, Trains};
pub use limits::{Limits, Resource};
pub use loss::{ClassWeight, Costs, Loss, sigmoid};
pub use map_logistic::MapLogistic;
pub use matrix::Matrix;
pub use metric::{Metric, Scales};
pub use multi_class::{Expansions, KernelMachine, OnGram};
pub use nystrom::Nystrom;
pub use on_windows::{WindowKernel, WindowMachine, train_fixed_length};
pub use one_model::fit_one;
pub use primal::{Design, LOGISTIC, minimise, objective};
pub use request::{Effort, LagChoice, ModelChoice, Request, Varied};
pub use ridge::{KERNEL_RIDGE, RIDGE, RIDGE_AT_MOST, Ridge};
pub use space::Space;
pub use spot_validation::{SpotFold, SpotValidation, SpotValidationError};
pub use spotting::{SpotFigures, SpotPlan, SpotTrial, SpottingError};
pub use svm::{LINEAR_SVM, LinearSvm};
pub use train::{Trained, Trainer, train};
pub use trial::Plan;
pub use vectors::{Vector, Vectors};
pub use windowed_events::{WindowedEvents, WindowedEventsError};
pub use work::Work;

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
