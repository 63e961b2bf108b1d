use super::checks::check_range;
use super::{KernelValues, Normalisation, ScoreKernel, ScoreOutOfRange, StoredKernel, Whitening};
use crate::emission::{Parametrisation, SufficientStatistics, VectorSpace};
use crate::error::{ObservationError, Part};
use crate::filter::{Forward, Statistics, StatisticsState, Streaming};
use crate::hmm::Hmm;
use crate::kernel::{KernelError, Validate};
use crate::number::{Array2, Number};
use crate::score::{Score, ScoreOf};

/// Support scores: a kernel on the Fisher scores of `B` models against the scores of `M` stored
/// items, as a [`KernelMachine`](super::KernelMachine) is fed it.
///
/// ```text
/// u = f(t) ( score_1(x_1..t), .., score_B(x_1..t) )     z = rate (u - centre)     k(z_m, z)
/// ```
///
/// A Gaussian, polynomial or cosine kernel is not linear in the score, no direction stands for it,
/// and the whole score streams: by [forward-only expected statistics](Statistics) and Fisher's
/// identity, exact after every sample. `f` is `1`, `1/t` or `1/sqrt(t)`. The entries of a model are
/// those of its [`Score`] in order; where `F` leaves room for one more a model, it is the
/// log-likelihood. Stored scores are whitened before they are stored, and as the [kernel](ScoreKernel) has
/// them: of length one, or roots.
///
/// Sources: Jaakkola and Haussler, "Exploiting generative models in discriminative classifiers",
/// 1998, equations 2 and 3, sections 2 and 5.
///
/// Flash: the models, `F (M + 2)` reals. State: that of `B` [`Statistics`] and a counter. Work a
/// sample: theirs. Reading: `F (M + 1)` multiply-adds, what the models' scores take, and a logarithm
/// and an exponential an item at most, or `F + 1` square roots in all. Stack of a reading: `2 F` reals and a model's statistics.
///
/// Its parameters are the types of the models, `[Hmm<E, N>; B]`, of the whitening, and of the stored scores, `[[T; F]; M]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoredScores<H, W, S: Array2> {
    models: H,
    parametrisation: Parametrisation,
    normalisation: Normalisation,
    whitening: W,
    kernel: ScoreKernel<S::Entry>,
    stored: S,
}

/// State of [`StoredScores`]: expected statistics for each model, `[StatisticsState<S, T, N>; B]`, and the count of samples.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ScoreState<C> {
    collected: C,
    samples: u64,
}

impl<C> ScoreState<C> {
    /// Number of samples, missing ones included.
    pub const fn samples(&self) -> u64 {
        self.samples
    }
}

type StateOf<E, const N: usize, const B: usize> = ScoreState<
    [StatisticsState<<E as SufficientStatistics>::Statistics, <E as SufficientStatistics>::Real, N>;
        B],
>;

impl<E, W, const N: usize, const B: usize, const F: usize, const M: usize>
    StoredScores<[Hmm<E, N>; B], W, [[E::Real; F]; M]>
where
    E: SufficientStatistics,
{
    /// Score entries of a model, the log-likelihood not among them.
    const SCORES: usize = <ScoreOf<E, N> as VectorSpace<E::Real>>::LENGTH;

    /// Creates a kernel from its parts; `stored[item][entry]` are whitened.
    ///
    /// Nothing is checked, so that it can be a `static`: [`validate`](Validate::validate) does, and so does
    /// [`KernelMachine::new`](super::KernelMachine::new).
    pub const fn from_parts(
        models: [Hmm<E, N>; B],
        parametrisation: Parametrisation,
        normalisation: Normalisation,
        whitening: W,
        kernel: ScoreKernel<E::Real>,
        stored: [[E::Real; F]; M],
    ) -> Self {
        const {
            assert!(B > 0 && M > 0, "B and M must be at least 1");
            assert!(
                F == B * Self::SCORES || F == B * (Self::SCORES + 1),
                "as many entries as the models have scores, and a log-likelihood each or none"
            );
            assert!(F <= 1 << 16, "F must be at most 65536");
        }
        Self { models, parametrisation, normalisation, whitening, kernel, stored }
    }

    /// The models.
    pub const fn models(&self) -> &[Hmm<E, N>; B] {
        &self.models
    }

    /// The stored scores, whitened, `[item][entry]`.
    pub const fn stored(&self) -> &[[E::Real; F]; M] {
        &self.stored
    }

    /// The scores of the stream so far, times `f(t)`, not whitened: `[entry]`.
    pub fn scores(&self, state: &StateOf<E, N, B>) -> [E::Real; F] {
        let mut scores = [<E::Real as Number>::ZERO; F];
        let models = self.models.iter().zip(&state.collected);
        for (block, (model, collected)) in scores.chunks_mut((F / B).max(1)).zip(models) {
            write_scores(model, collected, self.parametrisation, block);
        }
        let factor = self.normalisation.factor(state.samples);
        for score in &mut scores {
            *score = *score * factor;
        }
        scores
    }

    /// The log-likelihood of the stream under each model, `[model]`.
    pub fn log_likelihoods(&self, state: &StateOf<E, N, B>) -> [E::Real; B] {
        let mut logs = [<E::Real as Number>::ZERO; B];
        for (log, collected) in logs.iter_mut().zip(&state.collected) {
            *log = collected.belief().log();
        }
        logs
    }
}

