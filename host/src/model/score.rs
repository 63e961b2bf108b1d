//! Scores of a model, as rows that kernels and machines read.

use fishweir_core::emission::Parametrisation;
use fishweir_core::smooth::SequenceError;

use crate::batch::{Expectations, expectations};
use crate::data::{Samples, SamplesView};
use crate::parallel::each;
use crate::runtime::family::entries;
use crate::runtime::numbers::push_row;
use crate::runtime::{Emissions, Hmm, Parts};

/// A model with a score: a gradient of `log p(x)` with a number per parameter.
///
/// An entry that belongs to a probability of exactly zero is zero in every parametrisation: what is
/// impossible by the model's structure is no parameter, stays impossible, and the invariant kernel
/// stays the same in all parametrisations.
pub trait Scored: Sync {
    /// Number of entries of a score.
    fn parameters(&self) -> usize;

    /// The score of each sequence and its log-likelihood, in order; an impossible sequence is an
    /// error in its place.
    fn scores(
        &self,
        sequences: &[SamplesView<'_>],
        parametrisation: Parametrisation,
    ) -> Vec<Result<ModelScore, SequenceError>>;

    /// A sequence drawn from the model; the same seed draws the same.
    fn draw(&self, length: usize, seed: u64) -> Samples;

    /// Number of symbols of the alphabet; `None` for real channels.
    fn symbols(&self) -> Option<usize> {
        None
    }

    /// The exact information of a sequence of a length, `[parameter][parameter]`, where it has a closed
    /// form; `None` where the sequences have to be enumerated.
    fn information(
        &self,
        length: usize,
        parametrisation: Parametrisation,
    ) -> Option<Vec<Vec<f64>>> {
        let _ = (length, parametrisation);
        None
    }
}

impl<M: Scored + ?Sized> Scored for &M {
    fn parameters(&self) -> usize {
        (**self).parameters()
    }
    fn scores(
        &self,
        sequences: &[SamplesView<'_>],
        parametrisation: Parametrisation,
    ) -> Vec<Result<ModelScore, SequenceError>> {
        (**self).scores(sequences, parametrisation)
    }
    fn draw(&self, length: usize, seed: u64) -> Samples {
        (**self).draw(length, seed)
    }
    fn symbols(&self) -> Option<usize> {
        (**self).symbols()
    }
    fn information(
        &self,
        length: usize,
        parametrisation: Parametrisation,
    ) -> Option<Vec<Vec<f64>>> {
        (**self).information(length, parametrisation)
    }
}

/// The score of a sequence under a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelScore {
    /// `log p(x)`.
    pub log_likelihood: f64,
    /// Gradient of the log-likelihood, `[parameter]`.
    pub score: Vec<f64>,
}

/// A sequence without a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("sequence {sequence} has no score: {why}")]
pub struct NoScore {
    /// Index of the sequence, from 0.
    pub sequence: usize,
    /// Error of the model.
    pub why: SequenceError,
}

impl crate::StableKind for NoScore {
    fn kind(&self) -> &'static str {
        self.why.kind()
    }
}

/// The scores of all sequences, in order.
///
/// # Errors
/// [`NoScore`] naming the first sequence that the model makes impossible.
pub fn scores(
    model: &dyn Scored,
    sequences: &[SamplesView<'_>],
    parametrisation: Parametrisation,
) -> Result<Vec<ModelScore>, NoScore> {
    let scores = model.scores(sequences, parametrisation).into_iter().enumerate();
    scores.map(|(sequence, score)| score.map_err(|why| NoScore { sequence, why })).collect()
}

/// The score of a hidden Markov model: first `initial`, then `transition` by rows, then the
/// emissions: categorical by state, `[state][symbol]`; Gaussian, for each state, its means and then
/// its variances (or log standard deviations), `[channel]`. So `N + N^2 + N K` or `N + N^2 + 2 N D`
/// entries.
///
/// Expected statistics by forward-backward (see [`expectations`]), then the core's arithmetic of
/// rows. Sources: Jaakkola and Haussler, "Exploiting generative models in discriminative
/// classifiers", 1998, section 2; Shawe-Taylor and Cristianini, "Kernel Methods for Pattern
/// Analysis", 2004, section 12.2.2.
impl Scored for Hmm {
    fn parameters(&self) -> usize {
        let of_state = entries(self.emission.family().score(), self.emission.shape());
        self.states() * (1 + self.states() + of_state)
    }

    fn scores(
        &self,
        sequences: &[SamplesView<'_>],
        parametrisation: Parametrisation,
    ) -> Vec<Result<ModelScore, SequenceError>> {
        let units = vec![1.0; self.size()];
        let score = |expected: &Expectations| {
            let mut score = Vec::with_capacity(self.parameters());
            push_score(self, expected, parametrisation, &units, &mut score);
            ModelScore { log_likelihood: expected.log_likelihood, score }
        };
        let expected = expectations(self, sequences);
        each(expected.len(), &|index| expected[index].as_ref().map(score).map_err(|error| *error))
    }

    fn draw(&self, length: usize, seed: u64) -> Samples {
        self.simulate(length, seed)
    }

    fn symbols(&self) -> Option<usize> {
        self.emission.is_over_symbols().then(|| self.size())
    }
}

/// Appends a model's score, with means counted in `units`, `[channel]`.
pub(crate) fn push_score(
    model: &Hmm,
    expected: &Expectations,
    parametrisation: Parametrisation,
    units: &[f64],
    score: &mut Vec<f64>,
) {
    push_row(&model.initial, &expected.initial, parametrisation, score);
    for (row, counts) in model.transition.iter().zip(&expected.pairs) {
        push_row(row, counts, parametrisation, score);
    }
    push_emissions(&model.emission, &expected.emission, parametrisation, units, score);
}

/// Appends the emissions' score, state by state, with means counted in `units`, `[channel]`.
pub(crate) fn push_emissions(
    emission: &Emissions,
    expected: &Parts,
    parametrisation: Parametrisation,
    units: &[f64],
    score: &mut Vec<f64>,
) {
    let (family, shape, from) = (emission.family(), emission.shape(), score.len());
    family.push_score(emission.parts(), expected, parametrisation, score);
    let mut rest = &mut score[from..];
    for block in family.score().iter().cycle() {
        let Some((row, after)) = rest.split_at_mut_checked(block.width.of(shape)) else { return };
        if row.is_empty() {
            return;
        }
        if family.in_units(block) {
            row.iter_mut().zip(units.iter().cycle()).for_each(|(entry, unit)| *entry *= unit);
        }
        rest = after;
    }
}
