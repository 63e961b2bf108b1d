use core::hint::black_box;

use super::{KernelError, LogKernel, Overlaps, Validate, no_parts};
use crate::error::{ErrorKind, ModelError, ObservationError, Part};
use crate::filter::{Belief, Streaming, impossible};
use crate::hmm::Chain;
use crate::number::{Real, shorter, sum_of, with_local_copy};

/// The kernel between two hidden Markov models of `N` and `M` states, over sequences of a length that
/// grows: how alike are the sequences that they make?
///
/// ```text
/// phi_0 = (initial initial'^T) o psi        phi_t = (A^T phi_t-1 A') o psi        k_t = sum_ij phi_t[i][j]
/// psi_ij = integral b_i^rho b'_j^rho   or   E exp(-lambda/2 |x - x'|^2)
/// ```
///
/// It is the forward recursion of the two chains side by side, whose likelihoods are what the states have
/// in common, and runs on it: every step pushes `()`, nothing being observed. After `T + 1` steps, of `T`
/// transitions, it reads `log k_T`; minus infinity where the models have no sequence in common. A step that
/// is missing is one that is not compared: both chains move on, with `psi` one.
///
/// For the product kernel with `rho` other than one the chains are those of
/// [`Chain::powered`], whose rows do not sum to one; the kernel is then of the joint of states and
/// observations.
///
/// Range: that of [`Forward`](crate::filter::Forward), of pairs of states.
///
/// Sources: Jebara, Kondor and Howard, "Probability Product Kernels", 2004, section 4.2; Mehta and Gray,
/// "Generative and Latent Mean Map Kernels", 2010, Algorithm 1, whose first step has the transpose.
///
/// Its parameters are the types of the chains, `Chain<W, N>` and `Chain<W, M>`, and of the overlaps of their states,
/// `Overlaps<W, P>` with `P = N M`.
///
/// State: `N M` numbers and a ledger. Flash: two chains and `2 N M + 1` reals. Work per step: `N M (N + M + 1)`
/// multiply-adds; the product of the chains as one would take `(N M)^2`.
///
/// ```
/// use fishweir_core::emission::Categorical;
/// use fishweir_core::filter::Stream;
/// use fishweir_core::hmm::Chain;
/// use fishweir_core::kernel::{ModelPairKernel, Affinity, Overlaps};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// type Coin = Categorical<2, f64>;
/// let (fair, two) = ([Coin::new([0.5, 0.5])?], [Coin::new([0.75, 0.25])?, Coin::new([0.25, 0.75])?]);
/// let one = Chain::<f64, 1>::new([1.0], [[1.0]])?;
/// let turns = Chain::<f64, 2>::new([1.0, 0.0], [[0.0, 1.0], [1.0, 0.0]])?;
/// let measure = Affinity::Product { rho: 1.0 };
/// let between = ModelPairKernel::new(&one, &turns, Overlaps::<_, 2>::of(&fair, &two, measure)?);
/// let mut kernel = Stream::new(between);
/// for _ in 0..3 {
///     kernel.push(&())?;
/// }
/// // Whatever the other makes, a fair coin makes it with probability 1/2 a toss.
/// assert!((kernel.read().exp() - 0.125).abs() < 1e-15);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct ModelPairKernel<'m, A, B, O> {
    first: &'m A,
    second: &'m B,
    overlaps: O,
}

impl<A, B, O: Copy> Clone for ModelPairKernel<'_, A, B, O> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A, B, O: Copy> Copy for ModelPairKernel<'_, A, B, O> {}

impl<'m, W, const N: usize, const M: usize, const P: usize>
    ModelPairKernel<'m, Chain<W, N>, Chain<W, M>, Overlaps<W, P>>
{
    /// The kernel between models of these chains, whose states overlap so.
    pub const fn new(
        first: &'m Chain<W, N>,
        second: &'m Chain<W, M>,
        overlaps: Overlaps<W, P>,
    ) -> Self {
        const { assert!(P == N * M, "P must equal N * M") };
        Self { first, second, overlaps }
    }

    /// Overlaps of the states of both models.
    pub const fn overlaps(&self) -> &Overlaps<W, P> {
        &self.overlaps
    }
}

