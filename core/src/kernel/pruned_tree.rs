use super::{Branch, PruningMessage, Scaled, TreeMessage, TreeTransition};
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
/// Source: Shawe-Taylor and Cristianini, "Kernel Methods for Pattern Analysis", 2004, Remark 12.21.
///
/// State: `3 P + 13` words for each of `DEPTH` levels. Work: `3 P^2` multiply-adds an inner node.
///
/// ```
/// use fishweir_core::{filter::Stream, kernel::{PrunedTree, TreeModel, TreeShape}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = TreeModel::<f64, 2, 1>::binary(0.25, 0.125, 0.5)?;
/// let shape = TreeShape::new(&[2, 2, 0, 0, 0])?;
/// let mut kernel = Stream::new(PrunedTree::<_, _, 2>::of(&model, shape, &[1_u8, 0, 1])?);
/// kernel.push_block(&[1, 1, 0])?;
/// let pruned = kernel.read().unwrap();
/// assert_eq!(pruned.log_count, 2.0_f64.ln()); // with the inner node, and without
/// assert!((pruned.log_mean - (pruned.log_sum - pruned.log_count)).abs() < 1e-15);
/// # Ok(()) }
/// ```
#[cfg(feature = "heapless")]
pub type PrunedTree<'m, G, S, const DEPTH: usize> = super::TreeKernel<
    'm,
    G,
    S,
    heapless::Vec<super::OpenNode<<G as super::TreeMessages>::Pruned>, DEPTH>,
>;

/// The kernel of pruned trees of a stream with itself: the square of its norm.
#[cfg(feature = "heapless")]
pub type PrunedTreeNorm<'m, G, const DEPTH: usize> = super::TreeNorm<
    'm,
    G,
    heapless::Vec<super::OpenNode<<G as super::TreeMessages>::Pruned>, DEPTH>,
>;

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

impl<T: Real, const P: usize> TreeMessage<T, P> for PruningMessage<T, P> {
    type Reading = Pruned<T>;

    fn open(law: &impl TreeTransition<T, P>, children: u16) -> Self {
        let kernel = law.open(children);
        Self { kernel, alone: [kernel; 2], count: Scaled::new([T::ONE]) }
    }
    fn leaf(law: &impl TreeTransition<T, P>, branch: Branch, symbols: [Option<usize>; 2]) -> Self {
        let alone = symbols.map(|symbol| law.leaf(branch, symbol));
        let [stored, streamed] = &alone;
        Self { kernel: stored.times(streamed), alone, count: Scaled::new([T::ONE]) }
    }
    fn rise(&self, law: &impl TreeTransition<T, P>, branch: Branch) -> Self {
        let alone = self.alone.map(|value| law.message(branch, &value));
        let [stored, streamed] = &alone;
        Self {
            kernel: law.message(branch, &self.kernel).plus(stored.times(streamed)),
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
    fn read(&self, law: &impl TreeTransition<T, P>) -> Pruned<T> {
        let log_sum = self.kernel.log_of(law.root());
        let log_count = self.count.log_of(&[T::ONE]);
        Pruned { log_sum, log_count, log_mean: log_sum - log_count }
    }
    fn log_parts(&self, law: &impl TreeTransition<T, P>) -> [T; 2] {
        self.kernel.log_parts_of(law.root())
    }
}
