//! What a learner hands over: a kernel, its items, and a coefficient each.

use fishweir_core::classify::Normalisation;
use serde::{Deserialize, Serialize};

use crate::classifier::{Observations, Provenance, normalisation_name};
use crate::deploy::CompileError;
use crate::kernel::ScoreKernel;
use crate::runtime::{Hmm, HmmError};

/// A trained kernel machine, in `f64`: `value_o(x) = bias_o + sum_m coefficient_om k(item_m, x)`.
///
/// One output decides between two classes by its sign (class 1 where positive), one a class by the
/// largest. Items all of whose coefficients are zero are no support vectors and are not deployed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expansion {
    /// `gaussian`, `polynomial` or `cosine`, or a kernel by marginalisation: `fixed-length`.
    pub method: String,
    /// What it observes.
    pub observations: Observations,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// The kernel and its items.
    pub kernel: ExpansionKernel,
    /// `[output][item]`.
    pub coefficients: Vec<Vec<f64>>,
    /// `[output]`.
    pub biases: Vec<f64>,
    /// How it was trained.
    pub provenance: Provenance,
}

/// A kernel that no direction stands for, and the items it was trained on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ExpansionKernel {
    /// The fixed-length kernel of a hidden Markov model over symbols.
    FixedLength {
        /// The model.
        model: Hmm,
        /// Sequences of one length, `[item][position]`.
        items: Vec<Vec<u16>>,
        /// Whether it is `k(s, x) / sqrt(k(s, s) k(x, x))`; else it is `k(s, x) exp(-log_scale)`.
        normalised: bool,
        /// The logarithm of what a kernel that is not normalised was divided by in training.
        log_scale: f64,
    },
    /// A kernel on the Fisher scores of a bank of models.
    Scores {
        /// The models, of one number of states.
        models: Vec<Hmm>,
        /// Each channel's unit: what the score of a mean is multiplied by; empty for symbols.
        scale: Vec<f64>,
        /// How scores are scaled by the length.
        #[serde(with = "normalisation_name")]
        normalisation: Normalisation,
        /// Whether each model's log-likelihood follows its score.
        likelihood: bool,
        /// Subtracted before whitening, `[entry]`.
        centre: Vec<f64>,
        /// How entries are whitened.
        whitening: WhiteningRows,
        /// The kernel on whitened scores.
        kernel: ScoreKernel,
        /// Items as [`FeatureMap`](crate::learn::FeatureMap) extracts them, `[item][entry]`.
        items: Vec<Vec<f64>>,
    },
}

/// How centred scores are whitened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhiteningRows {
    /// Factors, `[entry]`: ones for the practical kernel.
    Diagonal(Vec<f64>),
    /// A matrix, `[whitened entry][entry]`, as many rows as entries.
    Full(Vec<Vec<f64>>),
}

/// Why an expansion was not deployed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExpansionError {
    /// A table with another number of entries than the rest implies.
    #[error("{part} has {found} entries where {wanted} are needed")]
    Shape {
        /// Which part.
        part: String,
        /// Entries found.
        found: usize,
        /// Entries needed.
        wanted: usize,
    },
    /// A model that is none.
    #[error("model {model}: {source}")]
    Model {
        /// Which.
        model: usize,
        /// What is wrong with it.
        source: HmmError,
    },
    /// A model that emits something else than is observed.
    #[error("model {0} emits something else than is observed")]
    Family(usize),
    /// A model whose emissions are not those of the first.
    #[error("model {model} {what}")]
    Differs {
        /// Which.
        model: usize,
        /// In what.
        what: String,
    },
    /// Emissions that kernel machines are not compiled for.
    #[error(
        "model {model} has {family} emissions; kernel machines are of categorical and gaussian ones"
    )]
    Emission {
        /// Which.
        model: usize,
        /// Of which family.
        family: &'static str,
    },
    /// A number that is not finite, or that `f32` does not hold.
    #[error("{part} [{row}][{entry}] is {value:e}: not a number that f32 holds")]
    Number {
        /// Which part.
        part: &'static str,
        /// Its row.
        row: usize,
        /// Its entry.
        entry: usize,
        /// Its value.
        value: f64,
    },
    /// A kernel of sequences whose items are channels.
    #[error("the fixed-length kernel is deployed over symbols, not over channels")]
    Channels,
    /// Nothing has a coefficient.
    #[error("no item has a coefficient other than zero: the machine always says the same")]
    Empty,
    /// An item that the model makes impossible.
    #[error("item {0} is impossible under the kernel's model: it has no norm")]
    Impossible(usize),
    /// More than the recursions on scores are compiled for.
    #[error(
        "{states} states over {size} {kind}: scores are compiled for up to 8 states, 32 symbols or \
         9 channels"
    )]
    Size {
        /// States.
        states: usize,
        /// Symbols or channels.
        size: usize,
        /// Which of the two.
        kind: &'static str,
    },
    /// A parameter of a kernel that is none.
    #[error("{0}")]
    Parameter(fishweir_core::ModelError),
    /// A model that `f32` does not hold.
    #[error(transparent)]
    Compile(#[from] CompileError),
}

impl Expansion {
    /// Number of items, support vectors or not.
    #[must_use]
    pub fn items(&self) -> usize {
        match &self.kernel {
            ExpansionKernel::FixedLength { items, .. } => items.len(),
            ExpansionKernel::Scores { items, .. } => items.len(),
        }
    }

    /// The kernel's models.
    #[must_use]
    pub fn models(&self) -> &[Hmm] {
        match &self.kernel {
            ExpansionKernel::FixedLength { model, .. } => std::slice::from_ref(model),
            ExpansionKernel::Scores { models, .. } => models,
        }
    }
}
