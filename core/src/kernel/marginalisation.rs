use super::{KernelError, Validate};
use crate::emission::Emission;
use crate::error::{ErrorKind, ModelError, ObservationError, Part, check_distribution};
use crate::filter::{Belief, Evidence, Forward, Streaming};
use crate::hmm::Hmm;
use crate::number::{Array2, Number, Real};

/// The marginalisation kernel over a finite set of `M` models with a prior, against `L` stored items.
///
/// ```text
/// k(x, z) = sum_m prior[m] P(x | m) P(z | m)
/// ```
///
/// A stored item is what it is to the models: its [log-likelihoods](Self::log_likelihoods), `[model]`.
/// The stream's are `M` forward recursions, and both may have any length. With models of one state
/// the items may be single symbols, or points.
///
/// A model to which an observation is impossible takes no further part; where none is left the kernel
/// is zero.
///
/// Source: Shawe-Taylor and Cristianini, "Kernel Methods for Pattern Analysis", 2004, Definition
/// 12.4.
///
/// Its parameters are the types of the models, `[Hmm<E, N>; M]`, and of the stored items, `[[T; M]; L]`.
///
/// State: `M` rows of `N` reals, and a ledger each. Work per sample: `M` times that of [`Forward`]; a
/// reading costs `M` logarithms, and `M` exponentials per item.
///
/// ```
/// use fishweir_core::emission::Categorical;
/// use fishweir_core::filter::{Streaming, Stream};
/// use fishweir_core::hmm::{Chain, Hmm};
/// use fishweir_core::kernel::Marginalisation;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let coin = |heads: f64| -> Result<_, fishweir_core::ModelError> {
///     let law = Categorical::<2, f64>::new([heads, 1.0 - heads])?;
///     Ok(Hmm::new(Chain::<f64, 1>::new([1.0], [[1.0]])?, [law]))
/// };
/// let coins = [coin(0.5)?, coin(0.75)?];
/// // One head is stored: its likelihoods under the two.
/// let stored = [[0.5_f64.ln(), 0.75_f64.ln()]];
/// let mut kernel = Stream::new(Marginalisation::of(&coins, &[0.5, 0.5], &stored)?);
/// kernel.push_block(&[0, 1])?;
/// let expected = 0.5 * 0.5 * 0.25 + 0.5 * 0.75 * 0.1875;
/// assert!((kernel.read()[0].exp() - expected).abs() < 1e-15);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Marginalisation<'m, H, S: Array2> {
    models: &'m H,
    prior: &'m S::Row,
    stored: &'m S,
}

impl<H, S: Array2> Clone for Marginalisation<'_, H, S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<H, S: Array2> Copy for Marginalisation<'_, H, S> {}

/// State of a [`Marginalisation`]: one belief per model, or nothing where the model makes the stream impossible.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MarginalisationState<T: Number, const N: usize, const M: usize> {
    filters: [Option<Belief<T, N>>; M],
}

impl<'m, T, E, const N: usize, const M: usize, const L: usize>
    Marginalisation<'m, [Hmm<E, N>; M], [[T; M]; L]>
where
    T: Real,
    E: Emission<Weight = T>,
{
    /// The kernel over a set of models with a prior `[model]`, against items stored as their
    /// log-likelihoods, `[item][model]`.
    ///
    /// # Errors
    /// A prior that is no distribution, or a log-likelihood that is NaN or plus infinity.
    pub fn of(
        models: &'m [Hmm<E, N>; M],
        prior: &'m [T; M],
        stored: &'m [[T; M]; L],
    ) -> Result<Self, KernelError> {
        check_distribution(prior.iter().copied(), Part::Prior, 0)?;
        for (item, row) in stored.iter().enumerate() {
            for (model, &log) in row.iter().enumerate() {
                if !log.is_finite() && log != T::NEG_INFINITY {
                    let kind = ErrorKind::NotFinite;
                    return Err(ModelError::new(Part::Prior, kind, item, model).into());
                }
            }
        }
        Ok(Self { models, prior, stored })
    }

    /// `log P(x_1..t | m)`, `[model]`: what an item is stored as.
    pub fn log_likelihoods(&self, state: &MarginalisationState<T, N, M>) -> [T; M] {
        state.filters.map(|filter| filter.map_or(T::NEG_INFINITY, |belief| belief.log()))
    }

    /// `log k` with one item, given the stream's log-likelihoods.
    fn log_kernel(
        &self,
        state: &MarginalisationState<T, N, M>,
        logs: &[T; M],
        stored: &[T; M],
    ) -> T {
        let models = state.filters.iter().zip(logs).zip(stored).zip(self.prior);
        log_mixture(models.filter_map(|(((filter, &log), &stored), &prior)| {
            let evidence = filter.as_ref()?.evidence();
            Some(Term { prior, evidence, log, stored })
        }))
    }
}

