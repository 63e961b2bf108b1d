use super::moments::{Moments, Step};
use super::{Belief, ExpectedStatistics, Forward, SettingError, Streaming};
use crate::emission::{Regularisation, SufficientStatistics, VectorSpace, maximise_row};
use crate::error::ObservationError;
use crate::hmm::{Chain, Hmm};
use crate::number::{Number, Real};

/// Step size of an adapting model: the weight `gamma_t` of sample `t` (from 1) in the
/// statistics.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum StepSize<T = f32> {
    /// `gamma_t = t^-kappa`, `1/2 < kappa <= 1`: converges on a stationary stream. 0.6 is usual. A
    /// power and a logarithm per sample.
    Power(T),
    /// `gamma_t = gamma`, `0 < gamma <= 1`: follows a stream that changes, with a memory of
    /// `1 / gamma` samples.
    Constant(T),
}

impl<T: Real> StepSize<T> {
    fn check(self) -> Result<(), SettingError> {
        let fits = match self {
            Self::Power(kappa) => kappa > T::HALF && kappa <= T::ONE,
            Self::Constant(gamma) => gamma > T::ZERO && gamma <= T::ONE,
        };
        if fits { Ok(()) } else { Err(SettingError::StepSize) }
    }

    /// `gamma_t`.
    fn at(self, t: u64) -> T {
        match self {
            Self::Power(kappa) => (-kappa * T::from_count(t).ln()).exp(),
            Self::Constant(gamma) => gamma,
        }
    }
}

/// Online expectation-maximisation: a model that adapts to the stream, in RAM.
///
/// The statistics of [`Statistics`](super::Statistics) by stochastic approximation, and a new model
/// from them after each sample:
///
/// ```text
/// tau_t(k)  = sum_i ( (1 - gamma_t) tau_t-1(i) + gamma_t s(i, k, x_t) f_i ) A_ik b_k(x_t) / c_t
/// theta_t+1 = argmax of the expected complete log-likelihood at sum_k tau_t(k) / gamma_t
/// ```
///
/// where `A`, `b` and the filter `f` are those of `theta_t`. The initial distribution is kept: one
/// stream has one beginning. The first `warm_up` samples only collect. A missing sample is a
/// transition and no observation.
///
/// The model stays a model. A row of probabilities that was never taken, and the emission of a state
/// for which there is no estimate, are kept; probabilities of zero stay zero; variances do not fall
/// below the floor, and a pseudo-count (in samples) keeps transitions from dying out. What a
/// probability that has gone to zero makes impossible is refused like any other impossible sample.
///
/// Source: Cappé 2011, "Online EM algorithm for hidden Markov models".
///
/// State: a model, `P N` reals with `P = N + N^2 + N S` statistics (`S` an emission's), a belief and
/// a counter; `f32`, `N = 4`, three Gaussian channels: 1 008 B. Work per sample: `P N^2` multiply-adds
/// and twice the filter's; after the warm-up a maximisation, `N (N + S)` divisions, and what it
/// takes to re-express the statistics, `N^2 S`. Stack: `N^2 + P` reals.
///
/// ```
/// use fishweir_core::emission::{Categorical, Regularisation};
/// use fishweir_core::filter::{OnlineEm, Stream, StepSize};
/// use fishweir_core::hmm::{Chain, Hmm};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let shipped = Hmm::new(
///     Chain::<f32, 2>::new([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])?,
///     [Categorical::<2, f32>::new([0.75, 0.25])?, Categorical::<2, f32>::new([0.25, 0.75])?],
/// );
/// let priors = Regularisation { variance_floor: 1e-3, pseudo_count: 0.1 };
/// let adapting = OnlineEm::from(&shipped, StepSize::Constant(0.01), 100, priors)?;
/// let mut stream = Stream::new(adapting);
/// for t in 0..10_000_usize {
///     stream.push(&(t / 20 % 2))?; // twenty of each: the states last longer and are purer
/// }
/// let adapted = stream.state().hmm();
/// assert!(adapted.chain().transition()[0][0] > 0.93);
/// assert!(adapted.emission()[0].probability()[0] > 0.98);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct OnlineEm<'m, E: SufficientStatistics, const N: usize> {
    first: &'m Hmm<E, N>,
    step_size: StepSize<E::Real>,
    warm_up: u64,
    regularisation: Regularisation<E::Real>,
}

impl<E: SufficientStatistics, const N: usize> Clone for OnlineEm<'_, E, N> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<E: SufficientStatistics, const N: usize> Copy for OnlineEm<'_, E, N> {}

/// The state of [`OnlineEm`]: the adapted model, a belief and the statistics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adapting<E: SufficientStatistics, const N: usize> {
    hmm: Hmm<E, N>,
    belief: Belief<E::Real, N>,
    moments: Moments<E::Statistics, E::Real, N>,
    samples: u64,
}

