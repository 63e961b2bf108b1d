use super::{Evidence, Streaming};
use crate::emission::{Emission, Row};
use crate::error::ObservationError;
use crate::hmm::{Chain, Hmm, NumberOf, ReadingOf, RealOf};
use crate::number::{
    Number, Parameter, RESCALE_BELOW, RESCALE_FROM, Real, RealParameter, Scalar, UNDERFLOW_EXP,
    array_of, seldom_array_of, sum_of, with_local_copy,
};

/// The forward recursion: the filter, the likelihood and, over dual numbers, the tangent filter.
///
/// ```text
/// p_j  = sum_i a_i A_ij           (p_j = initial_j before the first sample)
/// a'_j = p_j b_j(x)               log p(x_1..t) = log sum_j a_j + what scaling moved out
/// ```
///
/// Over [`Dual`](crate::number::Dual) weights every product carries its derivative, so that
/// [`read`](Streaming::read) is `log p(x_1..t)` with `d/de log p(x_1..t | model + e w)` for each
/// direction `w`: exact, forward only, valid at every `t`.
///
/// Sources: Rabiner 1989 (scaled forward pass); Shawe-Taylor and Cristianini, "Kernel Methods for
/// Pattern Analysis", 2004, section 12.2.2, and the Fisher score of Jaakkola and Haussler,
/// "Exploiting generative models in discriminative classifiers", 1998, equation 2, read through a
/// direction.
///
/// Range: a state that is `2^-84` times as probable as all together in `f32` (`2^-980` in `f64`), or
/// more, given the samples before and given this one too, keeps every digit. One far below may be
/// taken for one that cannot be, until it is entered anew. An observation whose log density is below
/// `-2^64` in every state that can be reached is impossible.
///
/// State: `N (1 + C)` reals and a ledger. Work per sample: `(1 + 2C) (N^2 + N)` multiply-adds and a
/// row of likelihoods. No division and no logarithm per sample; scaling is by exact powers of two,
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
    pub(super) ledger: X::ScaleAccumulator,
    /// Samples since the row was rescaled, where that matters; 0 before the first sample.
    pub(super) age: u32,
}

impl<X: Number, const N: usize> Default for Belief<X, N> {
    fn default() -> Self {
        Self::NEW
    }
}

impl<X: Number, const N: usize> Belief<X, N> {
    /// State before the first sample.
    pub const NEW: Self = Self { row: [X::ZERO; N], ledger: X::UNSCALED, age: 0 };

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
        for j in 0..N {
            row[j] = row[j].times(likelihood[j]);
        }
        let sum = sum_of::<X, N>(|j| row[j]);
        if sum.is_between(RESCALE_BELOW, RESCALE_FROM)
            && !(X::CENTRED && self.age >= X::RESCALE_EVERY)
        {
            self.row = X::renormalise(row, sum, &mut self.ledger);
            if X::CENTRED {
                self.age += 1;
            }
            return true;
        }
        if !sum.is_at_least(UNDERFLOW_EXP) {
            return false;
        }
        self.row = X::renormalise(row, sum, &mut self.ledger);
        with_local_copy(self, Self::rescale);
        true
    }

    /// Makes a predicted row the state: time has passed, nothing was observed.
    #[inline]
    pub fn advance(&mut self, predicted: [X; N]) {
        let sum = sum_of::<X, N>(|j| predicted[j]);
        self.row = X::renormalise(predicted, sum, &mut self.ledger);
        self.age += 1;
        if self.age > X::RESCALE_EVERY || !sum.is_between(RESCALE_BELOW, RESCALE_FROM) {
            self.rescale();
        }
    }

    /// Moves magnitude and derivative into the ledger. Out of line: once in some 30 samples.
    #[cold]
    #[inline(never)]
    fn rescale(&mut self) {
        let sum = self.sum();
        X::rescale(&mut self.row, sum, &mut self.ledger);
        self.age = 1;
    }

    /// Adds a likelihood row's log scale.
    #[inline(always)]
    pub fn add_log_scale(&mut self, log_scale: X::LogScale) {
        X::add_log_scale(&mut self.ledger, log_scale);
    }

    /// Returns whether no sample has been taken in.
    pub fn is_new(&self) -> bool {
        self.age == 0
    }

    /// Samples since the row was rescaled, where that matters: one right after it.
    pub const fn age(&self) -> u32 {
        self.age
    }

    /// The scaled row, `[state]`: proportional to `p(z_t, x_1..t)`.
    pub fn row(&self) -> &[X; N] {
        &self.row
    }

    /// The scaled row, for a decoder that drops states, and for a recursion whose predicted rows replace
    /// it one by one.
    pub(crate) fn row_mut(&mut self) -> &mut [X; N] {
        &mut self.row
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

    /// Evidence of sequences that end in `state`; `None` if there is no such state, or no sample yet.
    #[inline]
    pub fn evidence_of(&self, state: usize) -> Option<Evidence<X>> {
        let &sum = self.row.get(state).filter(|_| self.age > 0)?;
        Some(Evidence { sum, ledger: self.ledger })
    }
}

