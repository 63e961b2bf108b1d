use fishweir_core::context::{ContextTree, DEEPEST_CONTEXT};

use super::error::MOST_CONTEXTS;
use super::{ContextModelError, MarkovModel};
use crate::data::SamplesView;
use crate::runtime::HmmError;

/// The Bayes mixture over all suffix trees up to a depth, learnt from strings and then fixed, as a [`MarkovModel`]: each context that
/// was seen has the mixture's prediction, so that prediction is a look-up per symbol, on a device too.
///
/// Where a string begins, and in a context that was never seen, the longest suffix that was seen predicts.
///
/// Source: Willems, Shtarkov and Tjalkens, "The context-tree weighting method", 1995. Time: `D + 1` nodes of `K` counts per symbol.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContextTreeWeighting {
    /// Symbols of the longest context.
    pub depth: usize,
    /// Added to every count: 1/2 is the estimator of Krichevsky and Trofimov.
    pub alpha: f64,
    /// Prior probability that a node above the depth is a leaf.
    pub stop: f64,
}

impl ContextTreeWeighting {
    /// Learns strings of `symbols` symbols.
    ///
    /// # Errors
    /// [`ContextModelError`] of a setting out of range, or more contexts than can be numbered.
    pub fn fit(
        &self,
        symbols: usize,
        sequences: &[SamplesView<'_>],
    ) -> Result<MarkovModel, ContextModelError> {
        let Self { depth, alpha, stop } = *self;
        let range = |part: &str, wanted| HmmError::Range { part: part.into(), wanted };
        if !(alpha > 0.0 && alpha.is_finite()) {
            return Err(range("pseudo-count", "above 0 and finite").into());
        }
        if !(stop > 0.0 && stop < 1.0) {
            return Err(range("stop", "above 0 and below 1").into());
        }
        if depth > DEEPEST_CONTEXT {
            return Err(range("depth", "at most 32").into());
        }
        let samples: usize = sequences.iter().map(SamplesView::len).sum();
        // No more than one of each length for every symbol.
        let nodes = (samples.saturating_mul(depth) + 1).min(MOST_CONTEXTS + 1);
        let (mut child, mut count) = (vec![0; nodes * symbols], vec![0.0; nodes * symbols]);
        let mut ratio = vec![0.0; nodes];
        let tree =
            ContextTree::new(symbols, depth, alpha, stop, &mut child, &mut count, &mut ratio);
        let mut tree = tree.map_err(|_| range("symbol", "of an alphabet that has some"))?;
        for sequence in sequences {
            tree.forget_past();
            for symbol in sequence.symbols().unwrap_or_default() {
                match symbol {
                    Some(symbol) => {
                        let pushed = tree.push(usize::from(*symbol));
                        pushed.map_err(|_| range("symbol", "in the alphabet"))?;
                    }
                    None => tree.forget_past(),
                }
            }
        }
        if tree.nodes() > MOST_CONTEXTS {
            return Err(ContextModelError::TooMany { symbols, longest: depth });
        }
        // Contexts node by node: a child is one symbol further into the past, which comes first.
        let mut contexts: Vec<Vec<u16>> = vec![Vec::new(); tree.nodes()];
        for node in 0..tree.nodes() {
            for symbol in 0..symbols {
                if let Some(child) = tree.child(node, symbol) {
                    let mut context = vec![symbol as u16];
                    context.extend_from_slice(&contexts[node]);
                    contexts[child] = context;
                }
            }
        }
        contexts.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        let mut probability = Vec::with_capacity(contexts.len());
        for context in &contexts {
            tree.forget_past();
            for &symbol in context {
                // Of the alphabet, as it was learnt.
                let _ = tree.observe(symbol.into());
            }
            let mut row = vec![0.0; symbols];
            tree.predict(&mut row);
            probability.push(row);
        }
        MarkovModel::new(symbols, false, contexts, probability)
    }
}
