//! Kernel machines, which do not compile to directions: support vectors in flash.

mod cost;
mod round;
mod scores;
mod sequences;
mod source;
mod start;
mod stream;

pub(crate) use scores::{check_size, has_machines};
pub(super) use stream::KernelStream;

use fishweir_core::classify::ScoreKernel;

use super::{Deployed, DeployedModel};

/// A kernel and its stored items, in `f32`, whitened or with their norms.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum StoredKernel {
    FixedLength(Sequences),
    Scores(Scores),
}

/// What the core's `StoredSequences` over a `FixedLength` kernel holds beside the model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sequences {
    /// `[item][position]`.
    stored: Vec<Vec<u16>>,
    /// `[item]`.
    log_norms: Vec<f32>,
    normalised: bool,
}

/// What the core's `StoredScores` holds beside models and normalisation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scores {
    likelihood: bool,
    /// `[entry]`.
    centre: Vec<f32>,
    whitening: DeployedWhitening,
    kernel: ScoreKernel<f32>,
    /// `[item][entry]`.
    stored: Vec<Vec<f32>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DeployedWhitening {
    Diagonal(Vec<f32>),
    Full(Vec<Vec<f32>>),
}

impl StoredKernel {
    /// In words.
    pub(super) fn name(&self) -> String {
        match self {
            Self::FixedLength(kernel) if kernel.normalised => {
                "fixed-length hidden Markov model, normalised".into()
            }
            Self::FixedLength(_) => "fixed-length hidden Markov model".into(),
            Self::Scores(kernel) => {
                let name = match kernel.kernel {
                    ScoreKernel::Gaussian { gamma } => format!("Gaussian (gamma {gamma})"),
                    ScoreKernel::Polynomial { degree } => format!("polynomial (degree {degree})"),
                    ScoreKernel::RootCosine => "cosine of signed roots".into(),
                    _ => "cosine".into(),
                };
                let whitening = match kernel.whitening {
                    DeployedWhitening::Diagonal(_) => "entry by entry",
                    DeployedWhitening::Full(_) => "in full",
                };
                format!("{name} on Fisher scores whitened {whitening}")
            }
        }
    }

    /// Whether it is one on scores.
    pub(super) fn on_scores(&self) -> bool {
        matches!(self, Self::Scores(_))
    }

    /// Entries of a stored item: symbols, or score entries.
    pub(super) fn entries(&self) -> usize {
        match self {
            Self::FixedLength(sequences) => sequences.stored.first().map_or(0, Vec::len),
            Self::Scores(scores) => scores.centre.len(),
        }
    }
}
