//! The ways to evaluate a classifier on a device: their costs, the choice, and its reason.

use fishweir_core::contract::Windows;
use serde::Serialize;

use super::cost::{Cost, FilterWork, belief_bytes};
use super::source::EmissionType;
use crate::runtime::family::{entries, reals};

/// A way to evaluate a classifier on a device, and its cost.
///
/// If it would store an unknown number of items, the costs of one item are given separately and come on top.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Route {
    /// Name of the route.
    pub name: &'static str,
    /// `true` if it was taken.
    pub taken: bool,
    /// Reason for taking it, or for not taking it.
    pub why: &'static str,
    /// Bytes of the state.
    pub state_bytes: usize,
    /// Bytes in flash.
    pub model_bytes: usize,
    /// Bytes in flash that every stored item would add.
    pub model_bytes_per_item: usize,
    /// Multiply-adds per sample.
    pub multiply_adds_per_sample: usize,
    /// Multiply-adds per decision.
    pub multiply_adds_per_decision: usize,
    /// Multiply-adds a decision that every stored item would add.
    pub multiply_adds_per_decision_per_item: usize,
}

pub(super) const VECTORS: &str = "support vectors in flash";
pub(super) const DIRECTIONS: &str = "compiled directions";

impl Route {
    pub(super) fn taken(name: &'static str, why: &'static str, cost: Cost) -> Self {
        Self {
            name,
            taken: true,
            why,
            state_bytes: cost.state_bytes,
            model_bytes: cost.model_bytes,
            model_bytes_per_item: 0,
            multiply_adds_per_sample: cost.multiply_adds_per_sample,
            multiply_adds_per_decision: cost.multiply_adds_per_decision,
            multiply_adds_per_decision_per_item: 0,
        }
    }

    /// Route of a classifier that is linear in log-likelihoods, or in scores along directions.
    pub(super) fn linear(directions: usize, cost: Cost) -> Self {
        let (name, why) = match directions {
            0 => (
                "log-likelihoods",
                "the classifier is linear in log-likelihoods: it needs no score, and so no \
                 direction and no stored item",
            ),
            _ => (
                DIRECTIONS,
                "the classifier is linear in scores, so that each output is a directional \
                 derivative: no score, no feature vector and no training window on the device",
            ),
        };
        Self::taken(name, why, cost)
    }

    /// Cost on windows: see [`Cost`].
    pub(super) fn on(self, windows: Option<Windows>) -> Self {
        let Self { state_bytes, multiply_adds_per_sample, .. } = self;
        let cost = Cost { state_bytes, multiply_adds_per_sample, ..Cost::default() }.on(windows);
        let Cost { state_bytes, multiply_adds_per_sample, .. } = cost;
        Self { state_bytes, multiply_adds_per_sample, ..self }
    }
}

/// Cost of streaming the full score of a bank.
pub(super) struct Streaming {
    pub(super) state_bytes: usize,
    /// Bytes of the models.
    pub(super) model_bytes: usize,
    pub(super) multiply_adds: usize,
    pub(super) exponentials: usize,
    /// Entries of a model's score, its log-likelihood among them.
    pub(super) entries: usize,
}

impl Streaming {
    pub(super) fn of(models: usize, n: usize, emission: &EmissionType) -> Self {
        // Statistics, parameters and score entries of an emission.
        let EmissionType { family, shape } = *emission;
        let statistics = entries(family.statistics(), shape);
        let (parameters, entries) = (reals(family, shape, 0), entries(family.score(), shape));
        let collected = n + n * n + n * statistics;
        let filter = FilterWork::of(n, 0, emission);
        // Statistics see likelihoods of their own; a bank asks all filters before it moves any.
        let filters = 2 + usize::from(models > 1);
        Self {
            state_bytes: models
                * (belief_bytes(n, 0) + 4 * collected * (n + 2) + 8).next_multiple_of(8)
                + 8,
            model_bytes: 4 * models * (n + n * n + n * parameters),
            multiply_adds: models * (collected * n * n + filters * filter.multiply_adds),
            exponentials: models * filters * filter.exponentials,
            entries: n + n * n + n * entries + 1,
        }
    }
}
