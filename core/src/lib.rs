//! Hidden Markov models, Fisher scores and stream classifiers for microcontrollers: exact, sample by
//! sample, in fixed memory. No std, no allocation, no unsafe code, no panic in a release build.
//!
//! | module | what is in it |
//! |---|---|
//! | [`number`] | what a model stores and a state holds: reals, dual numbers, lanes, (max, times) |
//! | [`matrix`] | small dense matrices over slices: Cholesky factors, solves, determinants |
//! | [`contract`] | what a model was trained on: windows, sample period, scale of each channel; tagged sections |
//! | [`emission`] | how a hidden state produces an observation: categorical, Gaussians, also about a prediction from the past, mixtures, Poisson, Bernoulli |
//! | [`hmm`] | chain and emissions: the model, immutable, in flash |
//! | [`filter`] | constant memory: forward and tangent filter, forgetting, windows, expected statistics, online EM |
//! | [`front`] | what turns samples into rows before any recursion: means, magnitudes, slopes, symbols, with the feature `microfft` mel cepstra |
//! | [`lagged`] | earlier samples, or differences from them, as further channels, before any recursion over rows |
//! | [`smooth`] | lent buffer: forward-backward, fixed lag, Viterbi, checkpoints, sampling |
//! | [`score`] | the gradient of the log-likelihood, and directions, in the shape of the model |
//! | [`context`] | models without hidden states: densities, Markov strings, independent positions |
//! | [`dynamics`] | linear dynamical systems: the Kalman filter, and its derivatives |
//! | [`kernel`] | kernels that sum over hidden models, one sequence stored, the other a stream |
//! | [`profile_hmm`] | families of sequences: match, insert and silent delete states, position by position |
//! | [`classify`] | banks of models and directions that decide between classes; change in unlabelled streams |
//! | [`spot`] | events in a continuous stream: class models joined by a background, decoded as it runs; feature `heapless` |
//! | [`network`] | events of categories: sums of look-ups in a Bayesian network's tables, an alarm |
//! | [`artefact`] | a classifier as a checked file that is read in place; feature `artefact` |
//! | [`update`] | an artefact for the field, with version and self-test; feature `artefact` |
//! | [`wire`] | samples and decisions as frames on a serial line that may lose and damage bytes; feature `wire` |
//!
//! The features named here are on by default; the README lists them all. Modules import from those
//! above them, never from below. One recursion serves every number: over `f32` it is the filter, over
//! [`number::Dual`] it is the tangent filter, whose derivative along a direction `w` is
//! `w . grad log p(x_1..t)`. A linear classifier on Fisher scores is therefore a bank of models with
//! directions attached, and needs no score:
//!
//! ```
//! use fishweir_core::emission::Categorical;
//! use fishweir_core::{Chain, Hmm, Normalisation, Stream, StreamClassifier};
//!
//! # fn main() -> Result<(), Box<dyn core::error::Error>> {
//! let fair = Hmm::new(
//!     Chain::<f32, 1>::new([1.0], [[1.0]])?,
//!     [Categorical::<2, f32>::new([0.5, 0.5])?],
//! );
//! let biased = Hmm::new(*fair.chain(), [Categorical::<2, f32>::new([0.75, 0.25])?]);
//! // One output: its sign decides, here by which model makes the tosses likelier.
//! let coin = StreamClassifier::new([fair, biased], [[-1.0, 1.0]], [0.0], Normalisation::NONE)?;
//!
//! let mut stream = Stream::new(&coin); // the model by reference, the state by value
//! for toss in [0, 0, 1, 0] {
//!     stream.push(&toss)?; // `push(None)` is a missing sample, and so is a refused one
//! }
//! assert_eq!(stream.read().class, 1);
//! # Ok(()) }
//! ```
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

#[cfg(feature = "artefact")]
pub mod artefact;
#[cfg(any(feature = "artefact", feature = "wire"))]
mod checksum;
pub mod classify;
pub mod context;
pub mod contract;
pub mod dynamics;
pub mod emission;
mod error;
pub mod filter;
#[cfg(feature = "defmt")]
mod format;
pub mod front;
pub mod hmm;
pub mod kernel;
pub mod lagged;
pub mod matrix;
pub mod network;
pub mod number;
mod profile;
pub mod profile_hmm;
pub mod score;
pub mod semi_markov;
pub mod smooth;
#[cfg(feature = "heapless")]
pub mod spot;
#[cfg(feature = "artefact")]
pub mod update;
#[cfg(feature = "wire")]
pub mod wire;

pub use classify::{
    AdditiveClassifier, Classifier, Decision, Normalisation, StreamClassifier, WindowClassifier,
};
pub use contract::Contract;
pub use error::{ErrorKind, ModelError, ObservationError, Part};
pub use filter::{Forward, Stream, Streaming};
pub use hmm::{Chain, Hmm};
pub use profile::{Profile, Version};

/// The version whose generators [`emission::Sample`] draws with.
#[cfg(feature = "sample")]
pub use rand_core;

/// Compiles and runs the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
