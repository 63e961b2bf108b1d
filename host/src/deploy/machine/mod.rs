//! Kernel machines that do not compile to directions: support vectors in flash.
//!
//! ```text
//! Expansion (f64) --deploy--> Machine (f32) --+--> MachineStream, the host's run of it
//!                                             +--> Rust source with a `static`
//!                                             +--> cost: RAM, flash, multiply-adds
//! ```

mod cost;
mod expansion;
mod file;
mod round;
mod scores;
mod sequences;
mod source;
mod stream;

pub use expansion::{Expansion, ExpansionError, ExpansionKernel, WhiteningRows};
pub(crate) use round::unit_length;
pub(crate) use scores::{check_size, has_machines};
pub use stream::MachineStream;

use fishweir_core::classify::{Normalisation, ScoreKernel};

use super::DeployedModel;
use super::source::EmissionType;
use crate::classifier::Observations;

/// A kernel machine as a device holds it: `f32`, stored items whitened or with their norms.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    observations: Observations,
    classes: Vec<String>,
    kernel: DeployedKernel,
    /// `[output][item]`.
    coefficients: Vec<Vec<f32>>,
    /// `[output]`.
    biases: Vec<f32>,
}

#[derive(Clone, Debug, PartialEq)]
enum DeployedKernel {
    FixedLength(Sequences),
    Scores(Scores),
}

/// What the core's `StoredSequences` over a `FixedLength` kernel holds.
#[derive(Clone, Debug, PartialEq)]
struct Sequences {
    model: DeployedModel,
    /// `[item][position]`.
    stored: Vec<Vec<u16>>,
    /// `[item]`.
    log_norms: Vec<f32>,
    normalised: bool,
}

/// What the core's `StoredScores` holds.
#[derive(Clone, Debug, PartialEq)]
struct Scores {
    models: Vec<DeployedModel>,
    normalisation: Normalisation,
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

impl Machine {
    /// What it observes.
    #[must_use]
    pub fn observations(&self) -> &Observations {
        &self.observations
    }

    /// Names of the classes.
    #[must_use]
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The kernel, in words.
    #[must_use]
    pub fn kernel_name(&self) -> String {
        match &self.kernel {
            DeployedKernel::FixedLength(kernel) if kernel.normalised => {
                "fixed-length hidden Markov model, normalised".into()
            }
            DeployedKernel::FixedLength(_) => "fixed-length hidden Markov model".into(),
            DeployedKernel::Scores(kernel) => {
                let name = match kernel.kernel {
                    ScoreKernel::Gaussian { gamma } => format!("Gaussian (gamma {gamma})"),
                    ScoreKernel::Polynomial { degree } => format!("polynomial (degree {degree})"),
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

    /// How scores are scaled by the length; `None` for a kernel by marginalisation.
    #[must_use]
    pub fn normalisation(&self) -> Option<Normalisation> {
        match &self.kernel {
            DeployedKernel::FixedLength(_) => None,
            DeployedKernel::Scores(scores) => Some(scores.normalisation),
        }
    }

    /// The type of its models' emissions.
    pub(super) fn emission(&self) -> EmissionType {
        EmissionType::of(match &self.kernel {
            DeployedKernel::FixedLength(sequences) => std::slice::from_ref(&sequences.model),
            DeployedKernel::Scores(scores) => &scores.models,
        })
    }

    /// Whether its kernel is one on scores.
    pub(crate) fn on_scores(&self) -> bool {
        matches!(self.kernel, DeployedKernel::Scores(_))
    }

    /// Stored items: those with a coefficient that is not zero.
    #[must_use]
    pub fn items(&self) -> usize {
        self.coefficients.first().map_or(0, Vec::len)
    }

    /// Number of outputs: one for two classes, else one a class.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.biases.len()
    }

    /// Models whose filters or scores the kernel needs.
    #[must_use]
    pub fn models(&self) -> usize {
        match &self.kernel {
            DeployedKernel::FixedLength(_) => 1,
            DeployedKernel::Scores(scores) => scores.models.len(),
        }
    }

    /// Hidden states of each model.
    #[must_use]
    pub fn states(&self) -> usize {
        let model = match &self.kernel {
            DeployedKernel::FixedLength(sequences) => Some(&sequences.model),
            DeployedKernel::Scores(scores) => scores.models.first(),
        };
        model.map_or(0, |model| model.initial.len())
    }

    /// Entries of a stored item: symbols, or score entries.
    #[must_use]
    pub fn entries(&self) -> usize {
        match &self.kernel {
            DeployedKernel::FixedLength(sequences) => sequences.stored.first().map_or(0, Vec::len),
            DeployedKernel::Scores(scores) => scores.centre.len(),
        }
    }

    /// Channels or symbols.
    #[must_use]
    pub fn size(&self) -> usize {
        self.observations.size()
    }
}
