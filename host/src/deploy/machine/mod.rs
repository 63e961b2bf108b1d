//! Kernel machines, which do not compile to directions: support vectors in flash.

mod compared;
mod cost;
mod evaluate;
mod hidden;
mod round;
mod scores;
mod sequences;
mod set;
mod source;

pub(crate) use scores::{check_size, has_machines};

use fishweir_core::classify::ScoreKernel;
use fishweir_core::kernel::Affinity;

use compared::Compared;
use hidden::Hidden;
use set::ModelSet;

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
        if let StoredKernel::Hidden(kernel) = &self.kernel {
            return kernel.law.states();
        }
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
    ModelSet(ModelSet),
    Hidden(Hidden),
    Models(Compared),
    Scores(Scores),
}

/// Fields of the core's `StoredSequences` over a `FixedLength` kernel, except the model.
#[derive(Clone, Debug, PartialEq)]
struct Sequences {
    stored: Stored,
    norms: Norms,
}

/// Stored sequences, `[item][position]`.
#[derive(Clone, Debug, PartialEq)]
enum Stored {
    Symbols(Vec<Vec<u16>>),
    /// The channels of each position, too.
    Channels(Vec<Vec<Vec<f32>>>),
}

impl Stored {
    /// Numbers of items, and of positions of each.
    fn sizes(&self) -> [usize; 2] {
        match self {
            Self::Symbols(items) => [items.len(), items.first().map_or(0, Vec::len)],
            Self::Channels(items) => [items.len(), items.first().map_or(0, Vec::len)],
        }
    }
}

/// What kernel values are divided by.
#[derive(Clone, Debug, PartialEq)]
struct Norms {
    /// `[item]`.
    log: Vec<f32>,
    /// `true` if the stream's own norm divides, too.
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

impl Norms {
    fn named(&self, kernel: &str) -> String {
        if self.normalised { format!("{kernel}, normalised") } else { kernel.to_owned() }
    }
}

impl StoredKernel {
    /// Name of the kernel.
    fn name(&self) -> String {
        match self {
            Self::FixedLength(kernel) => kernel.norms.named("fixed-length hidden Markov model"),
            Self::ModelSet(kernel) => kernel.norms.named("marginalisation over a set of models"),
            Self::Hidden(kernel) => kernel.norms.named(kernel.law.name()),
            Self::Models(kernel) => kernel.norms.named(match kernel.measure {
                Affinity::Product { .. } => "probability product of models",
                Affinity::MeanMap { .. } => "mean map of models",
            }),
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
            Self::FixedLength(Sequences { stored, .. }) => stored.sizes(),
            Self::ModelSet(ModelSet { stored, prior, .. }) => [stored.len(), prior.len()],
            Self::Hidden(Hidden { stored, .. }) => {
                [stored.len(), stored.iter().map(Vec::len).max().unwrap_or(0)]
            }
            Self::Models(kernel) => [kernel.norms.log.len(), kernel.steps + 1],
            Self::Scores(Scores { stored, centre, .. }) => [stored.len(), centre.len()],
        }
    }
}
