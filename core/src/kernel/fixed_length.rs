use core::borrow::Borrow;

use super::aligned::check_stored;
use super::validate::bytes_of;
use super::{Aligned, KernelError, LogKernel, Observed, Validate};
use crate::emission::{Emission, Row};
use crate::error::ObservationError;
use crate::filter::{Belief, Streaming, impossible};
use crate::hmm::{Hmm, NumberOf, ReadingOf, RealOf};
use crate::number::{Number, Parameter, Real, RealParameter, Tangent, is_near};

/// The kernel of sequences of one length under a hidden Markov model, against `M` stored ones at
/// once.
///
/// ```text
/// k(s, t) = sum_h initial[h_1] b_{h_1}(s_1) b_{h_1}(t_1) prod_{i>1} A[h_i-1][h_i] b_{h_i}(s_i) b_{h_i}(t_i)
/// ```
///
/// It is the forward recursion whose likelihoods are products, and runs on it: over
/// [`Dual`](crate::number::Dual) weights it reads the kernel's derivatives, too. After `i` symbols it
/// reads the kernel of the first `i`. A symbol that is missing, of either, is summed over. Past the end
/// of the stored sequences symbols are refused, and missing ones change nothing.
///
/// Range: that of [`Forward`](crate::filter::Forward), of products of two likelihoods: a pair of
/// symbols is impossible where the two log densities sum to less than `-2^64` in every state that can
/// be reached.
///
/// Source: Shawe-Taylor and Cristianini, "Kernel Methods for Pattern Analysis", 2004, equation 12.2
/// and Algorithm 12.8, whose loop begins with the second symbol.
///
/// State: `M` rows of `N (1 + C)` reals, and a ledger each. Work per symbol: `M` times that of
/// [`Forward`](crate::filter::Forward), and a row of likelihoods more.
///
/// ```
/// use fishweir_core::{emission::Categorical, filter::Stream, hmm::{Chain, Hmm}, kernel::FixedLength};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hmm = Hmm::new(
///     Chain::<f64, 2>::new([0.5, 0.5], [[0.75, 0.25], [0.25, 0.75]])?,
///     [Categorical::<2, f64>::new([1.0, 0.0])?, Categorical::<2, f64>::new([0.5, 0.5])?],
/// );
/// let stored: [&[u8]; 2] = [&[0, 0], &[0, 1]];
/// let mut kernel = Stream::new(FixedLength::of(&hmm, stored)?);
/// kernel.push(&0)?; // 1/2 1 + 1/2 1/4 = 5/8 with either
/// kernel.push(&0)?;
/// let with_first = 0.5 * (0.75 + 0.25 / 4.0) + 0.125 * (0.25 + 0.75 / 4.0);
/// assert!((kernel.read()[0].exp() - with_first).abs() < 1e-15);
/// assert!(kernel.push(&0).is_err());
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct FixedLength<'m, H, S, const M: usize> {
    hmm: &'m H,
    stored: [&'m [S]; M],
}

impl<H, S, const M: usize> Clone for FixedLength<'_, H, S, M> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<H, S, const M: usize> Copy for FixedLength<'_, H, S, M> {}

impl<'m, E: Emission, S, const N: usize, const M: usize> FixedLength<'m, Hmm<E, N>, S, M> {
    /// A kernel whose stored sequences were checked before, as an export writes it;
    /// [`validate`](Validate::validate) checks them again.
    pub const fn from_parts(hmm: &'m Hmm<E, N>, stored: [&'m [S]; M]) -> Self {
        const { assert!(M > 0, "M must be at least 1") };
        Self { hmm, stored }
    }
}

impl<'m, E, S, const N: usize, const M: usize> FixedLength<'m, Hmm<E, N>, S, M>
where
    E: Emission<Weight: RealParameter>,
    S: Observed<E::Observation>,
{
    /// The kernel under a model against stored sequences.
    ///
    /// # Errors
    /// The first stored sequence of another length, or the first invalid stored observation.
    pub fn of(hmm: &'m Hmm<E, N>, stored: [&'m [S]; M]) -> Result<Self, KernelError> {
        let kernel = Self::from_parts(hmm, stored);
        kernel.check_stored()?;
        Ok(kernel)
    }

    fn check_stored(&self) -> Result<(), KernelError> {
        let states = self.hmm.emission();
        check_stored(&self.stored, |x| states.iter().try_for_each(|state| state.check(x)))
    }

    /// The model.
    pub const fn hmm(&self) -> &'m Hmm<E, N> {
        self.hmm
    }

    /// The length of the stored sequences.
    pub fn length(&self) -> usize {
        self.stored.first().map_or(0, |first| first.len())
    }

    /// The logarithms of the subkernels, `[sequence][state]`: the sums over paths that end there.
    pub fn subkernels(&self, state: &Aligned<NumberOf<E>, N, M>) -> [[ReadingOf<E>; N]; M] {
        let (kernels, mut logs) = (state.kernels(), [[impossible(); N]; M]);
        for m in 0..M {
            if let Some(belief) = &kernels[m] {
                logs[m] = belief.joint_logs();
            }
        }
        logs
    }
}

