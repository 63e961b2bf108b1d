use crate::error::{ModelError, Part, check_distribution};
use crate::hmm::retract;
use crate::number::Real;

use super::Scaled;

/// Where a hidden tree's states come from: the root's from a prior, a child's from its parent's,
/// `transition[child][from][to] = P_j(to | from)`.
///
/// States and symbols are the same `P`: a leaf shows its state. With `J = 1` all children of a node
/// share one matrix; else the `j`-th has its own. States may be [tied to
/// arities](Self::with_arities).
///
/// Source: the first seed document, section 12.1.6. Flash: `P + J P^2` reals, and 2 B a state.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TreeModel<T, const P: usize, const J: usize> {
    root: [T; P],
    transition: [[[T; P]; P]; J],
    arity: Option<[u16; P]>,
}

impl<T: Real, const P: usize, const J: usize> TreeModel<T, P, J> {
    /// A model from `root[state]` and `transition[child][from][to]`.
    ///
    /// # Errors
    /// The first probability that is negative or not finite, or row that does not sum to one; rows of
    /// the transitions are counted through, child by child.
    pub fn new(root: [T; P], transition: [[[T; P]; P]; J]) -> Result<Self, ModelError> {
        const { assert!(P > 0 && J > 0, "a tree model needs a state and a transition matrix") };
        check_distribution(root.iter().copied(), Part::Prior, 0)?;
        for (from, row) in transition.iter().flatten().enumerate() {
            check_distribution(row.iter().copied(), Part::Transition, from)?;
        }
        Ok(Self { root, transition, arity: None })
    }

    /// Ties states to numbers of children, `[state]`: a node with `c` children can only be in a state
    /// of arity `c`, and a leaf only show a symbol of arity 0. What other states would have had is
    /// lost.
    #[must_use]
    pub const fn with_arities(mut self, arity: [u16; P]) -> Self {
        self.arity = Some(arity);
        self
    }

    /// The prior of the root, `[state]`.
    pub const fn root(&self) -> &[T; P] {
        &self.root
    }

    /// The transition probabilities, `[child][from][to]`.
    pub const fn transition(&self) -> &[[[T; P]; P]; J] {
        &self.transition
    }

    /// How many children a node may have; `None` where all children share a matrix.
    pub(super) const fn most_children(&self) -> Option<usize> {
        if J == 1 { None } else { Some(J) }
    }

    /// The transitions to a node's `child`-th child; a kernel has checked that there are any.
    #[inline(always)]
    fn edge(&self, child: usize) -> Option<&[[T; P]; P]> {
        self.transition.get(if J == 1 { 0 } else { child })
    }

    /// A node before its children: one for each state that it can be in.
    #[inline]
    pub(super) fn open(&self, children: u16) -> Scaled<T, P> {
        let mut row = [T::ONE; P];
        if let Some(arity) = &self.arity {
            for (entry, &arity) in row.iter_mut().zip(arity) {
                if arity != children {
                    *entry = T::ZERO;
                }
            }
        }
        Scaled::new(row)
    }

    /// What a leaf tells its parent, `[state]`: `P_j(symbol | a)`, one where the symbol is missing.
    #[inline]
    pub(super) fn leaf(&self, child: usize, symbol: Option<usize>) -> Scaled<T, P> {
        let Some(symbol) = symbol else { return Scaled::new([T::ONE; P]) };
        if self.arity.is_some_and(|arity| arity.get(symbol) != Some(&0)) {
            return Scaled::ZERO;
        }
        let Some(transition) = self.edge(child) else { return Scaled::ZERO };
        let mut row = [T::ZERO; P];
        for (entry, to) in row.iter_mut().zip(transition) {
            *entry = to.get(symbol).copied().unwrap_or(T::ZERO);
        }
        Scaled::new(row)
    }

    /// What an inner child tells its parent: `sum_b P_j(b | a) v_b`. `P^2` multiply-adds.
    #[inline]
    pub(super) fn message(&self, child: usize, value: &Scaled<T, P>) -> Scaled<T, P> {
        match self.edge(child) {
            Some(transition) => value.map(|row| retract(transition, row)),
            None => Scaled::ZERO,
        }
    }
}

impl<T: Real> TreeModel<T, 2, 1> {
    /// The model of two states and three parameters: `P(0 | 1) = epsilon`, `P(1 | 0) = delta`, and
    /// `P(root = 1) = tau`.
    ///
    /// Its sizes are constants, and so the recursion is the example's two lines:
    ///
    /// ```text
    /// k[0] = prod_j ( (1 - delta) k_j[0] + delta k_j[1] )
    /// k[1] = prod_j ( epsilon k_j[0] + (1 - epsilon) k_j[1] )
    /// ```
    ///
    /// Source: the first seed document, Examples 12.16 and 12.19, with the second's tables upright.
    ///
    /// # Errors
    /// A parameter outside `[0, 1]`, named as an entry of the root's prior or of the transitions.
    pub fn binary(epsilon: T, delta: T, tau: T) -> Result<Self, ModelError> {
        let transition = [[T::ONE - delta, delta], [epsilon, T::ONE - epsilon]];
        Self::new([T::ONE - tau, tau], [transition])
    }

    /// The model of phylogenetic profiles: whether each of a tree's species has a gene. `gain` is the
    /// probability that a species has it where its parent has not, `loss` that it has not where its
    /// parent has, `present` that the root has it.
    ///
    /// A profile is `[bool]`, one a leaf; of a species that was not examined, a missing symbol.
    ///
    /// Source: the first seed document, Example 12.20.
    ///
    /// # Errors
    /// A parameter outside `[0, 1]`, named as an entry of the root's prior or of the transitions.
    pub fn phylogeny(gain: T, loss: T, present: T) -> Result<Self, ModelError> {
        Self::binary(loss, gain, present)
    }
}
