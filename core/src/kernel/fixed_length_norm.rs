use super::{FixedLength, KernelError, LogKernel, Validate, no_parts};
use crate::emission::Emission;
use crate::error::ObservationError;
use crate::filter::{Belief, Streaming, impossible};
use crate::hmm::{Hmm, NumberOf, ReadingOf};
use crate::number::{Real, RealParameter};

/// The fixed-length kernel of a stream with itself: the square of its norm, by which a
/// [`FixedLength`] kernel is normalised.
///
/// ```text
/// k(x, x) = sum_h initial[h_1] b_{h_1}(x_1)^2 prod_{i>1} A[h_i-1][h_i] b_{h_i}(x_i)^2
/// ```
///
/// It reads the logarithm, minus infinity where no path can make the stream. A missing symbol is
/// summed over, in each of the two by itself. Past the length symbols are refused, and missing ones
/// change nothing.
///
/// State: `N (1 + C)` reals, a ledger and a position. Work per symbol: that of a [`FixedLength`] kernel
/// against one sequence.
///
/// ```
/// use fishweir_core::{emission::Categorical, filter::Stream, hmm::{Chain, Hmm}, kernel::FixedLengthNorm};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hmm = Hmm::new(
///     Chain::<f64, 1>::new([1.0], [[1.0]])?,
///     [Categorical::<2, f64>::new([0.75, 0.25])?],
/// );
/// let mut norm = Stream::new(FixedLengthNorm::of(&hmm, 2));
/// norm.push_block(&[0, 1])?;
/// assert!((norm.read().exp() - 0.75 * 0.75 * 0.25 * 0.25).abs() < 1e-15);
/// assert!(norm.push(&0).is_err());
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct FixedLengthNorm<'m, E: Emission, const N: usize> {
    hmm: &'m Hmm<E, N>,
    length: usize,
}

impl<E: Emission, const N: usize> Clone for FixedLengthNorm<'_, E, N> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<E: Emission, const N: usize> Copy for FixedLengthNorm<'_, E, N> {}

impl<'m, E: Emission, const N: usize> FixedLengthNorm<'m, E, N> {
    /// The norm under a model of streams of a length.
    pub const fn of(hmm: &'m Hmm<E, N>, length: usize) -> Self {
        Self { hmm, length }
    }
}

impl<E, const N: usize> FixedLengthNorm<'_, E, N>
where
    E: Emission<Weight: RealParameter>,
{
    fn advance(&self, state: &mut NormState<NumberOf<E>, N>, x: Option<&E::Observation>) {
        state.position += 1;
        let Some(belief) = &mut state.kernel else { return };
        let row = x.and_then(|x| E::row(self.hmm.emission(), x));
        let kernel = FixedLength::<Hmm<E, N>, (), 1>::from_parts(self.hmm, [&[]]);
        let positive = kernel.advance(belief, x, x, row.as_ref());
        if !positive {
            state.kernel = None;
        }
    }
}

/// State of a [`FixedLengthNorm`]: a scaled row, or nothing where the kernel is zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormState<X: crate::number::Number, const N: usize> {
    kernel: Option<Belief<X, N>>,
    position: usize,
}

impl<E, const N: usize> Streaming for FixedLengthNorm<'_, E, N>
where
    E: Emission<Weight: RealParameter>,
{
    type Observation = E::Observation;
    type State = NormState<NumberOf<E>, N>;
    /// `log k(x, x)`.
    type Reading = ReadingOf<E>;

    #[inline]
    fn initial_state(&self) -> Self::State {
        NormState { kernel: Some(Belief::NEW), position: 0 }
    }

    #[inline]
    fn step(&self, state: &mut Self::State, x: &E::Observation) -> Result<(), ObservationError> {
        for emission in self.hmm.emission() {
            emission.check(x)?;
        }
        if state.position >= self.length {
            return Err(ObservationError::PastEnd);
        }
        self.advance(state, Some(x));
        Ok(())
    }

    #[inline]
    fn step_missing(&self, state: &mut Self::State) {
        if state.position < self.length {
            self.advance(state, None);
        }
    }

    #[inline]
    fn read(&self, state: &Self::State) -> ReadingOf<E> {
        match &state.kernel {
            Some(belief) => belief.log(),
            None => impossible(),
        }
    }
}

impl<T, E, const N: usize> LogKernel for FixedLengthNorm<'_, E, N>
where
    T: Real,
    E: Emission<Weight = T>,
{
    type Parts = [T; 2];
    fn log_parts(&self, state: &Self::State) -> [T; 2] {
        match &state.kernel {
            Some(belief) => belief.evidence().log_parts(),
            None => no_parts(),
        }
    }
}

impl<E: Emission, const N: usize> Validate for FixedLengthNorm<'_, E, N> {
    fn validate(&self) -> Result<(), KernelError> {
        Ok(self.hmm.validate()?)
    }
    /// Size without the model, which belongs to the kernel.
    fn size_bytes(&self) -> usize {
        size_of_val(self)
    }
}
