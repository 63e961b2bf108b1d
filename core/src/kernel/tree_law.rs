use super::{KernelError, Scaled, TreeShape};
use crate::error::{ModelError, Part, check_distribution};
use crate::hmm::backward;
use crate::number::Real;

/// The branch to a node from its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Branch {
    /// Index of the node among its parent's children.
    pub child: usize,
    /// The node's entry in the tree's code.
    pub node: usize,
}

/// Message of a node of a [`PrunedTree`](super::PrunedTree).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PruningMessage<T, const P: usize> {
    /// The sum over prunings that keep the node; of a message, over all.
    pub(super) kernel: Scaled<T, P>,
    /// The likelihoods of the stored string's and of the stream's leaves below.
    pub(super) alone: [Scaled<T, P>; 2],
    /// The number of prunings.
    pub(super) count: Scaled<T, 1>,
}

/// The messages of kernels on trees over the states of a model: types that follow from its reals and its number of states.
pub trait TreeMessages {
    /// Message of a kernel that sums over all labellings: see `HiddenTree`.
    type Sum;
    /// Message of a kernel that sums over all prunings: see `PrunedTree`.
    type Pruned;
}

/// Transition model of a hidden tree, as the kernels of trees use it.
///
/// States and symbols are the same `P`: a leaf shows its state.
pub trait TreeTransition<T: Real, const P: usize>:
    TreeMessages<Sum = Scaled<T, P>, Pruned = PruningMessage<T, P>>
{
    /// The prior of the root, `[state]`.
    fn root(&self) -> &[T; P];

    /// Number of children of a node in each state, `[state]`; `None` if states do not determine it.
    fn arity(&self) -> Option<&[u16; P]>;

    /// The transition probabilities along a branch, `[from][to]`.
    fn branch(&self, branch: Branch) -> Option<&[[T; P]; P]>;

    /// Checks that every branch of a tree has transition probabilities.
    ///
    /// # Errors
    /// The first node for which they are missing.
    fn check(&self, shape: TreeShape<'_>) -> Result<(), KernelError>;

    /// Checks every number.
    ///
    /// # Errors
    /// The first probability that is negative or not finite, or row that does not sum to one.
    fn validate(&self) -> Result<(), ModelError>;

    /// Bytes that the model borrows.
    fn borrowed_bytes(&self) -> usize {
        0
    }

    /// A node before its children: one for each state that it can be in.
    #[inline]
    fn open(&self, children: u16) -> Scaled<T, P> {
        let mut row = [T::ONE; P];
        if let Some(arity) = self.arity() {
            for (entry, &arity) in row.iter_mut().zip(arity) {
                if arity != children {
                    *entry = T::ZERO;
                }
            }
        }
        Scaled::new(row)
    }

    /// Message of a leaf to its parent, `[state]`: `P(symbol | a)`, one where the symbol is missing.
    #[inline]
    fn leaf(&self, branch: Branch, symbol: Option<usize>) -> Scaled<T, P> {
        let Some(symbol) = symbol else { return Scaled::new([T::ONE; P]) };
        if self.arity().is_some_and(|arity| arity.get(symbol) != Some(&0)) {
            return Scaled::ZERO;
        }
        let Some(transition) = self.branch(branch) else { return Scaled::ZERO };
        let mut row = [T::ZERO; P];
        for (entry, to) in row.iter_mut().zip(transition) {
            *entry = to.get(symbol).copied().unwrap_or(T::ZERO);
        }
        Scaled::new(row)
    }

    /// Message of an inner node to its parent: `sum_b P(b | a) v_b`. `P^2` multiply-adds.
    #[inline]
    fn message(&self, branch: Branch, value: &Scaled<T, P>) -> Scaled<T, P> {
        match self.branch(branch) {
            Some(transition) => value.map(|row| backward(transition, row)),
            None => Scaled::ZERO,
        }
    }
}

/// Checks the root's prior and the rows of transitions, counted through matrix by matrix.
pub(super) fn check_tree_rows<T: Real, const P: usize>(
    root: &[T; P],
    transition: &[[[T; P]; P]],
) -> Result<(), ModelError> {
    check_distribution(root.iter().copied(), Part::Prior, 0)?;
    for (from, row) in transition.iter().flatten().enumerate() {
        check_distribution(row.iter().copied(), Part::Transition, from)?;
    }
    Ok(())
}
