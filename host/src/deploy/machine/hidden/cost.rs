//! Cost of kernels over hidden models on a device.

use super::{Binomial, Hidden, Law, Pair, Tree};
use crate::deploy::cost::{Cost, belief_bytes};
use crate::deploy::machine::cost::symbol_bytes;

/// Bytes of a row of `n` reals with a power of two of its own, whose 64-bit exponent aligns it.
fn scaled_bytes(n: usize) -> usize {
    (4 * n).next_multiple_of(8) + 8
}

/// Bytes of a bank's state: states, and whether each kernel is ruled out.
fn bank_bytes(items: usize, state: usize) -> usize {
    (items * state + items).next_multiple_of(8)
}

impl Hidden {
    /// Cost of the kernel against its stored strings, without coefficients.
    ///
    /// Against `M` strings of up to `L` symbols, and the stream's own norm as one more: of the hidden binomial, `M` numbers and
    /// as many products; of the pair HMM, `(L + 1) N` numbers and `L (N^2 + 6 N)` multiply-adds per symbol each; of a tree of
    /// `V` nodes, `depth N` numbers and `V N^2` multiply-adds per string each, of pruned trees three times that.
    pub(in crate::deploy::machine) fn cost(&self, symbols: usize) -> Cost {
        let (items, own) = (self.stored.len(), usize::from(self.norms.normalised));
        let length = self.stored.iter().map(Vec::len).max().unwrap_or(0);
        let stored: usize = self.stored.iter().map(Vec::len).sum::<usize>() * symbol_bytes(symbols);
        let kernel = match &self.law {
            Law::Binomial(law) => law.cost((items, own)),
            Law::Pair(law) => law.cost((items, own), (length, self.room), symbols),
            Law::Tree(law) => law.cost((items, own)),
        };
        Cost {
            model_bytes: kernel.model_bytes + stored + 4 * items,
            exponentials_per_decision: items,
            logarithms_per_decision: items + own,
            ..kernel
        }
    }
}

impl Binomial {
    fn cost(&self, (items, own): (usize, usize)) -> Cost {
        // A kernel that may be zero: a belief and whether there is one.
        let row = belief_bytes(1, 0) + 8;
        let numbers: usize = self.tables.iter().flatten().map(Vec::len).sum();
        Cost {
            state_bytes: items * row + 8 + own * (row + 8),
            // References to tables and strings.
            model_bytes: 4 * numbers + 12 + 8 * items + own * 16,
            multiply_adds_per_sample: items + own,
            ..Cost::default()
        }
    }
}

impl Pair {
    fn cost(
        &self,
        (items, own): (usize, usize),
        (length, room): (usize, usize),
        symbols: usize,
    ) -> Cost {
        let n = self.initial.len();
        let row = scaled_bytes(n);
        let column = (length + 2) * row + 8;
        let norm = ((room + 2) * row + 2 * (room + 1) + 4).next_multiple_of(8);
        let cell = n * n + 6 * n;
        Cost {
            state_bytes: bank_bytes(items, column) + own * norm,
            // References to model and string.
            model_bytes: 4 * (n * (n + symbols + 3) + 1) + 12 * items + own * 4,
            multiply_adds_per_sample: (items * (length + 1) + own * (room + 1)) * cell,
            ..Cost::default()
        }
    }
}

impl Tree {
    fn cost(&self, (items, own): (usize, usize)) -> Cost {
        let (p, nodes, leaves) = (self.root.len(), self.children.len(), self.places.len());
        let (value, rows) = match self.pruned {
            false => (scaled_bytes(p), 1),
            true => (3 * scaled_bytes(p) + scaled_bytes(1), 3),
        };
        let open = self.depth * (value + 8) + 8;
        let traversal = open + 8 + value + 8;
        let numbers = p + self.transition.len() * p * p;
        let arity = if self.arity.is_some() { 2 * p } else { 0 };
        let (queue, places) = if self.in_order() {
            (0, 0)
        } else {
            ((2 * leaves + 8).next_multiple_of(4), 2 * leaves + 12)
        };
        Cost {
            state_bytes: bank_bytes(items, traversal) + own * traversal + queue.next_multiple_of(8),
            // References to model, tree and string.
            model_bytes: 4 * numbers + 4 * nodes + 16 + arity + 2 + 24 * items + own * 16 + places,
            // A leaf's share of the tree: at most that of the inner nodes which it completes.
            multiply_adds_per_sample: (items + own) * rows * (nodes * p * p).div_ceil(leaves),
            ..Cost::default()
        }
    }
}
