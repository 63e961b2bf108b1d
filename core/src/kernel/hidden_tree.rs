use super::traversal::{Grown, Message};
use super::{KernelError, Observed, Scaled, Traversal, TreeModel, TreeShape};
use crate::error::ObservationError;
use crate::filter::Recursion;
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
/// Source: the first seed document, Algorithm 12.17.
///
/// State: `P + 2` words for each of `DEPTH` levels. Work: `P` products a leaf and `P^2`
/// multiply-adds an inner node.
///
/// ```
/// use fishweir_core::{filter::Running, kernel::{HiddenTree, TreeModel, TreeShape}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = TreeModel::<f64, 2, 1>::phylogeny(0.125, 0.25, 0.5)?;
/// // ((a, b), c)
/// let shape = TreeShape::new(&[2, 2, 0, 0, 0])?;
/// let profile = [true, false, true];
/// let mut kernel = Running::new(HiddenTree::<_, _, 2, 1, 2>::of(&model, shape, &profile)?);
/// kernel.push_block(&[1, 1]).map_err(|(_, error)| error)?;
/// assert_eq!(kernel.read(), None);
/// kernel.push_missing(); // c was not examined
/// let [absent, present] = [0.125 * 0.125 * 0.875 * 0.125, 0.75 * 0.75 * 0.25 * 0.75];
/// let expected = 0.5 * 0.125 * (0.875 * absent + 0.125 * present)
///     + 0.5 * 0.75 * (0.25 * absent + 0.75 * present);
/// assert!((kernel.read().unwrap().exp() - expected).abs() < 1e-15);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct HiddenTree<'m, T, S, const P: usize, const J: usize, const DEPTH: usize> {
    grown: Grown<'m, T, S, P, J>,
}

impl<T, S, const P: usize, const J: usize, const DEPTH: usize> Clone
    for HiddenTree<'_, T, S, P, J, DEPTH>
{
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, S, const P: usize, const J: usize, const DEPTH: usize> Copy
    for HiddenTree<'_, T, S, P, J, DEPTH>
{
}

impl<'m, T, S, const P: usize, const J: usize, const DEPTH: usize> HiddenTree<'m, T, S, P, J, DEPTH>
where
    T: Real,
    S: Observed<usize>,
{
    /// The kernel under a model on a tree, against a stored string of its leaves, left to right.
    ///
    /// # Errors
    /// A string that is not as long as the tree has leaves, the first stored symbol that is no state,
    /// a node with more children than the model has transitions, or a tree deeper than `DEPTH` inner
    /// nodes.
    pub fn of(
        model: &'m TreeModel<T, P, J>,
        shape: TreeShape<'m>,
        stored: &'m [S],
    ) -> Result<Self, KernelError> {
        Ok(Self { grown: Grown::of::<DEPTH>(model, shape, stored)? })
    }

    /// `log k[root][a]`, `[state]`: the kernels given the root's state. `None` before the last leaf.
    pub fn at_root(&self, state: &Traversal<Scaled<T, P>, DEPTH>) -> Option<[T; P]> {
        state.root().map(|root| root.logs(0))
    }
}

impl<T: Real, const P: usize, const J: usize> Message<T, P, J> for Scaled<T, P> {
    fn open(model: &TreeModel<T, P, J>, children: u16) -> Self {
        model.open(children)
    }
    fn leaf(model: &TreeModel<T, P, J>, child: usize, symbols: [Option<usize>; 2]) -> Self {
        let [stored, streamed] = symbols.map(|symbol| model.leaf(child, symbol));
        stored.times(&streamed)
    }
    fn rise(&self, model: &TreeModel<T, P, J>, child: usize) -> Self {
        model.message(child, self)
    }
    fn take(&mut self, message: &Self) {
        *self = self.times(message);
    }
}

impl<T, S, const P: usize, const J: usize, const DEPTH: usize> Recursion
    for HiddenTree<'_, T, S, P, J, DEPTH>
where
    T: Real,
    S: Observed<usize>,
{
    type Observation = usize;
    type State = Traversal<Scaled<T, P>, DEPTH>;
    /// `log k`, once the last leaf has come.
    type Reading = Option<T>;

    fn start(&self) -> Self::State {
        self.grown.start()
    }

    #[inline]
    fn push(&self, state: &mut Self::State, x: &usize) -> Result<(), ObservationError> {
        self.grown.push(state, x)
    }

    #[inline]
    fn push_missing(&self, state: &mut Self::State) {
        let _ = self.grown.take(state, None);
    }

    fn read(&self, state: &Self::State) -> Option<T> {
        state.root().map(|root| root.log_of(self.grown.model.root(), 0))
    }
}
