use super::moments::{Moments, Step, hold};
use super::{Belief, ExpectedStatistics, ForgettingFactor, Forward, Streaming};
use crate::emission::{SufficientStatistics, VectorSpace};
use crate::error::ObservationError;
use crate::hmm::Hmm;
use crate::number::{Compensated, Number, RESCALE_EVERY, Real};

/// Forward-only expected statistics: exact smoothing of every additive functional, sample by sample,
/// without looking back.
///
/// For a statistic `S_t = sum_u s(z_u-1, z_u, x_u)` let `tau_t(k) = E[S_t 1{z_t = k} | x_1..t]`:
///
/// ```text
/// tau_t(k) = sum_i ( lambda tau_t-1(i) + s(i, k, x_t) f_i ) A_ik b_k(x_t) / c_t
/// E[S_t | x_1..t] = sum_k tau_t(k)              f_i = p(z_t-1 = i | x_1..t-1)
/// ```
///
/// or, where `k` can be reached, `tau_t(k) / f'_k = sum_i r_ik (lambda tau_t-1(i) / f_i + s(i, k))`
/// with the backward kernel `r_ik = f_i A_ik / p_k`. After every sample the reading is what
/// forward-backward would find for the stream so far, for `lambda = 1`; with a shorter
/// [`ForgettingFactor`] a statistic `n` samples old counts `lambda^n` times (the expected first state, too).
///
/// A missing sample moves the chain and is no observation of any state. What cannot happen has
/// statistic zero, exactly.
///
/// Like a tangent, a statistic is kept centred: what does not depend on the current state is moved
/// to a compensated sum every 32 samples, so that counts of any size keep their digits.
///
/// Sources: Elliott, Aggoun and Moore 1995 (finite-dimensional filters of statistics); Mongillo and
/// Denève 2008; Cappé 2011. Scores by Fisher's identity: Jaakkola and Haussler, section 2.
///
/// State, with `P = N + N^2 + N S` statistics (`S` an emission's): `P (N + 2)` reals, a belief and
/// two numbers; `f32`, `N = 4`: 2 064 B with 16 symbols, 1 200 B with three Gaussian channels. Work a
/// sample: `P N^2` multiply-adds, less those of transitions that cannot be, `2 N` divisions, and that
/// of [`Forward`] twice. Stack: `N^2` reals, and `P` every 32 samples.
///
/// ```
/// use fishweir_core::{emission::Categorical, filter::{Stream, Statistics}, hmm::{Chain, Hmm}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hmm = Hmm::new(
///     Chain::<f64, 2>::new([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]])?,
///     [Categorical::<2, f64>::new([0.75, 0.25])?, Categorical::<2, f64>::new([0.1, 0.9])?],
/// );
/// let mut stream = Stream::new(Statistics::of(&hmm));
/// stream.push_block(&[0, 0, 1, 1])?;
/// let expected = stream.read();
/// let transitions: f64 = expected.transition.as_flattened().iter().sum();
/// assert!((transitions - 3.0).abs() < 1e-12);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Statistics<'m, E: SufficientStatistics, const N: usize> {
    forward: Forward<'m, E, N>,
    memory: ForgettingFactor<E::Real>,
    zeros: bool,
}

impl<E: SufficientStatistics, const N: usize> Clone for Statistics<'_, E, N> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<E: SufficientStatistics, const N: usize> Copy for Statistics<'_, E, N> {}

/// The state of [`Statistics`]: a belief and the statistics, by current state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StatisticsState<S, T: Real, const N: usize> {
    belief: Belief<T, N>,
    moments: Moments<S, T, N>,
    /// Compensated sum of the statistics moved out, undiscounted.
    sum: ExpectedStatistics<S, T, N>,
    carry: ExpectedStatistics<S, T, N>,
    /// Remaining weight of `sum`: `lambda^age`.
    kept: T,
    age: u32,
}

impl<S, T: Real, const N: usize> StatisticsState<S, T, N> {
    /// The filter's belief.
    pub fn belief(&self) -> &Belief<T, N> {
        &self.belief
    }
}

impl<'m, E: SufficientStatistics, const N: usize> Statistics<'m, E, N> {
    /// The expected statistics of a stream under a model, all of its past remembered.
    pub const fn of(hmm: &'m Hmm<E, N>) -> Self {
        Self { forward: Forward::of(hmm), memory: ForgettingFactor::ENDLESS, zeros: false }
    }

    /// Sets a forgetting factor.
    #[must_use]
    pub fn with_memory(self, memory: ForgettingFactor<E::Real>) -> Self {
        Self { memory, ..self }
    }

