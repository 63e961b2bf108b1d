use super::{KernelError, LogKernel, Validate, no_parts};
use crate::emission::Emission;
use crate::error::{ErrorKind, ModelError, ObservationError, Part, check_distribution};
use crate::filter::{Belief, Forward, Streaming};
use crate::hmm::Hmm;
use crate::number::{Array2, Compensated, Number, Real};

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

impl<'m, E, T, const N: usize, const M: usize, const L: usize>
    Marginalisation<'m, [Hmm<E, N>; M], [[T; M]; L]>
where
    E: Emission,
{
    /// A kernel of parts checked before, as an export writes them; [`validate`](Validate::validate) checks them again.
    pub const fn from_parts(
        models: &'m [Hmm<E, N>; M],
        prior: &'m [T; M],
        stored: &'m [[T; M]; L],
    ) -> Self {
        Self { models, prior, stored }
    }
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
        let kernel = Self::from_parts(models, prior, stored);
        kernel.check_parts()?;
        Ok(kernel)
    }

    fn check_parts(&self) -> Result<(), KernelError> {
        check_distribution(self.prior.iter().copied(), Part::Prior, 0)?;
        for (item, row) in self.stored.iter().enumerate() {
            for (model, &log) in row.iter().enumerate() {
                if !log.is_finite() && log != T::NEG_INFINITY {
                    let kind = ErrorKind::NotFinite;
                    return Err(ModelError::new(Part::StoredItem, kind, item, model).into());
                }
            }
        }
        Ok(())
    }

    /// `log P(x_1..t | m)`, `[model]`: what an item is stored as.
    pub fn log_likelihoods(&self, state: &MarginalisationState<T, N, M>) -> [T; M] {
        let mut logs = [T::NEG_INFINITY; M];
        for (log, [nearest, _]) in logs.iter_mut().zip(self.likelihood_parts(state)) {
            *log = nearest;
        }
        logs
    }

    /// `log P(x_1..t | m)` in two parts, `[model]`.
    pub(crate) fn likelihood_parts(&self, state: &MarginalisationState<T, N, M>) -> [[T; 2]; M] {
        let mut parts = [no_parts(); M];
        for (parts, filter) in parts.iter_mut().zip(&state.filters) {
            if let Some(belief) = filter {
                *parts = belief.evidence().log_parts();
            }
        }
        parts
    }

    /// `log k(x, x)` in two parts, of the stream with itself: the square of its norm.
    pub fn log_norm_parts(&self, state: &MarginalisationState<T, N, M>) -> [T; 2] {
        log_mixture_norm(self.prior, &self.likelihood_parts(state))
    }
}

/// `log sum_m prior[m] P(x | m) P(z | m)` in two parts, relative to the model that says most; minus infinity where none says
/// anything.
///
/// `stream[model]` are the logarithms of `P(x | m)` in two parts, `stored[model]` those of `P(z | m)`. A logarithm, and an
/// exponential per model.
#[doc(hidden)]
pub fn log_mixture<T: Real>(prior: &[T], stream: &[[T; 2]], stored: &[T]) -> [T; 2] {
    let models = prior.len().min(stream.len()).min(stored.len());
    let (prior, stream, stored) = (&prior[..models], &stream[..models], &stored[..models]);
    let Some(best) = most(prior, |m| stream[m][0] + stored[m]) else { return no_parts() };
    let mut sum = T::ZERO;
    for m in 0..models {
        if stream[m][0] > T::NEG_INFINITY && stored[m] > T::NEG_INFINITY {
            // What long streams have in common cancels before it is rounded.
            let lead = (stream[m][0] - stream[best][0]) + (stream[m][1] - stream[best][1]);
            sum = sum + prior[m] * (lead + (stored[m] - stored[best])).exp();
        }
    }
    let [high, low] = stream[best];
    let mut log = Compensated::from_parts(high, low);
    log.add(stored[best]);
    log.add(sum.ln());
    log.parts().into()
}

/// `log sum_m prior[m] P(x | m)^2` in two parts: the kernel of a stream with itself. As [`log_mixture`].
#[doc(hidden)]
pub fn log_mixture_norm<T: Real>(prior: &[T], stream: &[[T; 2]]) -> [T; 2] {
    let models = prior.len().min(stream.len());
    let (prior, stream) = (&prior[..models], &stream[..models]);
    let Some(best) = most(prior, |m| stream[m][0]) else { return no_parts() };
    let mut sum = T::ZERO;
    for m in 0..models {
        if stream[m][0] > T::NEG_INFINITY {
            let lead = (stream[m][0] - stream[best][0]) + (stream[m][1] - stream[best][1]);
            sum = sum + prior[m] * (lead + lead).exp();
        }
    }
    let [high, low] = stream[best];
    let mut log = Compensated::from_parts(high, low);
    log.add_sum(Compensated::from_parts(high, low));
    log.add(sum.ln());
    log.parts().into()
}

/// The model with a prior whose logarithm is largest; `None` if all are minus infinity.
fn most<T: Real>(prior: &[T], log: impl Fn(usize) -> T) -> Option<usize> {
    let (mut best, mut largest) = (None, T::NEG_INFINITY);
    for (m, &prior) in prior.iter().enumerate() {
        let log = log(m);
        if prior > T::ZERO && log > largest {
            (best, largest) = (Some(m), log);
        }
    }
    best
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
        let parts = self.log_parts(state);
        let mut kernels = [T::NEG_INFINITY; L];
        for (kernel, [log, _]) in kernels.iter_mut().zip(parts) {
            *kernel = log;
        }
        kernels
    }
}

impl<T, E, const N: usize, const M: usize, const L: usize> LogKernel
    for Marginalisation<'_, [Hmm<E, N>; M], [[T; M]; L]>
where
    T: Real,
    E: Emission<Weight = T>,
{
    type Parts = [[T; 2]; L];
    fn log_parts(&self, state: &Self::State) -> Self::Parts {
        let stream = self.likelihood_parts(state);
        let mut parts = [no_parts(); L];
        for (parts, stored) in parts.iter_mut().zip(self.stored) {
            *parts = log_mixture(self.prior, &stream, stored);
        }
        parts
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
        self.check_parts()
    }
    fn size_bytes(&self) -> usize {
        let borrowed = size_of_val(self.models) + size_of_val(self.prior);
        size_of_val(self) + borrowed + size_of_val(self.stored)
    }
}
