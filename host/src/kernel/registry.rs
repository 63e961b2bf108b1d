//! The kernels by name, for whatever computes a matrix of a data set: commands and evaluations.
//!
//! A further kernel is an [`Entry`] in [`KERNELS`]: its name, a line about it, the settings that it
//! takes, and how it is computed of what it compares.

use fishweir_core::emission::Parametrisation;

use super::marginal::MarginalModel;
use super::{
    CountKernel, Counted, FisherKernel, Gram, Information, KernelError, Metric, ScoreKernel,
    TopKernel, gram_of_features,
};
use crate::data::SamplesView;
use crate::model::Scored;
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
    /// What is counted.
    pub counted: Counted,
    /// Counts as they are, not by length.
    pub raw: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            parametrisation: Parametrisation::SOFTMAX,
            metric: Metric::Practical,
            sigma: 1.0,
            power: 2,
            counted: Counted::Single,
            raw: false,
        }
    }
}

/// A setting that a kernel takes, as options name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// [`Settings::parametrisation`].
    Parametrisation,
    /// [`Settings::metric`].
    Information,
    /// [`Settings::sigma`].
    Sigma,
    /// [`Settings::power`].
    Power,
    /// [`Settings::counted`].
    Order,
    /// [`Settings::raw`].
    Raw,
}

impl Setting {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Parametrisation,
        Self::Information,
        Self::Sigma,
        Self::Power,
        Self::Order,
        Self::Raw,
    ];

    /// The option that sets it.
    #[must_use]
    pub fn option(self) -> &'static str {
        match self {
            Self::Parametrisation => "--parametrisation",
            Self::Information => "--information",
            Self::Sigma => "--sigma",
            Self::Power => "--power",
            Self::Order => "--order",
            Self::Raw => "--raw",
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

/// Of shared models with a score, and the sequences.
type OnScores = fn(&Settings, &[&dyn Scored], &[SamplesView<'_>]) -> Result<Computed, KernelError>;
/// Of shared hidden Markov models, and the sequences.
type OnStates = fn(&Settings, &[Hmm], &[SamplesView<'_>]) -> Result<Computed, KernelError>;

/// What a kernel compares, and how.
#[derive(Clone, Copy, Debug)]
pub enum Compares {
    /// Sequences, by their scores under any models.
    Scores(OnScores),
    /// Sequences, by the hidden states of Markov models.
    States(OnStates),
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
    pub takes: &'static [Setting],
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
        &[Setting::Parametrisation],
        |_| "practical Fisher,".into(),
        |settings, models, sequences| fisher(settings, None, models, sequences),
    ),
    on_scores(
        "invariant",
        "The same, whitened by the information",
        &[Setting::Parametrisation, Setting::Information],
        |_| "invariant Fisher,".into(),
        |settings, models, sequences| fisher(settings, None, models, sequences),
    ),
    on_scores(
        "gaussian",
        "Gaussian of the distance of scores",
        &[Setting::Parametrisation, Setting::Information, Setting::Sigma],
        |settings| format!("Gaussian of width {} on", settings.sigma),
        |settings, models, sequences| {
            fisher(settings, Some(ScoreKernel::gaussian(settings.sigma)), models, sequences)
        },
    ),
    on_scores(
        "polynomial",
        "(1 + inner product of scores) ^ power",
        &[Setting::Parametrisation, Setting::Information, Setting::Power],
        |settings| format!("polynomial of degree {} on", settings.power),
        |settings, models, sequences| {
            let kernel = ScoreKernel::Polynomial { degree: settings.power };
            fisher(settings, Some(kernel), models, sequences)
        },
    ),
    on_scores(
        "cosine",
        "Cosine of the angle between scores",
        &[Setting::Parametrisation, Setting::Information],
        |_| "cosine of".into(),
        |settings, models, sequences| {
            fisher(settings, Some(ScoreKernel::Cosine), models, sequences)
        },
    ),
    on_scores(
        "top",
        "Tangents of posterior log-odds of the classes",
        &[Setting::Parametrisation],
        |_| "TOP,".into(),
        |settings, models, sequences| {
            let log_priors = vec![-(models.len() as f64).ln(); models.len()];
            let parametrisation = settings.parametrisation;
            let kernel = TopKernel { models, log_priors: &log_priors, parametrisation };
            Ok(Computed::on_features(&kernel.features(sequences)?, None))
        },
    ),
    Entry {
        name: "count",
        about: "Marginalised counts of symbols and states",
        takes: &[Setting::Order, Setting::Raw],
        words: |settings| {
            let what = match settings.counted {
                Counted::Single => "symbols",
                Counted::Pairs => "pairs of symbols",
            };
            let by = if settings.raw { "raw" } else { "by length" };
            format!("marginalised counts of {what}, {by},")
        },
        compares: Compares::States(|settings, models, sequences| {
            let Settings { counted, raw, .. } = *settings;
            let kernel = CountKernel { models, counted, raw };
            Ok(Computed::on_features(&kernel.features(sequences)?, None))
        }),
    },
    marginal(MarginalModel::NAMES[0], "Shared models of a finite set (--model-file)"),
    marginal(MarginalModel::NAMES[1], "Shared hidden states, position by position (--model-file)"),
    marginal(
        MarginalModel::NAMES[2],
        "Shared paths of a hidden Markov model, of sequences of one length (--model-file)",
    ),
    marginal(
        MarginalModel::NAMES[3],
        "Shared trajectories of a pair hidden Markov model (--model-file)",
    ),
    marginal(MarginalModel::NAMES[4], "Shared states of a tree's inner nodes (--model-file)"),
    marginal(MarginalModel::NAMES[5], "The same, summed over all pruned trees (--model-file)"),
];

/// The kernel of a name.
#[must_use]
pub fn kernel(name: &str) -> Option<&'static Entry> {
    KERNELS.iter().find(|entry| entry.name == name)
}

const fn on_scores(
    name: &'static str,
    about: &'static str,
    takes: &'static [Setting],
    words: fn(&Settings) -> String,
    compute: OnScores,
) -> Entry {
    Entry { name, about, takes, words, compares: Compares::Scores(compute) }
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
) -> Result<Computed, KernelError> {
    let Settings { parametrisation, metric, .. } = *settings;
    let kernel = FisherKernel { models, parametrisation, metric, form };
    let (features, information) = kernel.features(sequences)?;
    Ok(Computed { information, ..Computed::on_features(&features, form) })
}
