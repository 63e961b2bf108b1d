//! fishweir: fit hidden Markov models and kernel classifiers, evaluate them honestly, and compile
//! them to streams that a microcontroller scores sample by sample.
//!
//! ```text
//! data --fit--> models --learn--> Classifier --deploy--> Deployed --> Stream (this machine)
//!                  |                  |                      +------> source, artefact (a device)
//!                  +--kernel--> Gram  +--evaluate--> figures with intervals
//! ```
//!
//! | you have or want | look at |
//! |---|---|
//! | a table, labelled strings, FASTA | [`data::Dataset::read`], [`data::Dataset::parse`] |
//! | one hidden Markov model, fitted | [`fit::BaumWelch`], [`model::Hmm`] |
//! | likelihoods, posteriors, expected statistics of many sequences | [`batch`], [`batch::expectations`] |
//! | a fitted model and what it answers, with hidden states or without; its file | [`model`] |
//! | models whose hidden state is a vector | [`dynamics`] |
//! | Fisher scores, and kernels between sequences | [`kernel`] |
//! | `fit`, `predict`, `predict_proba`, `accuracy`, and data in memory | [`estimator`] |
//! | a classifier of windows or of whole series, with every choice told | [`learn::Trainer`] |
//! | a number per window, and an interval around it | [`regress::train`] |
//! | a detector of change, from what is normal | [`detect::DetectorPlan`] |
//! | sums that many machines share, to the same bits | [`sums`], [`parts`] |
//! | figures on data that it never saw, with intervals | [`evaluate`] |
//! | the classifier in the numbers of a device: costs, a stream, files | [`deploy`] |
//! | classes taught by showing windows, as a device is taught | [`teach`] |
//! | a firmware image around it, run under QEMU, every bit compared | [`device`], [`parity`] |
//! | a firmware project of one's own around it, for many boards | [`project`] |
//! | tables and figures for people | [`report`], [`plot`] |
//!
//! Beside it are packages of their own: `fishweir-networks` (Bayesian networks over records of categories) and
//! `fishweir-profiles` (profiles of sequence families, HMMER3 files, searches).
//!
//! The library alone, `default-features = false`, is everything but what needs an emulator
//! (feature `device`), and builds on Windows and macOS too.
//!
//! The recursions are those of [`fishweir_core`], at run-time sizes: [`runtime`]. What a caller meets of
//! it is named here as well.

pub mod batch;
pub mod classifier;
pub mod coreset;
pub mod deploy;
pub mod detect;
#[cfg(feature = "device")]
pub mod device;
pub mod dynamics;
mod elementary;
mod error;
pub mod estimator;
pub mod evaluate;
pub mod files;
pub mod fit;
#[doc(hidden)]
pub mod internals;
pub mod kernel;
pub mod learn;
pub mod model;
mod parallel;
#[cfg(feature = "device")]
pub mod parity;
pub mod parts;
pub mod plot;
mod product;
#[cfg(feature = "device")]
pub mod project;
pub mod regress;
pub mod report;
pub mod runtime;
pub mod spot;
pub mod sums;
pub mod teach;

pub use error::Error;
pub use fishweir_core::classify::{Decision, Normalisation};
pub use fishweir_core::emission::Parametrisation;
pub use fishweir_core::smooth::SequenceError;
pub use fishweir_core::{self, ObservationError};
/// Series of sensors, of symbols and of events, read from files: the package `fishweir-data`.
#[doc(inline)]
pub use fishweir_data as data;
pub use fishweir_data::StableKind;
#[doc(hidden)]
pub use fishweir_data::kinds;
use fishweir_data::words;
