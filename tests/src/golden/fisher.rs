use fishweir_core::emission::Parametrisation;
use fishweir_core::emission::Spread as Coordinates;
use fishweir_core::filter::{Statistics, Streaming};
use fishweir_core::hmm::Hmm;
use fishweir_core::number::Real;
use serde::Deserialize;

use super::compare::Comparison;
use super::inference::push;
use super::precision::{Kind, Precise};

use super::tree::Tree;
use crate::build::{Family, Task, dispatch_any, samples, score};
use crate::oracle::{
    Direction, Factored, Law, LawDirection, LogDomain, Model, Observation, Sequence, Spread,
};
use crate::rounding::{Rounding, Tolerance};

/// Fisher scores in every parametrisation.
pub(super) struct Fisher;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inputs {
    hmm: Model,
    sequence: Sequence,
}

const VARIANCE: Parametrisation = Parametrisation::RATIO;
const LOG_STD: Parametrisation = Parametrisation::SOFTMAX;

impl Kind for Fisher {
    type Inputs = Inputs;

    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        let model = inputs.hmm;
        let sequence = inputs.sequence;
        let scores = scores_of::<T>(&model, &sequence)?;
        let rounding = Rounding::of(&model, &sequence, T::ROUNDING);
        let log = scores.as_ref().map_or(f64::NEG_INFINITY, |scores| scores.log_likelihood);
        comparison.field("log_likelihood", log, rounding.log());
        for (name, by) in [("ratio", VARIANCE), ("softmax", LOG_STD)] {
            let score = scores.as_ref().map(|scores| scores.of(by));
            if let Some(score) = defined(name, score, comparison) {
                check_rows(name, score, rounding.weighted(1.0), comparison);
            }
        }
        let both = scores.as_ref().map(|scores| (&scores.ratio, &scores.softmax));
        if let Some((variance, log_std)) = defined("gaussian", both, comparison) {
            let most = |power| {
                let [centred, apart] = largest_pull(&model, &sequence, power);
                rounding.weighted(centred).plus(rounding.summed(apart))
            };
            check_widths("", variance, log_std, most, comparison);
        }
        Ok(())
    }
}

/// The score where one is expected; where none is defined, any is a failure, and so is the other way
/// round.
fn defined<S>(name: &str, score: Option<S>, comparison: &mut Comparison) -> Option<S> {
    if score.is_some() && !comparison.undefined(name) {
        return score;
    }
    comparison.field(name, score.map(|_| 0.0), Tolerance::EXACT);
    None
}

pub(super) fn check_rows(
    name: &str,
    score: &Direction,
    slack: Tolerance,
    comparison: &mut Comparison,
) {
    let of = |pick: fn(&LawDirection) -> Option<&Vec<f64>>| -> Option<Vec<Vec<f64>>> {
        score.emission.iter().map(|law| pick(law).cloned()).collect()
    };
    let emission_row = of(|law| match law {
        LawDirection::Categorical(row) => Some(row),
        _ => None,
    });
    let weight_row = of(|law| match law {
        LawDirection::Mixture { weight, .. } => Some(weight),
        _ => None,
    });
    let mut field = |block: &str, got: Tree| {
        comparison.field(&format!("{name}.{block}"), got, slack);
    };
    field("initial", score.initial.clone().into());
    field("transition", score.transition.clone().into());
    field("emission", emission_row.into());
    field("weights", weight_row.into());
}

pub(super) fn check_widths(
    prefix: &str,
    variance: &Direction,
    log_std: &Direction,
    slack: impl Fn(i32) -> Tolerance,
    comparison: &mut Comparison,
) {
    let blocks = |score: &Direction, pick: &dyn Fn(&LawDirection) -> Tree| -> Tree {
        let of_state = |law: &LawDirection| match law {
            LawDirection::Mixture { component, .. } => {
                Tree::List(component.iter().map(pick).collect())
            }
            law => pick(law),
        };
        Tree::List(score.emission.iter().map(of_state).collect())
    };
    let mean = |law: &LawDirection| match law {
        LawDirection::Gaussian { mean, .. } | LawDirection::FullGaussian { mean, .. } => {
            mean.clone().into()
        }
        _ => Tree::Undefined,
    };
    let width = |law: &LawDirection| match law {
        LawDirection::Gaussian { spread: Spread::Variance(s) | Spread::LogStd(s), .. } => {
            s.clone().into()
        }
        _ => Tree::Undefined,
    };
    let matrix = |law: &LawDirection| match law {
        LawDirection::FullGaussian { covariance, .. } => covariance.clone().into(),
        _ => Tree::Undefined,
    };
    comparison.field(&format!("{prefix}gaussian.means"), blocks(variance, &mean), slack(1));
    comparison.field(&format!("{prefix}gaussian.variances"), blocks(variance, &width), slack(2));
    comparison.field(&format!("{prefix}gaussian.log_std"), blocks(log_std, &width), slack(0));
    comparison.field(&format!("{prefix}gaussian.covariances"), blocks(variance, &matrix), slack(2));
}

