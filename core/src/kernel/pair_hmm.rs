use super::Scaled;
use crate::error::{ErrorKind, ModelError, Part, check_distribution};
use crate::hmm::Chain;
use crate::number::{Real, sum_of};

/// End of the trajectories of a [`PairHmm`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum End<T, const N: usize> {
    /// Anywhere: trajectories of all lengths are summed, each length with a mass of one. The kernel is
    /// positive semi-definite, but no probability distribution.
    Anywhere,
    /// A silent final state, entered from the beginning and from each state, `[state]`, with these
    /// probabilities: transition rows sum to one less what ends. The kernel is a probability
    /// distribution on pairs of sequences.
    Silent {
        /// Probability from the initial state: nothing is emitted.
        initial: T,
        /// Probability from each state.
        state: [T; N],
    },
    /// One of the emitting states, which may be left and entered anew.
    Emitting(usize),
}

/// A hidden Markov model whose states may emit nothing, as a pair model that never emits nothing
/// twice.
///
/// `N` states emit one of `K` symbols or, with probability `empty[state]`, nothing. A trajectory is a
/// template of two sequences, each emitted from it independently. The constructor removes the pairs
/// (nothing, nothing) in two stages. Each state is split into one that emits some symbol and a silent
/// one,
///
/// ```text
/// P(b | a) (1 - empty[b]^2)   to what emits        Q[a][b] = P(b | a) empty[b]^2   to what is silent
/// ```
///
/// the silent one having the same ways out; then silent states are eliminated one by one, so that
///
/// ```text
/// R = (I - Q)^-1     P'(b | a) = sum_c R[a][c] P(b | c) (1 - empty[b]^2)     end'[a] = sum_c R[a][c] end[c]
/// ```
///
/// What a silent state is divided by is the sum of its ways out, never a difference (Grassmann,
/// Taksar and Heyman 1985): every result is as accurate as its parameters, to a few roundings.
///
/// Source: Shawe-Taylor and Cristianini, "Kernel Methods for Pattern Analysis", 2004, section
/// 12.1.5, Definition 12.13. Flash: `N (N + K + 3) + 1` reals.
///
/// ```
/// use fishweir_core::kernel::{End, PairHmm};
///
/// # fn main() -> Result<(), fishweir_core::ModelError> {
/// // One state that emits nothing half of the time: a quarter of the pairs are empty.
/// let model = PairHmm::<f64, 1, 2>::new(
///     [1.0], [[1.0]], [[0.25, 0.25]], [0.5], End::Anywhere,
/// )?;
/// assert_eq!(model.transition(), [[1.0]]);
/// assert!((model.end()[0] - 4.0 / 3.0).abs() < 1e-15); // 1 + 1/4 + 1/16 + ...
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PairHmm<T, const N: usize, const K: usize> {
    /// Transitions from each state to the next that is not silent, before the probability that it is not: the
    /// factors `1 - empty^2` of transitions and emissions cancel.
    chain: Chain<T, N>,
    /// `[state][symbol]`.
    emission: [[T; K]; N],
    /// `[state]`.
    empty: [T; N],
    /// End weights of the initial state and of each state.
    initial_end: T,
    end: [T; N],
}

impl<T: Real, const N: usize, const K: usize> PairHmm<T, N, K> {
    /// The pair model of `initial[state]`, `transition[from][to]`, `emission[state][symbol]` and
    /// `empty[state]`; a state's emissions and `empty` sum to one. `N^3` multiply-adds.
    ///
    /// # Errors
    /// The first probability that is negative or not finite, or row that does not sum to one; an unknown final state; a state
    /// that emits nothing for ever.
    pub fn new(
        initial: [T; N],
        transition: [[T; N]; N],
        emission: [[T; K]; N],
        empty: [T; N],
        end: End<T, N>,
    ) -> Result<Self, ModelError> {
        const { assert!(N > 0 && K > 0, "N and K must be at least 1") };
        let weights = Weights::of(end)?;
        let leaves = |end: T| if weights.exits { end } else { T::ZERO };
        let row = |row: &[T; N], end: T, part, from| {
            check_distribution(row.iter().copied().chain([leaves(end)]), part, from)
        };
        row(&initial, weights.initial, Part::Initial, 0)?;
        for (from, (to, &end)) in transition.iter().zip(&weights.state).enumerate() {
            row(to, end, Part::Transition, from)?;
        }
        for (state, (symbols, &empty)) in emission.iter().zip(&empty).enumerate() {
            let row = symbols.iter().copied().chain([empty]);
            check_distribution(row, Part::Probability, state)?;
        }
        Silent::split(initial, transition, &emission, &empty, weights).removed(emission, empty)
    }

