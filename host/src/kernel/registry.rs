//! The kernels by name, for whatever computes a matrix of a data set: commands and evaluations.
//!
//! A further kernel is an [`Entry`] in [`KERNELS`]: its name, a line about it, the settings that it
//! takes, and how it is computed of what it compares.

use fishweir_core::emission::Parametrisation;

use super::between::{
    Affinity, PairError, divergence_of_fitted, heat_of_fitted, log_gram_of_fitted,
};
use super::marginal::MarginalModel;
use super::mean_map::{Cliques, Convention, EmpiricalMap, LatentMap, Rbf};
use super::{
    CountKernel, Counted, FisherKernel, Gram, Information, Kernel, KernelError, LogGram, Metric,
    ScoreKernel, SpectrumKernel, TopKernel, gram_of_features,
};
use crate::data::SamplesView;
use crate::model::{FittedModel, Scored};
use crate::runtime::Hmm;

/// What kernels can be told. Each reads its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// What scores are gradients with respect to.
    pub parametrisation: Parametrisation,
    /// How scores become features.
    pub metric: Metric,
    /// Width of a Gaussian, in units of the features.
    pub sigma: f64,
    /// Degree of a polynomial.
    pub power: u32,
    /// Symbols counted together, or samples of a window after its first; each kernel has its own
    /// default.
    pub order: Option<usize>,
    /// Counts as they are, not by length.
    pub raw: bool,
    /// Rate of a radial basis function `exp(-lambda/2 |x - y|^2)` of samples.
    pub lambda: f64,
    /// Rate at which a kernel is exponentiated, if it is.
    pub nu: Option<f64>,
    /// Power of a probability product.
    pub rho: f64,
    /// Transitions of the sequences that models with a past are compared over.
    pub steps: usize,
    /// Time that heat has spread.
    pub time: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            parametrisation: Parametrisation::SOFTMAX,
            metric: Metric::Practical,
            sigma: 1.0,
            power: 2,
            order: None,
            raw: false,
            lambda: 1.0,
            nu: None,
            rho: 0.5,
            steps: 10,
            time: 0.25,
        }
    }
}

/// A setting that a kernel takes, as options name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelParameter {
    /// [`Settings::parametrisation`].
    Parametrisation,
    /// [`Settings::metric`].
    Information,
    /// [`Settings::sigma`].
    Sigma,
    /// [`Settings::power`].
    Power,
    /// [`Settings::order`].
    Order,
    /// [`Settings::raw`].
    Raw,
    /// [`Settings::lambda`].
    Lambda,
    /// [`Settings::nu`].
    Nu,
    /// [`Settings::rho`].
    Rho,
    /// [`Settings::steps`].
    Steps,
    /// [`Settings::time`].
    Time,
}

impl KernelParameter {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Parametrisation,
        Self::Information,
        Self::Sigma,
        Self::Power,
        Self::Order,
        Self::Raw,
        Self::Lambda,
        Self::Nu,
        Self::Rho,
        Self::Steps,
        Self::Time,
    ];

    /// Returns its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Parametrisation => "parametrisation",
            Self::Information => "information",
            Self::Sigma => "sigma",
            Self::Power => "power",
            Self::Order => "order",
            Self::Raw => "raw",
            Self::Lambda => "lambda",
            Self::Nu => "nu",
            Self::Rho => "rho",
            Self::Steps => "steps",
            Self::Time => "time",
        }
    }
}

/// Kernel values of all pairs, and how they came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Computed {
    /// The values.
    pub gram: Gram,
    /// Features of an item, where the kernel is one of features.
    pub features: Option<usize>,
    /// The information matrices, one a model; empty where there is none.
    pub information: Vec<Information>,
}

impl Computed {
    fn on_features(features: &[Vec<f64>], kernel: Option<ScoreKernel>) -> Self {
        Self {
            gram: gram_of_features(features, kernel),
            features: features.first().map(Vec::len),
            information: Vec::new(),
        }
    }
}

