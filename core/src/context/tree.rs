use crate::error::{ErrorKind, ModelError, ObservationError, Part};
use crate::number::{Compensated, Real};

/// The longest context of a [`ContextTree`].
pub const DEEPEST_CONTEXT: usize = 32;

/// No such node: the root is nobody's child.
const NONE: u16 = 0;

/// Symbols seen last, and the nodes of their contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
struct Past {
    /// The latest first.
    symbols: [u16; DEEPEST_CONTEXT],
    known: usize,
}

/// Context tree weighting: the Bayes mixture of all suffix trees up to a depth, learnt as symbols come.
///
/// A node is a context, the symbols seen last. It predicts by the counts `c` of the symbols that followed it; its mixture with the
/// context one symbol longer is
///
/// ```text
/// p_e(k) = (c_k + alpha) / (n + K alpha)
/// p_w(k) = w p_e(k) + (1 - w) p_w of the longer context (k)          w = 1 at the depth
/// w      = stop b / (stop b + 1 - stop)             b = prod_t p_e(x_t) / p_w of the longer context (x_t)
/// ```
///
/// so that `p_w` of the root is the sum over all trees of what the tree says, each with the prior `stop^leaves (1 - stop)^splits`, of
/// leaves above the depth. What is pushed is learnt. [`observe`](Self::observe) moves the context alone: a tree that is frozen.
///
/// Nodes come from buffers that the caller lends. When they are used up, contexts that are new have no node, and predict every
/// symbol alike: it stays a mixture of trees.
///
/// Cost per symbol that is learnt: `D + 1` nodes of `K` counts and a logarithm each, however long the stream. A prediction of all
/// symbols takes `D + 1` exponentials and as many sums of `K` counts, and `K` multiply-adds per node. RAM per node: `1 + K` reals and
/// `K` indices of two bytes.
///
/// Sources: Willems, Shtarkov and Tjalkens, "The context-tree weighting method: basic properties", IEEE Transactions on Information
/// Theory 41, 1995, equations 12 to 15; for the ratio `b` Willems and Tjalkens, "Complexity reduction of the context-tree weighting
/// algorithm", 1997; Shawe-Taylor and Cristianini, "Kernel Methods for Pattern Analysis", 2004, remark 12.33.
///
/// ```
/// use fishweir_core::context::ContextTree;
///
/// let (mut child, mut count, mut ratio) = ([0; 2 * 15], [0.0_f32; 2 * 15], [0.0; 15]);
/// let mut tree = ContextTree::new(2, 3, 0.5, 0.5, &mut child, &mut count, &mut ratio)?;
/// for symbol in [0, 1, 0, 1, 0, 1, 0, 1, 0] {
///     tree.push(symbol)?; // the logarithm of its probability
/// }
/// let mut next = [0.0; 2];
/// tree.predict(&mut next);
/// assert!(next[1] > 0.75);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ContextTree<'b, T> {
    /// `[node][symbol]`.
    child: &'b mut [u16],
    /// `[node][symbol]`.
    count: &'b mut [T],
    /// `log b`, `[node]`.
    ratio: &'b mut [T],
    symbols: usize,
    depth: usize,
    alpha: T,
    /// `log(stop / (1 - stop))`.
    odds: T,
    used: usize,
    past: Past,
    log: Compensated<T>,
}

impl<'b, T: Real> ContextTree<'b, T> {
    /// A tree that has seen nothing, over `symbols` symbols, of contexts up to `depth`, which is cut to [`DEEPEST_CONTEXT`].
    ///
    /// `alpha` is added to every count; `stop` is the prior probability that a node above the depth is a leaf. There are as many nodes
    /// as the shortest buffer holds, 65 535 at most: `symbols` indices and counts, and one ratio, each.
    ///
    /// # Errors
    /// No symbols, `alpha` that is not positive and finite, `stop` that is not between 0 and 1.
    pub fn new(
        symbols: usize,
        depth: usize,
        alpha: T,
        stop: T,
        child: &'b mut [u16],
        count: &'b mut [T],
        ratio: &'b mut [T],
    ) -> Result<Self, ModelError> {
        let wrong = |name, kind| Err(ModelError::new(Part::Parameter(name), kind, 0, 0));
        if symbols == 0 {
            return wrong("symbols", ErrorKind::NotPositive);
        }
        if !alpha.is_finite() || alpha <= T::ZERO {
            return wrong("alpha", ErrorKind::NotPositive);
        }
        // Neither holds of NaN.
        let within = stop > T::ZERO && stop < T::ONE;
        if !within {
            return wrong("stop", ErrorKind::NotInRange);
        }
        let past = Past { symbols: [0; DEEPEST_CONTEXT], known: 0 };
        let depth = depth.min(DEEPEST_CONTEXT);
        let odds = stop.ln() - (T::ONE - stop).ln();
        let log = Compensated::ZERO;
        let mut tree =
            Self { child, count, ratio, symbols, depth, alpha, odds, used: 0, past, log };
        tree.clear();
        Ok(tree)
    }

