use super::KernelError;

/// The shape of a rooted tree: how many children each node has, parents before their children and
/// children in their order; 0 for a leaf.
///
/// `[2, 0, 2, 0, 0]` is a root with a leaf and an inner node that has two leaves. A node's subtree is
/// a run of entries that begins with it; leaves come in the order in which their symbols are pushed.
///
/// Flash: 2 B per node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TreeShape<'t> {
    arity: &'t [u16],
    leaves: usize,
}

impl<'t> TreeShape<'t> {
    /// The tree of a code.
    ///
    /// # Errors
    /// [`KernelError::Tree`] where the code ends before its tree or goes on after it, or the root is
    /// a leaf.
    pub const fn new(arity: &'t [u16]) -> Result<Self, KernelError> {
        // Nodes that have been announced and not yet come.
        let mut due = 1;
        let mut leaves = 0;
        let mut node = 0;
        while node < arity.len() {
            if due == 0 {
                return Err(KernelError::Tree { node });
            }
            let children = arity[node] as usize;
            if children == 0 {
                leaves += 1;
            }
            due += children;
            due -= 1;
            node += 1;
        }
        if due > 0 {
            return Err(KernelError::Tree { node });
        }
        if matches!(arity, [0, ..]) {
            return Err(KernelError::Tree { node: 0 });
        }
        Ok(Self { arity, leaves })
    }

    /// A tree checked before, with its number of leaves, as an export writes it.
    pub const fn from_parts(arity: &'t [u16], leaves: usize) -> Self {
        Self { arity, leaves }
    }

    /// Number of children of each node, parents before their children.
    pub const fn arity(&self) -> &'t [u16] {
        self.arity
    }

    /// Number of inner nodes on the longest way from the root to a leaf: as many are open at once.
    ///
    /// Work: each inner node scans its subtree, `nodes x depth` steps.
    pub fn depth(&self) -> usize {
        let mut deepest = 0;
        for leaf in 0..self.arity.len() {
            if self.arity[leaf] == 0 {
                deepest = deepest.max(self.level(leaf));
            }
        }
        deepest
    }

    /// Number of nodes above one.
    fn level(&self, node: usize) -> usize {
        // Backwards, a node is an ancestor if it announces more children than have been seen whole after it.
        let (mut level, mut whole) = (0, 1);
        for &children in self.arity[..node].iter().rev() {
            let children = usize::from(children);
            if children >= whole {
                level += 1;
                whole = 1;
            } else {
                whole = whole - children + 1;
            }
        }
        level
    }

    /// Number of leaves.
    pub const fn leaves(&self) -> usize {
        self.leaves
    }
}
