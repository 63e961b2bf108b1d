use super::{InFlash, KernelError};
use crate::error::ObservationError;
use crate::filter::Recursion;
use crate::number::{Number, Real};

/// `M` kernels against one stored sequence each, fed the same stream: pair kernels, or trees.
///
/// It reads their logarithms, `[sequence]`, and is `M` times as dear as one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bank<R, const M: usize>([R; M]);

/// A kernel's logarithm, which is none before a tree's last leaf: then it is read as that of zero.
pub trait LogReading {
    /// The real number.
    type Real: Real;
    /// `log k`.
    fn log(self) -> Self::Real;
}

impl<T: Real> LogReading for T {
    type Real = T;
    fn log(self) -> T {
        self
    }
}

impl<T: Real> LogReading for Option<T> {
    type Real = T;
    fn log(self) -> T {
        self.unwrap_or(T::NEG_INFINITY)
    }
}

impl<R, const M: usize> Bank<R, M> {
    /// Kernels side by side.
    pub const fn new(kernels: [R; M]) -> Self {
        const { assert!(M > 0, "a bank needs a kernel") };
        Self(kernels)
    }

    /// The kernels.
    pub const fn kernels(&self) -> &[R; M] {
        &self.0
    }
}

impl<R, const M: usize> Recursion for Bank<R, M>
where
    R: Recursion<Reading: LogReading>,
{
    type Observation = R::Observation;
    type State = [R::State; M];
    type Reading = [<R::Reading as LogReading>::Real; M];

    fn start(&self) -> Self::State {
        self.0.each_ref().map(|kernel| kernel.start())
    }

    fn push(&self, state: &mut Self::State, x: &R::Observation) -> Result<(), ObservationError> {
        // Sequences of one model refuse the same: only the first can, or a copy is gone back to.
        let before = state.clone();
        for (kernel, own) in self.0.iter().zip(&mut *state) {
            if let Err(error) = kernel.push(own, x) {
                *state = before;
                return Err(error);
            }
        }
        Ok(())
    }

    fn push_missing(&self, state: &mut Self::State) {
        for (kernel, state) in self.0.iter().zip(state) {
            kernel.push_missing(state);
        }
    }

    fn read(&self, state: &Self::State) -> Self::Reading {
        let mut logs = [<R::Reading as LogReading>::Real::ZERO; M];
        for ((log, kernel), state) in logs.iter_mut().zip(&self.0).zip(state) {
            *log = kernel.read(state).log();
        }
        logs
    }
}

impl<R: InFlash, const M: usize> InFlash for Bank<R, M> {
    fn check(&self) -> Result<(), KernelError> {
        self.0.iter().try_for_each(R::check)
    }
    /// What kernels share is counted with each.
    fn bytes(&self) -> usize {
        self.0.iter().map(R::bytes).sum()
    }
}