    /// Forgets everything that was learnt.
    pub fn clear(&mut self) {
        self.child.fill(NONE);
        self.count.fill(T::ZERO);
        self.ratio.fill(T::ZERO);
        self.used = usize::from(!self.ratio.is_empty());
        self.log = Compensated::ZERO;
        self.forget_past();
    }

    /// Forgets the symbols seen last, not what was learnt: a string begins, or symbols are missing.
    pub fn forget_past(&mut self) {
        self.past.known = 0;
    }

    /// Number of symbols of the alphabet.
    pub const fn symbols(&self) -> usize {
        self.symbols
    }

    /// Nodes in use.
    pub const fn nodes(&self) -> usize {
        self.used
    }

    /// `log p(x_1..t)` of all symbols that were pushed.
    pub fn log_probability(&self) -> T {
        self.log.total()
    }

    /// Posterior probability that the root is a leaf: that symbols are independent.
    pub fn root_weight(&self) -> T {
        if self.depth == 0 { T::ONE } else { self.weight(0) }
    }

    /// Returns the node one symbol further into the past than another, where it exists.
    pub fn child(&self, node: usize, symbol: usize) -> Option<usize> {
        let at = node.checked_mul(self.symbols)?.checked_add(symbol)?;
        match self.child.get(at) {
            Some(&child) if child != NONE && symbol < self.symbols => Some(child.into()),
            _ => None,
        }
    }

    /// Takes a symbol for seen without learning from it.
    ///
    /// # Errors
    /// [`ObservationError::UnknownSymbol`]. The state is unchanged.
    pub fn observe(&mut self, symbol: usize) -> Result<(), ObservationError> {
        if symbol >= self.symbols {
            return Err(ObservationError::UnknownSymbol);
        }
        let Past { symbols, known } = &mut self.past;
        symbols.copy_within(..DEEPEST_CONTEXT - 1, 1);
        symbols[0] = symbol as u16;
        *known = (*known + 1).min(DEEPEST_CONTEXT);
        Ok(())
    }

    /// Writes the probability of each symbol to come next.
    pub fn predict(&self, next: &mut [T]) {
        let mut path = [NONE; DEEPEST_CONTEXT + 1];
        let (deepest, leaf) = self.path(&mut path);
        next.fill(T::ONE / T::from_count(self.symbols as u64));
        for (at, &node) in path.iter().take(deepest + 1).enumerate().rev() {
            let node = usize::from(node);
            let total = self.total(node);
            let weight = if leaf && at == deepest { T::ONE } else { self.weight(node) };
            for (symbol, p) in next.iter_mut().enumerate() {
                *p = mixed(weight, self.estimate(node, symbol, total), *p);
            }
        }
    }

    /// Learns a symbol, and returns the logarithm of the probability that it had.
    ///
    /// # Errors
    /// [`ObservationError::UnknownSymbol`]. The state is unchanged.
    pub fn push(&mut self, symbol: usize) -> Result<T, ObservationError> {
        if symbol >= self.symbols {
            return Err(ObservationError::UnknownSymbol);
        }
        self.grow();
        let mut path = [NONE; DEEPEST_CONTEXT + 1];
        let (deepest, leaf) = self.path(&mut path);
        let mut p = T::ONE / T::from_count(self.symbols as u64);
        for (at, &node) in path.iter().take(deepest + 1).enumerate().rev() {
            let node = usize::from(node);
            let own = self.estimate(node, symbol, self.total(node));
            if leaf && at == deepest {
                p = own;
            } else {
                let mixture = mixed(self.weight(node), own, p);
                if let Some(ratio) = self.ratio.get_mut(node) {
                    *ratio = *ratio + (own / p).ln();
                }
                p = mixture;
            }
            self.learn(node, symbol);
        }
        let log = p.ln();
        self.log.add(log);
        self.observe(symbol)?;
        Ok(log)
    }