impl<T: Real, const N: usize, const M: usize, const P: usize>
    ModelPairKernel<'_, Chain<T, N>, Chain<T, M>, Overlaps<T, P>>
{
    /// The first chain one step on, `[state][state of the other]`.
    #[inline(always)]
    fn move_first(&self, belief: &Belief<T, P>) -> [[T; M]; N] {
        match belief.row().as_chunks::<M>().0.first_chunk::<N>() {
            Some(phi) => self.first.predict_joint::<T, M>(phi),
            None => [[T::ZERO; M]; N],
        }
    }

    /// Predicts both chains, given the first after its step.
    fn predicted(&self, moved: &[[T; M]; N]) -> [T; P] {
        let mut predicted = [T::ZERO; P];
        let (rows, _) = predicted.as_chunks_mut::<M>();
        for n in 0..shorter(rows.len(), N) {
            rows[n] = self.second.predict::<T>(&moved[n]);
        }
        predicted
    }

    /// Joint initial distribution of both chains.
    fn begin(&self) -> [T; P] {
        let mut predicted = [T::ZERO; P];
        let (rows, _) = predicted.as_chunks_mut::<M>();
        for (row, &own) in rows.iter_mut().zip(self.first.initial()) {
            for (entry, &other) in row.iter_mut().zip(self.second.initial()) {
                *entry = own * other;
            }
        }
        predicted
    }

    /// Takes a step where products vanish, or the first: returns whether the kernel is still positive.
    fn condition(&self, belief: &mut Belief<T, P>, predicted: &[T; P]) -> bool {
        let Overlaps { relative, logs, log_scale } = &self.overlaps;
        let row = Some((relative, core::slice::from_ref(log_scale)));
        belief
            .condition_on(predicted, row, |pair| logs.get(pair).copied().unwrap_or(T::NEG_INFINITY))
    }

    /// Fast path of [`condition`](Self::condition) for all steps but the first: a row at a time, in place.
    #[inline(always)]
    fn advance(&self, belief: &mut Belief<T, P>) -> bool {
        let moved = self.move_first(belief);
        let mut sums = [T::ZERO; M];
        let rows = belief.row_mut().as_chunks_mut::<M>().0.first_chunk_mut::<N>();
        let overlaps = self.overlaps.relative.as_chunks::<M>().0.first_chunk::<N>();
        let (Some(rows), Some(overlaps)) = (rows, overlaps) else { return false };
        // Rows that stay a loop: unrolled into one another, compilers gather them entry by entry.
        let mut n = 0;
        while n < N && n < black_box(N) {
            let mut products = self.second.predict::<T>(&moved[n]);
            for m in 0..M {
                products[m] = products[m] * overlaps[n][m];
                sums[m] = sums[m] + products[m];
            }
            rows[n] = products;
            n += 1;
        }
        if belief.finish_update(sum_of::<T, M>(|m| sums[m])) {
            belief.add_log_scale(self.overlaps.log_scale);
            return true;
        }
        with_local_copy(belief, |belief| self.condition(belief, &self.predicted(&moved)))
    }
}

impl<T: Real, const N: usize, const M: usize, const P: usize> Streaming
    for ModelPairKernel<'_, Chain<T, N>, Chain<T, M>, Overlaps<T, P>>
{
    /// A step without an observation.
    type Observation = ();
    /// A scaled row over pairs of states, or nothing where the kernel has become zero and stays so.
    type State = Option<Belief<T, P>>;
    /// `log k`.
    type Reading = T;

    #[inline]
    fn initial_state(&self) -> Self::State {
        Some(Belief::NEW)
    }

    #[inline(always)]
    fn step(&self, state: &mut Self::State, (): &()) -> Result<(), ObservationError> {
        if let Some(belief) = state {
            let positive = if belief.is_new() {
                self.condition(belief, &self.begin())
            } else {
                self.advance(belief)
            };
            if !positive {
                *state = None;
            }
        }
        Ok(())
    }

    #[inline]
    fn step_missing(&self, state: &mut Self::State) {
        if let Some(belief) = state {
            let predicted = if belief.is_new() {
                self.begin()
            } else {
                self.predicted(&self.move_first(belief))
            };
            belief.advance(predicted);
        }
    }

    #[inline]
    fn read(&self, state: &Self::State) -> T {
        state.as_ref().map_or_else(impossible, Belief::log)
    }
}

impl<T: Real, const N: usize, const M: usize, const P: usize> LogKernel
    for ModelPairKernel<'_, Chain<T, N>, Chain<T, M>, Overlaps<T, P>>
{
    type Parts = [T; 2];
    fn log_parts(&self, state: &Self::State) -> [T; 2] {
        match state {
            Some(belief) => belief.evidence().log_parts(),
            None => no_parts(),
        }
    }
}

impl<T: Real, const N: usize, const M: usize, const P: usize> Validate
    for ModelPairKernel<'_, Chain<T, N>, Chain<T, M>, Overlaps<T, P>>
{
    /// Checks that entries of both chains are finite and not negative, and that the overlaps are relative to the largest.
    ///
    /// Rows of a chain raised to a power may have any sum.
    fn validate(&self) -> Result<(), KernelError> {
        self.first.check_entries()?;
        self.second.check_entries()?;
        // A logarithm that is NaN equals nothing.
        let expected = Overlaps::of_logs(*self.overlaps.logs());
        if expected != self.overlaps {
            return Err(ModelError::new(Part::Kernel, ErrorKind::Inconsistent, 0, 0).into());
        }
        Ok(())
    }
    fn size_bytes(&self) -> usize {
        size_of_val(self) + size_of_val(self.first) + size_of_val(self.second)
    }
}

/// `log k` of two models over `steps` transitions in two parts, from their chains, raised to the measure's power, and the overlaps
/// of their states.
#[doc(hidden)]
pub fn log_between<T: Real, const N: usize, const P: usize>(
    first: &Chain<T, N>,
    second: &Chain<T, N>,
    overlaps: Overlaps<T, P>,
    steps: usize,
) -> [T; 2] {
    let kernel = ModelPairKernel::new(first, second, overlaps);
    let mut state = kernel.initial_state();
    for _ in 0..=steps {
        // Nothing is observed, so nothing is refused.
        let _ = kernel.step(&mut state, &());
    }
    kernel.log_parts(&state)
}
