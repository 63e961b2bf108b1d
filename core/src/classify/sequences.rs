use core::fmt;
use core::marker::PhantomData;

use super::checks::check_finite;
use super::{KernelValues, ScoreOutOfRange, StoredKernel};
use crate::error::{ObservationError, Part};
use crate::filter::Streaming;
use crate::kernel::{KernelError, LogKernel, Validate};
use crate::number::{Compensated, Number, Real};

/// Support sequences: a [kernel by marginalisation](crate::kernel) against `M` stored sequences, as
/// a [`KernelMachine`](super::KernelMachine) is fed it.
///
/// ```text
/// k'(stored_m, x) = k(stored_m, x) / ( exp(log_norm_m) sqrt(k(x, x)) )
/// ```
///
/// - *Normalised*: `log_norm_m = log k(stored_m, stored_m) / 2`, known when the machine is exported,
///   and `own` streams `log k(x, x)`: [`FixedLengthNorm`](crate::kernel::FixedLengthNorm), a row of
///   `N` numbers more. So do [`HiddenBinomialNorm`](crate::kernel::HiddenBinomialNorm),
///   [`TreeNorm`](crate::kernel::TreeNorm) and [`PairNorm`](crate::kernel::PairNorm), which keeps up to a constant number
///   of the stream's symbols. Past that number symbols are refused, and missing ones change nothing.
/// - *As it is*: `own` is [`NoNorm`], and the norms are one common log scale, so that
///   coefficients and bias are of a size that a real holds.
///
/// Before the last symbol of stored sequences of one length the kernel is that of what came with as
/// much of each, and the norms are still those of the whole: a reading is then evidence so far, on the
/// scale of [`DecisionValues`](super::DecisionValues).
///
/// `kernel` is any [`LogKernel`] over `M` items: nothing underflows, however long the sequences, and
/// logarithms are subtracted in double-word arithmetic, before they are rounded. State: its, and `own`'s.
/// Reading: `M` exponentials, those of the logarithms, and `3 M` reals of stack. `L` is the type of the norms, `[T; M]`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct StoredSequences<K, S, L> {
    kernel: K,
    own: S,
    log_norms: L,
}

impl<K, S, T, const M: usize> StoredSequences<K, S, [T; M]> {
    /// A kernel that reads `log k`, one that reads `log k(x, x)`, and `log_norms[item]`.
    pub const fn new(kernel: K, own: S, log_norms: [T; M]) -> Self {
        Self { kernel, own, log_norms }
    }

    /// The kernel against the stored sequences.
    pub const fn kernel(&self) -> &K {
        &self.kernel
    }

    /// Logarithm of the divisor of each stored sequence's kernel, `[item]`.
    pub const fn log_norms(&self) -> &[T; M] {
        &self.log_norms
    }
}

impl<K, S, T, const M: usize> Streaming for StoredSequences<K, S, [T; M]>
where
    T: Real,
    K: LogKernel<Parts = [[T; 2]; M]>,
    S: LogKernel<Observation = K::Observation, Parts = [T; 2]>,
{
    type Observation = K::Observation;
    /// The kernel's, and its own norm's.
    type State = (K::State, S::State);
    /// Never an error.
    type Reading = Result<KernelValues<T, M>, ScoreOutOfRange>;

    #[inline]
    fn initial_state(&self) -> Self::State {
        (self.kernel.initial_state(), self.own.initial_state())
    }

    #[inline]
    fn step(&self, state: &mut Self::State, x: &K::Observation) -> Result<(), ObservationError> {
        let (kernel, own) = state;
        if self.own.is_full(own) {
            return Err(ObservationError::PastEnd);
        }
        // A norm refuses what its kernel does, and nothing else.
        self.kernel.step(kernel, x)?;
        self.own.step(own, x)
    }

    #[inline]
    fn step_missing(&self, state: &mut Self::State) {
        let (kernel, own) = state;
        if self.own.is_full(own) {
            return;
        }
        self.own.step_missing(own);
        self.kernel.step_missing(kernel);
    }

    fn read(&self, state: &Self::State) -> Self::Reading {
        let (kernel, own) = state;
        let (mut logs, own) = (self.kernel.log_parts(kernel), self.own.log_parts(own));
        let mut values = [T::ZERO; M];
        let log_scale = normalise_logs(&mut logs, &self.log_norms, own, &mut values);
        Ok(KernelValues { values, log_scale })
    }
}