impl<E: SufficientStatistics, const N: usize> Adapting<E, N> {
    /// The model as it is now.
    pub fn hmm(&self) -> &Hmm<E, N> {
        &self.hmm
    }

    /// The filter's belief. Its log-likelihood is prequential: each sample's under the model of its
    /// time.
    pub fn belief(&self) -> &Belief<E::Real, N> {
        &self.belief
    }

    /// Number of samples, missing ones included.
    pub fn samples(&self) -> u64 {
        self.samples
    }
}

impl<'m, E: SufficientStatistics, const N: usize> OnlineEm<'m, E, N> {
    /// Adaptation that starts from a model.
    ///
    /// # Errors
    /// A step size out of range, a variance floor that is not positive and finite, a pseudo-count
    /// that is negative or not finite.
    pub fn from(
        first: &'m Hmm<E, N>,
        step_size: StepSize<E::Real>,
        warm_up: u64,
        regularisation: Regularisation<E::Real>,
    ) -> Result<Self, SettingError> {
        step_size.check()?;
        let Regularisation { variance_floor, pseudo_count } = regularisation;
        if !is_prior(variance_floor, pseudo_count) {
            return Err(SettingError::Regularisation);
        }
        Ok(Self { first, step_size, warm_up, regularisation })
    }

    /// Adaptation with settings checked before, as an export writes them.
    pub const fn from_parts(
        first: &'m Hmm<E, N>,
        step_size: StepSize<E::Real>,
        warm_up: u64,
        regularisation: Regularisation<E::Real>,
    ) -> Self {
        Self { first, step_size, warm_up, regularisation }
    }

    /// The model that adaptation starts from.
    pub const fn first(&self) -> &'m Hmm<E, N> {
        self.first
    }

    fn take(
        &self,
        state: &mut Adapting<E, N>,
        x: Option<&E::Observation>,
    ) -> Result<(), ObservationError> {
        let x = x.filter(|x| !E::is_missing(x));
        let step = Step::take(Forward::of(&state.hmm), &mut state.belief, x, false)?;
        state.samples += 1;
        let gamma = self.step_size.at(state.samples);
        state.moments.advance(&state.hmm, &step, x, [E::Real::ONE - gamma, gamma], false);
        if state.samples > self.warm_up {
            self.maximise(state, gamma);
        }
        Ok(())
    }

    /// The next model, from the statistics in units of samples.
    fn maximise(&self, state: &mut Adapting<E, N>, gamma: E::Real) {
        let statistics: ExpectedStatistics<_, _, N> = state.moments.sum();
        let memory = E::Real::ONE / gamma;
        let chain = state.hmm.chain();
        let mut transition = *chain.transition();
        let rows = transition.iter_mut().zip(chain.transition()).zip(statistics.transition);
        for ((estimate, row), counts) in rows {
            let counts = counts.map(|count| count * memory);
            maximise_row(row, &counts, self.regularisation.pseudo_count, estimate);
        }
        let mut emission = *state.hmm.emission();
        let states = emission.iter_mut().zip(&mut state.moments.emission);
        for ((emission, columns), mut collected) in states.zip(statistics.emission) {
            collected.scale(memory);
            match emission.maximise(&collected, &self.regularisation) {
                Ok(estimate) => {
                    for column in columns {
                        estimate.adopt(emission, column);
                    }
                    *emission = estimate;
                }
                // There is no estimate, or none any more: an absurd observation has overflowed the
                // statistics, which then begin anew.
                Err(_) if !is_finite(&collected) => *columns = [VectorSpace::ZERO; N],
                Err(_) => {}
            }
        }
        state.hmm = Hmm::new(Chain::from_parts(*chain.initial(), transition), emission);
    }
}

fn is_finite<T: Real>(statistics: &impl VectorSpace<T>) -> bool {
    let mut finite = true;
    statistics.for_each(|entry| finite &= entry.is_finite());
    finite
}

fn is_prior<T: Real>(variance_floor: T, pseudo_count: T) -> bool {
    let floored = variance_floor > T::ZERO && variance_floor.is_finite();
    floored && pseudo_count >= T::ZERO && pseudo_count.is_finite()
}

impl<E: SufficientStatistics, const N: usize> Streaming for OnlineEm<'_, E, N> {
    type Observation = E::Observation;
    type State = Adapting<E, N>;
    type Reading = Hmm<E, N>;

    fn initial_state(&self) -> Self::State {
        Adapting { hmm: *self.first, belief: Belief::NEW, moments: Moments::ZERO, samples: 0 }
    }

    fn step(&self, state: &mut Self::State, x: &E::Observation) -> Result<(), ObservationError> {
        self.take(state, Some(x))
    }

    fn step_missing(&self, state: &mut Self::State) {
        // Only an observation can be refused.
        let _ = self.take(state, None);
    }

    /// The model as it is now: a copy. [`Adapting::hmm`] borrows it.
    fn read(&self, state: &Self::State) -> Hmm<E, N> {
        state.hmm
    }
}
