//! What every engine answers.

use fishweir_core::ModelError;
use fishweir_core::artefact::Topology;

use super::common::Common;
use super::cost::Cost;
use super::route::Route;
use super::stream::Evidence;
use crate::runtime::{Family, Shape};

/// What evaluates samples: models whose evidence is weighed, or a kernel against stored items.
pub(super) trait Evaluator {
    /// What it is.
    fn description(&self) -> Description;

    /// Checks every number by the core's own checks.
    fn validate(&self) -> Result<(), ModelError>;

    /// Every number of the core's models, in the order in which they lie in memory.
    fn for_each_real(&self, of: &Common, put: &mut dyn FnMut(f32));

    /// Before the first sample of a stream.
    fn stream(&self, of: &Common) -> Evidence<f32>;

    /// What a stream costs that decides on one window at a time.
    fn cost(&self, of: &Common) -> Cost;

    /// Rust source of it, up to what is around it and beside it.
    fn source(&self, of: &Common) -> String;

    /// What has no binary artefact, in words; `None` where it has one.
    fn no_artefact(&self, _: &Common) -> Option<String> {
        None
    }

    /// The ways there are to evaluate it, the one taken first.
    fn routes(&self, of: &Common) -> Vec<Route> {
        vec![Route::linear(self.description().directions, self.cost(of).on(of.windows()))]
    }

    /// Its bytes, and those of what is around it.
    fn payload(&self, of: &Common) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.for_each_real(of, &mut |x| bytes.extend_from_slice(&x.to_le_bytes()));
        of.memory(&mut bytes);
        bytes
    }
}

/// What an engine is, in numbers and words.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// Number of models.
    pub models: usize,
    /// Hidden states of each model, its contexts, the numbers of a system's state, or a profile's positions.
    pub states: usize,
    /// What one of the states is called.
    pub state: &'static str,
    /// Directions that each model carries: one an output, or none.
    pub directions: usize,
    /// How log-likelihoods are found, in words; empty of a kernel machine.
    pub recursion: &'static str,
    /// How the states of its models follow one another.
    pub topology: Topology,
    /// How many symbols are the context of the next, of what weighs words of symbols.
    pub order: Option<usize>,
    /// Stored items; `None` of what weighs the evidence of its models.
    pub items: Option<StoredItems>,
    /// How states emit; `None` of linear dynamical systems.
    pub emission: Option<(&'static dyn Family, Shape)>,
}

/// The stored items of a kernel machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredItems {
    /// The kernel, in words.
    pub kernel: String,
    /// Whether it is a kernel on scores, which grow with length.
    pub on_scores: bool,
    /// Items with a coefficient that is not zero.
    pub count: usize,
    /// Entries of each: symbols, or score entries.
    pub entries: usize,
}