impl<K, S, T, const M: usize> Validate for StoredSequences<K, S, [T; M]>
where
    T: Real,
    K: Validate,
    S: Validate,
{
    fn validate(&self) -> Result<(), KernelError> {
        self.kernel.validate()?;
        self.own.validate()?;
        Ok(check_finite([&self.log_norms[..]], Part::StoredItem)?)
    }
    fn size_bytes(&self) -> usize {
        self.kernel.size_bytes() + self.own.size_bytes() + size_of_val(&self.log_norms)
    }
}

impl<K, S, T, const M: usize> StoredKernel<M> for StoredSequences<K, S, [T; M]>
where
    T: Real,
    K: LogKernel<Parts = [[T; 2]; M]> + Validate,
    S: LogKernel<Observation = K::Observation, Parts = [T; 2]> + Validate,
{
    type Real = T;
}

/// From `logs[item]` of kernels, in two parts, to `values[item]` divided by the norms and relative to the
/// largest; returns the largest's logarithm, and leaves the quotients' in `logs`. `log_own` is
/// `log k(x, x)`, in two parts.
///
/// Where `k(x, x)` is zero all kernels are.
#[inline]
#[doc(hidden)]
pub fn normalise_logs<T: Real>(
    logs: &mut [[T; 2]],
    log_norms: &[T],
    log_own: [T; 2],
    values: &mut [T],
) -> T {
    let possible = log_own[0] > T::NEG_INFINITY;
    let [high, low] = log_own;
    let own = Compensated::from_parts(-T::HALF * high, -T::HALF * low);
    let mut largest = T::NEG_INFINITY;
    for (log, &norm) in logs.iter_mut().zip(log_norms) {
        let [high, low] = *log;
        // The difference of two infinities is no number.
        if possible && high > T::NEG_INFINITY {
            let mut quotient = Compensated::from_parts(high, low);
            quotient.add(-norm);
            quotient.add_sum(own);
            *log = quotient.parts().into();
            largest = Real::max(largest, log[0]);
        } else {
            *log = [T::NEG_INFINITY, T::ZERO];
        }
    }
    for (value, &[high, low]) in values.iter_mut().zip(&*logs) {
        let possible = high > T::NEG_INFINITY;
        *value = if possible { ((high - largest) + low).exp() } else { T::ZERO };
    }
    largest
}

/// No norm of the stream's own: `log k(x, x)` is read as zero.
pub struct NoNorm<O: ?Sized, T>(PhantomData<fn(&O) -> T>);

impl<O: ?Sized, T> NoNorm<O, T> {
    /// The only one.
    pub const NEW: Self = Self(PhantomData);
}

impl<O: ?Sized, T> Clone for NoNorm<O, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<O: ?Sized, T> Copy for NoNorm<O, T> {}
impl<O: ?Sized, T> PartialEq for NoNorm<O, T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
impl<O: ?Sized, T> fmt::Debug for NoNorm<O, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NoNorm")
    }
}

impl<O: ?Sized, T: Real> Streaming for NoNorm<O, T> {
    type Observation = O;
    type State = ();
    type Reading = T;

    #[inline(always)]
    fn initial_state(&self) {}
    #[inline(always)]
    fn step(&self, (): &mut (), _: &O) -> Result<(), ObservationError> {
        Ok(())
    }
    #[inline(always)]
    fn step_missing(&self, (): &mut ()) {}
    #[inline(always)]
    fn read(&self, (): &()) -> T {
        <T as Number>::ZERO
    }
}

impl<O: ?Sized, T: Real> LogKernel for NoNorm<O, T> {
    type Parts = [T; 2];
    #[inline(always)]
    fn log_parts(&self, (): &()) -> [T; 2] {
        [<T as Number>::ZERO; 2]
    }
}

impl<O: ?Sized, T> Validate for NoNorm<O, T> {
    fn validate(&self) -> Result<(), KernelError> {
        Ok(())
    }
    fn size_bytes(&self) -> usize {
        0
    }
}
