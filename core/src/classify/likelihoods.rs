use super::checks::check_finite;
use super::sequences::normalise_logs;
use super::{KernelValues, ScoreOutOfRange, StoredKernel};
use crate::emission::Emission;
use crate::error::{ObservationError, Part};
use crate::filter::Streaming;
use crate::hmm::Hmm;
use crate::kernel::{KernelError, LogKernel, Marginalisation, MarginalisationState, Validate};
use crate::number::{Number, Real};

/// Support sequences of a [kernel over a finite set of models](Marginalisation), stored as their log-likelihoods, as a
/// [`KernelMachine`](super::KernelMachine) is fed it.
///
/// ```text
/// k'(z_l, x) = k(z_l, x) / ( exp(log_norm_l) sqrt(k(x, x)) )        k(x, z) = sum_m prior[m] P(x | m) P(z | m)
/// ```
///
/// The filters of the models give `k(x, x)` as well as `k(z, x)`: a normalised kernel has the state of one that is not.
/// Without normalisation the divisor is `exp(log_norm_l)` alone. As [`StoredSequences`](super::StoredSequences) it is
/// computed in logarithms of two parts, so that sequences may have any length.
///
/// `M` models and `L` items. State and work per sample: those of [`Marginalisation`]. Reading: `L (M + 1)` exponentials and
/// `L + M` logarithms, and `2 (L + M)` reals of stack. Flash: `L (M + 1)` reals and the models.
#[derive(Clone, Copy, Debug)]
pub struct StoredLikelihoods<K, S> {
    kernel: K,
    log_norms: S,
    normalised: bool,
}

impl<K, T, const L: usize> StoredLikelihoods<K, [T; L]> {
    /// A kernel over a set of models, `log_norms[item]`, and whether it is divided by the stream's norm.
    pub const fn new(kernel: K, log_norms: [T; L], normalised: bool) -> Self {
        Self { kernel, log_norms, normalised }
    }

    /// The kernel against the stored items.
    pub const fn kernel(&self) -> &K {
        &self.kernel
    }
}

/// Kernel over a set of models against stored items.
type OfSet<'m, E, T, const N: usize, const M: usize, const L: usize> =
    Marginalisation<'m, [Hmm<E, N>; M], [[T; M]; L]>;

impl<T, E, const N: usize, const M: usize, const L: usize> Streaming
    for StoredLikelihoods<OfSet<'_, E, T, N, M, L>, [T; L]>
where
    T: Real,
    E: Emission<Weight = T>,
{
    type Observation = E::Observation;
    type State = MarginalisationState<T, N, M>;
    /// Never an error.
    type Reading = Result<KernelValues<T, L>, ScoreOutOfRange>;

    #[inline]
    fn initial_state(&self) -> Self::State {
        self.kernel.initial_state()
    }

    #[inline]
    fn step(&self, state: &mut Self::State, x: &E::Observation) -> Result<(), ObservationError> {
        self.kernel.step(state, x)
    }

    #[inline]
    fn step_missing(&self, state: &mut Self::State) {
        self.kernel.step_missing(state);
    }

    fn read(&self, state: &Self::State) -> Self::Reading {
        let mut logs = self.kernel.log_parts(state);
        let own = if self.normalised { self.kernel.log_norm_parts(state) } else { [T::ZERO; 2] };
        let mut values = [<T as Number>::ZERO; L];
        let log_scale = normalise_logs(&mut logs, &self.log_norms, own, &mut values);
        Ok(KernelValues { values, log_scale })
    }
}

impl<T, E, const N: usize, const M: usize, const L: usize> Validate
    for StoredLikelihoods<OfSet<'_, E, T, N, M, L>, [T; L]>
where
    T: Real,
    E: Emission<Weight = T>,
{
    fn validate(&self) -> Result<(), KernelError> {
        self.kernel.validate()?;
        Ok(check_finite([&self.log_norms[..]], Part::StoredItem)?)
    }
    fn size_bytes(&self) -> usize {
        let own = size_of_val(self) - size_of_val(&self.kernel);
        self.kernel.size_bytes() + own
    }
}

impl<T, E, const N: usize, const M: usize, const L: usize> StoredKernel<L>
    for StoredLikelihoods<OfSet<'_, E, T, N, M, L>, [T; L]>
where
    T: Real,
    E: Emission<Weight = T>,
{
    type Real = T;
}
