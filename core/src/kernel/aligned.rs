use core::borrow::Borrow;

use super::{KernelError, Observed, no_parts};
use crate::error::ObservationError;
use crate::filter::{Belief, impossible};
use crate::number::{Number, Real, RealParameter, Scalar};

/// State of kernels against `M` stored sequences, position by position: a scaled row each, or nothing once the kernel has become
/// zero.
///
/// RAM: `M` beliefs of `N` numbers and a position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aligned<X: Number, const N: usize, const M: usize> {
    kernels: [Option<Belief<X, N>>; M],
    position: usize,
}

impl<X: Number, const N: usize, const M: usize> Aligned<X, N, M> {
    /// State before the first symbol.
    pub(super) const NEW: Self = Self { kernels: [Some(Belief::NEW); M], position: 0 };

    /// Number of symbols, missing ones included.
    pub const fn position(&self) -> usize {
        self.position
    }

    /// The kernels' scaled rows, `[sequence]`; `None` where the kernel is zero.
    pub const fn kernels(&self) -> &[Option<Belief<X, N>>; M] {
        &self.kernels
    }
}

impl<X: Number, const N: usize, const M: usize> Aligned<X, N, M> {
    /// Advances every stored sequence by one position: `step` returns whether the kernel is still positive.
    #[inline(always)]
    pub(super) fn advance<S>(
        &mut self,
        stored: &[&[S]; M],
        mut step: impl FnMut(&mut Belief<X, N>, &S) -> bool,
    ) {
        for (kernel, stored) in self.kernels.iter_mut().zip(stored) {
            if let (Some(belief), Some(symbol)) = (kernel.as_mut(), stored.get(self.position))
                && !step(belief, symbol)
            {
                *kernel = None;
            }
        }
        self.position += 1;
    }

    /// Advances every kernel by one position, whatever is stored.
    #[inline(always)]
    pub(super) fn advance_all(&mut self, mut step: impl FnMut(&mut Belief<X, N>) -> bool) {
        for kernel in &mut self.kernels {
            if let Some(belief) = kernel.as_mut()
                && !step(belief)
            {
                *kernel = None;
            }
        }
        self.position += 1;
    }

    /// `log k` of the sequences so far, `[sequence]`.
    pub(super) fn logs(&self) -> [X::Reading; M]
    where
        X::Reading: Scalar<Real = X::Real, Weight: RealParameter<Real = X::Real>>,
    {
        let mut logs = [impossible(); M];
        for m in 0..M {
            if let Some(belief) = &self.kernels[m] {
                logs[m] = belief.log();
            }
        }
        logs
    }

    /// Returns the logarithms in two parts each.
    pub(super) fn log_parts(&self) -> [[X; 2]; M]
    where
        X: Real + Scalar + Number<Reading = X>,
    {
        let mut parts = [no_parts(); M];
        for m in 0..M {
            if let Some(belief) = &self.kernels[m] {
                parts[m] = belief.evidence().log_parts();
            }
        }
        parts
    }
}

/// Checks that stored sequences have one length and valid observations.
pub(super) fn check_stored<S: Observed<O>, O: ?Sized>(
    stored: &[&[S]],
    check: impl Fn(&O) -> Result<(), ObservationError>,
) -> Result<(), KernelError> {
    let expected = stored.first().map_or(0, |first| first.len());
    for (sequence, symbols) in stored.iter().enumerate() {
        let found = symbols.len();
        if found != expected {
            return Err(KernelError::Length { sequence, found, expected });
        }
        for (position, symbol) in symbols.iter().enumerate() {
            if let Some(symbol) = symbol.observation() {
                check(symbol.borrow()).map_err(|error| KernelError::Stored {
                    sequence,
                    position,
                    error,
                })?;
            }
        }
    }
    Ok(())
}
