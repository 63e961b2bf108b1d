//! The kernels by name, for commands and evaluations that compute a matrix of a data set.
//!
//! A further kernel is an [`Entry`] in [`KERNELS`]: its name, a line about it, the parameters that it
//! takes, and how it is computed of what it compares.

use super::between::{
    Affinity, PairError, divergence_of_fitted, heat_of_fitted, log_gram_of_fitted,
};
use super::marginal::MarginalModel;
use super::mean_map::{Cliques, Convention, EmpiricalMap, LatentMap, Rbf};
use super::parameter::{KernelParameter, LAMBDA, NU, ORDER, RAW, RHO, STEPS, Settings, TIME};
use super::{
    CountKernel, Counted, FisherKernel, Gram, Information, Kernel, KernelError, LabelMixture,
    LogGram, Metric, ScoreKernel, ScoreKernelKind, SpectrumKernel, TopKernel,
    for_each_score_kernel, gram_of_features,
};
use crate::data::SamplesView;
use crate::elementary::Elementary;
use crate::model::{FittedModel, Model, names_of_rows};
use crate::runtime::Hmm;

/// Kernel values of all pairs, and how they came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Computed {
    /// The values.
    pub gram: Gram,
    /// Features of an item, where the kernel is one of features.
    pub features: Option<usize>,
    /// Information matrices, one per model; empty if the kernel uses none.
    pub information: Vec<Information>,
}

/// Features of items, whose inner products, or a kernel on them, are the values.
#[derive(Clone, Debug, PartialEq)]
pub struct Featured {
    /// Features, `[item][feature]`.
    pub rows: Vec<Vec<f64>>,
    /// Name of each feature; of several models after `model[0].`, `model[1].` and so on.
    pub names: Vec<String>,
    /// Kernel on the features; `None` for inner products.
    pub kernel: Option<ScoreKernel>,
    /// Information matrices, one per model; empty if the features need none.
    pub information: Vec<Information>,
}

impl Featured {
    fn new(rows: Vec<Vec<f64>>, names: Vec<String>) -> Self {
        Self { rows, names, kernel: None, information: Vec::new() }
    }

    /// Kernel values of all pairs.
    #[must_use]
    pub fn computed(self) -> Computed {
        Computed {
            gram: gram_of_features(&self.rows, self.kernel),
            features: self.rows.first().map(Vec::len),
            information: self.information,
        }
    }

    /// Features as a machine with the kernel keeps them: signed roots and rows of length one, where its values are of those.
    #[must_use]
    pub fn stored(mut self) -> Self {
        if let Some(kernel) = self.kernel {
            self.rows = self.rows.into_iter().map(|row| kernel.stored(row)).collect();
        }
        self
    }
}

/// What a kernel of states computes: features, or only values.
#[derive(Clone, Debug, PartialEq)]
pub enum OfItems {
    /// Features.
    Features(Featured),
    /// Values of all pairs, of features that are too many to be written.
    Values(Gram),
}

impl OfItems {
    /// Kernel values of all pairs.
    #[must_use]
    pub fn computed(self) -> Computed {
        match self {
            Self::Features(featured) => featured.computed(),
            Self::Values(gram) => Computed { gram, features: None, information: Vec::new() },
        }
    }
}

