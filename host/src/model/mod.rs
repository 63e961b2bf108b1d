//! Fitted models of sequences at run-time sizes, and their common queries.
//!
//! A [`Model`] has log-likelihoods, a score, draws, and names for its parameters; one with hidden states
//! has a likeliest path. Every kernel on scores takes it, and a [`ModelSet`] is its file.
//!
//! | what | file |
//! |---|---|
//! | [`Model`], [`Scored`]: what can be asked; scores of many sequences | `mod.rs`, `score.rs` |
//! | [`Hmm`]: hidden Markov models; draws | `hmm.rs`, `simulate.rs` |
//! | [`MarkovModel`]: strings of order `k`, with an end, with a padded start, variable-length contexts | `markov.rs` |
//! | [`ContextSet`]: the pasts that a model distinguishes, given or chosen from data | `contexts.rs` |
//! | [`ContextTreeWeighting`]: the Bayes mixture of all suffix trees, as a [`MarkovModel`] | `context_tree.rs` |
//! | [`PositionModel`]: independent positions of sequences of one length | `positions.rs` |
//! | counts, scores, estimates and information of rows of probabilities | `rows.rs` |
//! | [`DensityModel`]: independent samples of a Gaussian, or of a mixture | `density.rs` |
//! | [`KernelDensityModel`]: a Gaussian around every point | `kernel_density.rs` |
//! | [`SystemModel`]: a linear dynamical system around a mean | `system.rs` |
//! | [`SwitchingModel`]: one that switches | `switching.rs` |
//! | [`SemiMarkov`]: hidden Markov models with durations, or with a final state | `semi_markov/` |
//! | [`ModelFamily`]: how a model without hidden states is fitted to data | `family.rs` |
//! | [`FittedModel`], [`ModelSet`]: any of the models; several by name, and their file | `fitted.rs`, `set.rs` |
//! | the exact information of a mixture of two Gaussians | `mixture.rs` |
//!
//! The rules and the arithmetic are the core's; here they are applied to sizes that are known at run
//! time. A sequence of another kind of samples than the model's has no observation; a [`SystemModel`]
//! refuses it.

mod context_tree;
mod contexts;
mod density;
mod error;
mod family;
mod fitted;
mod hmm;
mod kernel_density;
mod markov;
mod mixture;
mod positions;
mod rows;
mod score;
mod semi_markov;
mod set;
mod simulate;
mod switching;
mod system;

pub use context_tree::ContextTreeWeighting;
pub use contexts::ContextSet;
pub use density::DensityModel;
pub use error::ContextModelError;
pub use family::ModelFamily;
pub use fitted::FittedModel;
pub use kernel_density::KernelDensityModel;
pub use markov::MarkovModel;
pub use mixture::{MixtureInformation, information_of_means};
pub use positions::PositionModel;
pub(crate) use rows::digits;
pub(crate) use score::push_score;
pub use score::{ModelScore, NoScore, Scored, scores};
pub use semi_markov::{SegmentEm, SegmentPosterior, SegmentPrefixes, SemiMarkov};
pub use set::{ModelSet, NamedModel};
pub use switching::SwitchingModel;
pub use system::SystemModel;

pub use crate::batch::{DecodeError, ViterbiPath};
pub use crate::runtime::{Hmm, HmmError};

use fishweir_core::emission::Parametrisation;
use fishweir_core::smooth::SequenceError;

use crate::data::SamplesView;

/// A fitted model of sequences.
pub trait Model: Scored {
    /// Kind of model, as a noun: `hidden Markov model`.
    fn noun(&self) -> &'static str;

    /// Symbols or channels of an observation.
    fn size(&self) -> usize;

    /// Name of the parameter of each entry of its [score](Scored::scores), in the order of the entries.
    ///
    /// Parameters are logits and log standard deviations: `transition[0][1]`, `mean[2][0]`.
    fn parameter_names(&self) -> Vec<String>;

    /// `log p(x)` of each sequence, in nats, in order; an impossible sequence is an error in its place.
    fn log_likelihoods(&self, sequences: &[SamplesView<'_>]) -> Vec<Result<f64, SequenceError>> {
        let scores = self.scores(sequences, Parametrisation::SOFTMAX).into_iter();
        scores.map(|found| found.map(|score| score.log_likelihood)).collect()
    }

    /// The likeliest path of hidden states; `None` for a model without any.
    fn path(&self, samples: SamplesView<'_>) -> Option<Result<ViterbiPath, DecodeError>> {
        let _ = samples;
        None
    }
}

/// `name[row][column]` of all entries of rows.
pub(crate) fn names_of_rows(name: &str, rows: usize, columns: usize) -> Vec<String> {
    let of_row = |row| (0..columns).map(move |column| format!("{name}[{row}][{column}]"));
    (0..rows).flat_map(of_row).collect()
}
