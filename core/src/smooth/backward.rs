//! The backward pass over rows of the filter, once for all that smooth.

use crate::hmm::Chain;
use crate::number::{Real, sum_of};

/// Number of rows, counted from the last sample, after which a posterior is normalised and sums of pairs are moved out.
///
/// Rounding then does not add up over a long sequence.
pub(super) const ROWS_A_BLOCK: u32 = 64;

/// A state that was predicted less than `2^-80` times its posterior is weighed by itself.
pub(super) const UNFORESEEN_FROM: i32 = 80;

/// Consumer of the pair posteriors `p(z_t = i, z_t+1 = j | x_1..T)`.
pub(super) trait PairPosteriors<T, const N: usize> {
    /// Takes in `A_ij f_i r_j` for all pairs.
    fn outer(&mut self, filtered: &[T; N], ratio: &[T; N]);
    /// Takes in one more pair.
    fn pair(&mut self, from: usize, to: usize, probability: T);
    /// Moves the collected sums to their destination.
    fn move_out(&mut self, chain: &Chain<T, N>);
}

/// Nobody asks for pairs.
pub(super) struct NoPairs;

impl<T, const N: usize> PairPosteriors<T, N> for NoPairs {
    #[inline(always)]
    fn outer(&mut self, _: &[T; N], _: &[T; N]) {}
    #[inline(always)]
    fn pair(&mut self, _: usize, _: usize, _: T) {}
    #[inline(always)]
    fn move_out(&mut self, _: &Chain<T, N>) {}
}

/// Pair posteriors, summed over time into the caller's matrix.
///
/// The chain's probabilities multiply a block's sum of outer products, not each of them; and a sum
/// of sums loses less to rounding than one long sum.
pub(super) struct SummedPairs<'p, T, const N: usize> {
    outer: [[T; N]; N],
    sum: &'p mut [[T; N]; N],
}

impl<'p, T: Real, const N: usize> SummedPairs<'p, T, N> {
    pub(super) fn into(sum: &'p mut [[T; N]; N]) -> Self {
        Self { outer: [[T::ZERO; N]; N], sum }
    }
}

impl<T: Real, const N: usize> PairPosteriors<T, N> for SummedPairs<'_, T, N> {
    #[inline(always)]
    fn outer(&mut self, filtered: &[T; N], ratio: &[T; N]) {
        for i in 0..N {
            let (outer, filtered) = (&mut self.outer[i], filtered[i]);
            for j in 0..N {
                outer[j] = outer[j] + filtered * ratio[j];
            }
        }
    }
    fn pair(&mut self, from: usize, to: usize, probability: T) {
        if let Some(entry) = self.sum.get_mut(from).and_then(|row| row.get_mut(to)) {
            *entry = *entry + probability;
        }
    }
    fn move_out(&mut self, chain: &Chain<T, N>) {
        let transition = chain.transition();
        for i in 0..N {
            for j in 0..N {
                self.sum[i][j] = self.sum[i][j] + self.outer[i][j] * transition[i][j];
                self.outer[i][j] = T::ZERO;
            }
        }
    }
}

/// The backward pass: turns rows of the filter into posteriors, from the last sample to the first.
///
/// With the filter's row `f_t`, in any scale, and `p_t+1 = f_t A`:
///
/// ```text
/// r_j = posterior[t+1][j] / p_t+1,j       posterior[t][i] = f_t,i sum_j A_ij r_j
/// ```
///
/// Every term is positive, the filter's scale cancels, and no observation is needed again.
pub(super) struct Backward<T, const N: usize> {
    /// The posterior one sample later.
    next: [T; N],
    /// Rows since the posterior was normalised.
    age: u32,
}

impl<T: Real, const N: usize> Backward<T, N> {
    /// Makes the filter's last row the last posterior.
    #[inline]
    pub(super) fn from_last(row: &mut [T; N]) -> Self {
        normalise(row);
        Self { next: *row, age: 0 }
    }

    /// Takes up the pass where `next` is the posterior one sample later.
    #[inline]
    pub(super) fn from_next(next: [T; N]) -> Self {
        Self { next, age: 0 }
    }

    /// Makes the filter's row, one sample earlier than the row before, a posterior.
    ///
    /// `2 N^2` multiply-adds, `N^2` more for pairs, `N` divisions.
    #[inline]
    pub(super) fn step<G: PairPosteriors<T, N>>(
        &mut self,
        chain: &Chain<T, N>,
        row: &mut [T; N],
        gather: &mut G,
    ) {
        self.turn(chain, row, gather);
        self.age += 1;
        if self.age == ROWS_A_BLOCK {
            self.age = 0;
            gather.move_out(chain);
            normalise(row);
        }
        self.next = *row;
    }

    /// The step itself, without the work that is done once per block.
    #[inline]
    pub(super) fn turn<G: PairPosteriors<T, N>>(
        &self,
        chain: &Chain<T, N>,
        row: &mut [T; N],
        gather: &mut G,
    ) {
        let predicted: [T; N] = chain.predict(row);
        let bound = T::power_of_two(UNFORESEEN_FROM);
        let mut ratios = [T::ZERO; N];
        let mut foreseen = true;
        for j in 0..N {
            ratios[j] = ratio(predicted[j], self.next[j]);
            foreseen &= ratios[j] <= bound;
        }
        if foreseen {
            gather.outer(row, &ratios);
            let onward: [T; N] = chain.backward(&ratios);
            for i in 0..N {
                row[i] = row[i] * onward[i];
            }
        } else {
            self.step_unforeseen(chain, row, &mut ratios, gather);
        }
    }

    /// A state that hardly anything predicted turned out to be occupied: its ratio may overflow, so
    /// its posterior is shared out among its predecessors by their parts in what predicted it.
    #[cold]
    #[inline(never)]
    fn step_unforeseen<G: PairPosteriors<T, N>>(
        &self,
        chain: &Chain<T, N>,
        row: &mut [T; N],
        ratio: &mut [T; N],
        gather: &mut G,
    ) {
        let bound = T::power_of_two(UNFORESEEN_FROM);
        // Parts far below the smallest normal number are raised into its range first.
        let raise = T::power_of_two(64);
        let mut shared = [T::ZERO; N];
        let transition = chain.transition();
        for to in 0..N {
            if ratio[to] <= bound {
                continue;
            }
            ratio[to] = T::ZERO;
            let mut part = [T::ZERO; N];
            for from in 0..N {
                part[from] = row[from] * (transition[from][to] * raise);
            }
            let sum = sum_of::<T, N>(|i| part[i]);
            for from in 0..N {
                if part[from] > T::ZERO {
                    let probability = self.next[to] * (part[from] / sum);
                    gather.pair(from, to, probability);
                    shared[from] = shared[from] + probability;
                }
            }
        }
        gather.outer(row, ratio);
        let onward: [T; N] = chain.backward(ratio);
        for i in 0..N {
            row[i] = row[i] * onward[i] + shared[i];
        }
    }
}

/// `r_j`: a state that could not be reached is not occupied afterwards either.
#[inline(always)]
pub(super) fn ratio<T: Real>(predicted: T, next: T) -> T {
    let quotient = next / predicted;
    if next > T::ZERO { quotient } else { T::ZERO }
}

/// Divides a row by its sum.
#[inline]
fn normalise<T: Real, const N: usize>(row: &mut [T; N]) {
    let sum = sum_of::<T, N>(|j| row[j]);
    for entry in row {
        *entry = *entry / sum;
    }
}
