//! Sequences side by side: the forward recursion over lanes.

use super::{Belief, Forward, Streaming};
use crate::emission::Emission;
use crate::error::ObservationError;
use crate::hmm::Chain;
use crate::number::{
    Lanes, Number, RESCALE_BELOW, RESCALE_FROM, Real, ScaleAccumulator, UNDERFLOW_EXP,
};

/// `L` sequences' forward states side by side, under one model.
///
/// Lane `l` holds what [`Belief`] would hold for its sequence alone, bit for bit: the arithmetic is
/// [`Chain::predict`], a lane is scaled when it would be scaled alone, and what is rare (a first
/// sample, a missing one, one whose products vanish) is done by the single recursion on a lane taken
/// out.
///
/// RAM: `L (N + 2)` reals and `20 L` bytes. Work per sample and lane: that of [`Forward`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[doc(hidden)]
pub struct Beliefs<T: Real, const N: usize, const L: usize> {
    /// Scaled rows, `[state][lane]`.
    row: [Lanes<T, L>; N],
    /// Scale moved out of each row, without the exponents below.
    ledger: [ScaleAccumulator<T>; L],
    /// Exponents moved out since the lane was set.
    exponent: [i64; L],
    age: [u32; L],
}

impl<T: Real, const N: usize, const L: usize> Default for Beliefs<T, N, L> {
    fn default() -> Self {
        Self::IDLE
    }
}

impl<T: Real, const N: usize, const L: usize> Beliefs<T, N, L> {
    /// No lane in use. An idle lane holds a row that no step can make vanish, if it is given
    /// likelihoods of one.
    pub const IDLE: Self = Self {
        row: [<Lanes<T, L> as Number>::ONE; N],
        ledger: [ScaleAccumulator::UNSCALED; L],
        exponent: [0; L],
        age: [1; L],
    };

    /// The scaled rows, `[state][lane]`: each lane proportional to its `p(z_t, x_1..t)`.
    #[inline(always)]
    pub const fn rows(&self) -> &[Lanes<T, L>; N] {
        &self.row
    }

    /// One lane's state; that of no sample past the last lane.
    pub fn lane(&self, lane: usize) -> Belief<T, N> {
        let mut belief = Belief::NEW;
        let (Some(&ledger), Some(&exponent), Some(&age)) =
            (self.ledger.get(lane), self.exponent.get(lane), self.age.get(lane))
        else {
            return belief;
        };
        for j in 0..N {
            if let Some(&value) = self.row[j].0.get(lane) {
                belief.row[j] = value;
            }
        }
        belief.ledger = ledger;
        belief.ledger.take_exponent(exponent);
        belief.age = age;
        belief
    }

    /// Makes `belief` a lane's state. Nothing is changed past the last lane.
    pub fn set_lane(&mut self, lane: usize, belief: &Belief<T, N>) {
        if let (Some(ledger), Some(exponent), Some(age)) =
            (self.ledger.get_mut(lane), self.exponent.get_mut(lane), self.age.get_mut(lane))
        {
            (*ledger, *exponent, *age) = (belief.ledger, 0, belief.age);
            set_column(&mut self.row, lane, &belief.row);
        }
    }

    /// Takes a lane out of use: before its first sample, or for good.
    pub fn clear_lane(&mut self, lane: usize) {
        let idle = Belief { row: [T::ONE; N], ledger: ScaleAccumulator::UNSCALED, age: 1 };
        self.set_lane(lane, &idle);
    }

    /// One step of every lane on likelihoods, `[state][lane]`.
    ///
    /// Says `false`, and changes nothing, where the products of any lane vanish: then each lane must
    /// take its step alone. So must, always, a lane before its first sample.
    #[inline(always)]
    pub fn step(&mut self, chain: &Chain<T, N>, likelihood: &[Lanes<T, L>; N]) -> bool {
        let mut moved = Moved::NOTHING;
        let plain = scaled(chain, likelihood, &mut self.row, &mut moved);
        self.take(&moved);
        plain
    }

