use serde::Deserialize;

use super::baum_welch::{Fit, Fitted, compare, one_step};
use super::compare::Comparison;
use super::directional::{Derive, Series};
use super::fisher::{Score, Scores, check_rows, check_widths, largest_pull};
use super::host_missing::compare_with_host;
use super::inference::{Answers, Infer, at};
use super::movement::{DirectionJson, ParametrisationJson};
use super::precision::{Kind, Precise};
use super::schema::InPartJson;
use super::tree::Tree;
use crate::build::dispatch_in_part;
use crate::oracle::{Direction, Law, LawDirection, Model, Parametrisation, Sequence};
use crate::rounding::{Rounding, Tolerance};

/// Everything about sequences of which single channels are missing: likelihoods, posteriors, paths, scores, derivatives,
/// and a step of Baum-Welch.
pub(super) struct MissingChannels;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inputs {
    hmm: Model,
    sequences: Vec<InPartJson>,
    parametrisation: Option<ParametrisationJson>,
    direction: Option<DirectionJson>,
}

impl Kind for MissingChannels {
    type Inputs = Inputs;

    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        let model = inputs.hmm;
        let sequences: Vec<Sequence> = inputs.sequences.into_iter().map(Into::into).collect();
        let direction = inputs.direction.map(|one| one.for_model(&model)).transpose()?;
        let by = inputs.parametrisation.map(Parametrisation::from);
        comparison.blocks("per_sequence", sequences.len());
        for (index, sequence) in sequences.iter().enumerate() {
            let prefix = format!("per_sequence[{index}].");
            let infer = Infer { model: &model, sequence };
            let answers: Answers = dispatch_in_part::<T, _>(&model, infer)?;
            answers.compare::<T>(&prefix, &model, sequence, comparison)?;
            let Some((direction, by)) = direction.as_ref().zip(by) else { continue };
            check_scores::<T>(&prefix, &model, sequence, comparison)?;
            check_direction::<T>(&prefix, &model, sequence, (direction, by), comparison)?;
        }
        if comparison.expects("after_one_step") {
            check_step::<T>(&model, &sequences, comparison)?;
        }
        if T::ROUNDING == 0.0 {
            compare_with_host(&model, &sequences, comparison)?;
        }
        Ok(())
    }
}

fn check_scores<T: Precise>(
    prefix: &str,
    model: &Model,
    sequence: &Sequence,
    comparison: &mut Comparison,
) -> Result<(), String> {
    let scores: Option<Scores> = dispatch_in_part::<T, _>(model, Score { model, sequence })?;
    let Scores { ratio, softmax, .. } = scores.ok_or("scores of an impossible sequence")?;
    let rounding = Rounding::of(model, sequence, T::ROUNDING);
    for (name, score) in [("ratio", &ratio), ("softmax", &softmax)] {
        check_rows(&format!("{prefix}{name}"), score, rounding.weighted(1.0), comparison);
    }
    let most = |power| {
        let [centred, apart] = largest_pull(model, sequence, power);
        rounding.weighted(centred).plus(rounding.summed(apart))
    };
    check_widths(prefix, &ratio, &softmax, most, comparison);
    check_counts(prefix, model, &softmax, &rounding, comparison);
    Ok(())
}

/// Scores of counts, in their natural coordinates and as parameters.
fn check_counts(
    prefix: &str,
    model: &Model,
    score: &Direction,
    rounding: &Rounding,
    comparison: &mut Comparison,
) {
    let (names, slope): ([&str; 2], fn(f64) -> f64) = match model.emission.first() {
        Some(Law::Poisson(_)) => (["poisson.log_rates", "poisson.rates"], |rate| rate),
        Some(Law::Bernoulli(_)) => {
            (["bernoulli.logits", "bernoulli.probabilities"], |p| p * (1.0 - p))
        }
        _ => return,
    };
    let (mut natural, mut plain): (Vec<Vec<f64>>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
    let (mut largest, mut steepest): (f64, f64) = (1.0, 1.0);
    for (law, score) in model.emission.iter().zip(&score.emission) {
        let (Law::Poisson(own) | Law::Bernoulli(own), LawDirection::Counting(score)) = (law, score)
        else {
            return;
        };
        plain.push(score.iter().zip(own).map(|(score, &own)| score / slope(own)).collect());
        natural.push(score.clone());
        largest = own.iter().copied().fold(largest, f64::max);
        steepest = own.iter().map(|&own| 1.0 / slope(own)).fold(steepest, f64::max);
    }
    // A count exceeds its rate by a few deviations.
    let slack = rounding.weighted(largest + 8.0 * largest.sqrt() + 8.0);
    comparison.field(&format!("{prefix}{}", names[0]), natural, slack);
    let slack = Tolerance::absolute(slack.absolute * steepest);
    comparison.field(&format!("{prefix}{}", names[1]), plain, slack);
}

fn check_direction<T: Precise>(
    prefix: &str,
    model: &Model,
    sequence: &Sequence,
    (direction, by): (&Direction, Parametrisation),
    comparison: &mut Comparison,
) -> Result<(), String> {
    let task = Derive { sequence, direction, by, lambda: 1.0 };
    let series: Series = dispatch_in_part::<T, _>(model, task)?;
    let rounding = Rounding::of(model, sequence, T::ROUNDING);
    let most = rounding.largest_rate(model, direction, by, sequence);
    let slack = rounding.derivative(most);
    let rates: Vec<Tree> = series.directional;
    if let Some(indices) = comparison.read::<Vec<usize>>(&format!("{prefix}indices"))? {
        comparison.field(&format!("{prefix}directional_at"), at(&indices, &rates)?, slack);
    }
    comparison.field(&format!("{prefix}directional"), rates, slack);
    Ok(())
}

fn check_step<T: Precise>(
    model: &Model,
    sequences: &[Sequence],
    comparison: &mut Comparison,
) -> Result<(), String> {
    let fit = Fit { model, sequences, steps: 1 };
    let Fitted { models, log_likelihood } = dispatch_in_part::<T, _>(model, fit)?;
    let (own, log) = one_step(model, sequences, T::ROUNDING);
    let (one, log) = (Tolerance::absolute(own), Tolerance::absolute(log));
    if let Some(expected) = comparison.read::<Model>("after_one_step")? {
        compare("after_one_step", &expected, &models[1], one, comparison);
    }
    comparison.field("total_log_likelihood", log_likelihood[0], log);
    // What the step is off by moves each sample's likelihood.
    let samples: f64 = sequences.iter().map(|sequence| sequence.len() as f64).sum();
    let after = log.plus(Tolerance::absolute(own * samples));
    comparison.field("total_log_likelihood_after", log_likelihood[1], after);
    Ok(())
}
