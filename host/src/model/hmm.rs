//! Queries on a hidden Markov model.

use fishweir_core::smooth::SequenceError;

use super::{DecodeError, Model, ViterbiPath, names_of_rows};
use crate::batch::log_likelihoods_of_valid;
use crate::data::SamplesView;
use crate::runtime::Hmm;

impl Model for Hmm {
    fn noun(&self) -> &'static str {
        "hidden Markov model"
    }

    fn size(&self) -> usize {
        Hmm::size(self)
    }

    /// First `initial[state]`, then `transition[from][to]`, then the emissions' blocks state by state:
    /// `logits[state][symbol]`; `mean[state][channel]` and `log_std[state][channel]`.
    fn parameter_names(&self) -> Vec<String> {
        let (states, shape) = (self.states(), self.emission.shape());
        let mut names: Vec<String> = (0..states).map(|state| format!("initial[{state}]")).collect();
        names.extend(names_of_rows("transition", states, states));
        for state in 0..states {
            for block in self.emission.family().score() {
                let entry = |entry| format!("{}[{state}][{entry}]", block.name);
                names.extend((0..block.width.of(shape)).map(entry));
            }
        }
        names
    }

    fn log_likelihoods(&self, sequences: &[SamplesView<'_>]) -> Vec<Result<f64, SequenceError>> {
        log_likelihoods_of_valid(self, sequences)
    }

    fn path(&self, samples: SamplesView<'_>) -> Option<Result<ViterbiPath, DecodeError>> {
        Some(self.decode(samples))
    }
}
