//! From options to a kernel and its matrix. A further kernel is an arm here.

use fishweir::data::SamplesView;
use fishweir::kernel::marginal::MarginalError;
use fishweir::kernel::{
    CountKernel, Counted, Expected, FisherKernel, Gram, Information, KernelError, Metric,
    ScoreForm, Scored, TopKernel,
};
use fishweir::runtime::Hmm;
use fishweir_core::emission::Parametrisation;

use super::{Arguments, Coordinates, Name, Whose, mean_map};

/// A matrix and how it came about.
pub(super) struct Computed {
    pub(super) gram: Gram,
    pub(super) words: String,
    pub(super) features: Option<usize>,
    pub(super) information: Vec<Information>,
}

/// Why no kernel was computed.
pub(super) enum Refused {
    Usage(String),
    Kernel(KernelError),
    Marginal(MarginalError),
}

impl From<KernelError> for Refused {
    fn from(error: KernelError) -> Self {
        Self::Kernel(error)
    }
}

/// Computes the matrix asked for, of hidden Markov models.
pub(super) fn compute(
    arguments: &Arguments,
    models: &[Hmm],
    sequences: &[SamplesView<'_>],
) -> Result<Computed, Refused> {
    match arguments.kernel {
        Name::Count => {}
        Name::LatentMap => return mean_map::latent(arguments, models, sequences),
        _ => return on_scores(arguments, models, sequences),
    }
    let (counted, what) = match arguments.order {
        None | Some(1) => (Counted::Single, "symbols"),
        Some(2) => (Counted::Pairs, "pairs of symbols"),
        Some(order) => {
            return Err(Refused::Usage(format!(
                "--order {order}: the count kernel counts 1 symbol, or 2 that follow each other"
            )));
        }
    };
    let raw = if arguments.raw { ", raw" } else { ", by length" };
    let kernel = CountKernel { models, counted, raw: arguments.raw };
    let words = format!("marginalised counts of {what}{}{raw}", of_models(models.len()));
    Ok(on_features(kernel.features(sequences)?, ScoreForm::Linear, words))
}

/// Computes the matrix asked for, of any models with a score.
pub(super) fn on_scores<M: Scored>(
    arguments: &Arguments,
    models: &[M],
    sequences: &[SamplesView<'_>],
) -> Result<Computed, Refused> {
    let (parametrisation, coordinates) = match arguments.parametrisation {
        Some(Coordinates::Ratio) => (Parametrisation::RATIO, "ratio"),
        None | Some(Coordinates::Softmax) => (Parametrisation::SOFTMAX, "softmax"),
    };
    let of_models = of_models(models.len()) + &arguments.choice.words();
    if arguments.kernel == Name::Top {
        let log_priors = vec![-(models.len() as f64).ln(); models.len()];
        let kernel = TopKernel { models, log_priors: &log_priors, parametrisation };
        let words = format!("TOP{of_models}, {coordinates} scores");
        return Ok(on_features(kernel.features(sequences)?, ScoreForm::Linear, words));
    }
    let (metric, whitened) = metric(arguments, sequences)?;
    let (form, name) = match arguments.kernel {
        Name::Gaussian => {
            let sigma = arguments.sigma.unwrap_or(1.0);
            (ScoreForm::Gaussian { sigma }, format!("Gaussian of width {sigma} on"))
        }
        Name::Polynomial => {
            let power = arguments.power.unwrap_or(2);
            (ScoreForm::Polynomial { power }, format!("polynomial of degree {power} on"))
        }
        Name::Invariant => (ScoreForm::Linear, "invariant Fisher,".to_owned()),
        _ => (ScoreForm::Linear, "practical Fisher,".to_owned()),
    };
    let kernel = FisherKernel { models, parametrisation, metric, form };
    let (features, information) = kernel.features(sequences)?;
    let words = format!("{name} {coordinates} scores{of_models}{whitened}");
    Ok(Computed { information, ..on_features(features, form, words) })
}

pub(super) fn of_models(count: usize) -> String {
    if count == 1 { String::new() } else { format!(" of {count} models") }
}

fn on_features(features: Vec<Vec<f64>>, form: ScoreForm, words: String) -> Computed {
    Computed {
        gram: form.gram(&features),
        words,
        features: features.first().map(Vec::len),
        information: Vec::new(),
    }
}

/// How scores become features, and that in words.
fn metric(
    arguments: &Arguments,
    sequences: &[SamplesView<'_>],
) -> Result<(Metric, String), Refused> {
    let Some(whose) = arguments.whitened() else {
        return Ok((Metric::Practical, String::new()));
    };
    let (expected, words) = match whose {
        // Strings that end are of every length.
        Whose::Exact if arguments.choice.end => {
            (Expected::Exact { length: 0 }, "the exact information".to_owned())
        }
        Whose::Exact => {
            let length = match arguments.length {
                Some(length) => length,
                None => common_length(sequences)?,
            };
            (Expected::Exact { length }, format!("the exact information at length {length}"))
        }
        Whose::Sampled => {
            let (count, seed) = (arguments.draws.unwrap_or(2000), arguments.draw_seed.unwrap_or(1));
            (Expected::Sampled { count, seed }, "the model's information, sampled".to_owned())
        }
        Whose::Empirical => (Expected::Empirical, "the data's information".to_owned()),
        Whose::Diagonal => {
            (Expected::Empirical, "the diagonal of the data's information".to_owned())
        }
    };
    let ridge = arguments.ridge.unwrap_or(0.0);
    let ridged = if ridge > 0.0 { format!(" plus {ridge}") } else { String::new() };
    let metric = Metric::Information { expected, diagonal: whose == Whose::Diagonal, ridge };
    Ok((metric, format!(", whitened by {words}{ridged}")))
}

fn common_length(sequences: &[SamplesView<'_>]) -> Result<usize, Refused> {
    let length = sequences.first().map_or(0, SamplesView::len);
    match sequences.iter().all(|samples| samples.len() == length) {
        true => Ok(length),
        false => Err(Refused::Usage(
            "the items differ in length: give the --length that the exact information is of, or \
             take --information sampled"
                .into(),
        )),
    }
}
