use super::traversal::{Grown, Message};
use super::{KernelError, Observed, Scaled, Traversal, TreeModel, TreeShape};
use crate::error::ObservationError;
use crate::filter::Recursion;
use crate::number::Real;

/// The hidden tree kernel summed over all pruned trees: complete subtrees are cut off, in every way
/// that leaves the root.
///
/// ```text
/// k(s, t) = sum_B sum_{z_B} P(z_B) P(s | z_B) P(t | z_B)
/// k[v][a] = prod_j ( sum_b P_j(b | a) k[c][b]  +  P(s below c | a) P(t below c | a) )
/// ```
///
/// over the sets `B` of inner nodes that contain the root and, with each node, its parent. What is
/// outside `B` is no longer hidden model: it is summed over for `s` and for `t` separately. `B = ` all
/// inner nodes is the [hidden tree kernel](super::HiddenTree); `B = ` the root compares least. The
/// mean is the kernel under a uniform prior over the prunings.
///
/// Source: the first seed document, Remark 12.21.
///
/// State: `3 P + 7` words for each of `DEPTH` levels. Work: `3 P^2` multiply-adds an inner node.
///
/// ```
/// use fishweir_core::{filter::Running, kernel::{PrunedTree, TreeModel, TreeShape}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = TreeModel::<f64, 2, 1>::binary(0.25, 0.125, 0.5)?;
/// let shape = TreeShape::new(&[2, 2, 0, 0, 0])?;
/// let mut kernel = Running::new(PrunedTree::<_, _, 2, 1, 2>::of(&model, shape, &[1_u8, 0, 1])?);
/// kernel.push_block(&[1, 1, 0]).map_err(|(_, error)| error)?;
/// let pruned = kernel.read().unwrap();
/// assert_eq!(pruned.log_count, 2.0_f64.ln()); // with the inner node, and without
/// assert!((pruned.log_mean - (pruned.log_sum - pruned.log_count)).abs() < 1e-15);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct PrunedTree<'m, T, S, const P: usize, const J: usize, const DEPTH: usize> {
    grown: Grown<'m, T, S, P, J>,
}

impl<T, S, const P: usize, const J: usize, const DEPTH: usize> Clone
    for PrunedTree<'_, T, S, P, J, DEPTH>
{
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, S, const P: usize, const J: usize, const DEPTH: usize> Copy
    for PrunedTree<'_, T, S, P, J, DEPTH>
{
}

/// A [`PrunedTree`]'s reading.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Pruned<T> {
    /// `log` of the sum over all prunings.
    pub log_sum: T,
    /// `log` of the number of prunings.
    pub log_count: T,
    /// `log` of the mean over all prunings.
    pub log_mean: T,
}

/// What a [`PrunedTree`] computes at a node.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PruningMessage<T, const P: usize> {
    /// The sum over prunings that keep the node; of a message, over all.
    kernel: Scaled<T, P>,
    /// The likelihoods of the stored string's and of the stream's leaves below.
    alone: [Scaled<T, P>; 2],
    /// The number of prunings.
    count: Scaled<T, 1>,
}

impl<'m, T, S, const P: usize, const J: usize, const DEPTH: usize> PrunedTree<'m, T, S, P, J, DEPTH>
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
}

impl<T: Real, const P: usize, const J: usize> Message<T, P, J> for PruningMessage<T, P> {
    fn open(model: &TreeModel<T, P, J>, children: u16) -> Self {
        let kernel = model.open(children);
        Self { kernel, alone: [kernel; 2], count: Scaled::new([T::ONE]) }
    }
    fn leaf(model: &TreeModel<T, P, J>, child: usize, symbols: [Option<usize>; 2]) -> Self {
        let alone = symbols.map(|symbol| model.leaf(child, symbol));
        let [stored, streamed] = &alone;
        Self { kernel: stored.times(streamed), alone, count: Scaled::new([T::ONE]) }
    }
    fn rise(&self, model: &TreeModel<T, P, J>, child: usize) -> Self {
        let alone = self.alone.map(|value| model.message(child, &value));
        let [stored, streamed] = &alone;
        Self {
            kernel: model.message(child, &self.kernel).plus(stored.times(streamed)),
            alone,
            count: self.count.plus(Scaled::new([T::ONE])),
        }
    }
    fn take(&mut self, message: &Self) {
        self.kernel = self.kernel.times(&message.kernel);
        for (alone, message) in self.alone.iter_mut().zip(&message.alone) {
            *alone = alone.times(message);
        }
        self.count = self.count.times(&message.count);
    }
}

impl<T, S, const P: usize, const J: usize, const DEPTH: usize> Recursion
    for PrunedTree<'_, T, S, P, J, DEPTH>
where
    T: Real,
    S: Observed<usize>,
{
    type Observation = usize;
    type State = Traversal<PruningMessage<T, P>, DEPTH>;
    /// The sum, once the last leaf has come.
    type Reading = Option<Pruned<T>>;

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

    fn read(&self, state: &Self::State) -> Option<Pruned<T>> {
        let root = state.root()?;
        let log_sum = root.kernel.log_of(self.grown.model.root(), 0);
        let log_count = root.count.log_of(&[T::ONE], 0);
        Some(Pruned { log_sum, log_count, log_mean: log_sum - log_count })
    }
}