/// Term of one model in the kernel of two items.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term<T: Real> {
    /// The model's prior.
    pub prior: T,
    /// The likelihood of the one.
    pub evidence: Evidence<T>,
    /// Logarithm of the evidence: `evidence.log()`.
    pub log: T,
    /// The log-likelihood of the other.
    pub stored: T,
}

/// `log sum_m prior[m] P(x | m) P(z | m)`, relative to the model that says most; minus infinity where
/// none says anything.
///
/// A logarithm, and a logarithm and an exponential per model.
pub fn log_mixture<T: Real>(terms: impl Iterator<Item = Term<T>> + Clone) -> T {
    let possible = terms.filter(|term| term.prior > T::ZERO);
    let mut best: Option<Term<T>> = None;
    let mut most = T::NEG_INFINITY;
    for term in possible.clone() {
        if term.log + term.stored > most {
            most = term.log + term.stored;
            best = Some(term);
        }
    }
    let Some(best) = best else { return T::NEG_INFINITY };
    let mut sum = T::ZERO;
    for term in possible.filter(|term| term.stored > T::NEG_INFINITY) {
        // Differences of ledgers: what long streams have in common cancels before it is rounded.
        let lead = term.evidence.difference(&best.evidence) + (term.stored - best.stored);
        sum = sum + term.prior * lead.exp();
    }
    most + sum.ln()
}

impl<T, E, const N: usize, const M: usize, const L: usize> Streaming
    for Marginalisation<'_, [Hmm<E, N>; M], [[T; M]; L]>
where
    T: Real,
    E: Emission<Weight = T>,
{
    type Observation = E::Observation;
    type State = MarginalisationState<T, N, M>;
    /// `log k`, `[item]`.
    type Reading = [T; L];

    #[inline]
    fn initial_state(&self) -> Self::State {
        MarginalisationState { filters: [Some(Belief::NEW); M] }
    }

    fn step(&self, state: &mut Self::State, x: &E::Observation) -> Result<(), ObservationError> {
        let mut next = *state;
        for (filter, model) in next.filters.iter_mut().zip(self.models) {
            let Some(belief) = filter else {
                for emission in model.emission() {
                    emission.check(x)?;
                }
                continue;
            };
            match Forward::of(model).step(belief, x) {
                Err(ObservationError::Impossible) => *filter = None,
                other => other?,
            }
        }
        *state = next;
        Ok(())
    }

    fn step_missing(&self, state: &mut Self::State) {
        for (filter, model) in state.filters.iter_mut().zip(self.models) {
            if let Some(belief) = filter {
                Forward::of(model).step_missing(belief);
            }
        }
    }

    fn read(&self, state: &Self::State) -> [T; L] {
        let logs = self.log_likelihoods(state);
        let mut kernels = [T::NEG_INFINITY; L];
        for (kernel, stored) in kernels.iter_mut().zip(self.stored) {
            *kernel = self.log_kernel(state, &logs, stored);
        }
        kernels
    }
}

impl<T, E, const N: usize, const M: usize, const L: usize> Validate
    for Marginalisation<'_, [Hmm<E, N>; M], [[T; M]; L]>
where
    T: Real,
    E: Emission<Weight = T>,
{
    fn validate(&self) -> Result<(), KernelError> {
        self.models.iter().try_for_each(Hmm::validate)?;
        Self::of(self.models, self.prior, self.stored).map(drop)
    }
    fn size_bytes(&self) -> usize {
        let borrowed = size_of_val(self.models) + size_of_val(self.prior);
        size_of_val(self) + borrowed + size_of_val(self.stored)
    }
}