/// A model's part of the scores: the score's entries in order, and its log-likelihood where there is
/// room. Out of line: the stack of one model's statistics, not of all models'.
#[inline(never)]
fn write_scores<E: SufficientStatistics, const N: usize>(
    model: &Hmm<E, N>,
    collected: &StatisticsState<E::Statistics, E::Real, N>,
    parametrisation: Parametrisation,
    block: &mut [E::Real],
) {
    let expected = Statistics::of(model).read(collected);
    let written = Score::of(model, &expected, parametrisation).write_to(block);
    if let Some(log_likelihood) = block.get_mut(written) {
        *log_likelihood = collected.belief().log();
    }
}

impl<E, W, const N: usize, const B: usize, const F: usize, const M: usize> Streaming
    for StoredScores<[Hmm<E, N>; B], W, [[E::Real; F]; M]>
where
    E: SufficientStatistics,
    W: Whitening<E::Real, F>,
{
    type Observation = E::Observation;
    type State = StateOf<E, N, B>;
    type Reading = Result<KernelValues<E::Real, M>, ScoreOutOfRange>;

    fn initial_state(&self) -> Self::State {
        let start = |model| Statistics::of(model).initial_state();
        ScoreState { collected: self.models.each_ref().map(start), samples: 0 }
    }

    /// Pushes to every model; a sample that any of them finds impossible is refused by all: a kernel
    /// that is not linear in the score has no part to leave out.
    fn step(&self, state: &mut Self::State, x: &E::Observation) -> Result<(), ObservationError> {
        // Statistics are large to copy: whether all models take the sample is asked of filters.
        if B > 1 {
            for (model, collected) in self.models.iter().zip(&state.collected) {
                Forward::of(model).step(&mut collected.belief().clone(), x)?;
            }
        }
        for (model, collected) in self.models.iter().zip(&mut state.collected) {
            Statistics::of(model).step(collected, x)?;
        }
        state.samples += 1;
        Ok(())
    }

    fn step_missing(&self, state: &mut Self::State) {
        for (model, collected) in self.models.iter().zip(&mut state.collected) {
            Statistics::of(model).step_missing(collected);
        }
        state.samples += 1;
    }

    fn read(&self, state: &Self::State) -> Self::Reading {
        let mut whitened = self.whitening.whiten(self.scores(state))?;
        self.kernel.prepare(&mut whitened);
        let mut values = [<E::Real as Number>::ZERO; M];
        let stored = self.stored.iter().map(|scores| &scores[..]);
        let log_scale = self.kernel.evaluate(&whitened, stored, &mut values);
        Ok(KernelValues { values, log_scale })
    }
}

impl<E, W, const N: usize, const B: usize, const F: usize, const M: usize> Validate
    for StoredScores<[Hmm<E, N>; B], W, [[E::Real; F]; M]>
where
    E: SufficientStatistics,
    W: Whitening<E::Real, F>,
{
    fn validate(&self) -> Result<(), KernelError> {
        self.models.iter().try_for_each(Hmm::validate)?;
        self.whitening.validate()?;
        self.kernel.validate()?;
        Ok(check_range(self.stored.iter().map(|scores| &scores[..]), Part::StoredItem)?)
    }
    fn size_bytes(&self) -> usize {
        size_of_val(self)
    }
}

impl<E, W, const N: usize, const B: usize, const F: usize, const M: usize> StoredKernel<M>
    for StoredScores<[Hmm<E, N>; B], W, [[E::Real; F]; M]>
where
    E: SufficientStatistics,
    W: Whitening<E::Real, F>,
{
    type Real = E::Real;
}
