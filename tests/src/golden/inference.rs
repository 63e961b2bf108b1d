use std::borrow::Borrow;

use fishweir_core::ObservationError;
use fishweir_core::filter::{Forward, Streaming};
use fishweir_core::hmm::Hmm;
use fishweir_core::number::Real;
use fishweir_core::smooth::{SequenceError, posteriors, viterbi};
use serde::Deserialize;

use super::compare::Comparison;
use super::precision::{Kind, Precise};

use crate::build::{Family, Task, dispatch_any, samples};
use crate::oracle::{Model, Sequence};
use crate::rounding::{Rounding, Tolerance};

/// Likelihoods, filter, posteriors and the most probable path.
pub(super) struct Inference;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inputs {
    hmm: Model,
    sequence: Sequence,
}

impl Kind for Inference {
    type Inputs = Inputs;

    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        let model = inputs.hmm;
        let sequence = inputs.sequence;
        let answers = dispatch_any::<T, _>(&model, Infer { model: &model, sequence: &sequence })?;
        answers.compare::<T>("", &model, &sequence, comparison)
    }
}

impl Answers {
    /// Compares what a case expects, under names that begin so.
    pub(super) fn compare<T: Precise>(
        &self,
        prefix_of_names: &str,
        model: &Model,
        sequence: &Sequence,
        comparison: &mut Comparison,
    ) -> Result<(), String> {
        let rounding = Rounding::of(model, sequence, T::ROUNDING);
        let Self { prefix, steps, filtered, smoothed, viterbi } = self;
        let named = |name: &str| format!("{prefix_of_names}{name}");
        let posterior = smoothed.as_ref().map(|s| s.posterior.clone());
        let pairs = smoothed.as_ref().map(|s| s.pairs.clone());
        let occupancy = smoothed.as_ref().map(|s| s.occupancy.clone());
        let log = rounding.log();
        let last = prefix.last().copied().unwrap_or(0.0);
        comparison.field(&named("log_likelihood"), last, log);
        comparison.field(&named("prefix_log_likelihood"), prefix.clone(), log);
        comparison.field(&named("log_c"), steps.clone(), log);
        comparison.field(&named("filter"), filtered.clone(), rounding.filtered());
        comparison.field(&named("gamma"), posterior.clone(), rounding.smoothed());
        comparison.field(&named("xi_sum"), pairs, rounding.counted());
        comparison.field(&named("gamma_sum"), occupancy, rounding.counted());
        let log_joint = viterbi.as_ref().map_or(f64::NEG_INFINITY, |(_, log)| *log);
        let path_log = rounding.log_of_path();
        comparison.field(&named("viterbi_log_prob"), log_joint, path_log);
        let path = viterbi.as_ref().map(|(path, _)| path.clone());
        let wanted: Option<Option<Vec<usize>>> = comparison.read(&named("viterbi_path"))?;
        let wanted = wanted.flatten();
        let path = forgive_near_tie::<T>(model, sequence, wanted, path, path_log);
        comparison.field(&named("viterbi_path"), path, Tolerance::EXACT);
        // Times at which a long case states the fields with `_at`.
        let indices: Option<Vec<usize>> = comparison.read(&named("indices"))?;
        if let Some(indices) = &indices {
            comparison.field(&named("prefix_log_likelihood_at"), at(indices, prefix)?, log);
            comparison.field(&named("log_c_at"), at(indices, steps)?, log);
            comparison.field(&named("filter_at"), at(indices, filtered)?, rounding.filtered());
            let posterior = posterior.map(|rows| at(indices, &rows)).transpose()?;
            comparison.field(&named("gamma_at"), posterior, rounding.smoothed());
        }
        Ok(())
    }
}

/// The entries at given times.
pub(super) fn at<A: Clone>(indices: &[usize], rows: &[A]) -> Result<Vec<A>, String> {
    let row = |&t: &usize| rows.get(t).cloned().ok_or_else(|| format!("no time {t} in `indices`"));
    indices.iter().map(row).collect()
}

/// In reduced precision another path may win by a rounding: it is then taken for the one expected if
/// their joint probabilities, in `f64`, differ by no more than the tolerance of the probability.
fn forgive_near_tie<T: Precise>(
    model: &Model,
    sequence: &Sequence,
    wanted: Option<Vec<usize>>,
    got: Option<Vec<usize>>,
    tolerance: Tolerance,
) -> Option<Vec<usize>> {
    let (Some(wanted), Some(path)) = (wanted, &got) else { return got };
    let comparable = wanted.len() == path.len() && wanted.iter().all(|&z| z < model.states());
    if T::ROUNDING == 0.0 || !comparable {
        return got;
    }
    let gap = model.log_joint(&wanted, sequence) - model.log_joint(path, sequence);
    if gap.abs() <= 2.0 * tolerance.absolute { Some(wanted) } else { got }
}