    /// Collects limits of statistic over probability for statistics that are zero because a probability is exactly zero.
    ///
    /// The `ratio` score needs them.
    ///
    /// Such a limit can grow exponentially with the stream. It stops at `2^63` in `f32` and `2^511`
    /// in `f64`, and is never NaN. One logarithm per sample more.
    #[must_use]
    pub const fn with_boundary_scores(self) -> Self {
        Self { zeros: true, ..self }
    }

    /// The model.
    pub const fn hmm(&self) -> &'m Hmm<E, N> {
        self.forward.hmm()
    }

    /// The filter underneath, for readings of its own.
    pub const fn forward(&self) -> Forward<'m, E, N> {
        self.forward
    }

    fn take(
        &self,
        state: &mut StatisticsState<E::Statistics, E::Real, N>,
        x: Option<&E::Observation>,
    ) -> Result<(), ObservationError> {
        let x = x.filter(|x| !E::is_missing(x));
        let step = Step::take(self.forward, &mut state.belief, x, self.zeros)?;
        let kept = self.memory.lambda();
        state.moments.advance(self.hmm(), &step, x, [kept, E::Real::ONE], self.zeros);
        state.kept = state.kept * kept;
        state.age += 1;
        if state.age >= RESCALE_EVERY {
            self.rescale(state);
        }
        Ok(())
    }

    /// Moves the part that the current state does not change out of the moments.
    #[cold]
    #[inline(never)]
    fn rescale(&self, state: &mut StatisticsState<E::Statistics, E::Real, N>) {
        let mut total = state.moments.sum();
        state.moments.take_out(&total, &self.forward.filtered(&state.belief));
        let kept = state.kept;
        let mut add = |[sum, carry, total]: &mut [E::Real; 3]| {
            let mut accumulated = Compensated::from_parts(*sum * kept, *carry * kept);
            accumulated.add(*total);
            (*sum, *carry) = accumulated.parts();
        };
        combine(&mut state.sum, &mut state.carry, &mut total, &mut add);
        state.kept = E::Real::ONE;
        state.age = 0;
    }
}

/// Calls `f` with each entry of three, part by part: the parts are smaller than the whole to copy.
fn combine<S: VectorSpace<T>, T: Real, const N: usize>(
    a: &mut ExpectedStatistics<S, T, N>,
    b: &mut ExpectedStatistics<S, T, N>,
    c: &mut ExpectedStatistics<S, T, N>,
    f: &mut impl FnMut(&mut [T; 3]),
) {
    across(&mut a.initial, &mut b.initial, &mut c.initial, f);
    for i in 0..N {
        across(&mut a.transition[i], &mut b.transition[i], &mut c.transition[i], f);
    }
    across(&mut a.emission, &mut b.emission, &mut c.emission, f);
}

/// Calls with the numbers of three rows that stand side by side.
#[inline(always)]
fn across<S: VectorSpace<T>, T: Real, const N: usize>(
    a: &mut [S; N],
    b: &mut [S; N],
    c: &mut [S; N],
    f: &mut impl FnMut(&mut [T; 3]),
) {
    for i in 0..N {
        let mut columns = [a[i], b[i], c[i]];
        S::across(&mut columns, f);
        [a[i], b[i], c[i]] = columns;
    }
}

impl<E: SufficientStatistics, const N: usize> Streaming for Statistics<'_, E, N> {
    type Observation = E::Observation;
    type State = StatisticsState<E::Statistics, E::Real, N>;
    type Reading = ExpectedStatistics<E::Statistics, E::Real, N>;

    fn initial_state(&self) -> Self::State {
        StatisticsState {
            belief: Belief::NEW,
            moments: Moments::ZERO,
            sum: ExpectedStatistics::ZERO,
            carry: ExpectedStatistics::ZERO,
            kept: E::Real::ONE,
            age: 0,
        }
    }

    fn step(&self, state: &mut Self::State, x: &E::Observation) -> Result<(), ObservationError> {
        self.take(state, Some(x))
    }

    fn step_missing(&self, state: &mut Self::State) {
        // Only an observation can be refused.
        let _ = self.take(state, None);
    }

    fn read(&self, state: &Self::State) -> Self::Reading {
        let mut expected = state.moments.sum();
        let (mut sum, mut carry) = (state.sum, state.carry);
        combine(&mut expected, &mut sum, &mut carry, &mut |[expected, sum, carry]| {
            *expected = *sum * state.kept + (*carry * state.kept + *expected);
            // Limits that stop, one by current state, sum to more than that.
            if self.zeros {
                hold(expected);
            }
        });
        expected
    }
}