    /// Nodes of the known context, the root's first; the index of the deepest, and whether its context is as long as can be known.
    fn path(&self, path: &mut [u16; DEEPEST_CONTEXT + 1]) -> (usize, bool) {
        let longest = self.past.known.min(self.depth);
        let mut node = 0;
        for (at, &symbol) in self.past.symbols.iter().take(longest).enumerate() {
            let Some(child) = self.child(node, symbol.into()) else { return (at, false) };
            node = child;
            if let Some(entry) = path.get_mut(at + 1) {
                *entry = child as u16;
            }
        }
        (longest, true)
    }

    /// Makes the nodes of the known context that there are not, as long as there is room.
    fn grow(&mut self) {
        let longest = self.past.known.min(self.depth);
        let room = self.ratio.len().min(usize::from(u16::MAX));
        let mut node = 0;
        for at in 0..longest {
            let Some(&symbol) = self.past.symbols.get(at) else { return };
            let place = node * self.symbols + usize::from(symbol);
            // The last node's row must be there.
            let there = (self.used + 1) * self.symbols;
            let free = self.used < room && there <= self.child.len() && there <= self.count.len();
            match self.child.get_mut(place) {
                Some(child) if *child != NONE => node = usize::from(*child),
                Some(child) if free => {
                    *child = self.used as u16;
                    node = self.used;
                    self.used += 1;
                }
                _ => return,
            }
        }
    }

    /// Counts a symbol in a node. A count that one more does not change, `2^24` in `f32`, halves the node's counts: from there on
    /// the node forgets.
    fn learn(&mut self, node: usize, symbol: usize) {
        let first = node * self.symbols;
        let Some(counts) = self.count.get_mut(first..first + self.symbols) else { return };
        let Some(count) = counts.get_mut(symbol) else { return };
        let more = *count + T::ONE;
        if more <= *count {
            for count in &mut *counts {
                *count = *count * T::power_of_two(-1);
            }
        }
        if let Some(count) = counts.get_mut(symbol) {
            *count = *count + T::ONE;
        }
    }

    /// Counts of all symbols in a node, with `alpha` for each.
    fn total(&self, node: usize) -> T {
        let mut total = T::ZERO;
        for &count in self.count.iter().skip(node * self.symbols).take(self.symbols) {
            total = total + count;
        }
        total + T::from_count(self.symbols as u64) * self.alpha
    }

    /// `p_e` of a node whose counts are summed.
    fn estimate(&self, node: usize, symbol: usize, total: T) -> T {
        let own = self.count.get(node * self.symbols + symbol).copied().unwrap_or(T::ZERO);
        (own + self.alpha) / total
    }

    /// Posterior probability that a node above the depth is a leaf.
    fn weight(&self, node: usize) -> T {
        let log = self.odds + self.ratio.get(node).copied().unwrap_or(T::ZERO);
        T::ONE / (T::ONE + (-log).exp())
    }
}

fn mixed<T: Real>(weight: T, own: T, longer: T) -> T {
    weight * own + (T::ONE - weight) * longer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_are_full_go_on() {
        let full = 16_777_216.0_f32;
        let (mut child, mut count, mut ratio) = ([0; 2], [0.0; 2], [0.0; 1]);
        let tree = ContextTree::new(2, 0, 0.5, 0.5, &mut child, &mut count, &mut ratio);
        let mut tree = tree.expect("valid settings");
        tree.count.copy_from_slice(&[full, full / 9.0]);
        for time in 0..1000 {
            assert!(tree.push(usize::from(time % 10 == 0)).is_ok());
        }
        let mut next = [0.0; 2];
        tree.predict(&mut next);
        assert!((next[0] - 0.9).abs() < 1e-3, "{next:?}");
        assert!(tree.count[0] < full);
    }
}
