use std::borrow::Borrow;

use fishweir_core::emission::{Regularisation, VectorSpace};
use fishweir_core::hmm::Hmm;
use fishweir_core::number::Real;
use fishweir_core::score::StatisticsOf;
use fishweir_core::smooth::posteriors;
use serde::Deserialize;

use super::compare::Comparison;
use super::host_fit::host_fit;
use super::precision::{Kind, Precise};

use super::tree::Tree;
use crate::build::{Family, Task, dispatch_any, padded, plain, samples};
use crate::oracle::{Law, Model, Observation, Sequence};
use crate::rounding::{Rounding, Tolerance};
use crate::sample::Sampler;

/// Baum-Welch: statistics by forward-backward, models by `maximise`.
pub(super) struct BaumWelch;

/// A floor for channels that are padding and do not vary. Variances of the files' models lie far
/// above it and are not touched.
const PADDED_VARIANCE: f64 = 1e-12;

/// Steps that a case states the log-likelihoods of, the model's own included.
const TRACE: usize = 6;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inputs {
    hmm: Model,
    sequences: Vec<Sequence>,
}

impl Kind for BaumWelch {
    type Inputs = Inputs;

    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        let model = inputs.hmm;
        let sequences = inputs.sequences;
        let fitted = fit::<T>(&model, &sequences)?;
        let slack = Slack::of(&model, &sequences, T::ROUNDING)?;
        let trace = fitted.log_likelihood.clone();
        comparison.field("log_likelihood_trace", trace, slack.trace);
        for (name, steps) in [("after_one_step", 1), ("after_five_steps", 5)] {
            let Some(expected) = comparison.read::<Model>(name)? else { continue };
            compare(name, &expected, &fitted.models[steps], slack.after(steps), comparison);
            // The host fits in `f64`: held to the same expectation, at the case's tolerance.
            let by_host = (T::ROUNDING == 0.0).then(|| host_fit(&model, &sequences, steps));
            if let Some(host) = by_host.flatten().transpose()? {
                compare(&format!("host.{name}"), &expected, &host.model, slack.one, comparison);
                for (core, host) in fitted.log_likelihood.iter().zip(&host.log_likelihood) {
                    comparison.against(
                        "host.log_likelihood",
                        &(*core).into(),
                        (*host).into(),
                        slack.trace,
                    );
                }
            }
        }
        Ok(())
    }
}

pub(super) fn compare(
    name: &str,
    expected: &Model,
    got: &Model,
    slack: Tolerance,
    comparison: &mut Comparison,
) {
    for ((field, expected), (_, got)) in fields(expected).into_iter().zip(fields(got)) {
        comparison.against(&format!("{name}.{field}"), &expected, got, slack);
    }
}

/// A model's parameters by name, whatever its family.
fn fields(model: &Model) -> Vec<(&'static str, Tree)> {
    fn parameters(law: &Law) -> Tree {
        match law {
            Law::Categorical(p) | Law::Poisson(p) | Law::Bernoulli(p) => p.clone().into(),
            Law::Gaussian { mean, variance } => vec![mean.clone(), variance.clone()].into(),
            Law::FullGaussian { mean, covariance } => {
                Tree::List(vec![mean.clone().into(), covariance.clone().into()])
            }
            Law::Mixture { weight, component } => {
                let mut parts = vec![weight.clone().into()];
                parts.extend(component.iter().map(parameters));
                Tree::List(parts)
            }
        }
    }
    vec![
        ("initial", model.initial.clone().into()),
        ("transition", model.transition.clone().into()),
        ("emission", Tree::List(model.emission.iter().map(parameters).collect())),
    ]
}

/// A model after 0, 1, ... steps, and the log-likelihood of all sequences under each.
pub(super) struct Fitted {
    pub(super) models: Vec<Model>,
    pub(super) log_likelihood: Vec<f64>,
}

fn fit<T: Real>(model: &Model, sequences: &[Sequence]) -> Result<Fitted, String> {
    dispatch_any::<T, _>(model, Fit { model, sequences, steps: TRACE - 1 })
}

