use super::Recursion;
use crate::emission::{Emission, Row};
use crate::error::ObservationError;
use crate::hmm::{Chain, Hmm, NumberOf, RealOf};
use crate::number::{
    Number, Real, SETTLE_BELOW, SETTLE_EVERY, Scalar, VANISHED_BELOW, Weight, sum_of,
};

/// The forward recursion: the filter, the likelihood and, over dual numbers, the tangent filter.
///
/// ```text
/// p_j  = sum_i a_i A_ij           (p_j = initial_j before the first sample)
/// a'_j = p_j b_j(x)               log p(x_1..t) = log sum_j a_j + what scaling moved out
/// ```
///
/// Over [`Dual`](crate::number::Dual) weights every product carries its derivative, so that
/// [`read`](Recursion::read) is `log p(x_1..t)` with `d/de log p(x_1..t | model + e w)` for each
/// direction `w`: exact, forward only, valid at every `t`.
///
/// Sources: Rabiner 1989 (scaled forward pass); the first seed document's section 12.2.2 and the
/// Fisher score of Jaakkola and Haussler, equation 2, read through a direction.
///
/// State: `N (1 + C)` reals and a ledger. Work a sample: `(1 + 2C) (N^2 + N)` multiply-adds and a
/// row of likelihoods. No division and no logarithm a sample; scaling is by exact powers of two,
/// and only when the sum has fallen below `2^-32` or 32 samples have passed.
#[derive(Debug)]
pub struct Forward<'m, E: Emission, const N: usize> {
    hmm: &'m Hmm<E, N>,
}

impl<E: Emission, const N: usize> Clone for Forward<'_, E, N> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<E: Emission, const N: usize> Copy for Forward<'_, E, N> {}

/// The forward recursion's state: a scaled row over the hidden states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Belief<X: Number, const N: usize> {
    row: [X; N],
    ledger: X::Ledger,
    /// Samples since the row was settled, where that matters; 0 before the first sample.
    age: u32,
}

impl<X: Number, const N: usize> Default for Belief<X, N> {
    fn default() -> Self {
        Self::NEW
    }
}

impl<X: Number, const N: usize> Belief<X, N> {
    /// Before the first sample.
    pub const NEW: Self = Self { row: [X::ZERO; N], ledger: X::SETTLED, age: 0 };

    /// The row before the next observation: `p(z_t+1, x_1..t)`, scaled as the state is.
    #[inline]
    pub fn predict(&self, chain: &Chain<X::Weight, N>) -> [X; N] {
        if self.age == 0 { chain.begin() } else { chain.predict(&self.row) }
    }

    /// Weighs a predicted row with likelihoods and makes it the state.
    ///
    /// Says `false`, and changes nothing, where the products vanish: the observation is impossible,
    /// or likelihoods must be taken relative to the states that can be reached.
    #[inline(always)]
    pub fn condition(&mut self, predicted: &[X; N], likelihood: &[X; N]) -> bool {
        let mut row = *predicted;
        for (entry, &likelihood) in row.iter_mut().zip(likelihood) {
            *entry = entry.times(likelihood);
        }
        let sum = sum_of::<X, N>(|j| row[j]);
        if sum.is_at_least(SETTLE_BELOW) && !(X::CENTRED && self.age >= SETTLE_EVERY) {
            self.row = row;
            if X::CENTRED {
                self.age += 1;
            }
            return true;
        }
        if !sum.is_at_least(VANISHED_BELOW) {
            return false;
        }
        self.row = row;
        self.settle();
        true
    }

    /// Makes a predicted row the state: time has passed, nothing was observed.
    #[inline]
    pub fn advance(&mut self, predicted: [X; N]) {
        self.row = predicted;
        self.age += 1;
        if self.age > SETTLE_EVERY {
            self.settle();
        }
    }

    /// Moves magnitude and derivative into the ledger. Out of line: once in some 30 samples.
    #[cold]
    #[inline(never)]
    fn settle(&mut self) {
        let sum = self.sum();
        X::settle(&mut self.row, sum, &mut self.ledger);
        self.age = 1;
    }

    /// Adds a likelihood row's log scale.
    #[inline(always)]
    pub fn earn(&mut self, log_scale: X::LogScale) {
        X::earn(&mut self.ledger, log_scale);
    }

    /// Whether no sample has been taken in.
    pub fn is_new(&self) -> bool {
        self.age == 0
    }

    /// The scaled row, `[state]`: proportional to `p(z_t, x_1..t)`.
    pub fn row(&self) -> &[X; N] {
        &self.row
    }

    /// The sum of the scaled row.
    #[inline]
    pub fn sum(&self) -> X {
        sum_of::<X, N>(|j| self.row[j])
    }

    /// `log p(x_1..t)`, with its tangent over dual numbers; `log 1` before the first sample.
    pub fn log(&self) -> X {
        if self.age == 0 {
            X::lift(X::Weight::constant(X::Real::ZERO))
        } else {
            X::log(self.sum(), &self.ledger)
        }
    }
}

