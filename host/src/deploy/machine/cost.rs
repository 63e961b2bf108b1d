//! What a machine costs on a device, and what its scores would cost as directions.

use fishweir_core::artefact::Succession;
use fishweir_core::classify::ScoreKernel;
use serde::Serialize;

use super::{DeployedKernel, DeployedWhitening, Machine, Scores, Sequences};
use crate::classifier::Observations;
use crate::deploy::cost::{FilterWork, belief_bytes};
use crate::deploy::{Cost, Deployed};

/// RAM, flash and work of a deployed kernel machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MachineCost {
    /// Bytes of the state, all of it, on a 32-bit device.
    pub state_bytes: usize,
    /// Bytes of the machine in flash: models, stored items, coefficients.
    pub model_bytes: usize,
    /// Multiply-adds a sample.
    pub multiply_adds_per_sample: usize,
    /// Exponentials a sample.
    pub exponentials_per_sample: usize,
    /// Multiply-adds a decision that is read.
    pub multiply_adds_per_decision: usize,
    /// Exponentials a decision.
    pub exponentials_per_decision: usize,
    /// Logarithms a decision.
    pub logarithms_per_decision: usize,
}

impl From<MachineCost> for Cost {
    /// What of it is a sample's, and what of a decision has a place there.
    fn from(cost: MachineCost) -> Self {
        Self {
            state_bytes: cost.state_bytes,
            model_bytes: cost.model_bytes,
            multiply_adds_per_sample: cost.multiply_adds_per_sample,
            exponentials_per_sample: cost.exponentials_per_sample,
            logarithms_per_decision: cost.logarithms_per_decision,
        }
    }
}

/// A way to evaluate a classifier on a device, and what it costs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Route {
    /// What it is.
    pub name: &'static str,
    /// Whether it was taken.
    pub taken: bool,
    /// Why, or why not.
    pub why: &'static str,
    /// Bytes of the state.
    pub state_bytes: usize,
    /// Bytes in flash; `None` where it depends on how many items would be stored.
    pub model_bytes: Option<usize>,
    /// Multiply-adds a sample.
    pub multiply_adds_per_sample: usize,
    /// Multiply-adds a decision; `None` where it depends on how many items would be stored.
    pub multiply_adds_per_decision: Option<usize>,
}

impl Machine {
    /// What it costs on a device.
    ///
    /// Against `M` sequences of a fixed-length kernel, `M` rows of `N` numbers (and one more where it
    /// is normalised), and `N^2 + 2 N` multiply-adds a sample each. On scores, forward-only
    /// statistics: `B P (N + 2)` numbers and `B P N^2` multiply-adds beside the filters', with `P`
    /// statistics a model; a decision takes `F (M + 1) + O M` more.
    #[must_use]
    pub fn cost(&self) -> MachineCost {
        let (items, outputs) = (self.items(), self.outputs());
        let coefficients = 4 * outputs * (items + 1);
        let mut cost = match &self.kernel {
            DeployedKernel::FixedLength(kernel) => self.cost_of_sequences(kernel),
            DeployedKernel::Scores(kernel) => self.cost_of_scores(kernel),
        };
        cost.model_bytes += coefficients;
        cost.multiply_adds_per_decision += outputs * items;
        // Of the kernels' common scale.
        cost.exponentials_per_decision += 1;
        cost
    }

    fn cost_of_sequences(&self, kernel: &Sequences) -> MachineCost {
        let (n, items, length) = (self.states(), self.items(), self.entries());
        let own = usize::from(kernel.normalised);
        // A kernel that may be zero: a belief and whether there is one.
        let row = belief_bytes(n, 0) + 8;
        let aligned = items * row + 8;
        MachineCost {
            state_bytes: aligned + own * (row + 8),
            model_bytes: 4 * (n + n * n + n * self.size())
                + (4 + 8 * items)
                + own * 8
                + items * length * self.symbol_bytes()
                + 4 * items,
            multiply_adds_per_sample: (items + own) * (n * n + 2 * n),
            exponentials_per_sample: 0,
            multiply_adds_per_decision: 0,
            exponentials_per_decision: items,
            logarithms_per_decision: items + own,
        }
    }

    fn cost_of_scores(&self, kernel: &Scores) -> MachineCost {
        let (items, entries) = (self.items(), self.entries());
        let streaming = Streaming::of(self.models(), self.states(), &self.observations);
        let whitening = match kernel.whitening {
            DeployedWhitening::Diagonal(_) => 1,
            DeployedWhitening::Full(_) => entries,
        };
        let exponentials = match kernel.kernel {
            ScoreKernel::Gaussian { .. } => items,
            _ => 0,
        };
        MachineCost {
            state_bytes: streaming.state_bytes,
            // Parametrisation, normalisation and kernel are words beside.
            model_bytes: streaming.model_bytes + 4 * entries * (1 + whitening + items) + 16,
            multiply_adds_per_sample: streaming.multiply_adds,
            exponentials_per_sample: streaming.exponentials,
            multiply_adds_per_decision: entries * (whitening + items),
            exponentials_per_decision: exponentials,
            logarithms_per_decision: if kernel.likelihood { self.models() } else { 0 },
        }
    }