pub(super) struct Fit<'a> {
    pub(super) model: &'a Model,
    pub(super) sequences: &'a [Sequence],
    pub(super) steps: usize,
}

impl<T: Real> Task<T> for Fit<'_> {
    type Output = Fitted;

    fn run<E: Family<T>, const N: usize>(self, hmm: &Hmm<E, N>) -> Result<Fitted, String> {
        let sequences = self.sequences.iter().map(|s| samples::<T, E>(s));
        let sequences = sequences.collect::<Result<Vec<_>, _>>()?;
        let variance_floor = T::from_f64(PADDED_VARIANCE);
        let held = Regularisation { variance_floor, ..Regularisation::NONE };
        let mut hmm = *hmm;
        let mut fitted = Fitted { models: Vec::new(), log_likelihood: Vec::new() };
        loop {
            let (log, statistics) = collect(&hmm, &sequences)?;
            fitted.models.push(plain(&hmm, self.model));
            fitted.log_likelihood.push(log);
            if fitted.models.len() > self.steps {
                return Ok(fitted);
            }
            let estimate = hmm.maximise(&statistics, &held).map_err(|error| error.to_string())?;
            // Padding is renewed: its channels, which never vary, have come out at the floor.
            hmm = padded(&plain(&estimate, self.model))?;
        }
    }
}

/// The log-likelihood of all sequences and their expected statistics, from posteriors.
fn collect<T: Real, E: Family<T>, const N: usize>(
    hmm: &Hmm<E, N>,
    sequences: &[Vec<Option<E::Sample>>],
) -> Result<(f64, StatisticsOf<E, N>), String> {
    let mut expected = StatisticsOf::<E, N>::ZERO;
    let mut total = 0.0;
    for samples in sequences {
        let mut rows = vec![[T::ZERO; N]; samples.len()];
        let observations = samples.iter().map(|x| x.as_ref().map(Borrow::borrow));
        let log = posteriors(hmm, observations, &mut rows, &mut expected.transition)
            .map_err(|error| error.to_string())?;
        total += log.to_f64();
        for (sum, first) in expected.initial.iter_mut().zip(rows.first().unwrap_or(&[T::ZERO; N])) {
            *sum = *sum + *first;
        }
        for (row, x) in rows.iter().zip(samples) {
            let Some(x) = x else { continue };
            let states = hmm.emission().iter().zip(&mut expected.emission).zip(row);
            for ((emission, statistics), &weight) in states {
                // A state that was surely not there may be one that cannot emit this.
                if weight > T::ZERO {
                    emission.observe(x.borrow(), weight, statistics);
                }
            }
        }
    }
    Ok((total, expected))
}

/// What rounding may add to a fit.
///
/// One step divides two counts; means weigh observations of magnitude `r`, variances squares of
/// them. What one step leaves, later steps amplify: by how much is measured, in `f64`, as the
/// largest change after five steps when the model before a step is moved at random, and the
/// parameters' errors of all steps are added up so.
struct Slack {
    one: Tolerance,
    five: Tolerance,
    trace: Tolerance,
}

/// How far the model is moved to measure amplification.
const NUDGE: f64 = 1e-7;
/// Random directions tried, and how much farther than the farthest of them the worst may be.
const TRIES: u64 = 4;
const WORST: f64 = 4.0;

/// What rounding adds to the parameters after one step, and to the log-likelihood of all sequences.
pub(super) fn one_step(model: &Model, sequences: &[Sequence], unit: f64) -> (f64, f64) {
    let roundings: Vec<Rounding> = sequences.iter().map(|s| Rounding::of(model, s, unit)).collect();
    let counted = roundings.iter().map(|r| r.weighted(1.0).absolute / r.length).fold(0.0, f64::max);
    // What is missing has no size: `max` passes over NaN.
    let reach = sequences.iter().flatten().flatten().fold(1.0, |reach: f64, x| match x {
        Observation::Channels(x) => x.iter().fold(reach, |reach, x| reach.max(x.abs())),
        Observation::Symbol(_) => reach,
    });
    let log: f64 = roundings.iter().map(|r| r.log().absolute).sum();
    (2.0 * counted * reach * reach, log)
}

