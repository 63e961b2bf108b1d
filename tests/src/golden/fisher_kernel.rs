use fishweir::data::Samples;
use fishweir::kernel::{Gram, Information, ScoreKernel, Whitening, gram_of_features};
use fishweir::model::Scored;
use fishweir::runtime::Hmm;
use fishweir_core::emission::Parametrisation;
use serde::Deserialize;

use super::compare::Comparison;
use super::fisher::{Scores, scores_of};
use super::host::gram_tree;
use super::precision::{Kind, Precise};

use super::tree::Tree;
use crate::build::host::{host_model, host_samples};
use crate::oracle::{Direction, LawDirection, Model, Sequence, sequences as all_sequences};
use crate::rounding::{Rounding, Tolerance};

/// Kernels on Fisher scores: the scores by the core in the precision under test, and all that is made
/// of them by the host in `f64`.
pub(super) struct FisherKernels;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inputs {
    hmm: Model,
    sequences: Vec<Sequence>,
    information_sequences: Vec<Sequence>,
    ridge: f64,
    sigma: f64,
    power: u32,
    #[serde(default)]
    enumeration_length: Option<usize>,
}

/// What the vectors say is enough for the condition number.
const CONDITION: Tolerance = Tolerance::relative(0.01);

type Rows = Vec<Option<Vec<f64>>>;

/// Whether the model gives something a probability of exactly zero: in the ratio parametrisation its
/// score is the limit, which the core's statistics know; the host's kernels leave it out.
fn has_zeros(hmm: &Hmm) -> bool {
    let Some(probability) = hmm.emission.symbols() else {
        return false;
    };
    let rows = std::iter::once(&hmm.initial).chain(&hmm.transition).chain(probability);
    rows.flatten().any(|&p| p == 0.0)
}

impl Kind for FisherKernels {
    type Inputs = Inputs;

    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        let model = inputs.hmm;
        let hmm = host_model(&model).ok_or("not a model of the host")?;
        hmm.validate().map_err(|error| error.to_string())?;
        let symbols = hmm.symbols().ok_or("scores are flattened for symbols alone")?;
        let limits = has_zeros(&hmm);
        let sequences = inputs.sequences;
        let known = inputs.information_sequences;
        for (name, by) in [("ratio", Parametrisation::RATIO), ("softmax", Parametrisation::SOFTMAX)]
        {
            let pick = |scores: Scores| flat(scores.of(by));
            check_scores::<T>(name, &model, &sequences, &pick, comparison)?;
            let by_limits = limits && by == Parametrisation::RATIO;
            let rows = |sequences: &[Sequence]| -> Result<Rows, String> {
                if by_limits {
                    let score = |x: &Sequence| Ok(scores_of::<f64>(&model, x)?.map(&pick));
                    return sequences.iter().map(score).collect();
                }
                let samples: Option<Vec<Samples>> = sequences.iter().map(host_samples).collect();
                let samples = samples.ok_or("not symbols")?;
                let views: Vec<_> = samples.iter().map(Samples::view).collect();
                let scores = hmm.scores(&views, by).into_iter();
                Ok(scores.map(|found| found.ok().map(|found| found.score)).collect())
            };
            let exact = match inputs.enumeration_length {
                None => None,
                Some(length) if by_limits => {
                    Some(by_enumeration(&model, &hmm, symbols, length, &pick)?)
                }
                Some(length) => {
                    Some(Information::exact(&hmm, length, by).map_err(|error| error.to_string())?)
                }
            };
            let features = rows(&sequences)?;
            if T::ROUNDING == 0.0 {
                let got: Vec<Tree> = features.iter().map(|row| row.clone().into()).collect();
                comparison.field(&format!("{name}.scores"), Tree::List(got), Tolerance::EXACT);
            }
            let parts = Parts {
                name,
                features,
                exact,
                // Of an impossible sequence there is no score, and of its set no information.
                empirical: rows(&known)?
                    .into_iter()
                    .collect::<Option<Vec<_>>>()
                    .and_then(|rows| Information::empirical(&rows).ok()),
                ridge: inputs.ridge,
                sigma: inputs.sigma,
                power: inputs.power,
            };
            parts.check(comparison)?;
        }
        Ok(())
    }
}

/// The core's scores in the precision under test, row by row: each has its own rounding.
fn check_scores<T: Precise>(
    name: &str,
    model: &Model,
    sequences: &[Sequence],
    pick: &impl Fn(Scores) -> Vec<f64>,
    comparison: &mut Comparison,
) -> Result<(), String> {
    let rows = match comparison.read::<Tree>(&format!("{name}.scores"))? {
        None => return Ok(()),
        Some(Tree::List(rows)) if rows.len() == sequences.len() => rows,
        other => return Err(format!("{name}.scores: {} sequences, {other:?}", sequences.len())),
    };
    for (index, (row, sequence)) in rows.iter().zip(sequences).enumerate() {
        let got = scores_of::<T>(model, sequence)?.map(pick).into();
        let slack = Rounding::of(model, sequence, T::ROUNDING).weighted(1.0);
        comparison.against(&format!("{name}.scores[{index}]"), row, got, slack);
    }
    Ok(())
}

