use super::Recursion;
use crate::emission::{Emission, Row};
use crate::error::ObservationError;
use crate::hmm::{Chain, Hmm, NumberOf, ReadingOf, RealOf};
use crate::number::{
    Number, Parameter, Real, SETTLE_BELOW, SETTLE_FROM, Scalar, VANISHED_BELOW, Weight, lend,
    sum_of,
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
/// Range: a state that is `2^-126` times as probable as the best in `f32` (`2^-1022` in `f64`), given
/// the stream so far, is taken for one that cannot be, until it is entered anew. An observation whose
/// log density is below `-2^64` in every state that can be reached is impossible.
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
    pub(super) row: [X; N],
    pub(super) ledger: X::Ledger,
    /// Samples since the row was settled, where that matters; 0 before the first sample.
    pub(super) age: u32,
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
        if sum.is_between(SETTLE_BELOW, SETTLE_FROM) && !(X::CENTRED && self.age >= X::SETTLE_EVERY)
        {
            self.row = X::keep(row, sum, &mut self.ledger);
            if X::CENTRED {
                self.age += 1;
            }
            return true;
        }
        if !sum.is_at_least(VANISHED_BELOW) {
            return false;
        }
        self.row = X::keep(row, sum, &mut self.ledger);
        lend(self, Self::settle);
        true
    }

    /// Makes a predicted row the state: time has passed, nothing was observed.
    #[inline]
    pub fn advance(&mut self, predicted: [X; N]) {
        let sum = sum_of::<X, N>(|j| predicted[j]);
        self.row = X::keep(predicted, sum, &mut self.ledger);
        self.age += 1;
        if self.age > X::SETTLE_EVERY || !sum.is_between(SETTLE_BELOW, SETTLE_FROM) {
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
    pub fn log(&self) -> X::Reading {
        self.evidence().log()
    }

    /// `log p(x_1..t)` before it is rounded to one number: for differences.
    #[inline]
    pub fn evidence(&self) -> Evidence<X> {
        if self.age == 0 {
            Evidence::NONE
        } else {
            Evidence { sum: self.sum(), ledger: self.ledger }
        }
    }
}

impl<X: Scalar, const N: usize> Belief<X, N> {
    /// [`condition`](Self::condition), of the first sample too.
    #[inline]
    pub(crate) fn begin(&mut self, predicted: &[X; N], likelihood: &[X; N]) -> bool {
        let first = self.is_new();
        let possible = self.condition(predicted, likelihood);
        if possible && first {
            self.age = 1;
        }
        possible
    }

    /// Weighs a predicted row with likelihoods in the log domain, relative to the best of the
    /// products, and makes it the state. A row relative to the likeliest of all states vanishes where
    /// that state is out of reach.
    ///
    /// Says `false`, and changes nothing, where no product is possible.
    pub(crate) fn condition_logs(
        &mut self,
        predicted: &[X; N],
        log: impl FnMut(usize) -> <X::Weight as Parameter>::Log,
    ) -> bool {
        let Some((row, log_scale)) = X::condition_reachable(predicted, log, &mut self.ledger)
        else {
            return false;
        };
        self.row = row;
        self.earn(log_scale);
        self.settle();
        true
    }

    /// `log p(x_1..t, z_t = j)`, `[state]`, with its tangent over dual numbers; minus infinity where
    /// the state cannot be. Before the first sample there is no state, and all are minus infinity.
    pub fn joint_logs(&self) -> [X::Reading; N]
    where
        X::Reading: Scalar<Real = X::Real, Weight: Weight<Real = X::Real>>,
    {
        self.row.map(|entry| {
            if entry.value() > X::Real::ZERO { X::log(entry, &self.ledger) } else { impossible() }
        })
    }
}

/// The logarithm of zero.
pub(crate) fn impossible<X: Scalar<Weight: Weight<Real = <X as Number>::Real>>>() -> X {
    X::lift(X::Weight::constant(X::Real::NEG_INFINITY))
}

/// `log p(x_1..t)` before it is rounded to one number.
///
/// After `10^8` samples a log-likelihood in `f32` is known to some 16 nats, its directional
/// derivative as coarsely. A difference of two (what the last samples added; by how much one model
/// leads another) is as exact as ever when it is taken here, of ledgers, not of readings.
///
/// RAM: `1 + C` reals and the ledger, 24 B in `f32`, 32 B with one direction.
///
/// ```
/// # use fishweir_core::{emission::Categorical, filter::{Forward, Running}, hmm::{Chain, Hmm}};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hmm = Hmm::new(
/// #     Chain::<f32, 2>::new([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]])?,
/// #     [Categorical::<2, f32>::new([0.75, 0.25])?, Categorical::<2, f32>::new([0.1, 0.9])?],
/// # );
/// let mut stream = Running::new(Forward::of(&hmm));
/// stream.push_block(&[0, 1].repeat(10_000)).map_err(|(_, error)| error)?;
/// let before = stream.state().evidence();
/// stream.push(&0)?;
/// let surprise = -stream.state().evidence().less(&before); // -log p(x_t | x_1..t-1)
/// assert!((surprise - 0.679_589).abs() < 1e-5);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence<X: Number> {
    sum: X,
    ledger: X::Ledger,
}

impl<X: Number> Evidence<X> {
    /// That of no sample: `log 1`. Its tangent is zero.
    const NONE: Self = Self { sum: X::UNIT, ledger: X::SETTLED };

    /// `log p(x_1..t)`, with its tangent over dual numbers. One logarithm, and a division where
    /// there are directions.
    #[inline]
    pub fn log(&self) -> X::Reading {
        X::log(self.sum, &self.ledger)
    }

    /// This log-likelihood less another, with its tangent: `log p(x_s+1..t | x_1..s)` where `other`
    /// is the same stream's after `s` samples. One logarithm and `1 + 2C` divisions.
    #[inline]
    pub fn less(&self, other: &Self) -> X::Reading {
        X::log_ratio(self.sum, &self.ledger, other.sum, &other.ledger)
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
            return self.hmm.chain().initial().map(Parameter::value);
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
            && state.begin(&predicted, &NumberOf::<E>::lift_row(likelihood, &log_scale))
        {
            state.earn(log_scale);
            return Ok(());
        }
        self.condition_reachable(state, &predicted, x)
    }

    /// Conditions in the log domain.
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
        if state.condition_logs(predicted, |j| emission[j].log_likelihood(x)) {
            Ok(())
        } else {
            Err(ObservationError::Impossible)
        }
    }
}

impl<E: Emission, const N: usize> Recursion for Forward<'_, E, N> {
    type Observation = E::Observation;
    type State = Belief<NumberOf<E>, N>;
    type Reading = ReadingOf<E>;

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
            && state.condition(&predicted, &NumberOf::<E>::lift_row(likelihood, &log_scale))
        {
            if E::SCALED {
                state.earn(log_scale);
            }
            return Ok(());
        }
        lend(state, |state| self.push_slowly(state, x))
    }

    #[inline]
    fn push_missing(&self, state: &mut Self::State) {
        state.advance(state.predict(self.hmm.chain()));
    }

    #[inline]
    fn read(&self, state: &Self::State) -> ReadingOf<E> {
        E::in_units(self.hmm.emission(), state.log())
    }
}

fn normalised<X: Scalar, const N: usize>(row: &[X; N]) -> [X::Real; N] {
    let sum = sum_of::<X::Real, N>(|j| row[j].value());
    row.map(|entry| entry.value() / sum)
}