/// A bound on one sample's term of a Gaussian score: `|z|` times the largest `1 / sigma` for means
/// (power 1), `z^2 + 1` times that to the power 0 for log standard deviations, 2 for variances;
/// averaged over the posterior of states and components, the largest of all samples. And the same
/// with `|x| + |mean|` for one `|x - mean|`, which rounding `x` and the mean is relative to.
pub(super) fn largest_pull(model: &Model, sequence: &Sequence, power: i32) -> [f64; 2] {
    fn pull(law: &Law, x: &[f64], power: i32) -> [f64; 2] {
        if let Some((law, Observation::Channels(x))) =
            Observation::Channels(x.to_vec()).marginal_of(law)
        {
            return pull(&law, &x, power);
        }
        let (mean, rate) = match law {
            Law::Gaussian { mean, variance } => {
                (mean, variance.iter().map(|v| v.powf(-0.5)).fold(0.0, f64::max))
            }
            Law::FullGaussian { mean, covariance } => {
                let inverse = Factored::of(covariance).inverse();
                let norm = inverse.iter().map(|row| row.iter().map(|x| x.abs()).sum::<f64>());
                (mean, norm.fold(0.0, f64::max).sqrt())
            }
            Law::Mixture { weight, component } => {
                let observation = Observation::Channels(x.to_vec());
                let total = law.log_density(&observation);
                let mut average = [0.0; 2];
                for (weight, law) in weight.iter().zip(component) {
                    let share = weight * (law.log_density(&observation) - total).exp();
                    let pull = pull(law, x, power);
                    average = [average[0] + share * pull[0], average[1] + share * pull[1]];
                }
                return average;
            }
            Law::Categorical(_) | Law::Poisson(_) | Law::Bernoulli(_) => return [0.0; 2],
        };
        let channels = || x.iter().zip(mean);
        let z: f64 = channels().map(|(x, m)| (x - m).abs() * rate).sum();
        let apart: f64 = channels().map(|(x, m)| (x.abs() + m.abs()) * rate).sum();
        let scale = rate.powi(power);
        if power == 1 {
            [z * scale, apart * scale]
        } else {
            [(z * z + 1.0) * scale, (apart * z + 1.0) * scale]
        }
    }
    let Some(posterior) = LogDomain::of(model, sequence).posterior() else { return [0.0; 2] };
    let mut most = [0.0_f64; 2];
    for (row, x) in posterior.iter().zip(sequence) {
        let Some(Observation::Channels(x)) = x else { continue };
        let mut average = [0.0; 2];
        for (weight, law) in row.iter().zip(&model.emission) {
            let pull = pull(law, x, power);
            average = [average[0] + weight * pull[0], average[1] + weight * pull[1]];
        }
        most = [most[0].max(average[0]), most[1].max(average[1])];
    }
    most
}

pub(super) struct Score<'a> {
    pub(super) model: &'a Model,
    pub(super) sequence: &'a Sequence,
}

pub(super) struct Scores {
    pub(super) log_likelihood: f64,
    /// Ratios and variances.
    pub(super) ratio: Direction,
    /// Logits and log standard deviations.
    pub(super) softmax: Direction,
}

impl Scores {
    pub(super) fn of(&self, by: Parametrisation) -> &Direction {
        if by == VARIANCE { &self.ratio } else { &self.softmax }
    }
}

/// The scores of a sequence by the core, in `T`; none of an impossible one.
pub(super) fn scores_of<T: Real>(
    model: &Model,
    sequence: &Sequence,
) -> Result<Option<Scores>, String> {
    dispatch_any::<T, _>(model, Score { model, sequence })
}

impl<T: Real> Task<T> for Score<'_> {
    /// Nothing of an impossible sequence.
    type Output = Option<Scores>;

    fn run<E: Family<T>, const N: usize>(self, hmm: &Hmm<E, N>) -> Result<Option<Scores>, String> {
        let stream = Statistics::of(hmm).with_boundary_scores();
        let mut state = stream.initial_state();
        for x in samples::<T, E>(self.sequence)? {
            if !push(&stream, &mut state, x.as_ref())? {
                return Ok(None);
            }
        }
        let expected = stream.read(&state);
        Ok(Some(Scores {
            log_likelihood: state.belief().log().to_f64(),
            ratio: score(hmm, &expected, VARIANCE, self.model),
            softmax: score(hmm, &expected, LOG_STD, self.model),
        }))
    }
}

const _: () = {
    assert!(matches!(VARIANCE.spread, Coordinates::Variance));
    assert!(matches!(LOG_STD.spread, Coordinates::LogStandardDeviation));
};