impl<T: Real, const N: usize> Belief<T, N> {
    /// Ends [`condition`](Self::condition), after the caller has put the products, which sum to
    /// `sum`, in the row's place. Returns `false` if they vanish: the row must be computed anew.
    #[inline(always)]
    pub(crate) fn finish_update(&mut self, sum: T) -> bool {
        if !sum.is_between(RESCALE_BELOW, RESCALE_FROM) {
            if !sum.is_at_least(UNDERFLOW_EXP) {
                return false;
            }
            self.rescale();
        }
        true
    }
}

impl<X: Scalar, const N: usize> Belief<X, N> {
    /// Weighs a predicted row with the likelihood of an observation in each state, and makes it
    /// the state: the one way in which every recursion of this crate takes in a sample.
    ///
    /// By a row of likelihoods; where products may have vanished, from a prediction that sums to one;
    /// where they still may, by logarithms, relative to the best of the states that can be reached.
    ///
    /// # Errors
    /// An invalid observation, or one that is impossible in every reachable state. The state is unchanged.
    #[inline]
    pub fn observe<E>(
        &mut self,
        emission: &[E; N],
        predicted: &[X; N],
        x: &E::Observation,
    ) -> Result<(), ObservationError>
    where
        E: Emission<Weight = X::Weight>,
        X::Weight: Parameter<LogScale = X::LogScale>,
    {
        let first = self.is_new();
        if self.observe_row(emission, predicted, x) {
            if first {
                self.age = 1;
            }
            return Ok(());
        }
        let predicted = *predicted;
        with_local_copy(self, |belief| belief.observe_out_of_line(emission, &predicted, x))
    }

    #[cold]
    #[inline(never)]
    fn observe_out_of_line<E>(
        &mut self,
        emission: &[E; N],
        predicted: &[X; N],
        x: &E::Observation,
    ) -> Result<(), ObservationError>
    where
        E: Emission<Weight = X::Weight>,
        X::Weight: Parameter<LogScale = X::LogScale>,
    {
        self.observe_slowly(emission, predicted, x)
    }

    /// [`observe`](Self::observe) by a row of likelihoods alone. Says `false`, and changes nothing, where
    /// products may have vanished, or there is no row. Of a first sample that is taken in the age stays 0
    /// where no derivative is carried: the caller sets it.
    #[inline(always)]
    pub(super) fn observe_row<E>(
        &mut self,
        emission: &[E; N],
        predicted: &[X; N],
        x: &E::Observation,
    ) -> bool
    where
        E: Emission<Weight = X::Weight>,
        X::Weight: Parameter<LogScale = X::LogScale>,
    {
        if let Some(Row { likelihood, log_scale }) = E::row(emission, x)
            && self.condition(predicted, &X::lift_row(likelihood, &log_scale))
        {
            if E::SCALED {
                self.add_log_scale(log_scale);
            }
            return true;
        }
        false
    }

    /// Slow path of [`observe`](Self::observe), for likelihoods that underflow. One frame with its
    /// caller, which is out of line.
    #[inline(always)]
    fn observe_slowly<E>(
        &mut self,
        emission: &[E; N],
        predicted: &[X; N],
        x: &E::Observation,
    ) -> Result<(), ObservationError>
    where
        E: Emission<Weight = X::Weight>,
        X::Weight: Parameter<LogScale = X::LogScale>,
    {
        if E::is_missing(x) {
            self.advance(*predicted);
            return Ok(());
        }
        for emission in emission {
            emission.check(x)?;
        }
        if let Some(Row { likelihood, log_scale }) = E::row(emission, x) {
            let likelihood = X::lift_row(likelihood, &log_scale);
            if self.begin_raised(predicted, &likelihood, core::slice::from_ref(&log_scale)) {
                return Ok(());
            }
        }
        let logs = seldom_array_of(X::Weight::IMPOSSIBLE, |j| emission[j].log_likelihood(x));
        if self.condition_on_logs(predicted, &logs) {
            Ok(())
        } else {
            Err(ObservationError::Impossible)
        }
    }

    /// [`observe`](Self::observe) of likelihoods that the caller has made: a row relative to the
    /// product of some scales, if there is one, and what their logarithms are.
    ///
    /// Says `false`, and changes nothing, where no product is possible.
    #[inline]
    pub(crate) fn condition_on(
        &mut self,
        predicted: &[X; N],
        row: Option<(&[X; N], &[X::LogScale])>,
        log: impl FnMut(usize) -> <X::Weight as Parameter>::Log,
    ) -> bool {
        if let Some((likelihood, scales)) = row
            && self.begin(predicted, likelihood, scales)
        {
            return true;
        }
        // Copies, so that what is lent to a function out of line need not live in memory before it.
        let (predicted, row) = (*predicted, row.map(|(likelihood, scales)| (*likelihood, scales)));
        let row = row.as_ref().map(|(likelihood, scales)| (likelihood, *scales));
        with_local_copy(self, |belief| belief.condition_on_slow(&predicted, row, log))
    }

