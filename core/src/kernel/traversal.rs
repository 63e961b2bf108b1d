use core::borrow::Borrow;

use heapless::Vec;

use super::aligned::check_stored;
use super::{KernelError, Observed, TreeModel, TreeShape};
use crate::error::ObservationError;
use crate::number::Real;

/// What a tree kernel computes at a node, from the leaves up.
pub(super) trait Message<T, const P: usize, const J: usize>: Clone {
    /// A node before its children.
    fn open(model: &TreeModel<T, P, J>, children: u16) -> Self;
    /// What the `child`-th child, a leaf, tells its parent: the stored symbol, and the stream's.
    fn leaf(model: &TreeModel<T, P, J>, child: usize, symbols: [Option<usize>; 2]) -> Self;
    /// What the `child`-th child, complete, tells its parent.
    fn rise(&self, model: &TreeModel<T, P, J>, child: usize) -> Self;
    /// Takes a child's message in.
    fn take(&mut self, message: &Self);
}

/// What a stream left of a tree kernel: the open nodes, from the root down, and what is complete.
///
/// RAM: a node's values for each of `DEPTH` levels.
#[derive(Clone, Debug, PartialEq)]
pub struct Traversal<V, const DEPTH: usize> {
    open: Vec<Open<V>, DEPTH>,
    /// The next entry of the tree's code.
    node: usize,
    leaves: usize,
    root: Option<V>,
}

/// A node of which some children are not complete.
#[derive(Clone, Debug, PartialEq)]
struct Open<V> {
    value: V,
    children: u16,
    /// Children that are complete: the number of the next.
    complete: u16,
}

impl<V, const DEPTH: usize> Traversal<V, DEPTH> {
    /// How many leaves have been taken in, missing ones included.
    pub const fn leaves(&self) -> usize {
        self.leaves
    }

    /// What was computed at the root, once the last leaf has come.
    pub const fn root(&self) -> Option<&V> {
        self.root.as_ref()
    }
}

/// A tree, a model of it and a stored string of its leaves.
#[derive(Debug)]
pub(super) struct Grown<'m, T, S, const P: usize, const J: usize> {
    pub(super) model: &'m TreeModel<T, P, J>,
    pub(super) shape: TreeShape<'m>,
    stored: &'m [S],
}

impl<T, S, const P: usize, const J: usize> Clone for Grown<'_, T, S, P, J> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, S, const P: usize, const J: usize> Copy for Grown<'_, T, S, P, J> {}

impl<'m, T: Real, S: Observed<usize>, const P: usize, const J: usize> Grown<'m, T, S, P, J> {
    /// Checks that the three fit each other, and `DEPTH` levels.
    pub(super) fn of<const DEPTH: usize>(
        model: &'m TreeModel<T, P, J>,
        shape: TreeShape<'m>,
        stored: &'m [S],
    ) -> Result<Self, KernelError> {
        let (found, expected) = (stored.len(), shape.leaves());
        if found != expected {
            return Err(KernelError::Length { sequence: 0, found, expected });
        }
        check_stored(&[stored], known::<P>)?;
        // Children that each open node is still to have.
        let mut open = Vec::<u16, DEPTH>::new();
        for (node, &children) in shape.arity().iter().enumerate() {
            if model.most_children().is_some_and(|most| usize::from(children) > most) {
                return Err(KernelError::Arity { node });
            }
            if let Some(due) = open.last_mut() {
                *due -= 1;
            }
            if children > 0 && open.push(children).is_err() {
                return Err(KernelError::Capacity { needed: DEPTH + 1, available: DEPTH });
            }
            while open.last() == Some(&0) {
                open.pop();
            }
        }
        Ok(Self { model, shape, stored })
    }

    /// Before the first leaf.
    pub(super) fn start<V, const DEPTH: usize>(&self) -> Traversal<V, DEPTH>
    where
        V: Message<T, P, J>,
    {
        let mut state = Traversal { open: Vec::new(), node: 0, leaves: 0, root: None };
        self.descend(&mut state);
        state
    }

    /// The next leaf of the stream.
    #[inline]
    pub(super) fn push<V, const DEPTH: usize>(
        &self,
        state: &mut Traversal<V, DEPTH>,
        x: &usize,
    ) -> Result<(), ObservationError>
    where
        V: Message<T, P, J>,
    {
        known::<P>(x)?;
        if !self.take(state, Some(*x)) {
            return Err(ObservationError::PastEnd);
        }
        Ok(())
    }

    /// The next leaf and all nodes that are complete with it; `false` past the last.
    pub(super) fn take<V, const DEPTH: usize>(
        &self,
        state: &mut Traversal<V, DEPTH>,
        x: Option<usize>,
    ) -> bool
    where
        V: Message<T, P, J>,
    {
        let Some(stored) = self.stored.get(state.leaves) else { return false };
        let Some(parent) = state.open.last_mut() else { return false };
        let stored = *stored.observation().borrow();
        let child = usize::from(parent.complete);
        parent.value.take(&V::leaf(self.model, child, [Some(stored), x]));
        parent.complete += 1;
        state.leaves += 1;
        state.node += 1;
        while state.open.last().is_some_and(|node| node.complete == node.children)
            && let Some(complete) = state.open.pop()
        {
            let Some(parent) = state.open.last_mut() else {
                state.root = Some(complete.value);
                return true;
            };
            let child = usize::from(parent.complete);
            parent.value.take(&complete.value.rise(self.model, child));
            parent.complete += 1;
        }
        self.descend(state);
        true
    }

    /// Opens nodes down to the next leaf.
    fn descend<V, const DEPTH: usize>(&self, state: &mut Traversal<V, DEPTH>)
    where
        V: Message<T, P, J>,
    {
        while let Some(&children @ 1..) = self.shape.arity().get(state.node) {
            let node = Open { value: V::open(self.model, children), children, complete: 0 };
            // The depth was checked.
            let _ = state.open.push(node);
            state.node += 1;
        }
    }
}

fn known<const P: usize>(&symbol: &usize) -> Result<(), ObservationError> {
    if symbol < P { Ok(()) } else { Err(ObservationError::UnknownSymbol) }
}
