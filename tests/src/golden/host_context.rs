//! Models without hidden states once more by the host: at run-time sizes, from a model that has been
//! through its file's text.

use std::slice::from_ref;

use fishweir::data::{Rows, Samples, SamplesView};
use fishweir::kernel::{Expected, FisherKernel, Gram, Information, Kernel, Metric, ScoreKernel};
use fishweir::model::{DensityModel, MarkovModel, PositionModel, Scored};
use fishweir::runtime::HmmError;
use fishweir_core::emission::Parametrisation;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::compare::Comparison;
use super::host::gram_tree;
use super::schema::{Matrix, Row};
use super::tree::Tree;
use crate::checks::views;
use crate::rounding::Tolerance;

/// A model that its text gives back.
fn reread<M: Serialize + DeserializeOwned + PartialEq>(model: M) -> Result<M, String> {
    let text = serde_json::to_string(&model).map_err(|error| error.to_string())?;
    let read: M = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    if read == model { Ok(read) } else { Err(format!("a text that does not read back:\n{text}")) }
}

fn strings(plain: &[Vec<usize>]) -> Vec<Samples> {
    let symbols = |string: &Vec<usize>| string.iter().map(|&x| u16::try_from(x).ok()).collect();
    plain.iter().map(|string| Samples::Symbols(symbols(string))).collect()
}

/// What a model says of all sequences; nothing of an impossible one.
struct Answers {
    logs: Row,
    scores: Vec<Option<Row>>,
}

fn answers(model: &impl Scored, samples: &[Samples], by: Parametrisation) -> Answers {
    let found = model.scores(&views(samples), by);
    let log = |one: &Result<fishweir::model::ModelScore, _>| {
        one.as_ref().map_or(f64::NEG_INFINITY, |one| one.log_likelihood)
    };
    let logs = found.iter().map(log).collect();
    Answers { logs, scores: found.into_iter().map(|one| one.ok().map(|one| one.score)).collect() }
}

/// Kernels on scores of the sequences that have one. The invariant one with its slack: what the inverse
/// of the information may lose to its condition; `None` where it leaves an axis out that is hardly known.
fn invariant(
    model: &impl Scored,
    samples: &[Samples],
    scores: &[Option<Row>],
    length: usize,
    (by, form): (Parametrisation, Option<ScoreKernel>),
) -> Result<Option<(Tree, Tolerance)>, String> {
    let text = |error: fishweir::kernel::InformationError| error.to_string();
    let information = Information::exact(model, length, by).map_err(text)?;
    let condition = information.axes().map_err(text)?.condition_number().unwrap_or(1.0);
    if condition > 1e9 {
        return Ok(None);
    }
    let possible = samples.iter().zip(scores).filter(|(_, score)| score.is_some());
    let possible: Vec<SamplesView<'_>> = possible.map(|(one, _)| one.view()).collect();
    let expected = Expected::Exact { length };
    let metric = Metric::Information { expected, diagonal: false, ridge: 0.0 };
    let kernel = FisherKernel { models: from_ref(model), parametrisation: by, metric, form };
    let gram = kernel.gram(&possible).map_err(|error| error.to_string())?;
    let largest = gram.diagonal().fold(1.0, f64::max);
    let slack = Tolerance::absolute(64.0 * f64::EPSILON * condition * largest);
    Ok(Some((gram_tree(scores, |_| gram), slack)))
}

fn practical(scores: &[Option<Row>]) -> Tree {
    gram_tree(scores, Gram::of_features)
}

/// Markov strings: `a[context][event]` are parameters that need not sum to one.
pub(super) fn markov(
    symbols: usize,
    contexts: &[Vec<u16>],
    a: &Matrix,
    plain: &[Vec<usize>],
    comparison: &mut Comparison,
) -> Result<(), String> {
    let total = |row: &Row| row.iter().sum::<f64>();
    let share = |row: &Row| row.iter().map(|x| x / total(row)).collect::<Row>();
    let end = a.first().map_or(0, Vec::len) > symbols;
    let probability = a.iter().map(share).collect();
    let model = MarkovModel::new(symbols, end, contexts.to_vec(), probability)
        .map_err(|error| error.to_string())?;
    let model = reread(model)?;
    let samples = strings(plain);
    let found = answers(&model, &samples, Parametrisation::RATIO);
    let exact = Tolerance::EXACT;
    comparison.field("log_likelihood", found.logs, exact);
    let counts: Vec<Option<Matrix>> =
        samples.iter().map(|one| model.count(one.view()).ok()).collect();
    comparison.field("counts", counts.clone(), exact);
    let flat: Vec<Option<Row>> =
        counts.into_iter().map(|counts| counts.map(|counts| counts.concat())).collect();
    comparison.field("p_spectrum", practical(&flat), exact);
    // What has probability zero is no parameter of the host's.
    if a.iter().flatten().any(|&a| a == 0.0) {
        return Ok(());
    }
    // From ratios at the normalised point to the parameters themselves.
    let columns = symbols + usize::from(end);
    let own = |score: Row| -> Matrix {
        let rows = score.chunks(columns).zip(a);
        rows.map(|(row, a)| row.iter().map(|g| g / total(a)).collect()).collect()
    };
    let scores: Vec<Option<Matrix>> =
        found.scores.into_iter().map(|score| score.map(own)).collect();
    comparison.field("score", scores.clone(), exact);
    let flat: Vec<Option<Row>> =
        scores.into_iter().map(|score| score.map(|score| score.concat())).collect();
    comparison.field("practical", practical(&flat), exact);
    Ok(())
}

