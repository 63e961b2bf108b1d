//! The ways to evaluate a classifier on a device: what each costs, which is taken, and why.

use fishweir_core::artefact::Topology;
use fishweir_core::contract::Windows;
use serde::Serialize;

use super::cost::{FilterWork, bank_bytes, belief_bytes, directions_bytes};
use super::machine::StoredKernel;
use super::source::EmissionType;
use super::{Cost, Deployed, has_machines};
use crate::runtime::family::{entries, reals};

/// A way to evaluate a classifier on a device, and what it costs.
///
/// Where it would store items, and how many is not known, their costs are told for one of them and
/// come on top.
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
    /// Bytes in flash.
    pub model_bytes: usize,
    /// Bytes in flash that every stored item would add.
    pub model_bytes_per_item: usize,
    /// Multiply-adds a sample.
    pub multiply_adds_per_sample: usize,
    /// Multiply-adds a decision.
    pub multiply_adds_per_decision: usize,
    /// Multiply-adds a decision that every stored item would add.
    pub multiply_adds_per_decision_per_item: usize,
}

const VECTORS: &str = "support vectors in flash";
const DIRECTIONS: &str = "compiled directions";

impl Route {
    fn taken(name: &'static str, why: &'static str, cost: Cost) -> Self {
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
}

impl Route {
    /// The same on windows: see [`Cost`].
    fn on(self, windows: Option<Windows>) -> Self {
        let Self { state_bytes, multiply_adds_per_sample, .. } = self;
        let cost = Cost { state_bytes, multiply_adds_per_sample, ..Cost::default() }.on(windows);
        let Cost { state_bytes, multiply_adds_per_sample, .. } = cost;
        Self { state_bytes, multiply_adds_per_sample, ..self }
    }
}

impl Deployed {
    /// The ways there are to evaluate it, the one taken first.
    pub fn routes(&self) -> Vec<Route> {
        match &self.kernel {
            Some(kernel) => self.routes_of_machine(kernel),
            None => self.routes_of_evidence(),
        }
    }

    fn routes_of_machine(&self, kernel: &StoredKernel) -> Vec<Route> {
        if !kernel.on_scores() {
            let why = "a kernel by marginalisation is no inner product of scores, so that no \
                       direction stands for it: a recursion for every stored item, and no other way";
            return vec![Route::taken(VECTORS, why, self.cost())];
        }
        let why = "the kernel is not linear in the score, so that no direction stands for it: the \
                   whole score streams, and a decision compares it with every stored item";
        let (m, n, o) = (self.models(), self.states(), self.outputs());
        let emission = &EmissionType::of(&self.models);
        let work = FilterWork::of(n, o, emission);
        let directions = Route {
            name: DIRECTIONS,
            taken: false,
            why: "not open to this kernel: what one linear in the same scores costs (`fisher`)",
            state_bytes: bank_bytes(m, belief_bytes(n, o)),
            model_bytes: directions_bytes(m, n, o, o, emission),
            model_bytes_per_item: 0,
            multiply_adds_per_sample: m * work.multiply_adds,
            multiply_adds_per_decision: m * (o + o),
            multiply_adds_per_decision_per_item: 0,
        }
        .on(self.windows());
        vec![Route::taken(VECTORS, why, self.cost()), directions]
    }

    fn routes_of_evidence(&self) -> Vec<Route> {
        let (m, n, c, o) = (self.models(), self.states(), self.directions(), self.outputs());
        let (cost, emission) = (self.cost(), &EmissionType::of(&self.models));
        let (ring, differences) = self.ring();
        let hidden = (self.topology() == Topology::STEPS).then(|| {
            let filter = FilterWork::of(n, c, emission);
            Route {
                name: "the same with hidden states",
                taken: false,
                why: "not needed: each state is followed by one other, so that none has to be guessed",
                state_bytes: bank_bytes(m, belief_bytes(n, c)) + ring,
                model_bytes: cost.model_bytes + 4 * m * (n + n * n) * (1 + c),
                multiply_adds_per_sample: m * filter.multiply_adds + differences,
                ..Route::taken("", "", cost)
            }
            .on(self.windows())
        });
        if c == 0 {
            let why = "the classifier is linear in log-likelihoods: it needs no score, and so no \
                       direction and no stored item";
            let taken = Route::taken("log-likelihoods", why, cost);
            return [taken].into_iter().chain(hidden).collect();
        }
        let why = "the classifier is linear in scores, so that each output is a directional \
                   derivative: no score, no feature vector and no training window on the device";
        let taken = Route::taken(DIRECTIONS, why, cost);
        if let Some(hidden) = hidden {
            // The statistics that support vectors would need are of hidden states.
            return vec![taken, hidden];
        }
        // Behind a front end, or beside codebooks, the other way was not priced.
        if !self.front.is_empty()
            || self.codebooks.is_some()
            || self.order.is_some()
            || self.has_profile()
            || !has_machines(emission.family)
        {
            return vec![taken];
        }
        let streaming = Streaming::of(m, n, emission);
        let entries = m * streaming.entries;
        let vectors = Route {
            name: VECTORS,
            taken: false,
            why: "the same decisions, dearer: the whole score, and a kernel value an item",
            state_bytes: streaming.state_bytes + ring,
            // Beside the models a centre and a rate an entry, the biases, four words; the lags, and what columns
            // models hear.
            model_bytes: streaming.model_bytes
                + 4 * (2 * entries + o)
                + 16
                + 4 * (self.lags.as_slice().len()
                    + self.lags.columns_kept(m, self.front.width(self.size()))),
            model_bytes_per_item: 4 * (entries + o),
            multiply_adds_per_sample: streaming.multiply_adds + differences,
            multiply_adds_per_decision: entries,
            multiply_adds_per_decision_per_item: entries + o,
        }
        .on(self.windows());
        vec![taken, vectors]
    }
}

/// What streaming the full score of a bank costs.
pub(super) struct Streaming {
    pub(super) state_bytes: usize,
    /// Of the models.
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
