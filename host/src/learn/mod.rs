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
//! | what | where |
//! |---|---|
//! | [`Request`]: what somebody wants trained; [`ClassifierKind`] | `request.rs`, `kind.rs` |
//! | [`Space`], [`Plan`]: the forms of class models that may come of it, priced, and the one that is best | `search/` |
//! | [`train`], [`Trainer`]: class models and a machine on them | `train.rs`, `training_set.rs`, `fits.rs` |
//! | [`Augment`], [`Vectors`]: training series turned, mirrored, stretched | `augment.rs`, `vectors.rs` |
//! | [`FeatureMap`], [`FeatureScaler`]: from windows to scaled features, from weights to directions | `features/` |
//! | [`Learner`]: what is trained on features, or on a Gram matrix | `solver/` |
//! | machines of several classes on features, and with kernels on scores | `machine.rs`, `score_machine.rs` |
//! | [`train_fixed_length`], [`WindowKernel`]: machines on the kernel values of windows | `on_windows.rs` |

mod augment;
mod channels;
mod class_models;
mod error;
mod faults;
mod features;
mod fits;
mod kind;
mod machine;
mod on_windows;
mod one_model;
mod request;
mod room;
mod score_machine;
pub(crate) mod search;
pub(crate) mod solver;
mod train;
mod training_set;
mod vectors;

pub use crate::classifier::{
    Candidate, Choice, ChosenBy, CopiesCandidate, CopiesChoice, Form, FormCandidate, FormChoice,
    Lead, Price, Scaling, ScoreModels, Selection, Setting, WildSample,
};
pub use augment::{Augment, AugmentError, Mirror};
pub use channels::{
    Disparity, coarse_channels, constant_channels, disparate_channels, refused_samples,
    scarce_classes,
};
pub use error::TrainError;
pub use faults::{MixedUnits, Stuck, fixed_channels, mixed_units, stuck_channels, wild_samples};
pub use features::affine::Affine;
pub use features::scaler::{FeatureScaler, Scales};
pub use features::{FeatureKind, FeatureMap, Features};
pub use kind::ClassifierKind;
pub use on_windows::{WindowKernel, WindowMachine, train_fixed_length};
pub use one_model::fit_one;
pub use request::{Effort, LagChoice, ModelChoice, Request, Varied};
pub use search::limits::{Limits, Resource};
pub use search::space::Space;
pub use search::trial::Plan;
pub use search::work::Work;
pub use solver::*;
pub use train::{Trained, Trainer, train};
pub use vectors::{Vector, Vectors};
