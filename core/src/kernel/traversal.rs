use core::borrow::Borrow;
use core::marker::PhantomData;

use super::aligned::check_stored;
use super::{
    Branch, KernelError, Observed, Scaled, Stack, TreeMessages, TreeShape, TreeTransition, Validate,
};
use crate::error::{ObservationError, check_symbol};
use crate::filter::Streaming;
use crate::number::Real;

/// Message of a tree kernel at a node, computed from the leaves up and read at the root.
pub trait TreeMessage<T: Real, const P: usize>: Clone {
    /// Reading once the root is complete.
    type Reading;

    /// A node before its children.
    fn open(law: &impl TreeTransition<T, P>, children: u16) -> Self;
    /// Message of a leaf to its parent, from the stored symbol and the stream's.
    fn leaf(law: &impl TreeTransition<T, P>, branch: Branch, symbols: [Option<usize>; 2]) -> Self;
    /// Message of a complete inner node to its parent.
    fn rise(&self, law: &impl TreeTransition<T, P>, branch: Branch) -> Self;
    /// Takes a child's message in.
    fn take(&mut self, message: &Self);
    /// Reading of the root under the prior of its states.
    fn read(&self, law: &impl TreeTransition<T, P>) -> Self::Reading;
}

/// State of a tree kernel: the open nodes, from the root down, and the completed messages.
///
/// RAM: a node's values and three words for each level that the stack has room for.
#[derive(Clone, Debug, PartialEq)]
pub struct Traversal<V, O> {
    open: O,
    /// The next entry of the tree's code.
    node: usize,
    leaves: usize,
    root: Option<V>,
}

/// A node of which some children are not complete.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct OpenNode<V> {
    value: V,
    /// Index of the node in the tree's code.
    node: usize,
    children: u16,
    /// Children that are complete: the number of the next.
    complete: u16,
}

impl<V, O> Traversal<V, O> {
    /// Number of leaves, missing ones included.
    pub const fn leaves(&self) -> usize {
        self.leaves
    }

    /// Message of the root, once the last leaf has come.
    pub const fn root(&self) -> Option<&V> {
        self.root.as_ref()
    }
}

/// A recursion over a tree from its leaves up, against a stored string of them: where states come from is `G`'s
/// affair; what is computed at a node, and where open nodes are kept, that of the [`Stack`] `O`.
///
/// See [`HiddenTree`](super::HiddenTree) and [`PrunedTree`](super::PrunedTree).
#[derive(Debug)]
pub struct TreeKernel<'m, G, S, O> {
    law: &'m G,
    shape: TreeShape<'m>,
    stored: &'m [S],
    open: PhantomData<fn() -> O>,
}

impl<G, S, O> Clone for TreeKernel<'_, G, S, O> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<G, S, O> Copy for TreeKernel<'_, G, S, O> {}