    /// Bytes of a stored symbol.
    pub(super) fn symbol_bytes(&self) -> usize {
        if self.size() <= 1 << 8 { 1 } else { 2 }
    }

    /// The ways there are, the one taken first.
    #[must_use]
    pub fn routes(&self) -> Vec<Route> {
        let cost = self.cost();
        let mut routes = vec![Route {
            name: "support vectors in flash",
            taken: true,
            why: match &self.kernel {
                DeployedKernel::FixedLength(_) => {
                    "a kernel by marginalisation is no inner product of scores: one recursion an item"
                }
                DeployedKernel::Scores(_) => {
                    "the kernel is not linear in the score: no direction stands for it"
                }
            },
            state_bytes: cost.state_bytes,
            model_bytes: Some(cost.model_bytes),
            multiply_adds_per_sample: cost.multiply_adds_per_sample,
            multiply_adds_per_decision: Some(cost.multiply_adds_per_decision),
        }];
        if let DeployedKernel::Scores(_) = &self.kernel {
            let (n, models, directions) = (self.states(), self.models(), self.outputs());
            let work = FilterWork::of(n, directions, &self.observations);
            routes.push(Route {
                name: "compiled directions",
                taken: false,
                why: "what a kernel linear in the same scores would cost",
                state_bytes: models * belief_bytes(n, directions) + 8,
                model_bytes: None,
                multiply_adds_per_sample: models * work.multiply_adds,
                multiply_adds_per_decision: Some(0),
            });
        }
        routes
    }
}

impl Deployed {
    /// The ways there are to evaluate it, the one taken first.
    #[must_use]
    pub fn routes(&self) -> Vec<Route> {
        let (cost, directions) = (self.cost(), self.directions());
        let mut routes = vec![Route {
            name: if directions > 0 { "compiled directions" } else { "log-likelihoods" },
            taken: true,
            why: if directions > 0 {
                "the classifier is linear in scores: each output is a directional derivative"
            } else {
                "the classifier is linear in log-likelihoods: it needs no score"
            },
            state_bytes: cost.state_bytes,
            model_bytes: Some(cost.model_bytes),
            multiply_adds_per_sample: cost.multiply_adds_per_sample,
            multiply_adds_per_decision: Some(0),
        }];
        if self.succession() == Succession::STEPS {
            let (n, models) = (self.states(), self.models());
            let filter = FilterWork::of(n, directions, &self.observations);
            routes.push(Route {
                name: "the same with hidden states",
                taken: false,
                why: "not needed: each state is followed by one other, so that none has to be guessed",
                state_bytes: models * belief_bytes(n, directions) + 8,
                model_bytes: Some(
                    cost.model_bytes + 4 * models * (n + n * n) * (1 + directions),
                ),
                multiply_adds_per_sample: models * filter.multiply_adds,
                multiply_adds_per_decision: Some(0),
            });
        }
        // Forward-only statistics are of hidden states.
        if directions > 0 && self.succession() == Succession::CHAIN {
            let streaming = Streaming::of(self.models(), self.states(), &self.observations);
            routes.push(Route {
                name: "support vectors in flash",
                taken: false,
                why: "the same decisions, dearer: the full score, and an inner product an item",
                state_bytes: streaming.state_bytes,
                model_bytes: None,
                multiply_adds_per_sample: streaming.multiply_adds,
                multiply_adds_per_decision: None,
            });
        }
        routes
    }
}

/// What streaming the full score of a bank costs.
struct Streaming {
    state_bytes: usize,
    model_bytes: usize,
    multiply_adds: usize,
    exponentials: usize,
}

impl Streaming {
    fn of(models: usize, n: usize, observations: &Observations) -> Self {
        // Statistics and parameters of an emission.
        let (statistics, parameters) = match observations {
            Observations::Channels(names) => (1 + 2 * names.len(), 1 + 2 * names.len()),
            Observations::Symbols(symbols) => (symbols.chars().count(), symbols.chars().count()),
        };
        let collected = n + n * n + n * statistics;
        let filter = FilterWork::of(n, 0, observations);
        // Statistics see likelihoods of their own; a bank asks all filters before it moves any.
        let filters = 2 + usize::from(models > 1);
        Self {
            state_bytes: models
                * (belief_bytes(n, 0) + 4 * collected * (n + 2) + 8).next_multiple_of(8)
                + 8,
            model_bytes: 4 * models * (n + n * n + n * parameters),
            multiply_adds: models * (collected * n * n + filters * filter.multiply_adds),
            exponentials: models * filters * filter.exponentials,
        }
    }
}
