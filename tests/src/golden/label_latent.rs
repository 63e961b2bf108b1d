//! The Fisher kernel of a mixture of class models, the label hidden.

use fishweir::data::{Samples, SamplesView};
use fishweir::kernel::{Gram, Information, LabelMixture, Whitening, gram_of_features};
use fishweir::model::{Model as _, Scored};
use fishweir::runtime::Hmm;
use fishweir_core::emission::{Parametrisation, Probabilities};
use serde::Deserialize;

use super::compare::Comparison;
use super::host::gram_tree;
use super::precision::{Kind, Precise};
use super::schema::{InPartJson, Row};
use super::segments::{emissions, samples};
use super::tree::Tree;
use crate::oracle::{Law, Model, Sequence};
use crate::rounding::Tolerance;

pub(super) struct LabelLatent;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inputs {
    prior: Row,
    models: Vec<Model>,
    sequences: Vec<InPartJson>,
    ridge: f64,
    epsilon: f64,
    #[serde(default)]
    enumeration_length: Option<usize>,
}

/// What the vectors say is enough for the condition number.
const CONDITION: Tolerance = Tolerance::relative(0.01);
const EXACT: Tolerance = Tolerance::EXACT;

impl Kind for LabelLatent {
    type Inputs = Inputs;

    /// All of it is the host's, in `f64`.
    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        let hmm = |model: &Model| -> Result<Hmm, String> {
            let hmm = Hmm {
                initial: model.initial.clone(),
                transition: model.transition.clone(),
                emission: emissions(model)?,
            };
            hmm.validate().map_err(|error| error.to_string())?;
            Ok(hmm)
        };
        let models: Vec<Hmm> = inputs.models.iter().map(hmm).collect::<Result<_, _>>()?;
        let emission = &models.first().ok_or("no model")?.emission;
        let sequences: Vec<Sequence> = inputs.sequences.into_iter().map(Into::into).collect();
        let items: Vec<Samples> = sequences.iter().map(|x| samples(x, emission)).collect();
        let views: Vec<SamplesView<'_>> = items.iter().map(Samples::view).collect();
        let mixture = LabelMixture {
            models: models.iter().map(|model| model as _).collect(),
            prior: inputs.prior,
        };
        let classes = |views: &[SamplesView<'_>]| -> Vec<Row> {
            let of = |model: &Hmm| -> Row {
                let logs = model.log_likelihoods(views).into_iter();
                logs.map(|log| log.unwrap_or(f64::NEG_INFINITY)).collect()
            };
            let logs: Vec<Row> = models.iter().map(of).collect();
            let item = |item: usize| logs.iter().map(|row| row[item]).collect();
            (0..views.len()).map(item).collect()
        };
        let logs = classes(&views);
        let posterior: Vec<Row> = logs.iter().map(|logs| mixture.posterior(logs).0).collect();
        let total: Row = logs.iter().map(|logs| mixture.posterior(logs).1).collect();
        comparison.field("log_likelihood", total, EXACT);
        comparison.field("log_class_likelihood", logs.clone(), EXACT);
        comparison.field("class_posterior", posterior.clone(), EXACT);
        let prefixes = |view: &SamplesView<'_>| -> Vec<Row> {
            let all: Vec<SamplesView<'_>> =
                (1..=view.len()).map(|until| view.slice(0..until)).collect();
            classes(&all).iter().map(|logs| mixture.posterior(logs).0).collect()
        };
        let rows: Vec<Tree> = views.iter().map(|view| prefixes(view).into()).collect();
        comparison.field("prefix_class_posterior", Tree::List(rows), EXACT);
        if let [first, _] = mixture.prior[..] {
            let scores = mixture.scores(&views, Parametrisation::SOFTMAX);
            let margin = |score: &Row| 2.0 * score[0] + 2.0 * first - 1.0;
            let margins: Vec<Option<f64>> =
                scores.iter().map(|one| one.as_ref().ok().map(|one| margin(&one.score))).collect();
            comparison.field("map_margin", margins, EXACT);
            let extended = |row: &Row| {
                LabelMixture::extended_posterior([row[0], row[1]], inputs.epsilon).to_vec()
            };
            let rows: Vec<Row> = posterior.iter().map(extended).collect();
            comparison.field("extended_posterior", rows, EXACT);
        }
        // Widths of Gaussians are log standard deviations in both.
        let ratio =
            Parametrisation { probabilities: Probabilities::Ratio, ..Parametrisation::SOFTMAX };
        for (name, by) in [("ratio", ratio), ("softmax", Parametrisation::SOFTMAX)] {
            let exact = inputs.enumeration_length.map(|length| {
                Information::exact(&mixture, length, by).map_err(|error| error.to_string())
            });
            let order = order(&inputs.models);
            let metric = (exact.transpose()?, inputs.ridge);
            check(name, (&mixture, by), (&views, &order), metric, comparison)?;
        }
        Ok(())
    }
}