    /// Takes steps of several sets of lanes in turn, on the likelihoods `[state][lane]` of `likelihood(step, set)`.
    ///
    /// Calls `keep(step, set, row)` after each step. Returns the number of steps, counted over all sets: `W steps` if all were
    /// taken, else those before the first that [`step`](Self::step) would not take, or those of the first million.
    ///
    /// Bits and work are those of [`step`](Self::step). If there are few states, rows stay in registers from one step to the
    /// next; with two sets, one proceeds while the other waits for its sums.
    #[inline(always)]
    pub fn steps<const W: usize>(
        beliefs: &mut [Self; W],
        chain: &Chain<T, N>,
        steps: usize,
        likelihood: impl Fn(usize, usize) -> [Lanes<T, L>; N],
        mut keep: impl FnMut(usize, usize, &[Lanes<T, L>; N]),
    ) -> usize {
        let mut row = [Self::IDLE.row; W];
        for set in 0..W {
            row[set] = beliefs[set].row;
        }
        let mut moved = [Moved::<L>::NOTHING; W];
        let mut taken = 0;
        'steps: for step in 0..steps.min(MOST_STEPS) {
            for set in 0..W {
                let likelihood = likelihood(step, set);
                if !scaled(chain, &likelihood, &mut row[set], &mut moved[set]) {
                    break 'steps;
                }
                keep(step, set, &row[set]);
                taken += 1;
            }
        }
        for set in 0..W {
            beliefs[set].row = row[set];
            beliefs[set].take(&moved[set]);
        }
        taken
    }

    /// Adds the scale that rescaling has moved out of each lane.
    #[inline(always)]
    fn take(&mut self, moved: &Moved<L>) {
        for l in 0..L {
            self.exponent[l] += i64::from(moved.exponent[l]);
            self.age[l] = if moved.any[l] == 0 { self.age[l] } else { 1 };
        }
    }

    /// Adds the log scales of a row of likelihoods, `[lane]`.
    #[inline(always)]
    pub fn add_log_scale(&mut self, log_scale: &[T; L]) {
        for l in 0..L {
            T::add_log_scale(&mut self.ledger[l], log_scale[l]);
        }
    }
}

/// Number of steps for which the exponents' sums fit 32 bits.
const MOST_STEPS: usize = 1 << 20;

/// Scale moved out of the lanes of a row.
struct Moved<const L: usize> {
    /// Summed.
    exponent: [i32; L],
    /// Nonzero for each lane with a scale moved out.
    any: [i32; L],
}

impl<const L: usize> Moved<L> {
    const NOTHING: Self = Self { exponent: [0; L], any: [0; L] };
}

/// One step of a row: returns `false`, and changes nothing, if the products of any lane vanish.
///
/// Rescales the lanes that would rescale alone; the others by `2^0`. Without a branch: among many lanes
/// there is one at most steps.
#[inline(always)]
fn scaled<T: Real, const N: usize, const L: usize>(
    chain: &Chain<T, N>,
    likelihood: &[Lanes<T, L>; N],
    row: &mut [Lanes<T, L>; N],
    moved: &mut Moved<L>,
) -> bool {
    let transition = chain.transition();
    let next = Lanes::combine(row, |i, j| transition[i][j], likelihood, |p, b| p * b);
    let sum = Lanes::sum(&next);
    if !sum.is_at_least(UNDERFLOW_EXP) {
        return false;
    }
    for l in 0..L {
        let fine = sum.0[l].is_between(RESCALE_BELOW, RESCALE_FROM);
        let exponent = if fine { 0 } else { sum.0[l].exponent() };
        let factor = T::power_of_two(-exponent);
        moved.exponent[l] += exponent;
        moved.any[l] |= exponent;
        for j in 0..N {
            row[j].0[l] = next[j].0[l] * factor;
        }
    }
    true
}

impl<T: Real, E: Emission<Weight = T>, const N: usize> Forward<'_, E, N> {
    /// Takes in one sample of each lane: `Some(Some(x))` an observation, `Some(None)` a missing one,
    /// `None` nothing at all, and the lane stays as it is.
    ///
    /// Each lane's state and answer are those of [`push`](Streaming::push) on it alone, bit for bit.
    /// Where emissions allow rows of likelihoods to be had faster than one by one, fill them in and
    /// call `Beliefs::step`.
    ///
    /// # Errors
    /// In a lane's place: its observation is impossible, or none. That lane is unchanged.
    pub fn push_lanes<const L: usize>(
        &self,
        state: &mut Beliefs<T, N, L>,
        samples: &[Option<Option<&E::Observation>>; L],
    ) -> [Result<(), ObservationError>; L] {
        let mut results = [Ok(()); L];
        let mut likelihood = [Lanes::<T, L>::ONE; N];
        let mut log_scale = [T::ZERO; L];
        let before = *state;
        let mut alone = [true; L];
        for lane in 0..L {
            if let Some(Some(x)) = samples[lane]
                && state.age[lane] > 0
                && let Some(row) = E::row(self.hmm().emission(), x)
            {
                alone[lane] = false;
                set_column(&mut likelihood, lane, &row.likelihood);
                log_scale[lane] = row.log_scale;
            }
        }
        if !state.step(self.hmm().chain(), &likelihood) {
            alone = [true; L];
        } else if E::SCALED {
            state.add_log_scale(&log_scale);
        }
        for lane in 0..L {
            if !alone[lane] {
                continue;
            }
            let mut belief = before.lane(lane);
            match samples[lane] {
                Some(Some(x)) => results[lane] = self.step(&mut belief, x),
                Some(None) => self.step_missing(&mut belief),
                None => {}
            }
            state.set_lane(lane, &belief);
        }
        results
    }
}

/// Writes one lane of a row. Nothing is written past the last lane.
#[inline(always)]
fn set_column<T: Real, const N: usize, const L: usize>(
    row: &mut [Lanes<T, L>; N],
    lane: usize,
    column: &[T; N],
) {
    for j in 0..N {
        if let Some(entry) = row[j].0.get_mut(lane) {
            *entry = column[j];
        }
    }
}
