//! Classifiers of streams: any kernel machine that compiles to directions and biases, and those that
//! do not, against support vectors in flash; and a detector of change, the classifier of streams that
//! nobody has labelled.
//!
//! | classifier | reads | state (reals) | multiply-adds per sample, a reading |
//! |---|---|---|---|
//! | [`StreamClassifier`] of hidden Markov models | directional derivatives of `B` models | `B N (1 + C)` | `B (1 + 2C) (N^2 + N)`, none |
//! | [`StreamClassifier`] of models whose contexts are seen | the same | `B (1 + C)` | `B (1 + 2C)`, none |
//! | the first, with additional [`Codebooks`] ([`WithCodebooks`]) | the same and counts of codewords | `D K + 2 O` more | `G (8 D + 64 + O)` more, and with `Q` levels `8 G Q` comparisons, `8 G O` additions |
//! | [`KernelMachine`] on [`StoredSequences`] | kernels by marginalisation | `M N` | `M N^2`, `O M` |
//! | [`KernelMachine`] on [`StoredLikelihoods`] | the kernel over a set of `B` models | `B N` | `B N^2`, `O M` |
//! | [`KernelMachine`] on [`StoredModels`] | product kernels of `M` models with the one that the stream makes | `P N` and a model | `P N^2`, `2 M T N^3` |
//! | [`KernelMachine`] on [`StoredScores`] | Gaussian, polynomial, cosine kernels on scores | `B P (N + 2)` | `B P N^2`, `F (M + 1) + O M` |
//! | [`WindowClassifier`] around any of these | its decision at the end of each window | one state for each open window | as many times its own |
//! | [`DecisionStream`] around one of the first three | the same, with the name of the class and its probability | the same | the same |
//!
//! `N` states, `G` codebooks over the last `K` samples of `D` channels, `M` stored items, `O` outputs; `P` statistics a model, `F` score entries of all.

mod calibration;
mod change;
mod channel_subset;
mod checks;
mod classifier;
mod codebooks;
mod coding;
mod const_start;
mod decision;
mod decision_stream;
mod leaf_order;
mod likelihoods;
mod machine;
mod model;
mod models;
mod score_kernel;
mod scores;
mod sequences;
mod stream;
#[cfg(any(feature = "artefact", feature = "wire"))]
#[cfg_attr(docsrs, doc(cfg(any(feature = "artefact", feature = "wire"))))]
pub mod teach;
mod whitening;
mod windows;

pub use crate::filter::Adapter;
pub use calibration::{Calibration, Prediction, RejectionReason, likelihood_a_sample};
pub use change::{ChangeDetector, ChangeReading, ChangeState, Limit, Statistic};
pub use channel_subset::ChannelSubset;
pub use classifier::{AdditiveClassifier, Classifier};
pub use codebooks::{Codebooks, WithCodebooks, WithCodebooksState, validate_codebooks};
pub use coding::{CODEWORDS, CodeVectors, Coding, Similarity, TAPS, likeness};
pub use const_start::ConstStart;
pub use decision::{Decision, Normalisation, Output, decide, decide_exactly};
pub use decision_stream::{DecisionStream, NamedDecision};
pub use leaf_order::LeafOrder;
pub use likelihoods::StoredLikelihoods;
pub use machine::{DecisionValues, KernelMachine, KernelValues, StoredKernel, expand_kernels};
pub use model::StreamModel;
pub use models::{Compared, StoredModels};
pub use score_kernel::ScoreKernel;
pub use scores::{ScoreState, StoredScores};
pub use sequences::{NoNorm, StoredSequences, normalise_logs};
pub use stream::{StreamClassifier, StreamState};
pub use whitening::{
    DiagonalWhitening, FullWhitening, ScoreOutOfRange, Whitening, mix_entries, whiten_entries,
};
pub use windows::{StaggeredStates, WindowClassifier};
