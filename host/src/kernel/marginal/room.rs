//! Room on the heap for recursions that on a device have a constant amount of it.

use fishweir_core::kernel::{Cells, Stack};

/// A column or a stack that grows as needed.
#[derive(Clone, Debug, PartialEq)]
pub struct Heap<A>(Vec<A>);

impl<A> Heap<A> {
    /// Content of the storage.
    pub fn as_slice(&self) -> &[A] {
        &self.0
    }
}

impl<A> AsMut<[A]> for Heap<A> {
    fn as_mut(&mut self) -> &mut [A] {
        &mut self.0
    }
}

impl<A: Clone> Cells<A> for Heap<A> {
    const CAPACITY: Option<usize> = None;
    fn filled(cell: A, count: usize) -> Self {
        Self(vec![cell; count])
    }
    fn reserve(&mut self, cell: A, count: usize) -> bool {
        if self.0.len() < count {
            self.0.resize(count, cell);
        }
        true
    }
}

impl<A: Clone> Stack for Heap<A> {
    type Item = A;

    const CAPACITY: Option<usize> = None;
    fn empty() -> Self {
        Self(Vec::new())
    }
    fn push(&mut self, top: A) -> bool {
        self.0.push(top);
        true
    }
    fn pop(&mut self) -> Option<A> {
        self.0.pop()
    }
    fn top(&self) -> Option<&A> {
        self.0.last()
    }
    fn top_mut(&mut self) -> Option<&mut A> {
        self.0.last_mut()
    }
}