/// A categorical score in the vectors' order.
fn flat(score: &Direction) -> Vec<f64> {
    let rows = score.emission.iter().flat_map(|law| match law {
        LawDirection::Categorical(row) => row.clone(),
        _ => Vec::new(),
    });
    let chain = score.initial.iter().chain(score.transition.iter().flatten()).copied();
    chain.chain(rows).collect()
}

/// The model's own expectation over all sequences of a length, from the core's scores.
fn by_enumeration(
    model: &Model,
    hmm: &Hmm,
    symbols: usize,
    length: usize,
    pick: &impl Fn(Scores) -> Vec<f64>,
) -> Result<Information, String> {
    let all: Vec<Sequence> = all_sequences(symbols, length).collect();
    let weighed = |sequence: &Sequence| {
        let Some(scores) = scores_of::<f64>(model, sequence)? else {
            return Ok(vec![0.0; hmm.parameters()]);
        };
        // An average over as many, of which each counts by its probability.
        let root = (scores.log_likelihood.exp() * all.len() as f64).sqrt();
        Ok(pick(scores).into_iter().map(|entry| root * entry).collect())
    };
    let weighed: Vec<Vec<f64>> = all.iter().map(weighed).collect::<Result<_, String>>()?;
    Information::empirical(&weighed).map_err(|error| error.to_string())
}

/// What one parametrisation's kernels are made of.
struct Parts<'a> {
    name: &'a str,
    features: Rows,
    exact: Option<Information>,
    empirical: Option<Information>,
    ridge: f64,
    sigma: f64,
    power: u32,
}

impl Parts<'_> {
    fn check(self, comparison: &mut Comparison) -> Result<(), String> {
        let mut field = |name: &str, got: Tree, slack: Tolerance| {
            comparison.field(&format!("{}.{name}", self.name), got, slack);
        };
        let of = |whitening: &Whitening, form: Option<ScoreKernel>| {
            gram_tree(&self.features, |scores| {
                gram_of_features(&whitening.features(scores.to_vec()), form)
            })
        };
        let practical = Whitening::practical();
        let (sigma, power) = (self.sigma, self.power);
        let (linear, polynomial) = (None, Some(ScoreKernel::Polynomial { degree: power }));
        let cosine = gram_tree(&self.features, |scores| Gram::of_features(scores).normalised());
        let gaussian = of(&practical, Some(ScoreKernel::gaussian(sigma)));
        field("practical", of(&practical, linear), Tolerance::EXACT);
        field("cosine", cosine, Tolerance::EXACT);
        field("gaussian", gaussian, Tolerance::EXACT);
        let got = of(&practical, polynomial);
        field("polynomial_practical", got, Tolerance::EXACT);

        let wrong = |error: fishweir::kernel::InformationError| error.to_string();
        let ridged = |information: &Information| {
            Whitening::ridge(&information.axes().map_err(wrong)?, self.ridge).map_err(wrong)
        };
        let whitened = self.empirical.as_ref().map(&ridged).transpose()?;
        let got = whitened.map(|whitening| of(&whitening, linear));
        field("empirical_ridge", got.into(), Tolerance::EXACT);
        let got = self.empirical.as_ref().map(|information| matrix(information.matrix()));
        field("information_empirical", got.into(), Tolerance::EXACT);

        let Some(exact) = &self.exact else {
            // Fields of it, if the case has some, are left over.
            return Ok(());
        };
        let axes = exact.axes().map_err(wrong)?;
        let inverse = Whitening::inverse(&axes);
        let diagonal = |ridge| Whitening::diagonal(exact, ridge).map_err(wrong);
        let condition = axes.condition_number().into();
        field("information_exact", matrix(exact.matrix()), Tolerance::EXACT);
        field("rank", axes.rank().into(), Tolerance::EXACT);
        field("condition_number_nonzero", condition, CONDITION);
        for (name, whitening, form) in [
            ("invariant_pinv", &inverse, linear),
            ("invariant_ridge", &ridged(exact)?, linear),
            ("diagonal", &diagonal(0.0)?, linear),
            ("diagonal_ridge", &diagonal(self.ridge)?, linear),
            ("polynomial_invariant", &inverse, polynomial),
        ] {
            field(name, of(whitening, form), Tolerance::EXACT);
        }
        Ok(())
    }
}

fn matrix(gram: &Gram) -> Tree {
    gram.rows().map(<[f64]>::to_vec).collect::<Vec<_>>().into()
}
