//! Learning: from labelled windows to a classifier of streams.
//!
//! Several classifiers, one form: a maximum-likelihood Bayes classifier with a model per class, and
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
//! | room | what |
//! |---|---|
//! | `request.rs`, `kind.rs` | [`Request`]: what somebody wants trained; [`ClassifierKind`] |
//! | `warnings/` | what a modeller would want to know of the data before the work |
//! | `space/` | [`Space`]: the forms of class models that may come of a request, listed once, priced |
//! | `search/` | from a space to a [`Plan`]: searches, each by what is held out |
//! | `selection/` | inner folds, verdicts, and when one result leads another |
//! | `trainer.rs` | [`train`], [`Trainer`]: a space is checked, a plan chosen, the plan fitted |
//! | `chunked.rs` | [`train_in_chunks`]: choices by a sample of a large table, numbers by all of it |
//! | `summed.rs` | the machine of a classifier on sums over windows, which many processes add up |
//! | `training/` | some series of a trial, their class models, none fitted twice, and what is held back |
//! | `variation/` | [`Augment`], [`Vectors`]: training series turned, mirrored, stretched |
//! | `features/` | [`FeatureMap`], [`FeatureScaler`]: from windows to scaled features, from weights to directions |
//! | `machine/` | machines of several classes on features, on kernels of scores; on the [kernel values of windows](train_marginal) in `on_windows.rs` |
//! | `solver/` | [`Learner`]: what is trained on features, or on a Gram matrix |

mod chunked;
mod error;
mod features;
mod kind;
mod limits;
mod list;
mod machine;
mod on_windows;
mod request;
mod room;
mod search;
pub(crate) mod selection;
pub(crate) mod solver;
mod space;
pub(crate) mod summed;
mod trainer;
mod training;
mod variation;
mod warnings;

/// Parts of a training that regressions share.
pub(crate) mod internals {
    pub(crate) use super::machine::on_scores::ScorePath;
    pub(crate) use super::machine::{Examples, Path};
    pub(crate) use super::solver::ridge::{estimator, held_out_estimates};
    pub(crate) use super::space::trial::Trial;
    pub(crate) use super::training::fits::models_of;
    pub(crate) use super::training::set::{Shared, TrainingSet};
}

pub use crate::classifier::{
    Candidate, Choice, ChosenBy, CopiesCandidate, CopiesChoice, Form, FormCandidate, FormChoice,
    Lead, Price, Scaling, ScoreModels, Selection, Setting, WildSample,
};
pub use chunked::train_in_chunks;
pub use error::TrainError;
pub use features::affine::Affine;
pub use features::scaler::{FeatureScaler, Scales};
pub use features::{FeatureKind, FeatureMap, Features};
pub use kind::ClassifierKind;
pub use limits::{Limits, Resource};
pub use on_windows::{WindowKernel, WindowMachine, train_marginal};
pub use request::{Effort, LagChoice, ModelChoice, Request, Varied};
pub use search::plan::Plan;
pub use solver::*;
pub use space::Space;
pub use space::work::Work;
pub use trainer::{Trained, Trainer, train};
pub use training::one_model::fit_one;
pub use variation::vectors::{Vector, Vectors};
pub use variation::{Augment, AugmentError, Mirror};
pub use warnings::channels::{
    Disparity, coarse_channels, constant_channels, disparate_channels, refused_samples,
    scarce_classes,
};
pub use warnings::faults::{
    MixedUnits, Stuck, fixed_channels, mixed_units, stuck_channels, wild_samples,
};
