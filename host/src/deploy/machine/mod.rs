//! Kernel machines, which do not compile to directions: support vectors in flash.

mod cost;
mod evaluate;
mod round;
mod scores;
mod sequences;
mod source;

pub(crate) use scores::{check_size, has_machines};

use fishweir_core::classify::ScoreKernel;

use super::model::DeployedModel;
use super::source::EmissionType;

/// Kernel machine: the models of a kernel, and its stored items.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    models: Vec<DeployedModel>,
    kernel: StoredKernel,
}

impl Machine {
    fn states(&self) -> usize {
        self.models.first().map_or(0, |model| model.initial.len())
    }

    fn emission(&self) -> EmissionType {
        EmissionType::of(&self.models)
    }
}

/// A kernel and its stored items, in `f32`, whitened or with their norms.
#[derive(Clone, Debug, PartialEq)]
enum StoredKernel {
    FixedLength(Sequences),
    Scores(Scores),
}

/// Fields of the core's `StoredSequences` over a `FixedLength` kernel, except the model.
#[derive(Clone, Debug, PartialEq)]
struct Sequences {
    /// `[item][position]`.
    stored: Vec<Vec<u16>>,
    /// `[item]`.
    log_norms: Vec<f32>,
    normalised: bool,
}

/// Fields of the core's `StoredScores`, except models and normalisation.
#[derive(Clone, Debug, PartialEq)]
struct Scores {
    likelihood: bool,
    /// `[entry]`.
    centre: Vec<f32>,
    whitening: DeployedWhitening,
    kernel: ScoreKernel<f32>,
    /// `[item][entry]`.
    stored: Vec<Vec<f32>>,
}

#[derive(Clone, Debug, PartialEq)]
enum DeployedWhitening {
    Diagonal(Vec<f32>),
    Full(Vec<Vec<f32>>),
}

impl StoredKernel {
    /// Name of the kernel.
    fn name(&self) -> String {
        match self {
            Self::FixedLength(kernel) if kernel.normalised => {
                "fixed-length hidden Markov model, normalised".into()
            }
            Self::FixedLength(_) => "fixed-length hidden Markov model".into(),
            Self::Scores(kernel) => {
                let name = kernel.kernel;
                let whitening = match kernel.whitening {
                    DeployedWhitening::Diagonal(_) => "entry by entry",
                    DeployedWhitening::Full(_) => "in full",
                };
                format!("{name} on Fisher scores whitened {whitening}")
            }
        }
    }

    /// Numbers of stored items, and of entries per item: symbols, or score entries.
    fn sizes(&self) -> [usize; 2] {
        match self {
            Self::FixedLength(Sequences { stored, .. }) => {
                [stored.len(), stored.first().map_or(0, Vec::len)]
            }
            Self::Scores(Scores { stored, centre, .. }) => [stored.len(), centre.len()],
        }
    }
}
