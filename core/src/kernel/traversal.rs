use core::borrow::Borrow;
use core::marker::PhantomData;

use super::aligned::check_stored;
use super::{
    Branch, KernelError, LogKernel, Observed, Scaled, Stack, TreeMessages, TreeShape,
    TreeTransition, Validate, no_parts,
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
    /// Logarithm of the root's kernel in two parts: see [`LogKernel`].
    fn log_parts(&self, law: &impl TreeTransition<T, P>) -> [T; 2];
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

impl<'m, G, S, O> TreeKernel<'m, G, S, O> {
    /// A kernel whose stored string was checked before, as an export writes it; [`validate`](Validate::validate) checks it
    /// again.
    pub const fn from_parts(law: &'m G, shape: TreeShape<'m>, stored: &'m [S]) -> Self {
        Self { law, shape, stored, open: PhantomData }
    }
}

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
        check_tree::<T, V, O, G, P>(law, shape)?;
        Ok(Self::from_parts(law, shape, stored))
    }

    /// The next leaf and all nodes that are complete with it; `false` past the last.
    fn take(&self, state: &mut Traversal<V, O>, x: Option<usize>) -> bool {
        let Some(stored) = self.stored.get(state.leaves) else { return false };
        let stored = stored.observation().map(|symbol| *symbol.borrow());
        state.take(self.law, self.shape, [stored, x])
    }
}

