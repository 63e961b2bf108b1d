use super::checks::check_finite;
use super::sequences::normalise_logs;
use super::{KernelValues, ScoreOutOfRange, StoredKernel};
use crate::emission::SufficientStatistics;
use crate::error::{ModelError, ObservationError, Part};
use crate::filter::{Adapting, OnlineEm, Streaming};
use crate::hmm::Hmm;
use crate::kernel::{Affinity, KernelError, Overlaps, ProductKernel, Validate, log_between};
use crate::number::{Number, Real};

/// A bank of models, each compared with the model that the stream makes: the input of a
/// [`KernelMachine`](super::KernelMachine) on a kernel between models.
///
/// ```text
/// k'(model_m, x) = k(model_m, theta(x)) / ( exp(log_norm_m) sqrt(k(theta(x), theta(x))) )
/// ```
///
/// `theta(x)` is the model of [`OnlineEm`] after the samples so far, and `k` the probability product kernel or the mean map of two
/// hidden Markov models over `steps` transitions ([`ModelPairKernel`](crate::kernel::ModelPairKernel)). Normalised,
/// `log_norm_m = log k(model_m, model_m) / 2` and values are cosines, one where the two models are the same; else the
/// divisor is `exp(log_norm_m)` alone. Before the first sample, and in the warm-up of the adaptation, `theta` is the first model.
///
/// Its parameters are the [`OnlineEm`] of an emission and `N` states, the array of `M` models, and what is
/// [`Compared`] of them. State: that of
/// [`OnlineEm`]. Work per sample: the same. Reading: `M + 1` times `N^2` overlaps of emissions and
/// `2 N^3 (steps + 1)` multiply-adds, with a power other than one `2 N^2 + 2 N` powers more; stack `3 N^2` reals. Flash: `M + 1`
/// models and `M` reals.
///
/// Sources: Jebara, Kondor and Howard, "Probability Product Kernels", 2004, section 4.2; Mehta and Gray, "Generative and Latent
/// Mean Map Kernels", 2010.
#[derive(Clone, Copy, Debug)]
pub struct StoredModels<'m, A, B, C> {
    adapting: A,
    models: &'m B,
    compared: C,
}

impl<A, B, C> StoredModels<'_, A, B, C> {
    /// Measure by which models are compared.
    #[cfg(feature = "defmt")]
    pub(crate) const fn compared(&self) -> &C {
        &self.compared
    }
}

/// How models of [`StoredModels`] are compared, and their norms: `M` models, and `P = N^2` pairs of states.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Compared<T, const M: usize, const P: usize> {
    measure: Affinity<T>,
    steps: usize,
    log_norms: [T; M],
    normalised: bool,
}

/// A bank of models over one emission.
type Bank<'m, E, const N: usize, const M: usize, const P: usize> = StoredModels<
    'm,
    OnlineEm<'m, E, N>,
    [Hmm<E, N>; M],
    Compared<<E as SufficientStatistics>::Real, M, P>,
>;

impl<'m, E: SufficientStatistics, const N: usize, const M: usize, const P: usize>
    Bank<'m, E, N, M, P>
{
    /// A bank against the model that `adapting` makes of the stream, compared over `steps` transitions.
    pub const fn new(
        adapting: OnlineEm<'m, E, N>,
        models: &'m [Hmm<E, N>; M],
        (measure, steps): (Affinity<E::Real>, usize),
        log_norms: [E::Real; M],
        normalised: bool,
    ) -> Self {
        const { assert!(P == N * N, "P must equal N * N") };
        let compared = Compared { measure, steps, log_norms, normalised };
        Self { adapting, models, compared }
    }

    /// The models of the bank.
    pub const fn models(&self) -> &'m [Hmm<E, N>; M] {
        self.models
    }
}

impl<E, T, const N: usize, const M: usize, const P: usize> Bank<'_, E, N, M, P>
where
    T: Real,
    E: SufficientStatistics<Real = T, Weight = T> + ProductKernel,
{
    /// `log k` of two models in two parts.
    fn log_kernel(&self, a: &Hmm<E, N>, b: &Hmm<E, N>) -> Result<[T; 2], ModelError> {
        let rho = self.compared.measure.exponent();
        let overlaps = Overlaps::<T, P>::of(a.emission(), b.emission(), self.compared.measure)?;
        Ok(log_between(
            &a.chain().powered(rho),
            &b.chain().powered(rho),
            overlaps,
            self.compared.steps,
        ))
    }

    /// `log k` of a model with each of the bank, and with itself if kernels are normalised.
    fn log_kernels(&self, hmm: &Hmm<E, N>) -> Result<([[T; 2]; M], [T; 2]), ModelError> {
        let mut logs = [[<T as Number>::ZERO; 2]; M];
        for m in 0..M {
            logs[m] = self.log_kernel(hmm, &self.models[m])?;
        }
        let own = if self.compared.normalised { self.log_kernel(hmm, hmm)? } else { [T::ZERO; 2] };
        Ok((logs, own))
    }
}

impl<E, T, const N: usize, const M: usize, const P: usize> Streaming for Bank<'_, E, N, M, P>
where
    T: Real,
    E: SufficientStatistics<Real = T, Weight = T> + ProductKernel,
{
    type Observation = E::Observation;
    type State = Adapting<E, N>;
    /// An error where the emissions of two models cannot be compared.
    type Reading = Result<KernelValues<T, M>, ScoreOutOfRange>;

    fn initial_state(&self) -> Self::State {
        self.adapting.initial_state()
    }

    fn step(&self, state: &mut Self::State, x: &E::Observation) -> Result<(), ObservationError> {
        self.adapting.step(state, x)
    }

    fn step_missing(&self, state: &mut Self::State) {
        self.adapting.step_missing(state);
    }

    fn read(&self, state: &Self::State) -> Self::Reading {
        let (mut logs, own) = self.log_kernels(state.hmm()).map_err(|_| ScoreOutOfRange)?;
        let mut values = [<T as Number>::ZERO; M];
        let log_scale = normalise_logs(&mut logs, &self.compared.log_norms, own, &mut values);
        Ok(KernelValues { values, log_scale })
    }
}

impl<E, T, const N: usize, const M: usize, const P: usize> Validate for Bank<'_, E, N, M, P>
where
    T: Real,
    E: SufficientStatistics<Real = T, Weight = T> + ProductKernel,
{
    fn validate(&self) -> Result<(), KernelError> {
        self.adapting.first().validate()?;
        self.models.iter().try_for_each(Hmm::validate)?;
        self.compared.measure.validate()?;
        Ok(check_finite([&self.compared.log_norms[..]], Part::StoredItem)?)
    }
    fn size_bytes(&self) -> usize {
        size_of_val(self) + size_of_val(self.adapting.first()) + size_of_val(self.models)
    }
}

impl<E, T, const N: usize, const M: usize, const P: usize> StoredKernel<M> for Bank<'_, E, N, M, P>
where
    T: Real,
    E: SufficientStatistics<Real = T, Weight = T> + ProductKernel,
{
    type Real = T;
}
