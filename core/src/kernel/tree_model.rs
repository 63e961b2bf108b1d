use super::tree_law::check_tree_rows;
use super::{Branch, KernelError, PruningMessage, Scaled, TreeMessages, TreeShape, TreeTransition};
use crate::error::ModelError;
use crate::number::Real;

/// Transition model of a hidden tree: a prior for the root, and for each child `transition[child][from][to] = P_j(to | from)`.
///
/// States and symbols are the same `P`: a leaf shows its state. With `J = 1` all children of a node
/// share one matrix; else the `j`-th has its own. States may be [tied to
/// arities](Self::with_arities).
///
/// Source: Shawe-Taylor and Cristianini, "Kernel Methods for Pattern Analysis", 2004, section
/// 12.1.6. Flash: `P + J P^2` reals, and 2 B per state.
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
        const { assert!(P > 0 && J > 0, "P and J must be at least 1") };
        check_tree_rows(&root, &transition)?;
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
}

impl<T, const P: usize, const J: usize> TreeMessages for TreeModel<T, P, J> {
    type Sum = Scaled<T, P>;
    type Pruned = PruningMessage<T, P>;
}

impl<T: Real, const P: usize, const J: usize> TreeTransition<T, P> for TreeModel<T, P, J> {
    fn root(&self) -> &[T; P] {
        &self.root
    }

    fn arity(&self) -> Option<&[u16; P]> {
        self.arity.as_ref()
    }

    #[inline(always)]
    fn branch(&self, branch: Branch) -> Option<&[[T; P]; P]> {
        self.transition.get(if J == 1 { 0 } else { branch.child })
    }

    fn validate(&self) -> Result<(), ModelError> {
        check_tree_rows(&self.root, &self.transition)
    }

    fn check(&self, shape: TreeShape<'_>) -> Result<(), KernelError> {
        match shape.arity().iter().position(|&children| J > 1 && usize::from(children) > J) {
            Some(node) => Err(KernelError::Arity { node }),
            None => Ok(()),
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
    /// Source: Shawe-Taylor and Cristianini, "Kernel Methods for Pattern Analysis", 2004, Examples
    /// 12.16 and 12.19, with the second's tables upright.
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
    /// Source: Shawe-Taylor and Cristianini, "Kernel Methods for Pattern Analysis", 2004, Example
    /// 12.20.
    ///
    /// # Errors
    /// A parameter outside `[0, 1]`, named as an entry of the root's prior or of the transitions.
    pub fn phylogeny(gain: T, loss: T, present: T) -> Result<Self, ModelError> {
        Self::binary(loss, gain, present)
    }
}
