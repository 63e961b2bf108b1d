//! Sequences side by side: the backward pass over lanes.

use super::backward::{Backward, PairPosteriors, ROWS_A_BLOCK, UNFORESEEN_FROM, ratio};
use crate::hmm::Chain;
use crate::number::{Lanes, Number, Real};

/// `L` sequences' backward passes side by side, under one model.
///
/// Takes the rows of `Beliefs` from the last to the first and makes each a
/// row of posteriors, `[state][lane]`; the equations are those of [`posteriors`](super::posteriors),
/// and lane `l` holds what it would say of that sequence alone, bit for bit. The sequences end
/// together; one that is shorter [rests](BackwardLanes::clear_lane) from its first sample on.
///
/// RAM: `L (2 N^2 + N)` reals. Work per sample and lane: that of the single backward pass.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct BackwardLanes<T: Real, const N: usize, const L: usize> {
    /// The posteriors one sample later.
    next: [Lanes<T, L>; N],
    pairs: PairLanes<T, N, L>,
    /// Rows since the posteriors were normalised.
    age: u32,
}

/// Pair posteriors, as `SummedPairs` holds them for one sequence.
#[derive(Clone, Debug)]
struct PairLanes<T: Real, const N: usize, const L: usize> {
    outer: [[Lanes<T, L>; N]; N],
    sum: [[Lanes<T, L>; N]; N],
}

impl<T: Real, const N: usize, const L: usize> BackwardLanes<T, N, L> {
    /// Makes the filter's last rows the last posteriors.
    #[inline(always)]
    pub fn from_last(row: &mut [Lanes<T, L>; N]) -> Self {
        normalise(row);
        let none = [[Lanes::ZERO; N]; N];
        Self { next: *row, pairs: PairLanes { outer: none, sum: none }, age: 0 }
    }

    /// Makes the filter's rows, one sample earlier than the rows before, posteriors.
    #[inline(always)]
    pub fn step(&mut self, chain: &Chain<T, N>, row: &mut [Lanes<T, L>; N]) {
        let transition = chain.transition();
        let ratios = Lanes::combine(row, |i, j| transition[i][j], &self.next, ratio);
        if are_below(&ratios, T::power_of_two(UNFORESEEN_FROM)) {
            self.pairs.outer(row, &ratios);
            *row = Lanes::combine(&ratios, |j, i| transition[i][j], row, |onward, f| f * onward);
        } else {
            self.step_lane_by_lane(chain, row);
        }
        self.age += 1;
        if self.age == ROWS_A_BLOCK {
            self.age = 0;
            self.pairs.move_out(chain);
            normalise(row);
        }
        self.next = *row;
    }

    /// The rows of some lane need care: each takes its step alone.
    #[cold]
    #[inline(never)]
    fn step_lane_by_lane(&mut self, chain: &Chain<T, N>, row: &mut [Lanes<T, L>; N]) {
        for lane in 0..L {
            let mut alone = column(row, lane);
            let backward = Backward::from_next(column(&self.next, lane));
            backward.turn(chain, &mut alone, &mut PairLane { pairs: &mut self.pairs, lane });
            for j in 0..N {
                row[j].0[lane] = alone[j];
            }
        }
    }

    /// Ends a lane's sequence: the rows before are not its own. Nothing is changed past the last lane.
    pub fn clear_lane(&mut self, lane: usize) {
        for entry in &mut self.next {
            if let Some(entry) = entry.0.get_mut(lane) {
                *entry = T::ZERO;
            }
        }
    }

    /// The expected transitions of every lane's sequence, `[from][to]`, to be read once.
    pub fn into_pairs(mut self, chain: &Chain<T, N>) -> [[Lanes<T, L>; N]; N] {
        self.pairs.move_out(chain);
        self.pairs.sum
    }
}

impl<T: Real, const N: usize, const L: usize> PairLanes<T, N, L> {
    #[inline(always)]
    fn outer(&mut self, filtered: &[Lanes<T, L>; N], ratio: &[Lanes<T, L>; N]) {
        for i in 0..N {
            let (outer, filtered) = (&mut self.outer[i], filtered[i]);
            for l in 0..L {
                let filtered = filtered.0[l];
                for j in 0..N {
                    outer[j].0[l] = outer[j].0[l] + filtered * ratio[j].0[l];
                }
            }
        }
    }

    #[inline(always)]
    fn move_out(&mut self, chain: &Chain<T, N>) {
        let transition = chain.transition();
        for i in 0..N {
            for j in 0..N {
                let moved = self.outer[i][j].mul_weight(transition[i][j]);
                self.sum[i][j] = self.sum[i][j].plus(moved);
                self.outer[i][j] = Lanes::ZERO;
            }
        }
    }
}

/// One lane's pairs, for a step of its own.
struct PairLane<'p, T: Real, const N: usize, const L: usize> {
    pairs: &'p mut PairLanes<T, N, L>,
    lane: usize,
}

impl<T: Real, const N: usize, const L: usize> PairPosteriors<T, N> for PairLane<'_, T, N, L> {
    fn outer(&mut self, filtered: &[T; N], ratio: &[T; N]) {
        for i in 0..N {
            for j in 0..N {
                if let Some(entry) = self.pairs.outer[i][j].0.get_mut(self.lane) {
                    *entry = *entry + filtered[i] * ratio[j];
                }
            }
        }
    }
    fn pair(&mut self, from: usize, to: usize, probability: T) {
        let entry = self.pairs.sum.get_mut(from).and_then(|row| row.get_mut(to));
        if let Some(entry) = entry.and_then(|lanes| lanes.0.get_mut(self.lane)) {
            *entry = *entry + probability;
        }
    }
    fn move_out(&mut self, _: &Chain<T, N>) {}
}

/// Returns whether no entry is above a bound.
#[inline(always)]
fn are_below<T: Real, const N: usize, const L: usize>(row: &[Lanes<T, L>; N], bound: T) -> bool {
    let mut below = true;
    for l in 0..L {
        for j in 0..N {
            below &= row[j].0[l] <= bound;
        }
    }
    below
}

/// Divides each lane's row by its sum; a row of zeros stays.
#[inline(always)]
fn normalise<T: Real, const N: usize, const L: usize>(row: &mut [Lanes<T, L>; N]) {
    let sum = Lanes::sum(row);
    for l in 0..L {
        for j in 0..N {
            row[j].0[l] = ratio(sum.0[l], row[j].0[l]);
        }
    }
}

/// One lane of a row.
fn column<T: Real, const N: usize, const L: usize>(row: &[Lanes<T, L>; N], lane: usize) -> [T; N] {
    let mut column = [T::ZERO; N];
    for j in 0..N {
        column[j] = row[j].0[lane];
    }
    column
}
