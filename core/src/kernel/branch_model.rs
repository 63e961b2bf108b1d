use super::tree_law::check_tree_rows;
use super::{Branch, KernelError, PruningMessage, Scaled, TreeMessages, TreeShape, TreeTransition};
use crate::error::ModelError;
use crate::number::Real;

/// Transition model of a hidden tree with one matrix per branch: a long branch forgets more than a short one.
///
/// Matrices are borrowed, and branches may share them: `of_node[node]` is the matrix of the branch to the node of that entry of
/// the tree's code; the root's entry is not used. Otherwise as [`TreeModel`](super::TreeModel).
///
/// Source: Shawe-Taylor and Cristianini, "Kernel Methods for Pattern Analysis", 2004, section
/// 12.1.6, Example 12.20. Flash: `P + P^2` reals per matrix and 2 B per node.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct BranchModel<'m, T, const P: usize> {
    root: [T; P],
    transition: &'m [[[T; P]; P]],
    of_node: &'m [u16],
    arity: Option<[u16; P]>,
}

impl<'m, T: Real, const P: usize> BranchModel<'m, T, P> {
    /// A model from `root[state]`, `transition[matrix][from][to]` and `of_node[node]`.
    ///
    /// # Errors
    /// The first probability that is negative or not finite, or row that does not sum to one; rows of
    /// the transitions are counted through, matrix by matrix.
    pub fn new(
        root: [T; P],
        transition: &'m [[[T; P]; P]],
        of_node: &'m [u16],
    ) -> Result<Self, ModelError> {
        let model = Self::from_parts(root, transition, of_node);
        model.validate()?;
        Ok(model)
    }

    /// A model of numbers checked before, as an export writes them; [`validate`](TreeTransition::validate) checks them again.
    pub const fn from_parts(
        root: [T; P],
        transition: &'m [[[T; P]; P]],
        of_node: &'m [u16],
    ) -> Self {
        const { assert!(P > 0, "P must be at least 1") };
        Self { root, transition, of_node, arity: None }
    }

    /// Ties states to numbers of children, as
    /// [`TreeModel::with_arities`](super::TreeModel::with_arities) does.
    #[must_use]
    pub const fn with_arities(mut self, arity: [u16; P]) -> Self {
        self.arity = Some(arity);
        self
    }
}

impl<T, const P: usize> TreeMessages for BranchModel<'_, T, P> {
    type Sum = Scaled<T, P>;
    type Pruned = PruningMessage<T, P>;
}

impl<T: Real, const P: usize> TreeTransition<T, P> for BranchModel<'_, T, P> {
    fn root(&self) -> &[T; P] {
        &self.root
    }

    fn arity(&self) -> Option<&[u16; P]> {
        self.arity.as_ref()
    }

    #[inline(always)]
    fn branch(&self, branch: Branch) -> Option<&[[T; P]; P]> {
        self.transition.get(usize::from(*self.of_node.get(branch.node)?))
    }

    fn validate(&self) -> Result<(), ModelError> {
        check_tree_rows(&self.root, self.transition)
    }

    fn borrowed_bytes(&self) -> usize {
        size_of_val(self.transition) + size_of_val(self.of_node)
    }

    fn check(&self, shape: TreeShape<'_>) -> Result<(), KernelError> {
        let nodes = shape.arity().len();
        let bare = |&node: &usize| self.branch(Branch { child: 0, node }).is_none();
        match (1..nodes).find(bare) {
            Some(node) => Err(KernelError::Branch { node }),
            None => Ok(()),
        }
    }
}