impl Slack {
    fn of(model: &Model, sequences: &[Sequence], unit: f64) -> Result<Self, String> {
        if unit == 0.0 {
            return Ok(Self {
                one: Tolerance::EXACT,
                five: Tolerance::EXACT,
                trace: Tolerance::EXACT,
            });
        }
        let (own, log) = one_step(model, sequences, unit);
        let base = fit::<f64>(model, sequences)?;
        let (mut five, mut trace) = (own, log);
        for step in 0..TRACE - 1 {
            let (mut moved, mut lifted): (f64, f64) = (0.0, 0.0);
            for seed in 0..TRIES {
                let nudged = nudge(&base.models[step], seed);
                let task = Fit { model: &nudged, sequences, steps: TRACE - 1 - step };
                let other = dispatch_any::<f64, _>(&nudged, task)?;
                let last = distance(&base.models[TRACE - 1], &other.models[TRACE - 1 - step]);
                moved = moved.max(last / NUDGE);
                for (a, b) in base.log_likelihood[step..].iter().zip(&other.log_likelihood) {
                    lifted = lifted.max((a - b).abs() / NUDGE);
                }
            }
            five += WORST * moved * own;
            trace += WORST * lifted * own;
        }
        Ok(Self {
            one: Tolerance::absolute(own),
            five: Tolerance::absolute(five),
            trace: Tolerance::absolute(trace),
        })
    }

    fn after(&self, steps: usize) -> Tolerance {
        if steps == 1 { self.one } else { self.five }
    }
}

/// The model moved at random by up to `NUDGE` in every parameter that is not zero.
fn nudge(model: &Model, seed: u64) -> Model {
    fn row(s: &mut Sampler, p: &[f64]) -> Vec<f64> {
        let moved: Vec<f64> = p.iter().map(|p| p * (1.0 + NUDGE * s.uniform(-1.0, 1.0))).collect();
        let sum: f64 = moved.iter().sum();
        moved.iter().map(|p| p / sum).collect()
    }
    fn shift(s: &mut Sampler, x: &[f64]) -> Vec<f64> {
        x.iter().map(|x| x + NUDGE * s.uniform(-1.0, 1.0)).collect()
    }
    fn law(s: &mut Sampler, like: &Law) -> Law {
        match like {
            Law::Categorical(p) => Law::Categorical(row(s, p)),
            Law::Poisson(p) => Law::Poisson(shift(s, p)),
            Law::Bernoulli(p) => Law::Bernoulli(shift(s, p)),
            Law::Gaussian { mean, variance } => Law::Gaussian {
                mean: shift(s, mean),
                variance: variance
                    .iter()
                    .map(|v| v * (1.0 + NUDGE * s.uniform(-1.0, 1.0)))
                    .collect(),
            },
            Law::FullGaussian { mean, covariance } => {
                let factor = 1.0 + NUDGE * s.uniform(-1.0, 1.0);
                let scaled = covariance.iter().map(|row| row.iter().map(|v| v * factor).collect());
                Law::FullGaussian { covariance: scaled.collect(), mean: shift(s, mean) }
            }
            Law::Mixture { weight, component } => Law::Mixture {
                weight: row(s, weight),
                component: component.iter().map(|c| law(s, c)).collect(),
            },
        }
    }
    let mut s = Sampler::new(seed);
    Model {
        initial: row(&mut s, &model.initial),
        transition: model.transition.iter().map(|p| row(&mut s, p)).collect(),
        emission: model.emission.iter().map(|like| law(&mut s, like)).collect(),
    }
}

/// The largest difference of two models' parameters.
fn distance(a: &Model, b: &Model) -> f64 {
    fn between(a: &Tree, b: &Tree) -> f64 {
        match (a, b) {
            (Tree::Number(a), Tree::Number(b)) => (a - b).abs(),
            (Tree::List(a), Tree::List(b)) => {
                a.iter().zip(b).map(|(a, b)| between(a, b)).fold(0.0, f64::max)
            }
            _ => 0.0,
        }
    }
    let pairs = fields(a).into_iter().zip(fields(b));
    pairs.map(|((_, a), (_, b))| between(&a, &b)).fold(0.0, f64::max)
}