/// Checks that a model has transitions along all branches of a tree, and a stack room for its open nodes.
fn check_tree<T, V, O, G, const P: usize>(law: &G, shape: TreeShape<'_>) -> Result<(), KernelError>
where
    T: Real,
    V: TreeMessage<T, P>,
    O: Stack<Item = OpenNode<V>>,
    G: TreeTransition<T, P> + TreeMessages<Sum = Scaled<T, P>>,
{
    law.check(shape)?;
    let Some(available) = O::CAPACITY else { return Ok(()) };
    if shape.depth() > available {
        return Err(KernelError::Capacity { needed: shape.depth(), available });
    }
    Ok(())
}

impl<V, O> Traversal<V, O> {
    /// State before the first leaf: the nodes above it are open.
    fn start<T, G, const P: usize>(law: &G, shape: TreeShape<'_>) -> Self
    where
        T: Real,
        V: TreeMessage<T, P>,
        O: Stack<Item = OpenNode<V>>,
        G: TreeTransition<T, P> + TreeMessages<Sum = Scaled<T, P>>,
    {
        let mut state = Self { open: O::empty(), node: 0, leaves: 0, root: None };
        state.descend(law, shape);
        state
    }

    /// The next leaf's symbols, stored and streamed, and all nodes that are complete with it; `false` past the last.
    fn take<T, G, const P: usize>(
        &mut self,
        law: &G,
        shape: TreeShape<'_>,
        symbols: [Option<usize>; 2],
    ) -> bool
    where
        T: Real,
        V: TreeMessage<T, P>,
        O: Stack<Item = OpenNode<V>>,
        G: TreeTransition<T, P> + TreeMessages<Sum = Scaled<T, P>>,
    {
        let state = self;
        let Some(parent) = state.open.top_mut() else { return false };
        let branch = Branch { child: usize::from(parent.complete), node: state.node };
        parent.value.take(&V::leaf(law, branch, symbols));
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
            parent.value.take(&complete.value.rise(law, branch));
            parent.complete += 1;
        }
        state.descend(law, shape);
        true
    }

    /// Opens nodes down to the next leaf.
    fn descend<T, G, const P: usize>(&mut self, law: &G, shape: TreeShape<'_>)
    where
        T: Real,
        V: TreeMessage<T, P>,
        O: Stack<Item = OpenNode<V>>,
        G: TreeTransition<T, P> + TreeMessages<Sum = Scaled<T, P>>,
    {
        while let Some(&children @ 1..) = shape.arity().get(self.node) {
            let value = V::open(law, children);
            // The depth was checked.
            self.open.push(OpenNode { value, node: self.node, children, complete: 0 });
            self.node += 1;
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
        Traversal::start(self.law, self.shape)
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
        self.law.validate()?;
        Self::of(self.law, self.shape, self.stored).map(drop)
    }
    fn size_bytes(&self) -> usize {
        size_of_val(self) + self.shared_bytes() + size_of_val(self.stored)
    }
    fn shared_bytes(&self) -> usize {
        size_of_val(self.law) + self.law.borrowed_bytes() + size_of_val(self.shape.arity())
    }
}

impl<T, S, V, O, G, const P: usize> LogKernel for TreeKernel<'_, G, S, O>
where
    T: Real,
    S: Observed<usize>,
    V: TreeMessage<T, P>,
    O: Stack<Item = OpenNode<V>>,
    G: TreeTransition<T, P> + TreeMessages<Sum = Scaled<T, P>>,
{
    type Parts = [T; 2];
    /// Minus infinity before the last leaf, as a [`Bank`](super::Bank) reads it.
    fn log_parts(&self, state: &Self::State) -> [T; 2] {
        state.root().map_or_else(no_parts, |root| root.log_parts(self.law))
    }
}

/// The tree kernel of a stream with itself: the square of its norm, by which a [`TreeKernel`] is normalised.
///
/// As a [`TreeKernel`] whose stored string is the stream itself, with the same state and work; a leaf that is missing has a
/// likelihood of one. See [`HiddenTreeNorm`](super::HiddenTreeNorm) and [`PrunedTreeNorm`](super::PrunedTreeNorm).
#[derive(Debug)]
pub struct TreeNorm<'m, G, O> {
    law: &'m G,
    shape: TreeShape<'m>,
    open: PhantomData<fn() -> O>,
}

impl<G, O> Clone for TreeNorm<'_, G, O> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<G, O> Copy for TreeNorm<'_, G, O> {}

impl<'m, G, O> TreeNorm<'m, G, O> {
    /// The norm under a model on a tree.
    pub const fn of(law: &'m G, shape: TreeShape<'m>) -> Self {
        Self { law, shape, open: PhantomData }
    }
}

impl<T, V, O, G, const P: usize> Streaming for TreeNorm<'_, G, O>
where
    T: Real,
    V: TreeMessage<T, P>,
    O: Stack<Item = OpenNode<V>>,
    G: TreeTransition<T, P> + TreeMessages<Sum = Scaled<T, P>>,
{
    type Observation = usize;
    type State = Traversal<V, O>;
    /// Once the last leaf has come.
    type Reading = Option<V::Reading>;

    fn initial_state(&self) -> Self::State {
        Traversal::start(self.law, self.shape)
    }

    #[inline]
    fn step(&self, state: &mut Self::State, x: &usize) -> Result<(), ObservationError> {
        check_symbol(*x, P)?;
        if !state.take(self.law, self.shape, [Some(*x); 2]) {
            return Err(ObservationError::PastEnd);
        }
        Ok(())
    }

    #[inline]
    fn step_missing(&self, state: &mut Self::State) {
        let _ = state.take(self.law, self.shape, [None; 2]);
    }

    fn read(&self, state: &Self::State) -> Self::Reading {
        state.root().map(|root| root.read(self.law))
    }
}

impl<T, V, O, G, const P: usize> LogKernel for TreeNorm<'_, G, O>
where
    T: Real,
    V: TreeMessage<T, P>,
    O: Stack<Item = OpenNode<V>>,
    G: TreeTransition<T, P> + TreeMessages<Sum = Scaled<T, P>>,
{
    type Parts = [T; 2];
    /// Minus infinity before the last leaf.
    fn log_parts(&self, state: &Self::State) -> [T; 2] {
        state.root().map_or_else(no_parts, |root| root.log_parts(self.law))
    }
}

impl<G, O> Validate for TreeNorm<'_, G, O> {
    fn validate(&self) -> Result<(), KernelError> {
        Ok(())
    }
    /// Size without the tree, which belongs to the kernel.
    fn size_bytes(&self) -> usize {
        size_of_val(self)
    }
}