    /// Creates a model from the parts of another, [`chain`](Self::chain), emissions and end weights, as an export writes
    /// them; [`validate`](Self::validate) checks them.
    pub const fn from_parts(
        chain: Chain<T, N>,
        emission: [[T; K]; N],
        empty: [T; N],
        initial_end: T,
        end: [T; N],
    ) -> Self {
        const { assert!(N > 0 && K > 0, "N and K must be at least 1") };
        Self { chain, emission, empty, initial_end, end }
    }

    /// Checks every number.
    ///
    /// Rows of the chain need not sum to one: they are probabilities before the factors `1 - empty^2`.
    ///
    /// # Errors
    /// The first number that is negative or not finite, or row of emissions that with `empty` does not sum to one.
    pub fn validate(&self) -> Result<(), ModelError> {
        check_weights(self.chain.initial(), Part::Initial, 0)?;
        for (from, row) in self.chain.transition().iter().enumerate() {
            check_weights(row, Part::Transition, from)?;
        }
        for (state, (symbols, &empty)) in self.emission.iter().zip(&self.empty).enumerate() {
            let row = symbols.iter().copied().chain([empty]);
            check_distribution(row, Part::Probability, state)?;
        }
        check_weights(&[self.initial_end], Part::End, 0)?;
        check_weights(&self.end, Part::End, 1)
    }

    /// The reduced model's initial probabilities, `[state]`.
    pub fn initial(&self) -> [T; N] {
        self.reduced(self.chain.initial())
    }

    /// The reduced model's transition probabilities `P'`, `[from][to]`.
    pub fn transition(&self) -> [[T; N]; N] {
        self.chain.transition().map(|row| self.reduced(&row))
    }

    /// The reduced model's end weights: of a trajectory of no state.
    pub const fn initial_end(&self) -> T {
        self.initial_end
    }

    /// The reduced model's end weights, `[state]`: over all silent continuations.
    pub const fn end(&self) -> &[T; N] {
        &self.end
    }

    /// The emission probabilities, `[state][symbol]`.
    pub const fn emission(&self) -> &[[T; K]; N] {
        &self.emission
    }

    /// The probabilities of emitting nothing, `[state]`.
    pub const fn empty(&self) -> &[T; N] {
        &self.empty
    }

    /// Transitions from the beginning and from each state to the next that emits, before the factor `1 - empty^2` of that state.
    pub const fn chain(&self) -> &Chain<T, N> {
        &self.chain
    }

    /// `P(symbol | state)`, `[state]`, or of any symbol where it is missing; `None` past the alphabet.
    #[inline]
    pub(super) fn emits(&self, symbol: Option<usize>) -> Option<[T; N]> {
        let mut row = [T::ZERO; N];
        for (entry, emission) in row.iter_mut().zip(&self.emission) {
            *entry = match symbol {
                Some(symbol) => *emission.get(symbol)?,
                None => sum_of::<T, K>(|k| emission[k]),
            };
        }
        Some(row)
    }

    /// `k[0][j]` from `p[0][j-1]`: all that is emitted is the stream's.
    #[inline(always)]
    pub(super) fn first_cell(&self, left: &Scaled<T, N>, streamed: &[T; N]) -> Scaled<T, N> {
        left.mul_weight(&self.empty).mul_weight(streamed)
    }

    /// `k[i][j]` from the predicted rows of the cells above, to the left and on the diagonal; with nothing of the stream in the
    /// first column.
    #[inline(always)]
    pub(super) fn cell(
        &self,
        [above, left, diagonal]: [&Scaled<T, N>; 3],
        stored: &[T; N],
        streamed: Option<&[T; N]>,
    ) -> Scaled<T, N> {
        let sum = above.mul_weight(stored).mul_weight(&self.empty);
        match streamed {
            Some(streamed) => sum
                .plus(left.mul_weight(&self.empty).mul_weight(streamed))
                .plus(diagonal.mul_weight(stored).mul_weight(streamed)),
            None => sum,
        }
    }

    /// `p[i][j]` of `k[i][j]`.
    #[inline(always)]
    pub(super) fn after(&self, cell: &Scaled<T, N>) -> Scaled<T, N> {
        cell.map(|row| self.chain.predict(row))
    }

    fn reduced(&self, row: &[T; N]) -> [T; N] {
        let audible = audible_of(&self.emission, &self.empty);
        let mut reduced = *row;
        for j in 0..N {
            reduced[j] = reduced[j] * audible[j];
        }
        reduced
    }
}

/// `1 - empty^2`, `[state]`: (1 - e)(1 + e), the first factor as the sum that it is.
fn audible_of<T: Real, const N: usize, const K: usize>(
    emission: &[[T; K]; N],
    empty: &[T; N],
) -> [T; N] {
    let mut audible = [T::ZERO; N];
    for j in 0..N {
        audible[j] = sum_of::<T, K>(|k| emission[j][k]) * (T::ONE + empty[j]);
    }
    audible
}

