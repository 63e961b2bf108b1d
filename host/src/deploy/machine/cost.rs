//! Cost of a kernel machine on a device.

use super::set::ModelSet;
use super::{DeployedWhitening, Machine, Scores, Sequences, Stored, StoredKernel};
use crate::deploy::common::Common;
use crate::deploy::cost::{Cost, FilterWork, belief_bytes};
use crate::deploy::route::Streaming;

impl Machine {
    /// Cost on a device.
    ///
    /// Against `M` sequences of a fixed-length kernel, `M` rows of `N` numbers (and one more if it is normalised), and `N^2 + 2
    /// N` multiply-adds per sample each. On scores, forward-only statistics: `B P (N + 2)` numbers and `B P N^2` multiply-adds in
    /// addition to the filters', with `P` statistics per model; a decision takes `F (M + 1) + O M` more, and for the cosine of
    /// roots `F + 1` square roots.
    pub(super) fn cost_of_machine(&self, of: &Common) -> Cost {
        let ([items, _], outputs) = (self.kernel.sizes(), of.outputs());
        let coefficients = 4 * outputs * (items + 1);
        let mut cost = match &self.kernel {
            StoredKernel::FixedLength(kernel) => self.cost_of_sequences(kernel, of.size()),
            StoredKernel::ModelSet(kernel) => self.cost_of_set(kernel),
            StoredKernel::Hidden(kernel) => kernel.cost(of.size()),
            StoredKernel::Models(kernel) => kernel.cost(&self.models),
            StoredKernel::Scores(kernel) => self.cost_of_scores(kernel),
        };
        cost.model_bytes += coefficients;
        cost.multiply_adds_per_decision += outputs * items;
        // Of the kernels' common scale.
        cost.exponentials_per_decision += 1;
        cost
    }

    fn cost_of_sequences(&self, kernel: &Sequences, size: usize) -> Cost {
        let (n, [items, length]) = (self.states(), self.kernel.sizes());
        let own = usize::from(kernel.norms.normalised);
        let mut emissions = 0;
        self.models.iter().for_each(|model| model.for_each_real(&mut |_| emissions += 4));
        // Of each sample: what it stores, what its row takes.
        let (bytes, adds, exponentials) = match &kernel.stored {
            Stored::Symbols(_) => (symbol_bytes(size), 0, 0),
            Stored::Channels(_) => {
                let row = FilterWork::of_row(n, &self.emission());
                (4 * size, row.multiply_adds, row.exponentials)
            }
        };
        // A row of the stream's own for the kernels and for its norm, and one for each stored sample.
        let rows = items + 1 + own;
        // A kernel that may be zero: a belief and whether there is one.
        let row = belief_bytes(n, 0) + 8;
        let aligned = items * row + 8;
        Cost {
            state_bytes: aligned + own * (row + 8),
            model_bytes: emissions + (4 + 8 * items) + own * 8 + items * length * bytes + 4 * items,
            multiply_adds_per_sample: (items + own) * (n * n + 2 * n) + rows * adds,
            exponentials_per_sample: rows * exponentials,
            exponentials_per_decision: items,
            logarithms_per_decision: items + own,
            ..Cost::default()
        }
    }

    fn cost_of_set(&self, kernel: &ModelSet) -> Cost {
        let (n, models, items) = (self.states(), self.models.len(), kernel.stored.len());
        let work = FilterWork::of(n, 0, &self.emission());
        let mut numbers = 0;
        self.models.iter().for_each(|model| model.for_each_real(&mut |_| numbers += 4));
        Cost {
            // A filter that may be ruled out: a belief and whether there is one.
            state_bytes: models * (belief_bytes(n, 0) + 8),
            // References to models, prior and items, and a flag.
            model_bytes: numbers + 4 * models + 4 * items * (models + 1) + 16,
            multiply_adds_per_sample: models * work.multiply_adds,
            exponentials_per_sample: models * work.exponentials,
            exponentials_per_decision: items * (models + 1),
            logarithms_per_decision: models + items + usize::from(kernel.norms.normalised),
            ..Cost::default()
        }
    }

    fn cost_of_scores(&self, kernel: &Scores) -> Cost {
        let [items, entries] = self.kernel.sizes();
        let streaming = Streaming::of(self.models.len(), self.states(), &self.emission());
        let whitening = match kernel.whitening {
            DeployedWhitening::Diagonal(_) => 1,
            DeployedWhitening::Full(_) => entries,
        };
        let (exponentials, roots) = kernel.kernel.exponentials_and_roots(items, entries);
        Cost {
            state_bytes: streaming.state_bytes,
            // Parametrisation, normalisation and kernel are words beside.
            model_bytes: streaming.model_bytes + 4 * entries * (1 + whitening + items) + 16,
            multiply_adds_per_sample: streaming.multiply_adds,
            exponentials_per_sample: streaming.exponentials,
            multiply_adds_per_decision: entries * (whitening + items),
            exponentials_per_decision: exponentials,
            logarithms_per_decision: if kernel.likelihood { self.models.len() } else { 0 },
            roots_per_decision: roots,
            ..Cost::default()
        }
    }
}

/// Bytes of a stored symbol of an alphabet of `symbols` symbols.
pub(super) fn symbol_bytes(symbols: usize) -> usize {
    if symbols <= 1 << 8 { 1 } else { 2 }
}
