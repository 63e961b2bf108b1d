//! Questions that every engine answers.

use fishweir_core::ModelError;
use fishweir_core::artefact::Topology;

use super::common::Common;
use super::cost::Cost;
use super::route::Route;
use super::stream::Evidence;
use crate::runtime::{Family, Shape};

/// Engine of a classifier: models whose evidence is weighed, or a kernel against stored items.
pub(super) trait Evaluator {
    /// Describes the engine in numbers and words.
    fn description(&self) -> Description;

    /// Checks every number by the core's own checks.
    fn validate(&self) -> Result<(), ModelError>;

    /// Calls `put` with each number of the core's models, in memory order.
    fn for_each_real(&self, of: &Common, put: &mut dyn FnMut(f32));

    /// Evidence before the first sample of a stream.
    fn stream(&self, of: &Common) -> Evidence<f32>;

    /// Cost of a stream that decides on one window at a time.
    fn cost(&self, of: &Common) -> Cost;

    /// Rust source of the core's classifier, without lags, codebooks and front end.
    fn source(&self, of: &Common) -> String;

    /// The part that has no binary artefact, in words; `None` if all have one.
    fn no_artefact(&self, _: &Common) -> Option<String> {
        None
    }

    /// Ways to evaluate the classifier, the chosen one first.
    fn routes(&self, of: &Common) -> Vec<Route> {
        vec![Route::linear(self.description().directions, self.cost(of).on(of.windows()))]
    }

    /// Bytes of the core's classifier with its lags and codebooks.
    fn payload(&self, of: &Common) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.for_each_real(of, &mut |x| bytes.extend_from_slice(&x.to_le_bytes()));
        of.memory(&mut bytes);
        bytes
    }
}

/// Description of an engine.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// Number of models.
    pub models: usize,
    /// Hidden states of each model, its contexts, the numbers of a system's state, or a profile's positions.
    pub states: usize,
    /// Noun for one state.
    pub state: &'static str,
    /// Number of directions of each model: one per output, or 0.
    pub directions: usize,
    /// Recursion of the log-likelihoods, in words; empty for a kernel machine.
    pub recursion: &'static str,
    /// Order of the states: hidden chain, known steps, or profile.
    pub topology: Topology,
    /// Symbols per context, if words of symbols are weighed.
    pub order: Option<usize>,
    /// Stored items of a kernel machine.
    pub items: Option<StoredItems>,
    /// Emission family of the states; `None` for linear dynamical systems.
    pub emission: Option<(&'static dyn Family, Shape)>,
}

/// The stored items of a kernel machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredItems {
    /// Kernel, in words.
    pub kernel: String,
    /// `true` if the kernel is on scores.
    pub on_scores: bool,
    /// Number of items with a nonzero coefficient.
    pub count: usize,
    /// Entries per item: symbols, or score entries.
    pub entries: usize,
}