/// Independent positions.
pub(super) fn positions(
    theta: &Matrix,
    plain: &[Vec<usize>],
    comparison: &mut Comparison,
) -> Result<(), String> {
    let model = PositionModel::new(theta.clone()).map_err(|error| error.to_string())?;
    let (model, samples) = (reread(model)?, strings(plain));
    for (name, by) in [
        ("practical_ratio", Parametrisation::RATIO),
        ("practical_softmax", Parametrisation::SOFTMAX),
    ] {
        let Answers { logs, scores } = answers(&model, &samples, by);
        comparison.field("log_probability", logs, Tolerance::EXACT);
        // What has probability zero is no parameter of the host's.
        let zeros = theta.iter().flatten().any(|&p| p == 0.0);
        if by == Parametrisation::SOFTMAX || !zeros {
            comparison.field(name, practical(&scores), Tolerance::EXACT);
        }
        for (name, form) in
            [("invariant", None), ("quadratic", Some(ScoreKernel::Polynomial { degree: 2 }))]
        {
            let length = theta.len();
            if let Some((gram, slack)) = invariant(&model, &samples, &scores, length, (by, form))? {
                comparison.field(name, gram, slack);
            }
        }
    }
    Ok(())
}

/// Points as sequences of one sample of one channel.
fn points(x: &[f64]) -> Vec<Samples> {
    let point = |&x: &f64| {
        let mut rows = Rows::new(1);
        rows.push(Some(&[x]));
        Samples::Channels(rows)
    };
    x.iter().map(point).collect()
}

fn density(weight: &[f64], mean: &[f64], sigma: f64) -> Result<DensityModel, String> {
    let column = |x: &f64| vec![*x];
    let std = vec![vec![sigma]; mean.len()];
    let model = DensityModel::new(weight.to_vec(), mean.iter().map(column).collect(), std);
    let model = reread(model.map_err(|error: HmmError| error.to_string())?)?;
    match model.emission().part("std") {
        Some([first, ..]) if *first == [sigma] => Ok(model),
        other => Err(format!("{other:?}")),
    }
}

/// Points under a Gaussian.
pub(super) fn one_gaussian(
    [mu, sigma]: [f64; 2],
    x: &[f64],
    comparison: &mut Comparison,
) -> Result<(), String> {
    let (model, samples) = (density(&[1.0], &[mu], sigma)?, points(x));
    let (by_variance, by_log) = (Parametrisation::RATIO, Parametrisation::SOFTMAX);
    let found = answers(&model, &samples, by_variance);
    let exact = Tolerance::EXACT;
    comparison.field("log_density", found.logs, exact);
    comparison.field("score_mu_variance", found.scores.clone(), exact);
    comparison.field("practical_mu_variance", practical(&found.scores), exact);
    // d v / d sigma = 2 sigma.
    let by_sigma = |mut row: Row| {
        row[1] *= 2.0 * sigma;
        row
    };
    let scores: Vec<Option<Row>> =
        found.scores.iter().map(|row| row.clone().map(by_sigma)).collect();
    comparison.field("score_mu_sigma", scores, exact);
    let information = model.information(1, by_variance).ok_or("no information")?;
    let rows = information.into_iter().enumerate().map(|(parameter, row)| {
        let factor = if parameter == 1 { 2.0 * sigma } else { 1.0 };
        by_sigma(row.iter().map(|entry| factor * entry).collect())
    });
    let got: Matrix = rows.collect();
    comparison.field("information_mu_sigma", got, exact);
    let logs = answers(&model, &samples, by_log).scores;
    comparison.field("score_mu_logsigma", logs, exact);
    for by in [by_variance, by_log] {
        let form = None;
        if let Some((gram, slack)) = invariant(&model, &samples, &found.scores, 1, (by, form))? {
            comparison.field("invariant", gram, slack);
        }
    }
    Ok(())
}

/// Points under two of one width.
pub(super) fn two_gaussians(
    weight: f64,
    mean: [f64; 2],
    sigma: f64,
    x: &[f64],
    comparison: &mut Comparison,
) -> Result<(), String> {
    let model = density(&[weight, 1.0 - weight], &mean, sigma)?;
    let found = answers(&model, &points(x), Parametrisation::SOFTMAX);
    let exact = Tolerance::EXACT;
    comparison.field("log_density", found.logs, exact);
    // Weights, then mean and spread of each.
    let pick = |entries: [usize; 2]| -> Vec<Option<Row>> {
        let of = |row: &Row| entries.map(|entry| row[entry]).to_vec();
        found.scores.iter().map(|row| row.as_ref().map(of)).collect()
    };
    comparison.field("score", pick([2, 4]), exact);
    comparison.field("practical", practical(&pick([2, 4])), exact);
    comparison.field("score_weights_softmax", pick([0, 1]), exact);
    Ok(())
}