/// Of shared models with a score, and the sequences; an information is of those of these numbers.
pub type OnScores =
    fn(&Settings, &[&dyn Scored], &[SamplesView<'_>], &[usize]) -> Result<Computed, KernelError>;
/// Of shared hidden Markov models, and the sequences.
pub type OnStates = fn(&Settings, &[Hmm], &[SamplesView<'_>]) -> Result<Computed, KernelError>;

/// Of fitted models.
pub type OfModels = fn(&Settings, &[FittedModel]) -> Result<LogGram, PairError>;
/// Of the sequences alone.
pub type OnSequences = fn(&Settings, &[SamplesView<'_>]) -> Result<Gram, KernelError>;

/// What a kernel compares, and how.
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
    /// Its name.
    pub name: &'static str,
    /// A line about it.
    pub about: &'static str,
    /// What it takes.
    pub takes: &'static [KernelParameter],
    /// What it is, with its settings, before `softmax scores` where it reads scores.
    pub words: fn(&Settings) -> String,
    /// What it compares, and how.
    pub compares: Compares,
}

/// All kernels.
pub const KERNELS: &[Entry] = &[
    on_scores(
        "practical",
        "Inner products of Fisher scores",
        &[KernelParameter::Parametrisation],
        |_| "practical Fisher,".into(),
        |settings, models, sequences, of| fisher(settings, None, models, sequences, of),
    ),
    on_scores(
        "invariant",
        "The same, whitened by the information",
        &[KernelParameter::Parametrisation, KernelParameter::Information],
        |_| "invariant Fisher,".into(),
        |settings, models, sequences, of| fisher(settings, None, models, sequences, of),
    ),
    on_scores(
        "gaussian",
        "Gaussian of the distance of scores",
        &[KernelParameter::Parametrisation, KernelParameter::Information, KernelParameter::Sigma],
        |settings| format!("Gaussian of width {} on", settings.sigma),
        |settings, models, sequences, of| {
            fisher(settings, Some(ScoreKernel::gaussian(settings.sigma)), models, sequences, of)
        },
    ),
    on_scores(
        "polynomial",
        "(1 + inner product of scores) ^ power",
        &[KernelParameter::Parametrisation, KernelParameter::Information, KernelParameter::Power],
        |settings| format!("polynomial of degree {} on", settings.power),
        |settings, models, sequences, of| {
            let kernel = ScoreKernel::Polynomial { degree: settings.power };
            fisher(settings, Some(kernel), models, sequences, of)
        },
    ),
    on_scores(
        "cosine",
        "Cosine of the angle between scores",
        &[KernelParameter::Parametrisation, KernelParameter::Information],
        |_| "cosine of".into(),
        |settings, models, sequences, of| {
            fisher(settings, Some(ScoreKernel::Cosine), models, sequences, of)
        },
    ),
    on_scores(
        "root-cosine",
        "The same between their signed roots, as of Fisher vectors",
        &[KernelParameter::Parametrisation, KernelParameter::Information],
        |_| "cosine of signed roots of".into(),
        |settings, models, sequences, of| {
            fisher(settings, Some(ScoreKernel::RootCosine), models, sequences, of)
        },
    ),
    on_scores(
        "top",
        "Tangents of posterior log-odds of the classes",
        &[KernelParameter::Parametrisation],
        |_| "TOP,".into(),
        |settings, models, sequences, _| {
            let log_priors = vec![-(models.len() as f64).ln(); models.len()];
            let parametrisation = settings.parametrisation;
            let kernel = TopKernel { models, log_priors: &log_priors, parametrisation };
            Ok(Computed::on_features(&kernel.features(sequences)?, None))
        },
    ),
    Entry {
        name: "count",
        about: "Marginalised counts of symbols and states",
        takes: &[KernelParameter::Order, KernelParameter::Raw],
        words: |settings| {
            let what = if settings.order == Some(2) { "pairs of symbols" } else { "symbols" };
            let by = if settings.raw { "raw" } else { "by length" };
            format!("marginalised counts of {what}, {by},")
        },
        compares: Compares::States(|settings, models, sequences| {
            let counted = match settings.order {
                None | Some(1) => Counted::Single,
                Some(2) => Counted::Pairs,
                Some(order) => {
                    let range = "1 symbol, or 2 that follow each other";
                    let (name, value) = ("order", order as f64);
                    return Err(KernelError::Parameter { name, value, range });
                }
            };
            let kernel = CountKernel { models, counted, raw: settings.raw };
            Ok(Computed::on_features(&kernel.features(sequences)?, None))
        }),
    },
    Entry {
        name: "mismatch",
        about: "Words of symbols, each counted for all that differ in one place",
        takes: &[KernelParameter::Order],
        words: |settings| format!("mismatch kernel of words of {}", word(settings)),
        compares: Compares::Sequences(|settings, sequences| {
            SpectrumKernel { length: word(settings), mismatches: 1 }.gram(sequences)
        }),
    },
    Entry {
        name: "spectrum",
        about: "Words of symbols",
        takes: &[KernelParameter::Order],
        words: |settings| format!("spectrum kernel of words of {}", word(settings)),
        compares: Compares::Sequences(|settings, sequences| {
            SpectrumKernel { length: word(settings), mismatches: 0 }.gram(sequences)
        }),
    },
    Entry {
        name: "empirical-mean-map",
        about: "Mean over all pairs of windows of a function of their distance",
        takes: &[KernelParameter::Order, KernelParameter::Lambda],
        words: |settings| {
            let samples = settings.order.unwrap_or(0) + 1;
            format!("empirical mean map of windows of {samples}, lambda {}", settings.lambda)
        },
        compares: Compares::Sequences(|settings, sequences| {
            let rbf = Rbf::new(settings.lambda, Convention::Half)?;
            let order = settings.order.unwrap_or(0);
            if let Some(sequence) = sequences.iter().position(|one| one.len() <= order) {
                let (length, window) = (sequences[sequence].len(), order + 1);
                return Err(KernelError::TooShort { sequence, length, window });
            }
            EmpiricalMap { order, rbf }.gram(sequences)
        }),
    },
    Entry {
        name: "latent-mean-map",
        about: "The same of samples with their hidden states, expected",
        takes: &[KernelParameter::Lambda, KernelParameter::Nu],
        words: |settings| {
            let nu = settings.nu.map_or_else(String::new, |nu| format!(", exponentiated by {nu}"));
            format!("latent mean map, lambda {}{nu},", settings.lambda)
        },
        compares: Compares::States(|settings, models, sequences| {
            let rbf = Rbf::new(settings.lambda, Convention::Half)?;
            let map = LatentMap { models, rbf, cliques: Cliques::All, nu: settings.nu };
            let gram = map.gram(sequences)?;
            Ok(Computed { gram, features: None, information: Vec::new() })
        }),
    },
    between(
        ("ppk", ANY),
        "Between models: probability product, integral of p^rho q^rho",
        &[KernelParameter::Rho, KernelParameter::Steps],
        |settings| format!("probability product of models, rho {}", settings.rho),
        |settings, models| {
            log_gram_of_fitted(models, Affinity::Product { rho: settings.rho }, settings.steps)
        },
    ),
    between(
        ("bhattacharyya", ANY),
        "The same with rho one half",
        &[KernelParameter::Steps],
        |_| "Bhattacharyya's, of models".into(),
        |settings, models| {
            log_gram_of_fitted(models, Affinity::Product { rho: 0.5 }, settings.steps)
        },
    ),
    between(
        ("mean-map", ANY),
        "Between models: expected function of the distance of what each draws",
        &[KernelParameter::Lambda, KernelParameter::Steps],
        |settings| format!("mean map of models, lambda {}", settings.lambda),
        |settings, models| {
            let measure = Affinity::MeanMap { lambda: settings.lambda };
            log_gram_of_fitted(models, measure, settings.steps)
        },
    ),
    between(
        ("heat", &["markov"]),
        "Between frequencies of symbols: heat on the simplex (Markov chains of order 0)",
        &[KernelParameter::Time],
        |settings| format!("heat kernel of frequencies, time {}", settings.time),
        |settings, models| heat_of_fitted(models, settings.time),
    ),
    between(
        ("symmetric-kl", &["gaussian", "markov"]),
        "Between Gaussians or frequencies: exponential of minus the divergence there and back",
        &[KernelParameter::Nu],
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
        "Shared paths of a hidden Markov model, of sequences of one length (of a model file)",
    ),
    marginal(
        MarginalModel::NAMES[3],
        "Shared trajectories of a pair hidden Markov model (of a model file)",
    ),
    marginal(MarginalModel::NAMES[4], "Shared states of a tree's inner nodes (of a model file)"),
    marginal(MarginalModel::NAMES[5], "The same, summed over all pruned trees (of a model file)"),
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
const ANY: &[&str] =
    &["hmm", "markov", "positions", "gaussian", "mixture", "kde", "lds", "switching"];

/// Symbols of a word.
fn word(settings: &Settings) -> usize {
    settings.order.unwrap_or(3)
}

fn rate(settings: &Settings) -> f64 {
    settings.nu.unwrap_or(1.0)
}

const fn marginal(name: &'static str, about: &'static str) -> Entry {
    // Its file says what it is.
    Entry { name, about, takes: &[], words: |_| String::new(), compares: Compares::Marginal }
}

fn fisher(
    settings: &Settings,
    form: Option<ScoreKernel>,
    models: &[&dyn Scored],
    sequences: &[SamplesView<'_>],
    of: &[usize],
) -> Result<Computed, KernelError> {
    let Settings { parametrisation, metric, .. } = *settings;
    let kernel = FisherKernel { models, parametrisation, metric, form };
    let (features, information) = kernel.features_by(sequences, of)?;
    Ok(Computed { information, ..Computed::on_features(&features, form) })
}