impl<E, S, const N: usize, const M: usize> FixedLength<'_, Hmm<E, N>, S, M>
where
    E: Emission<Weight: RealParameter>,
{
    /// One symbol of a stored sequence against the stream's, if they are there, and the latter's row,
    /// if it has one. Says whether the kernel is still positive.
    #[inline]
    pub(super) fn advance(
        self,
        belief: &mut Belief<NumberOf<E>, N>,
        stored: Option<&E::Observation>,
        streamed: Option<&E::Observation>,
        streamed_row: Option<&Row<E::Weight, N>>,
    ) -> bool {
        let predicted = belief.predict(self.hmm.chain());
        let stored_row;
        let rows = match (stored, streamed) {
            (None, None) => {
                belief.advance(predicted);
                return true;
            }
            (None, Some(_)) => streamed_row.map(|row| (row, None)),
            (Some(stored), streamed) => {
                stored_row = E::row(self.hmm.emission(), stored);
                match (&stored_row, streamed, streamed_row) {
                    (Some(row), None, _) => Some((row, None)),
                    (Some(row), Some(_), Some(other)) => Some((row, Some(other))),
                    _ => None,
                }
            }
        };
        let mut likelihood = [NumberOf::<E>::ZERO; N];
        let (mut scales, mut relative) = ([RealOf::<E>::ZERO; 2], 0);
        if let Some((row, other)) = rows {
            for j in 0..N {
                likelihood[j] = NumberOf::<E>::lift(row.likelihood[j]);
            }
            (scales[0], relative) = (row.log_scale, 1);
            if let Some(other) = other {
                for j in 0..N {
                    likelihood[j] = likelihood[j].mul_weight(other.likelihood[j]);
                }
                (scales[1], relative) = (other.log_scale, 2);
            }
        }
        // Both together may be too far.
        let by_row = rows.is_some() && is_near(scales[0] + scales[1]);
        let scales = if E::SCALED { scales.as_slice().get(..relative).unwrap_or(&[]) } else { &[] };
        belief.condition_on(&predicted, by_row.then_some((&likelihood, scales)), |j| {
            let state = &self.hmm.emission()[j];
            let mut log = E::Weight::constant(RealOf::<E>::ZERO);
            for x in [stored, streamed].into_iter().flatten() {
                let own = state.log_likelihood(x);
                log = E::Weight::new(log.value() + own.value(), log.tangent().plus(own.tangent()));
            }
            log
        })
    }
}

impl<E, S, const N: usize, const M: usize> Streaming for FixedLength<'_, Hmm<E, N>, S, M>
where
    E: Emission<Weight: RealParameter>,
    S: Observed<E::Observation>,
{
    type Observation = E::Observation;
    type State = Aligned<NumberOf<E>, N, M>;
    /// `log k`, `[sequence]`.
    type Reading = [ReadingOf<E>; M];

    #[inline]
    fn initial_state(&self) -> Self::State {
        Aligned::NEW
    }

    #[inline]
    fn step(&self, state: &mut Self::State, x: &E::Observation) -> Result<(), ObservationError> {
        let row = E::row(self.hmm.emission(), x);
        if row.is_none() {
            // No observation, or one too far from every state for a row.
            for emission in self.hmm.emission() {
                emission.check(x)?;
            }
        }
        if state.position() >= self.length() {
            return Err(ObservationError::PastEnd);
        }
        state.advance(&self.stored, |belief, stored| {
            let stored = stored.observation();
            self.advance(belief, stored.as_ref().map(Borrow::borrow), Some(x), row.as_ref())
        });
        Ok(())
    }

    #[inline]
    fn step_missing(&self, state: &mut Self::State) {
        if state.position() < self.length() {
            state.advance(&self.stored, |belief, stored| {
                let stored = stored.observation();
                self.advance(belief, stored.as_ref().map(Borrow::borrow), None, None)
            });
        }
    }

    #[inline]
    fn read(&self, state: &Self::State) -> [ReadingOf<E>; M] {
        state.logs()
    }
}

impl<T, E, S, const N: usize, const M: usize> LogKernel for FixedLength<'_, Hmm<E, N>, S, M>
where
    T: Real,
    E: Emission<Weight = T>,
    S: Observed<E::Observation>,
{
    type Parts = [[T; 2]; M];
    fn log_parts(&self, state: &Self::State) -> Self::Parts {
        state.log_parts()
    }
}

impl<E, S, const N: usize, const M: usize> Validate for FixedLength<'_, Hmm<E, N>, S, M>
where
    E: Emission<Weight: RealParameter>,
    S: Observed<E::Observation>,
{
    fn validate(&self) -> Result<(), KernelError> {
        self.hmm.validate()?;
        self.check_stored()
    }
    fn size_bytes(&self) -> usize {
        size_of_val(self) + size_of_val(self.hmm) + bytes_of(&self.stored)
    }
}
