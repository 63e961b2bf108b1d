//! A kernel machine as an engine.

use fishweir_core::ModelError;
use fishweir_core::artefact::Topology;

use super::{Machine, StoredKernel, compared, scores, sequences, set};
use crate::deploy::common::Common;
use crate::deploy::cost::{Cost, FilterWork, bank_bytes, belief_bytes, directions_bytes};
use crate::deploy::evaluator::{Description, Evaluator, StoredItems};
use crate::deploy::model::States;
use crate::deploy::route::{DIRECTIONS, Route, VECTORS};
use crate::deploy::source::EmissionType;
use crate::deploy::stream::Evidence;
use crate::deploy::validate::validate_model;

impl Evaluator for Machine {
    fn description(&self) -> Description {
        let [count, entries] = self.kernel.sizes();
        let emission = match &self.kernel {
            StoredKernel::Hidden(kernel) => kernel.emission(),
            _ => {
                let EmissionType { family, shape } = self.emission();
                Some((family, shape))
            }
        };
        let on_scores = matches!(self.kernel, StoredKernel::Scores(_));
        Description {
            models: self.models.len().max(1),
            states: self.states(),
            state: "hidden state",
            directions: 0,
            recursion: "",
            topology: Topology::CHAIN,
            order: None,
            items: Some(StoredItems { kernel: self.kernel.name(), on_scores, count, entries }),
            emission,
        }
    }

    fn validate(&self) -> Result<(), ModelError> {
        let mut models = self.models.iter();
        models.try_for_each(|model| validate_model(model, States::Hidden, 0))
    }

    fn for_each_real(&self, _: &Common, put: &mut dyn FnMut(f32)) {
        self.models.iter().for_each(|model| model.for_each_real(put));
    }

    fn stream(&self, of: &Common) -> Evidence<f32> {
        Evidence::Kernels(match &self.kernel {
            StoredKernel::FixedLength(kernel) => sequences::stream(&self.models[0], kernel),
            StoredKernel::ModelSet(kernel) => set::stream(&self.models, kernel),
            StoredKernel::Hidden(kernel) => kernel.stream(of.size()),
            StoredKernel::Models(kernel) => compared::stream(&self.models, kernel, of.size()),
            StoredKernel::Scores(kernel) => scores::stream(&self.models, kernel, of),
        })
    }

    fn cost(&self, of: &Common) -> Cost {
        self.cost_of_machine(of)
    }

    fn source(&self, of: &Common) -> String {
        self.source_of_machine(of)
    }

    fn no_artefact(&self, _: &Common) -> Option<String> {
        Some("kernel machines".to_owned())
    }

    fn routes(&self, of: &Common) -> Vec<Route> {
        let cost = self.cost(of).on(of.windows());
        if !matches!(self.kernel, StoredKernel::Scores(_)) {
            if let StoredKernel::Models(_) = self.kernel {
                let why = "a kernel between models is no inner product of scores, so that no direction stands for it: \
                           a comparison with every stored model, and no other way";
                return vec![Route::taken(VECTORS, why, cost)];
            }
            let why = "a kernel by marginalisation is no inner product of scores, so that no \
                       direction stands for it: a recursion for every stored item, and no other way";
            return vec![Route::taken(VECTORS, why, cost)];
        }
        let why = "the kernel is not linear in the score, so that no direction stands for it: the \
                   whole score streams, and a decision compares it with every stored item";
        let (m, n, o) = (self.models.len(), self.states(), of.outputs());
        let emission = &self.emission();
        let work = FilterWork::of(n, o, emission);
        let directions = Route {
            name: DIRECTIONS,
            taken: false,
            why: "not open to this kernel: what one linear in the same scores costs (`fisher`)",
            state_bytes: bank_bytes(m, belief_bytes(n, o)),
            model_bytes: directions_bytes(m, n, o, o, emission),
            multiply_adds_per_sample: m * work.multiply_adds,
            multiply_adds_per_decision: m * (o + o),
            ..Route::taken("", "", cost)
        }
        .on(of.windows());
        vec![Route::taken(VECTORS, why, cost), directions]
    }
}