pub(super) struct Infer<'a> {
    pub(super) model: &'a Model,
    pub(super) sequence: &'a Sequence,
}

struct Smoothed {
    posterior: Vec<Vec<f64>>,
    pairs: Vec<Vec<f64>>,
    occupancy: Vec<f64>,
}

pub(super) struct Answers {
    /// `log p(x_1..t)`: minus infinity from an impossible observation on.
    prefix: Vec<f64>,
    /// `log p(x_t | x_1..t-1)`: undefined after an impossible observation.
    steps: Vec<Option<f64>>,
    filtered: Vec<Option<Vec<f64>>>,
    smoothed: Option<Smoothed>,
    viterbi: Option<(Vec<usize>, f64)>,
}

impl<T: Real> Task<T> for Infer<'_> {
    type Output = Answers;

    fn run<E: Family<T>, const N: usize>(self, hmm: &Hmm<E, N>) -> Result<Answers, String> {
        let states = self.model.states();
        let samples = samples::<T, E>(self.sequence)?;
        let (mut prefix, mut steps, mut filtered) = (Vec::new(), Vec::new(), Vec::new());
        let forward = Forward::of(hmm);
        let mut state = forward.initial_state();
        let mut possible = true;
        for x in &samples {
            let before = state.evidence();
            let was_possible = possible;
            if possible {
                possible = push(&forward, &mut state, x.as_ref())?;
            }
            let now =
                if possible { forward.log_likelihood(&state).to_f64() } else { f64::NEG_INFINITY };
            prefix.push(now);
            let step = if possible { state.evidence().difference(&before).to_f64() } else { now };
            steps.push(was_possible.then_some(step));
            filtered.push(possible.then(|| doubles(&forward.filtered(&state)[..states])));
        }
        let smoothed = if possible { Some(smooth(hmm, &samples, states)?) } else { None };
        let viterbi = best_path(hmm, &samples)?;
        Ok(Answers { prefix, steps, filtered, smoothed, viterbi })
    }
}

/// Pushes, or says `false` where the observation is impossible.
pub(super) fn push<R: Streaming, S: Borrow<R::Observation>>(
    recursion: &R,
    state: &mut R::State,
    x: Option<&S>,
) -> Result<bool, String> {
    match x.map(|x| recursion.step(state, x.borrow())) {
        None => recursion.step_missing(state),
        Some(Ok(())) => {}
        Some(Err(ObservationError::Impossible)) => return Ok(false),
        Some(Err(error)) => return Err(error.to_string()),
    }
    Ok(true)
}

/// A row as doubles.
pub(super) fn doubles<T: Real>(row: &[T]) -> Vec<f64> {
    row.iter().map(|x| x.to_f64()).collect()
}

fn smooth<T: Real, E: Family<T>, const N: usize>(
    hmm: &Hmm<E, N>,
    samples: &[Option<E::Sample>],
    states: usize,
) -> Result<Smoothed, String> {
    let mut rows = vec![[T::ZERO; N]; samples.len()];
    let mut pairs = [[T::ZERO; N]; N];
    let observations = samples.iter().map(|x| x.as_ref().map(Borrow::borrow));
    posteriors(hmm, observations, &mut rows, &mut pairs).map_err(|error| error.to_string())?;
    let posterior: Vec<Vec<f64>> = rows.iter().map(|row| doubles(&row[..states])).collect();
    let occupancy = (0..states).map(|i| posterior.iter().map(|row| row[i]).sum()).collect();
    let pairs = pairs[..states].iter().map(|row| doubles(&row[..states])).collect();
    Ok(Smoothed { posterior, pairs, occupancy })
}

fn best_path<T: Real, E: Family<T>, const N: usize>(
    hmm: &Hmm<E, N>,
    samples: &[Option<E::Sample>],
) -> Result<Option<(Vec<usize>, f64)>, String> {
    let mut back = vec![[0_u8; N]; samples.len()];
    let mut path = vec![0_u8; samples.len()];
    let observations = samples.iter().map(|x| x.as_ref().map(Borrow::borrow));
    match viterbi(hmm, observations, &mut back, &mut path) {
        Ok(log) => Ok(Some((path.into_iter().map(usize::from).collect(), log.to_f64()))),
        Err(SequenceError::Observation { error: ObservationError::Impossible, .. }) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}
