//! Learning: from labelled windows to a classifier of streams.
//!
//! Two classifiers, one form: a maximum-likelihood Bayes classifier with a model a class, and a
//! linear machine on the Fisher scores of those models. Both are a [`Classifier`](crate::classifier::Classifier),
//! so both compile to the same stream.

mod augment;
mod choice;
mod features;
mod machine;
mod one_model;
mod svm;
mod train;

pub use augment::{Augment, AugmentError, Mirror};
pub use choice::{Candidate, Choice};
pub use features::{FeatureMap, Scaling};
pub use one_model::fit_one;
pub use svm::{LinearSvm, Matrix};
pub use train::{ClassifierKind, ScoreModels, TrainError, TrainOptions, Trained, train};
