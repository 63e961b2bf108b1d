use core::borrow::Borrow;

use super::{KernelError, Observed};
use crate::context::IndependentPositions;
use crate::emission::Categorical;
use crate::error::ObservationError;
use crate::filter::Streaming;
use crate::number::{Compensated, Real};

/// The invariant Fisher kernel of sequences of `L` independent positions, against `M` stored ones at
/// once: the inner product of scores under the inverse of the exact information, the same in every
/// parametrisation.
///
/// ```text
/// k(x, y) = sum_i ( [x_i = y_i] / theta[i][x_i] - 1 )
/// ```
///
/// After `t` symbols it reads the kernel of the first `t`. A symbol that is missing, of either
/// sequence, counts zero, the expectation of its term. Past the end symbols are refused, and missing ones change nothing.
///
/// Source: Jaakkola and Haussler, equation 11; the singular information of redundant probabilities is
/// inverted on its range.
///
/// State: `2 M` reals and a position. Work per symbol: `M` comparisons and compensated additions, and a
/// division.
///
/// ```
/// use fishweir_core::context::{IndependentPositions, Positions};
/// use fishweir_core::{emission::Categorical, filter::Stream, kernel::PositionFisher};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let uniform = Categorical::<4, f64>::new([0.25; 4])?;
/// let model = IndependentPositions::<4, 3, f64>::new(Positions, [uniform; 3]);
/// let mut kernel = Stream::new(PositionFisher::of(&model, [&[0_u8, 1, 2]])?);
/// kernel.push_block(&[0, 1, 3])?;
/// assert_eq!(kernel.read(), [4.0 * 2.0 - 3.0]); // two matches
/// assert_eq!(kernel.recursion().quadratic(kernel.state()), [36.0]);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PositionFisher<'m, P, S, const M: usize> {
    model: &'m P,
    stored: [&'m [S]; M],
}

/// State of a [`PositionFisher`]: one sum per stored sequence, and the position.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PositionFisherState<T, const M: usize> {
    kernel: [Compensated<T>; M],
    position: usize,
}

impl<T, const M: usize> PositionFisherState<T, M> {
    /// Number of symbols, missing ones included.
    pub const fn position(&self) -> usize {
        self.position
    }
}

impl<'m, T: Real, S: Observed<usize>, const K: usize, const L: usize, const M: usize>
    PositionFisher<'m, IndependentPositions<K, L, T>, S, M>
{
    /// The kernel under a model against stored sequences.
    ///
    /// # Errors
    /// The first stored sequence whose length is not `L`, or stored symbol that is invalid or that the model cannot emit: such a
    /// sequence has no score.
    pub fn of(
        model: &'m IndependentPositions<K, L, T>,
        stored: [&'m [S]; M],
    ) -> Result<Self, KernelError> {
        for (sequence, symbols) in stored.iter().enumerate() {
            if symbols.len() != L {
                return Err(KernelError::Length { sequence, found: symbols.len(), expected: L });
            }
            for (position, (symbol, theta)) in symbols.iter().zip(model.emission()).enumerate() {
                if let Some(symbol) = symbol.observation()
                    && let Err(error) = probability(theta, *symbol.borrow())
                {
                    return Err(KernelError::Stored { sequence, position, error });
                }
            }
        }
        Ok(Self { model, stored })
    }

    /// The model.
    pub const fn model(&self) -> &'m IndependentPositions<K, L, T> {
        self.model
    }

    /// The quadratic kernel `(1 + k)^2`, `[sequence]`: products of pairs of positions. Positive
    /// semi-definite as `k` is.
    pub fn quadratic(&self, state: &PositionFisherState<T, M>) -> [T; M] {
        self.read(state).map(|kernel| (T::ONE + kernel) * (T::ONE + kernel))
    }
}

/// The probability of a symbol.
///
/// # Errors
/// A symbol outside the alphabet, or of probability zero.
#[inline]
fn probability<T: Real, const K: usize>(
    theta: &Categorical<K, T>,
    symbol: usize,
) -> Result<T, ObservationError> {
    match theta.probability().as_slice().get(symbol) {
        None => Err(ObservationError::UnknownSymbol),
        Some(&p) if p > T::ZERO => Ok(p),
        Some(_) => Err(ObservationError::Impossible),
    }
}

impl<T: Real, S: Observed<usize>, const K: usize, const L: usize, const M: usize> Streaming
    for PositionFisher<'_, IndependentPositions<K, L, T>, S, M>
{
    type Observation = usize;
    type State = PositionFisherState<T, M>;
    /// `k`, `[sequence]`.
    type Reading = [T; M];

    #[inline]
    fn initial_state(&self) -> PositionFisherState<T, M> {
        PositionFisherState { kernel: [Compensated::ZERO; M], position: 0 }
    }

    #[inline]
    fn step(
        &self,
        state: &mut PositionFisherState<T, M>,
        &x: &usize,
    ) -> Result<(), ObservationError> {
        if x >= K {
            return Err(ObservationError::UnknownSymbol);
        }
        let theta = self.model.emission().get(state.position).ok_or(ObservationError::PastEnd)?;
        let match_counts = T::ONE / probability(theta, x)? - T::ONE;
        for (kernel, stored) in state.kernel.iter_mut().zip(&self.stored) {
            if let Some(symbol) = stored.get(state.position).and_then(Observed::observation) {
                let matches = *symbol.borrow() == x;
                kernel.add(if matches { match_counts } else { -T::ONE });
            }
        }
        state.position += 1;
        Ok(())
    }

    #[inline]
    fn step_missing(&self, state: &mut PositionFisherState<T, M>) {
        if state.position < L {
            state.position += 1;
        }
    }

    #[inline]
    fn read(&self, state: &PositionFisherState<T, M>) -> [T; M] {
        let mut kernels = [T::ZERO; M];
        for (kernel, sum) in kernels.iter_mut().zip(&state.kernel) {
            *kernel = sum.total();
        }
        kernels
    }
}