/// Where the entries of the files' scores are in the library's: the files have Gaussians block by block, the library state by state.
fn order(models: &[Model]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..models.len()).collect();
    for model in models {
        let states = model.states();
        let first = order.len();
        order.extend(first..first + states + states * states);
        let widths = match &model.emission[0] {
            Law::Gaussian { mean, .. } => vec![mean.len(), mean.len()],
            Law::Mixture { weight, component } => {
                let all = match component.first() {
                    Some(Law::Gaussian { mean, .. }) => weight.len() * mean.len(),
                    _ => 0,
                };
                vec![weight.len(), all, all]
            }
            Law::Categorical(row) => vec![row.len()],
            Law::Poisson(row) | Law::Bernoulli(row) => vec![row.len()],
            Law::FullGaussian { mean, .. } => vec![mean.len(), mean.len() * mean.len()],
        };
        let (first, state): (usize, usize) = (order.len(), widths.iter().sum());
        let mut before = 0;
        for width in widths {
            for j in 0..states {
                order.extend((0..width).map(|entry| first + j * state + before + entry));
            }
            before += width;
        }
    }
    order
}

fn check(
    name: &str,
    (mixture, by): (&LabelMixture<'_>, Parametrisation),
    (views, order): (&[SamplesView<'_>], &[usize]),
    (exact, ridge): (Option<Information>, f64),
    comparison: &mut Comparison,
) -> Result<(), String> {
    let wrong = |error: fishweir::kernel::InformationError| error.to_string();
    let scores = mixture.scores(views, by).into_iter();
    let ordered = |score: &Row| -> Row { order.iter().map(|&entry| score[entry]).collect() };
    let features: Vec<Option<Row>> =
        scores.map(|one| one.ok().map(|one| ordered(&one.score))).collect();
    let mut field = |field: &str, got: Tree, slack: Tolerance| {
        comparison.field(&format!("{name}.{field}"), got, slack);
    };
    let of = |whitening: &Whitening| {
        gram_tree(&features, |scores| gram_of_features(&whitening.features(scores.to_vec()), None))
    };
    let rows: Vec<Tree> = features.iter().map(|row| row.clone().into()).collect();
    field("scores", Tree::List(rows), EXACT);
    field("practical", of(&Whitening::practical()), EXACT);
    if let Some(known) = features.iter().cloned().collect::<Option<Vec<Row>>>() {
        let empirical = Information::empirical(&known).map_err(wrong)?;
        let axes = empirical.axes().map_err(wrong)?;
        field("empirical_ridge", of(&Whitening::ridge(&axes, ridge).map_err(wrong)?), EXACT);
    }
    let Some(exact) = exact else { return Ok(()) };
    let matrix = |gram: &Gram| Tree::from(gram.rows().map(<[f64]>::to_vec).collect::<Vec<_>>());
    let axes = exact.axes().map_err(wrong)?;
    field("information_exact", matrix(exact.matrix()), EXACT);
    field("rank", axes.rank().into(), EXACT);
    field("condition_number_nonzero", axes.condition_number().into(), CONDITION);
    field("invariant_pinv", of(&Whitening::inverse(&axes)), EXACT);
    field("invariant_ridge", of(&Whitening::ridge(&axes, ridge).map_err(wrong)?), EXACT);
    field("diagonal", of(&Whitening::diagonal(&exact, 0.0).map_err(wrong)?), EXACT);
    Ok(())
}