impl<'m, E: Emission, const N: usize> Forward<'m, E, N> {
    /// The forward recursion of a model.
    pub const fn of(hmm: &'m Hmm<E, N>) -> Self {
        Self { hmm }
    }

    /// The model.
    pub const fn hmm(&self) -> &'m Hmm<E, N> {
        self.hmm
    }

    /// `p(z_t = j | x_1..t)`, `[state]`; the initial distribution before the first sample.
    pub fn filtered(&self, state: &Belief<NumberOf<E>, N>) -> [RealOf<E>; N] {
        if state.is_new() {
            return self.hmm.chain().initial().map(Weight::value);
        }
        normalised(state.row())
    }

    /// `p(z_t+1 = j | x_1..t)`, `[state]`.
    pub fn predicted(&self, state: &Belief<NumberOf<E>, N>) -> [RealOf<E>; N] {
        normalised(&state.predict(self.hmm.chain()))
    }

    /// `log p(x_1..t)`.
    pub fn log_likelihood(&self, state: &Belief<NumberOf<E>, N>) -> RealOf<E> {
        state.log().value()
    }

    /// The first sample, and the rare one whose products vanish: kept off the path of the others.
    #[cold]
    #[inline(never)]
    fn push_slowly(
        self,
        state: &mut Belief<NumberOf<E>, N>,
        x: &E::Observation,
    ) -> Result<(), ObservationError> {
        let predicted = state.predict(self.hmm.chain());
        if state.is_new()
            && let Some(Row { likelihood, log_scale }) = E::row(self.hmm.emission(), x)
            && state.condition(&predicted, &lifted(likelihood))
        {
            state.age = 1;
            state.earn(log_scale);
            return Ok(());
        }
        self.condition_reachable(state, &predicted, x)
    }

    /// Conditions in the log domain, relative to the best state that can be reached: a row relative
    /// to the best of all states may vanish where that state is out of reach.
    fn condition_reachable(
        self,
        state: &mut Belief<NumberOf<E>, N>,
        predicted: &[NumberOf<E>; N],
        x: &E::Observation,
    ) -> Result<(), ObservationError> {
        let emission = self.hmm.emission();
        for emission in emission {
            emission.check(x)?;
        }
        let mut predicted = *predicted;
        let mut next = *state;
        let sum = sum_of::<NumberOf<E>, N>(|j| predicted[j]);
        NumberOf::<E>::settle(&mut predicted, sum, &mut next.ledger);
        let log: [E::Weight; N] = core::array::from_fn(|j| emission[j].log_likelihood(x));
        let mut best = RealOf::<E>::NEG_INFINITY;
        for (log, predicted) in log.iter().zip(&predicted) {
            if predicted.value() > RealOf::<E>::ZERO {
                best = Real::max(best, log.value());
            }
        }
        if !best.is_finite() {
            return Err(ObservationError::Impossible);
        }
        // A state out of reach may be far likelier than the best in reach: its product is zero.
        next.row = core::array::from_fn(|j| {
            if predicted[j].value() > RealOf::<E>::ZERO {
                predicted[j].times(NumberOf::<E>::lift(log[j].exp_relative_to(best)))
            } else {
                NumberOf::<E>::ZERO
            }
        });
        next.earn(best);
        next.settle();
        *state = next;
        Ok(())
    }
}

impl<E: Emission, const N: usize> Recursion for Forward<'_, E, N> {
    type Observation = E::Observation;
    type State = Belief<NumberOf<E>, N>;
    type Reading = NumberOf<E>;

    #[inline]
    fn start(&self) -> Self::State {
        Belief::NEW
    }

    #[inline]
    fn push(&self, state: &mut Self::State, x: &E::Observation) -> Result<(), ObservationError> {
        // Before the first sample the row is zero, its products vanish, and the slow path begins:
        // no sample after it pays for the question.
        let predicted = self.hmm.chain().predict(state.row());
        if let Some(Row { likelihood, log_scale }) = E::row(self.hmm.emission(), x)
            && state.condition(&predicted, &lifted(likelihood))
        {
            if E::SCALED {
                state.earn(log_scale);
            }
            return Ok(());
        }
        self.push_slowly(state, x)
    }

    #[inline]
    fn push_missing(&self, state: &mut Self::State) {
        state.advance(state.predict(self.hmm.chain()));
    }

    #[inline]
    fn read(&self, state: &Self::State) -> NumberOf<E> {
        state.log()
    }
}

#[inline(always)]
fn lifted<X: Number, const N: usize>(weights: [X::Weight; N]) -> [X; N] {
    let mut row = [X::ZERO; N];
    for (entry, weight) in row.iter_mut().zip(weights) {
        *entry = X::lift(weight);
    }
    row
}

fn normalised<X: Scalar, const N: usize>(row: &[X; N]) -> [X::Real; N] {
    let sum = sum_of::<X::Real, N>(|j| row[j].value());
    row.map(|entry| entry.value() / sum)
}