    #[cold]
    #[inline(never)]
    fn condition_on_slow(
        &mut self,
        predicted: &[X; N],
        row: Option<(&[X; N], &[X::LogScale])>,
        log: impl FnMut(usize) -> <X::Weight as Parameter>::Log,
    ) -> bool {
        if let Some((likelihood, scales)) = row
            && self.begin_raised(predicted, likelihood, scales)
        {
            return true;
        }
        self.condition_on_logs(predicted, &seldom_array_of(X::Weight::IMPOSSIBLE, log))
    }

    /// Weighs a predicted row with likelihoods given by their logarithms. A function of its own: one for
    /// all families of observations.
    #[cold]
    #[inline(never)]
    fn condition_on_logs(
        &mut self,
        predicted: &[X; N],
        logs: &[<X::Weight as Parameter>::Log; N],
    ) -> bool {
        let Some((row, log_scale)) =
            X::condition_reachable(predicted, |j| logs[j], &mut self.ledger)
        else {
            return false;
        };
        self.row = row;
        self.add_log_scale(log_scale);
        self.rescale();
        true
    }

    /// [`begin`](Self::begin) from a prediction that sums to one. A function of its own: one for all
    /// families of observations.
    #[cold]
    #[inline(never)]
    fn begin_raised(
        &mut self,
        predicted: &[X; N],
        likelihood: &[X; N],
        scales: &[X::LogScale],
    ) -> bool {
        let (before, mut sums_to_one) = (self.ledger, *predicted);
        X::normalise(&mut sums_to_one, &mut self.ledger);
        let possible = self.begin(&sums_to_one, likelihood, scales);
        if !possible {
            self.ledger = before;
        }
        possible
    }

    /// [`condition`](Self::condition), of the first sample too.
    #[inline]
    fn begin(&mut self, predicted: &[X; N], likelihood: &[X; N], scales: &[X::LogScale]) -> bool {
        let first = self.is_new();
        let possible = self.condition(predicted, likelihood);
        if possible {
            if first {
                self.age = 1;
            }
            for &scale in scales {
                self.add_log_scale(scale);
            }
        }
        possible
    }

    /// `log p(x_1..t, z_t = j)`, `[state]`, with its tangent over dual numbers; minus infinity where
    /// the state cannot be. Before the first sample there is no state, and all are minus infinity.
    pub fn joint_logs(&self) -> [X::Reading; N]
    where
        X::Reading: Scalar<Real = X::Real, Weight: RealParameter<Real = X::Real>>,
    {
        array_of(impossible(), |j| match self.row[j] {
            entry if entry.value() > X::Real::ZERO => X::log(entry, &self.ledger),
            _ => impossible(),
        })
    }
}

/// The logarithm of zero.
pub(crate) fn impossible<X: Scalar<Weight: RealParameter<Real = <X as Number>::Real>>>() -> X {
    X::lift(X::Weight::constant(X::Real::NEG_INFINITY))
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
            let initial = self.hmm.chain().initial();
            return array_of(RealOf::<E>::ZERO, |j| initial[j].value());
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
        // Not by `observe`, which would be one more copy of the row's arithmetic in flash.
        state.observe_slowly(self.hmm.emission(), &predicted, x)
    }
}

impl<E: Emission, const N: usize> Streaming for Forward<'_, E, N> {
    type Observation = E::Observation;
    type State = Belief<NumberOf<E>, N>;
    type Reading = ReadingOf<E>;

    #[inline]
    fn initial_state(&self) -> Self::State {
        Belief::NEW
    }

    #[inline]
    fn step(&self, state: &mut Self::State, x: &E::Observation) -> Result<(), ObservationError> {
        // Before the first sample the row is zero, its products vanish, and the slow path begins:
        // no sample after it pays for the question.
        let predicted = self.hmm.chain().predict(state.row());
        if state.observe_row(self.hmm.emission(), &predicted, x) {
            return Ok(());
        }
        with_local_copy(state, |state| self.push_slowly(state, x))
    }

    #[inline]
    fn step_missing(&self, state: &mut Self::State) {
        state.advance(state.predict(self.hmm.chain()));
    }

    #[inline]
    fn read(&self, state: &Self::State) -> ReadingOf<E> {
        E::in_units(self.hmm.emission(), state.log())
    }
}

fn normalised<X: Scalar, const N: usize>(row: &[X; N]) -> [X::Real; N] {
    let sum = sum_of::<X::Real, N>(|j| row[j].value());
    array_of(sum, |j| row[j].value() / sum)
}