impl<'m, T, S, V, O, G, const P: usize> TreeKernel<'m, G, S, O>
where
    T: Real,
    S: Observed<usize>,
    V: TreeMessage<T, P>,
    O: Stack<Item = OpenNode<V>>,
    G: TreeTransition<T, P> + TreeMessages<Sum = Scaled<T, P>>,
{
    /// The kernel under a model on a tree, against a stored string of its leaves, left to right.
    ///
    /// # Errors
    /// A string that is not as long as the tree has leaves, the first stored symbol that is no state,
    /// a node to which the model has no transitions, or a tree of more levels of inner nodes than there
    /// is room for.
    pub fn of(law: &'m G, shape: TreeShape<'m>, stored: &'m [S]) -> Result<Self, KernelError> {
        let (found, expected) = (stored.len(), shape.leaves());
        if found != expected {
            return Err(KernelError::Length { sequence: 0, found, expected });
        }
        check_stored(&[stored], |&symbol| check_symbol(symbol, P))?;
        law.check(shape)?;
        if let Some(available) = O::CAPACITY {
            let mut open = O::empty();
            for (node, &children) in shape.arity().iter().enumerate() {
                if let Some(parent) = open.top_mut() {
                    parent.complete += 1;
                }
                let value = V::open(law, children);
                if children > 0 && !open.push(OpenNode { value, node, children, complete: 0 }) {
                    return Err(KernelError::Capacity { needed: available + 1, available });
                }
                while open.top().is_some_and(OpenNode::is_complete) {
                    open.pop();
                }
            }
        }
        Ok(Self { law, shape, stored, open: PhantomData })
    }

    /// Transition model of the states.
    pub(super) const fn law(&self) -> &'m G {
        self.law
    }

    /// The next leaf and all nodes that are complete with it; `false` past the last.
    fn take(&self, state: &mut Traversal<V, O>, x: Option<usize>) -> bool {
        let Some(stored) = self.stored.get(state.leaves) else { return false };
        let Some(parent) = state.open.top_mut() else { return false };
        let stored = stored.observation().map(|symbol| *symbol.borrow());
        let branch = Branch { child: usize::from(parent.complete), node: state.node };
        parent.value.take(&V::leaf(self.law, branch, [stored, x]));
        parent.complete += 1;
        state.leaves += 1;
        state.node += 1;
        while state.open.top().is_some_and(OpenNode::is_complete)
            && let Some(complete) = state.open.pop()
        {
            let Some(parent) = state.open.top_mut() else {
                state.root = Some(complete.value);
                return true;
            };
            let branch = Branch { child: usize::from(parent.complete), node: complete.node };
            parent.value.take(&complete.value.rise(self.law, branch));
            parent.complete += 1;
        }
        self.descend(state);
        true
    }

    /// Opens nodes down to the next leaf.
    fn descend(&self, state: &mut Traversal<V, O>) {
        while let Some(&children @ 1..) = self.shape.arity().get(state.node) {
            let value = V::open(self.law, children);
            // The depth was checked.
            state.open.push(OpenNode { value, node: state.node, children, complete: 0 });
            state.node += 1;
        }
    }
}

impl<V> OpenNode<V> {
    fn is_complete(&self) -> bool {
        self.complete == self.children
    }
}

impl<T, S, V, O, G, const P: usize> Streaming for TreeKernel<'_, G, S, O>
where
    T: Real,
    S: Observed<usize>,
    V: TreeMessage<T, P>,
    O: Stack<Item = OpenNode<V>>,
    G: TreeTransition<T, P> + TreeMessages<Sum = Scaled<T, P>>,
{
    type Observation = usize;
    type State = Traversal<V, O>;
    /// Once the last leaf has come.
    type Reading = Option<V::Reading>;

    fn initial_state(&self) -> Self::State {
        let mut state = Traversal { open: O::empty(), node: 0, leaves: 0, root: None };
        self.descend(&mut state);
        state
    }

    #[inline]
    fn step(&self, state: &mut Self::State, x: &usize) -> Result<(), ObservationError> {
        check_symbol(*x, P)?;
        if !self.take(state, Some(*x)) {
            return Err(ObservationError::PastEnd);
        }
        Ok(())
    }

    #[inline]
    fn step_missing(&self, state: &mut Self::State) {
        let _ = self.take(state, None);
    }

    fn read(&self, state: &Self::State) -> Self::Reading {
        state.root().map(|root| root.read(self.law))
    }
}

impl<T, S, V, O, G, const P: usize> Validate for TreeKernel<'_, G, S, O>
where
    T: Real,
    S: Observed<usize>,
    V: TreeMessage<T, P>,
    O: Stack<Item = OpenNode<V>>,
    G: TreeTransition<T, P> + TreeMessages<Sum = Scaled<T, P>>,
{
    fn validate(&self) -> Result<(), KernelError> {
        Self::of(self.law, self.shape, self.stored).map(drop)
    }
    fn size_bytes(&self) -> usize {
        let tree = size_of_val(self.law) + size_of_val(self.shape.arity());
        size_of_val(self) + tree + size_of_val(self.stored)
    }
}
