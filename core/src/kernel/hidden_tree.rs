use super::{Branch, OpenNode, Scaled, Stack, Traversal, TreeKernel, TreeMessage, TreeTransition};
#[cfg(feature = "heapless")]
use super::{TreeMessages, TreeNorm};
use crate::number::Real;

/// The hidden tree kernel, against a stored string of a fixed tree's leaves.
///
/// ```text
/// k(s, t) = sum_a root[a] k[root][a]
/// k[v][a] = prod_j m_j[a]
/// m_j[a]  = P_j(s_l | a) P_j(t_l | a)        of a leaf l
///         = sum_b P_j(b | a) k[c][b]         of an inner child c
/// ```
///
/// The hidden model is a labelling of the inner nodes; leaves, which are seen, are no part of it.
/// (Were they, the two strings would have to be equal, and the kernel were `[s = t] P(s)`.) Leaves
/// are pushed from left to right, and each node is complete with its last: it reads `None` before
/// the tree's last leaf. A leaf of `t` that is missing has a likelihood of one.
///
/// Source: Shawe-Taylor and Cristianini, "Kernel Methods for Pattern Analysis", 2004, Algorithm
/// 12.17.
///
/// State: `P + 5` words for each of `DEPTH` levels. Work: `P` products a leaf and `P^2`
/// multiply-adds an inner node.
///
/// ```
/// use fishweir_core::{filter::Stream, kernel::{HiddenTree, TreeModel, TreeShape}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = TreeModel::<f64, 2, 1>::phylogeny(0.125, 0.25, 0.5)?;
/// // ((a, b), c)
/// let shape = TreeShape::new(&[2, 2, 0, 0, 0])?;
/// let profile = [true, false, true];
/// let mut kernel = Stream::new(HiddenTree::<_, _, 2>::of(&model, shape, &profile)?);
/// kernel.push_block(&[1, 1])?;
/// assert_eq!(kernel.read(), None);
/// kernel.push(None)?; // c was not examined
/// let [absent, present] = [0.125 * 0.125 * 0.875 * 0.125, 0.75 * 0.75 * 0.25 * 0.75];
/// let expected = 0.5 * 0.125 * (0.875 * absent + 0.125 * present)
///     + 0.5 * 0.75 * (0.25 * absent + 0.75 * present);
/// assert!((kernel.read().unwrap().exp() - expected).abs() < 1e-15);
/// # Ok(()) }
/// ```
#[cfg(feature = "heapless")]
pub type HiddenTree<'m, G, S, const DEPTH: usize> =
    TreeKernel<'m, G, S, heapless::Vec<OpenNode<<G as TreeMessages>::Sum>, DEPTH>>;

/// The hidden tree kernel of a stream with itself: the square of its norm.
#[cfg(feature = "heapless")]
pub type HiddenTreeNorm<'m, G, const DEPTH: usize> =
    TreeNorm<'m, G, heapless::Vec<OpenNode<<G as TreeMessages>::Sum>, DEPTH>>;

impl<T, S, O, G, const P: usize> TreeKernel<'_, G, S, O>
where
    T: Real,
    O: Stack<Item = OpenNode<Scaled<T, P>>>,
{
    /// `log k[root][a]`, `[state]`: the kernels given the root's state. `None` before the last leaf.
    pub fn at_root(&self, state: &Traversal<Scaled<T, P>, O>) -> Option<[T; P]> {
        state.root().map(|root| root.logs())
    }
}

/// The sum over all labellings below.
impl<T: Real, const P: usize> TreeMessage<T, P> for Scaled<T, P> {
    /// `log k`.
    type Reading = T;

    fn open(law: &impl TreeTransition<T, P>, children: u16) -> Self {
        law.open(children)
    }
    fn leaf(law: &impl TreeTransition<T, P>, branch: Branch, symbols: [Option<usize>; 2]) -> Self {
        let [stored, streamed] = symbols.map(|symbol| law.leaf(branch, symbol));
        stored.times(&streamed)
    }
    fn rise(&self, law: &impl TreeTransition<T, P>, branch: Branch) -> Self {
        law.message(branch, self)
    }
    fn take(&mut self, message: &Self) {
        *self = self.times(message);
    }
    fn read(&self, law: &impl TreeTransition<T, P>) -> T {
        self.log_of(law.root())
    }
    fn log_parts(&self, law: &impl TreeTransition<T, P>) -> [T; 2] {
        self.log_parts_of(law.root())
    }
}
