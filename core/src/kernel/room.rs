/// Storage of a recursion's column of cells: an array on a device, the heap on a host.
pub trait Cells<A>: Clone + AsMut<[A]> {
    /// Number of cells that fit; `None` if unbounded.
    const CAPACITY: Option<usize>;
    /// Returns at least `count` cells, all equal to `cell`.
    fn filled(cell: A, count: usize) -> Self;
    /// Makes room for `count` cells, new ones equal to `cell`; `false` if they do not fit.
    fn reserve(&mut self, cell: A, count: usize) -> bool;
}

impl<A: Copy, const ROWS: usize> Cells<A> for [A; ROWS] {
    const CAPACITY: Option<usize> = Some(ROWS);
    #[inline]
    fn filled(cell: A, _: usize) -> Self {
        [cell; ROWS]
    }
    #[inline]
    fn reserve(&mut self, _: A, count: usize) -> bool {
        count <= ROWS
    }
}

/// Storage of a recursion's open items: a vector of fixed capacity on a device, the heap on a host.
pub trait Stack: Clone {
    /// Item of the stack.
    type Item;
    /// Number of items that fit; `None` if unbounded.
    const CAPACITY: Option<usize>;
    /// Returns an empty stack.
    fn empty() -> Self;
    /// Puts one on top; `false` where there is no room.
    fn push(&mut self, top: Self::Item) -> bool;
    /// Takes the topmost off.
    fn pop(&mut self) -> Option<Self::Item>;
    /// The topmost.
    fn top(&self) -> Option<&Self::Item>;
    /// The topmost, to change it.
    fn top_mut(&mut self) -> Option<&mut Self::Item>;
}

#[cfg(feature = "heapless")]
impl<A: Clone, const DEPTH: usize> Stack for heapless::Vec<A, DEPTH> {
    type Item = A;
    const CAPACITY: Option<usize> = Some(DEPTH);
    fn empty() -> Self {
        Self::new()
    }
    #[inline]
    fn push(&mut self, top: A) -> bool {
        Self::push(self, top).is_ok()
    }
    #[inline]
    fn pop(&mut self) -> Option<A> {
        Self::pop(self)
    }
    #[inline]
    fn top(&self) -> Option<&A> {
        self.last()
    }
    #[inline]
    fn top_mut(&mut self) -> Option<&mut A> {
        self.last_mut()
    }
}