/// Kernel of shared models with a score, and the sequences; information comes from those with the given indices.
pub type OnScores =
    fn(&Settings, &[&dyn Model], &[SamplesView<'_>], &[usize]) -> Result<Featured, KernelError>;
/// Kernel of shared hidden Markov models, and the sequences.
pub type OnStates = fn(&Settings, &[Hmm], &[SamplesView<'_>]) -> Result<OfItems, KernelError>;

/// Kernel of fitted models.
pub type OfModels = fn(&Settings, &[FittedModel]) -> Result<LogGram, PairError>;
/// Kernel of the sequences alone.
pub type OnSequences = fn(&Settings, &[SamplesView<'_>]) -> Result<Gram, KernelError>;

/// Inputs of a kernel, and its function.
#[derive(Clone, Copy, Debug)]
pub enum Compares {
    /// Sequences, by nothing but themselves.
    Sequences(OnSequences),
    /// Sequences, by their scores under any models.
    Scores(OnScores),
    /// Sequences, by the hidden states of Markov models.
    States(OnStates),
    /// Fitted models of these families: logarithms, for they may be far below the least number.
    Models(OfModels, &'static [&'static str]),
    /// Sequences, by the numbers of a file: a [`MarginalModel`].
    Marginal,
}

/// A kernel by name.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name of the kernel.
    pub name: &'static str,
    /// A line about it.
    pub about: &'static str,
    /// Parameters of the kernel.
    pub takes: &'static [KernelParameter],
    /// Describes the kernel and its settings, before `softmax scores` if it reads scores.
    pub words: fn(&Settings) -> String,
    /// Inputs of the kernel, and its function.
    pub compares: Compares,
}

/// All kernels.
pub const KERNELS: &[Entry] = &joined::<{ LINEAR.len() + ON_SCORES.len() + OTHERS.len() }>();

const fn joined<const N: usize>() -> [Entry; N] {
    let (mut all, mut filled, mut part) = ([OTHERS[0]; N], 0, 0);
    while part < 3 {
        let (entries, mut at) = ([LINEAR, ON_SCORES, OTHERS][part], 0);
        while at < entries.len() {
            all[filled] = entries[at];
            (at, filled) = (at + 1, filled + 1);
        }
        part += 1;
    }
    all
}

macro_rules! on_scores {
    ($($kind:ident $name:literal $about:literal $($number:ident)?;)*) => {
        /// Those with a [`ScoreKernel`].
        const ON_SCORES: &[Entry] = &[$(on_scores(
            ScoreKernelKind::$kind.name(),
            ScoreKernelKind::$kind.about(),
            ScoreKernelKind::$kind.parameters(),
            |settings| {
                let kind = ScoreKernelKind::$kind;
                kind.words(kind.number().map(|number| settings.number(number)))
            },
            |settings, models, sequences, of| {
                let kind = ScoreKernelKind::$kind;
                let number = kind.number().map_or(0.0, |number| settings.number(number));
                fisher(settings, Some(kind.with(number)), models, sequences, of)
            },
        ),)*];
    };
}
for_each_score_kernel!(on_scores!);

/// Inner products of scores.
const LINEAR: &[Entry] = &[
    on_scores(
        "practical",
        "Inner products of Fisher scores",
        &[KernelParameter::Parametrisation],
        |_| "practical Fisher,".into(),
        |settings, models, sequences, of| fisher(settings, None, models, sequences, of),
    ),
    on_scores(
        "invariant",
        "Inner products of Fisher scores, whitened by the information matrix",
        &[KernelParameter::Parametrisation, KernelParameter::Information],
        |_| "invariant Fisher,".into(),
        |settings, models, sequences, of| fisher(settings, None, models, sequences, of),
    ),
];

const OTHERS: &[Entry] = &[
    on_scores(
        "top",
        "Derivatives of the posterior log-odds of the classes (TOP kernel)",
        &[KernelParameter::Parametrisation],
        |_| "TOP,".into(),
        |settings, models, sequences, _| {
            let log_priors = vec![-(models.len() as f64).portable_ln(); models.len()];
            let parametrisation = settings.parametrisation;
            let kernel = TopKernel { models, log_priors: &log_priors, parametrisation };
            Ok(Featured::new(kernel.features(sequences)?, names_of_log_odds(models)))
        },
    ),
    on_scores(
        "label-latent",
        "Inner products of Fisher scores of the classes' mixture, the label hidden (Jaakkola and Haussler, theorem 1c)",
        &[KernelParameter::Parametrisation, KernelParameter::Information],
        |_| "label-latent Fisher,".into(),
        |settings, models, sequences, of| {
            let mixture = LabelMixture::even(models);
            fisher(settings, None, &[&mixture], sequences, of)
        },
    ),
    Entry {
        name: "count",
        about: "Marginalised counts of symbols and states",
        takes: &[KernelParameter::Number(&ORDER), KernelParameter::Number(&RAW)],
        words: |settings| {
            let what = if order(settings) == Some(2) { "pairs of symbols" } else { "symbols" };
            let by = if settings.number(&RAW) != 0.0 { "raw" } else { "by length" };
            format!("marginalised counts of {what}, {by},")
        },
        compares: Compares::States(|settings, models, sequences| {
            let counted = match order(settings) {
                None | Some(1) => Counted::Single,
                Some(2) => Counted::Pairs,
                Some(order) => {
                    let range = "1 symbol, or 2 that follow each other";
                    let (name, value) = ("order", order as f64);
                    return Err(KernelError::Parameter { name, value, range });
                }
            };
            let kernel = CountKernel { models, counted, raw: settings.number(&RAW) != 0.0 };
            let rows = kernel.features(sequences)?;
            let names = names_of(models, |model| names_of_counts(model, counted));
            Ok(OfItems::Features(Featured::new(rows, names)))
        }),
    },
    Entry {
        name: "mismatch",
        about: "Counts of common words of symbols, of which one symbol may differ",
        takes: &[KernelParameter::Number(&ORDER)],
        words: |settings| format!("mismatch kernel of words of {}", word(settings)),
        compares: Compares::Sequences(|settings, sequences| {
            SpectrumKernel { length: word(settings), mismatches: 1 }.gram(sequences)
        }),
    },
    Entry {
        name: "spectrum",
        about: "Counts of common words of symbols",
        takes: &[KernelParameter::Number(&ORDER)],
        words: |settings| format!("spectrum kernel of words of {}", word(settings)),
        compares: Compares::Sequences(|settings, sequences| {
            SpectrumKernel { length: word(settings), mismatches: 0 }.gram(sequences)
        }),
    },
    Entry {
        name: "empirical-mean-map",
        about: "Mean of exp(-lambda/2 |x - y|^2) over all pairs of short windows",
        takes: &[KernelParameter::Number(&ORDER), KernelParameter::Number(&LAMBDA)],
        words: |settings| {
            let samples = order(settings).unwrap_or(0) + 1;
            format!(
                "empirical mean map of windows of {samples}, lambda {}",
                settings.number(&LAMBDA)
            )
        },
        compares: Compares::Sequences(|settings, sequences| {
            let rbf = Rbf::new(settings.number(&LAMBDA), Convention::Half)?;
            let order = order(settings).unwrap_or(0);
            if let Some(sequence) = sequences.iter().position(|one| one.len() <= order) {
                let (length, window) = (sequences[sequence].len(), order + 1);
                return Err(KernelError::TooShort { sequence, length, window });
            }
            EmpiricalMap { order, rbf }.gram(sequences)
        }),
    },
    Entry {
        name: "latent-mean-map",
        about: "Expected kernel of samples together with their hidden states",
        takes: &[KernelParameter::Number(&LAMBDA), KernelParameter::Number(&NU)],
        words: |settings| {
            let nu = settings
                .given(&NU)
                .map_or_else(String::new, |nu| format!(", exponentiated by {nu}"));
            format!("latent mean map, lambda {}{nu},", settings.number(&LAMBDA))
        },
        compares: Compares::States(|settings, models, sequences| {
            let rbf = Rbf::new(settings.number(&LAMBDA), Convention::Half)?;
            let map = LatentMap { models, rbf, cliques: Cliques::All, nu: settings.given(&NU) };
            if !models.iter().all(|model| model.emission.is_over_symbols()) {
                return Ok(OfItems::Values(map.gram(sequences)?));
            }
            let names = names_of(models, |model| {
                let emissions = names_of_rows("emission", model.states(), model.size());
                let transitions = names_of_rows("transition", model.states(), model.states());
                [emissions, transitions].concat()
            });
            let kernel = map.kernel()?;
            let featured = Featured::new(map.features(sequences)?, names);
            Ok(OfItems::Features(Featured { kernel, ..featured }))
        }),
    },
    between(
        ("ppk", ANY),
        "Between models: probability product, integral of p^rho q^rho",
        &[KernelParameter::Number(&RHO), KernelParameter::Number(&STEPS)],
        |settings| match settings.given(&RHO) {
            Some(rho) => format!("probability product of models, rho {rho}"),
            None => "probability product of models, rho 1 of hidden Markov models, else 0.5".into(),
        },
        |settings, models| {
            // Of hidden Markov models the sum over pairs of paths is the kernel of the samples for 1 alone.
            let hidden = matches!(models.first(), Some(FittedModel::HiddenMarkov(_)));
            let usual = if hidden { 1.0 } else { RHO.default };
            let rho = settings.given(&RHO).unwrap_or(usual);
            log_gram_of_fitted(models, Affinity::Product { rho }, settings.whole(&STEPS))
        },
    ),
    between(
        ("bhattacharyya", ANY),
        "Between models: probability product with rho = 1/2",
        &[KernelParameter::Number(&STEPS)],
        |_| "Bhattacharyya's, of models".into(),
        |settings, models| {
            log_gram_of_fitted(models, Affinity::Product { rho: 0.5 }, settings.whole(&STEPS))
        },
    ),
    between(
        ("mean-map", ANY),
        "Between models: expectation of exp(-lambda/2 |x - y|^2) over their samples",
        &[KernelParameter::Number(&LAMBDA), KernelParameter::Number(&STEPS)],
        |settings| format!("mean map of models, lambda {}", settings.number(&LAMBDA)),
        |settings, models| {
            let measure = Affinity::MeanMap { lambda: settings.number(&LAMBDA) };
            log_gram_of_fitted(models, measure, settings.whole(&STEPS))
        },
    ),
    between(
        ("heat", &["markov"]),
        "Between frequencies of symbols: heat on the simplex (Markov chains of order 0)",
        &[KernelParameter::Number(&TIME)],
        |settings| format!("heat kernel of frequencies, time {}", settings.number(&TIME)),
        |settings, models| heat_of_fitted(models, settings.number(&TIME)),
    ),
    between(
        ("symmetric-kl", &["gaussian", "markov"]),
        "Between Gaussians or frequencies: exponential of the negative symmetric divergence",
        &[KernelParameter::Number(&NU)],
        |settings| format!("symmetrised divergence, exponentiated by {}", rate(settings)),
        |settings, models| divergence_of_fitted(models, rate(settings)),
    ),
    marginal(MarginalModel::NAMES[0], "Shared models of a finite set (of a model file)"),
    marginal(
        MarginalModel::NAMES[1],
        "Shared hidden states, position by position (of a model file)",
    ),
    marginal(
        MarginalModel::NAMES[2],
        "Shared paths of a hidden Markov model, for sequences of one length (of a model file)",
    ),
    marginal(
        MarginalModel::NAMES[3],
        "Shared trajectories of a pair hidden Markov model (of a model file)",
    ),
    marginal(MarginalModel::NAMES[4], "Shared states of a tree's inner nodes (of a model file)"),
    marginal(
        MarginalModel::NAMES[5],
        "Shared states of a tree's inner nodes, summed over all pruned trees (of a model file)",
    ),
];

/// The kernel of a name.
pub fn kernel(name: &str) -> Option<&'static Entry> {
    KERNELS.iter().find(|entry| entry.name == name)
}

const fn on_scores(
    name: &'static str,
    about: &'static str,
    takes: &'static [KernelParameter],
    words: fn(&Settings) -> String,
    compute: OnScores,
) -> Entry {
    Entry { name, about, takes, words, compares: Compares::Scores(compute) }
}

const fn between(
    (name, families): (&'static str, &'static [&'static str]),
    about: &'static str,
    takes: &'static [KernelParameter],
    words: fn(&Settings) -> String,
    compute: OfModels,
) -> Entry {
    Entry { name, about, takes, words, compares: Compares::Models(compute, families) }
}

/// All families of models.
const ANY: &[&str] = &[
    "hmm",
    "markov",
    "context-tree",
    "positions",
    "gaussian",
    "mixture",
    "kde",
    "lds",
    "switching",
];

/// Symbols counted together, or samples of a window after its first, if given.
fn order(settings: &Settings) -> Option<usize> {
    settings.given(&ORDER).map(|order| order as usize)
}

/// Symbols of a word.
fn word(settings: &Settings) -> usize {
    order(settings).unwrap_or(3)
}

fn rate(settings: &Settings) -> f64 {
    settings.number(&NU)
}

const fn marginal(name: &'static str, about: &'static str) -> Entry {
    // Its file says what it is.
    Entry { name, about, takes: &[], words: |_| String::new(), compares: Compares::Marginal }
}

fn fisher(
    settings: &Settings,
    form: Option<ScoreKernel>,
    models: &[&dyn Model],
    sequences: &[SamplesView<'_>],
    of: &[usize],
) -> Result<Featured, KernelError> {
    let Settings { parametrisation, metric, .. } = *settings;
    let kernel = FisherKernel { models, parametrisation, metric, form };
    let (rows, information) = match settings.information.as_slice() {
        [] => kernel.features_by(sequences, of)?,
        given => kernel.features_given(sequences, given)?,
    };
    // Whitening by a whole matrix mixes the parameters.
    let mixed = matches!(metric, Metric::Information { diagonal: false, .. });
    let axes = rows.first().map_or(0, Vec::len) / models.len().max(1);
    let names = match mixed {
        // Models of one shape may lose different numbers of axes without information: these are numbered through.
        true if models.len() * axes != rows.first().map_or(0, Vec::len) => {
            (0..rows.first().map_or(0, Vec::len)).map(|axis| format!("axis[{axis}]")).collect()
        }
        true => names_of(models, |_| (0..axes).map(|axis| format!("axis[{axis}]")).collect()),
        false => names_of(models, |model| model.parameter_names()),
    };
    Ok(Featured { rows, names, kernel: form, information })
}

/// Names of the features of each model, after its number if there are several.
fn names_of<M>(models: &[M], names: impl Fn(&M) -> Vec<String>) -> Vec<String> {
    let each = models.iter().enumerate().flat_map(|(index, model)| {
        let place = if models.len() > 1 { format!("model[{index}].") } else { String::new() };
        names(model).into_iter().map(move |name| format!("{place}{name}"))
    });
    each.collect()
}

fn names_of_log_odds(models: &[&dyn Model]) -> Vec<String> {
    let scores = names_of(models, |model| model.parameter_names());
    let classes = if models.len() == 2 { 1..2 } else { 0..models.len() };
    let of_class = |class| {
        let named = scores.iter().map(move |name| format!("log_odds[{class}].{name}"));
        std::iter::once(format!("log_odds[{class}]")).chain(named)
    };
    classes.flat_map(of_class).collect()
}

fn names_of_counts(model: &Hmm, counted: Counted) -> Vec<String> {
    let one = names_of_rows("", model.size(), model.states());
    match counted {
        Counted::Single => one.iter().map(|place| format!("count{place}")).collect(),
        Counted::Pairs => {
            let pairs =
                one.iter().flat_map(|from| one.iter().map(move |to| format!("count{from}{to}")));
            pairs.collect()
        }
    }
}
