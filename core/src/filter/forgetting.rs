use super::{Belief, ForgettingFactor, Forward, Streaming};
use crate::emission::Emission;
use crate::error::ObservationError;
use crate::hmm::{Hmm, NumberOf, ReadingOf, RealOf};
use crate::number::{Compensated, Number, Parameter, RealParameter, Scalar, Tangent};

/// The forward recursion with exponential forgetting: how well the model has explained the stream
/// of late.
///
/// ```text
/// L_0 = 0        L_t = lambda L_t-1 + log c_t        log c_t = log p(x_t | x_1..t-1)
/// ```
///
/// and, over [`Dual`](crate::number::Dual) weights, `dL_t = lambda dL_t-1 + d log c_t` along each
/// direction. With `lambda = 1` this is [`Forward`], whose reading it equals. The filter itself
/// forgets nothing: `log c_t` is that of the whole past.
///
/// A missing sample has `c_t = 1`: time passes, `L` fades, the filter predicts.
///
/// `L_t` is a sum over `1 / (1 - lambda)` samples; `(1 - lambda) L_t` is the average per sample.
///
/// State: that of [`Forward`] and `2 (1 + C)` reals. In `f32`, categorical, `N = 4`: 48 B, with one
/// direction 80 B. Work per sample: that of [`Forward`], one logarithm, `1 + 2 C` divisions. The sum
/// is compensated: a memory of any length is as accurate as a short one.
///
/// ```
/// use fishweir_core::{emission::Categorical, filter::*, hmm::{Chain, Hmm}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hmm = Hmm::new(
///     Chain::<f32, 2>::new([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]])?,
///     [Categorical::<2, f32>::new([0.75, 0.25])?, Categorical::<2, f32>::new([0.1, 0.9])?],
/// );
/// let memory = ForgettingFactor::samples(100.0)?;
/// let mut health = Stream::new(Forgetting::of(&hmm, memory));
/// health.push_block(&[0; 1000])?;
/// let a_sample = health.read() * memory.one_minus_lambda();
/// health.push_block(&[0, 1].repeat(500))?;
/// assert!(health.read() * memory.one_minus_lambda() < a_sample); // alternation is not what the model expects
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Forgetting<'m, E: Emission, const N: usize> {
    forward: Forward<'m, E, N>,
    memory: ForgettingFactor<RealOf<E>>,
}

impl<E: Emission, const N: usize> Clone for Forgetting<'_, E, N> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<E: Emission, const N: usize> Copy for Forgetting<'_, E, N> {}

/// The state of [`Forgetting`]: a belief, and the faded sums.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FadingBelief<X: Number, const N: usize> {
    belief: Belief<X, N>,
    sum: X::Reading,
    carry: X::Reading,
}

impl<X: Number<Reading: Number>, const N: usize> FadingBelief<X, N> {
    /// State before the first sample.
    pub const NEW: Self =
        Self { belief: Belief::NEW, sum: X::Reading::ZERO, carry: X::Reading::ZERO };
}

impl<X: Number, const N: usize> FadingBelief<X, N> {
    /// The filter's belief.
    pub fn belief(&self) -> &Belief<X, N> {
        &self.belief
    }
}

impl<'m, E: Emission, const N: usize> Forgetting<'m, E, N> {
    /// The forgetting recursion of a model.
    pub const fn of(hmm: &'m Hmm<E, N>, memory: ForgettingFactor<RealOf<E>>) -> Self {
        Self { forward: Forward::of(hmm), memory }
    }

    /// The filter that this one weighs.
    pub const fn forward(&self) -> Forward<'m, E, N> {
        self.forward
    }

    /// `L - (1 - lambda) L + gained`, component by component: of the two ways to write the update
    /// the one whose roundings are as small as what is forgotten.
    fn fade(&self, state: &mut FadingBelief<NumberOf<E>, N>, gained: ReadingOf<E>) {
        let lost = self.memory.one_minus_lambda();
        let faded = |sum: RealOf<E>, carry, gained| {
            let mut total = Compensated::from_parts(sum, carry);
            total.add(gained - lost * total.total());
            total.parts()
        };
        let FadingBelief { sum, carry, .. } = *state;
        state.sum = each(sum, carry, gained, |sum, carry, gained| faded(sum, carry, gained).0);
        state.carry = each(sum, carry, gained, |sum, carry, gained| faded(sum, carry, gained).1);
    }
}

/// A function of the values of three numbers, and of each of their rates.
#[inline(always)]
fn each<X: Scalar<Weight: RealParameter<Real = <X as Number>::Real>>>(
    a: X,
    b: X,
    c: X,
    f: impl Fn(X::Real, X::Real, X::Real) -> X::Real,
) -> X {
    let rate = |x: X, direction| x.derivative(direction).unwrap_or(X::Real::ZERO);
    let tangent =
        <X::Weight as Parameter>::Tangent::from_fn(|d| f(rate(a, d), rate(b, d), rate(c, d)));
    X::lift(X::Weight::new(f(a.value(), b.value(), c.value()), tangent))
}

impl<E: Emission, const N: usize> Streaming for Forgetting<'_, E, N> {
    type Observation = E::Observation;
    type State = FadingBelief<NumberOf<E>, N>;
    type Reading = ReadingOf<E>;

    #[inline]
    fn initial_state(&self) -> Self::State {
        FadingBelief::NEW
    }

    #[inline]
    fn step(&self, state: &mut Self::State, x: &E::Observation) -> Result<(), ObservationError> {
        let before = state.belief.evidence();
        self.forward.step(&mut state.belief, x)?;
        self.fade(state, state.belief.evidence().difference(&before));
        Ok(())
    }

    #[inline]
    fn step_missing(&self, state: &mut Self::State) {
        self.forward.step_missing(&mut state.belief);
        self.fade(state, ReadingOf::<E>::ZERO);
    }

    #[inline]
    fn read(&self, state: &Self::State) -> ReadingOf<E> {
        E::in_units(self.forward.hmm().emission(), state.sum.plus(state.carry))
    }
}