/// Checks weights that are not negative and may sum to any value.
fn check_weights<T: Real>(weights: &[T], part: Part, row: usize) -> Result<(), ModelError> {
    for (entry, &weight) in weights.iter().enumerate() {
        if !weight.is_finite() {
            return Err(ModelError::new(part, ErrorKind::NotFinite, row, entry));
        }
        if weight < T::ZERO {
            return Err(ModelError::new(part, ErrorKind::Negative, row, entry));
        }
    }
    Ok(())
}

/// End weights, and whether they are probabilities of leaving the states.
struct Weights<T, const N: usize> {
    initial: T,
    state: [T; N],
    exits: bool,
}

impl<T: Real, const N: usize> Weights<T, N> {
    fn of(end: End<T, N>) -> Result<Self, ModelError> {
        Ok(match end {
            End::Anywhere => Self { initial: T::ONE, state: [T::ONE; N], exits: false },
            End::Silent { initial, state } => {
                check_weights(&[initial], Part::End, 0)?;
                check_weights(&state, Part::End, 1)?;
                Self { initial, state, exits: true }
            }
            End::Emitting(last) => {
                let mut state = [T::ZERO; N];
                match state.get_mut(last) {
                    Some(weight) => *weight = T::ONE,
                    None => return Err(ModelError::new(Part::End, ErrorKind::Unknown, 0, last)),
                }
                Self { initial: T::ZERO, state, exits: false }
            }
        })
    }
}

/// The ways out of a state: to states that emit, to silent ones that remain, to the end.
#[derive(Clone, Copy)]
struct Ways<T, const N: usize> {
    next: [T; N],
    silent: [T; N],
    end: T,
}

impl<T: Real, const N: usize> Ways<T, N> {
    /// Goes by way of silent state `c`, whose ways out are `from` and sum, but for the one back, to
    /// `leave`.
    fn bypass(&mut self, c: usize, from: &Self, leave: T) {
        let Some(enters) = self.silent.get_mut(c) else { return };
        if *enters == T::ZERO {
            return;
        }
        let factor = *enters / leave;
        *enters = T::ZERO;
        for (entry, &way) in self.next.iter_mut().zip(&from.next) {
            *entry = *entry + factor * way;
        }
        for (entry, &way) in self.silent.iter_mut().zip(&from.silent).skip(c + 1) {
            *entry = *entry + factor * way;
        }
        self.end = self.end + factor * from.end;
    }
}

/// The model with its silent states split off.
struct Silent<T, const N: usize> {
    initial: Ways<T, N>,
    /// Ways out of each state, silent or not.
    state: [Ways<T, N>; N],
    audible: [T; N],
    exits: bool,
}

impl<T: Real, const N: usize> Silent<T, N> {
    /// The first stage.
    fn split<const K: usize>(
        initial: [T; N],
        transition: [[T; N]; N],
        emission: &[[T; K]; N],
        empty: &[T; N],
        weights: Weights<T, N>,
    ) -> Self {
        let audible = audible_of(emission, empty);
        let split = |next: [T; N], end| {
            let mut silent = next;
            for (entry, &empty) in silent.iter_mut().zip(empty) {
                *entry = *entry * (empty * empty);
            }
            Ways { next, silent, end }
        };
        let mut state = [split([T::ZERO; N], T::ZERO); N];
        for ((ways, next), end) in state.iter_mut().zip(transition).zip(weights.state) {
            *ways = split(next, end);
        }
        let initial = split(initial, weights.initial);
        Self { initial, state, audible, exits: weights.exits }
    }

    /// The second stage.
    fn removed<const K: usize>(
        mut self,
        emission: [[T; K]; N],
        empty: [T; N],
    ) -> Result<PairHmm<T, N, K>, ModelError> {
        for (c, &empty) in empty.iter().enumerate() {
            let Some(&from) = self.state.get(c) else { break };
            let mut leave = sum_of::<T, N>(|b| from.next[b] * self.audible[b]);
            for &way in from.silent.iter().skip(c + 1) {
                leave = leave + way;
            }
            if self.exits {
                leave = leave + from.end;
            }
            let left = leave > T::ZERO;
            if !left && empty > T::ZERO {
                return Err(ModelError::new(Part::Empty, ErrorKind::Endless, 0, c));
            }
            self.initial.bypass(c, &from, leave);
            for ways in &mut self.state {
                ways.bypass(c, &from, leave);
            }
        }
        let mut transition = [[T::ZERO; N]; N];
        let mut end = [T::ZERO; N];
        for ((row, end), ways) in transition.iter_mut().zip(&mut end).zip(&self.state) {
            (*row, *end) = (ways.next, ways.end);
        }
        Ok(PairHmm {
            chain: Chain::from_parts(self.initial.next, transition),
            emission,
            empty,
            initial_end: self.initial.end,
            end,
        })
    }
}
