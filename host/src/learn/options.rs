//! What can be trained, how, and why it may come to nothing.

use std::fmt;

use fishweir_core::classify::Normalisation;
use serde::{Deserialize, Serialize};

use super::augment::{Augment, AugmentError};
use super::expansion::KernelLearnError;
use super::features::{Features, Scaling};
use super::loss::ClassWeight;
use super::machine::{KERNEL_WINDOWS, Learner};
use crate::data::{DataError, Windowing};
use crate::fit::{BaumWelch, FitError};

/// The classifiers: all are linear in log-likelihoods, scores or expected statistics of the class
/// models, so all compile to the same stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum ClassifierKind {
    /// Maximum-likelihood Bayes: a model a class, the largest log-likelihood plus log-prior wins.
    Bayes,
    /// A machine on Fisher scores.
    Fisher,
    /// A machine on log-odds of pairs of classes and their tangents: the TOP kernel.
    Top,
    /// A machine on expected counts of symbols and states: the marginalised count kernel of first
    /// order; on channels, expected moments.
    Count,
}

impl ClassifierKind {
    /// What its machine sees; `None` where it has none.
    #[must_use]
    pub fn features(self) -> Option<Features> {
        match self {
            Self::Bayes => None,
            Self::Fisher => Some(Features::Scores),
            Self::Top => Some(Features::LogOdds),
            Self::Count => Some(Features::Counts),
        }
    }
}

impl fmt::Display for ClassifierKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bayes => "bayes",
            Self::Fisher => "fisher",
            Self::Top => "top",
            Self::Count => "count",
        })
    }
}

/// Which class models give scores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ScoreModels {
    /// All of them.
    #[default]
    All,
    /// The model of one class, by name.
    Class(String),
}

/// How a classifier is trained.
#[derive(Clone, Debug)]
pub struct TrainOptions {
    /// Which classifier.
    pub kind: ClassifierKind,
    /// How the class models are fitted.
    pub baum_welch: BaumWelch,
    /// How series are cut into windows; `None` for whole series.
    pub windowing: Option<Windowing>,
    /// Column that names groups which inner folds must not straddle.
    pub group: Option<String>,
    /// Which models give scores.
    pub scores: ScoreModels,
    /// Whether log-likelihoods are among the features.
    pub with_likelihood: bool,
    /// How evidence grows with length.
    pub normalisation: Normalisation,
    /// What is trained on the features.
    pub learner: Learner,
    /// How much the classes weigh; with balanced ones, candidates are judged by mean recall.
    pub class_weight: ClassWeight,
    /// Scalings of the score to choose from.
    pub scalings: Vec<Scaling>,
    /// Values of C to choose from, rising.
    pub c: Vec<f64>,
    /// Inner folds by which scaling and C are chosen.
    pub inner_folds: usize,
    /// How training series are varied; channels only.
    pub augment: Augment,
}

impl TrainOptions {
    /// The defaults for a classifier.
    #[must_use]
    pub fn new(kind: ClassifierKind) -> Self {
        Self {
            kind,
            baum_welch: BaumWelch::default(),
            windowing: None,
            group: None,
            scores: ScoreModels::All,
            with_likelihood: true,
            normalisation: Normalisation::PER_SAMPLE,
            learner: Learner::default(),
            class_weight: ClassWeight::default(),
            scalings: vec![Scaling::Practical, Scaling::Diagonal],
            c: vec![0.1, 1.0, 10.0],
            inner_folds: 3,
            augment: Augment::default(),
        }
    }
}

/// Why nothing was trained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// The data could not be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Fewer than two classes among the labels.
    #[error("{file}: {found} class{} to tell apart, two are needed; check the column `label`", if *.found == 1 { "" } else { "es" })]
    OneClass {
        /// The file.
        file: String,
        /// Classes found.
        found: usize,
    },
    /// A class whose model could not be fitted.
    #[error("class `{class}`: {source}")]
    Fit {
        /// The class.
        class: String,
        /// Why.
        source: FitError,
    },
    /// No topology could be chosen for the class models.
    #[error("which topology the class models have: {0}")]
    Topology(#[source] FitError),
    /// The training series could not be varied.
    #[error(transparent)]
    Augment(#[from] AugmentError),
    /// A score model named that is no class.
    #[error("no class `{0}` whose model could give scores; the classes are {1}")]
    NoSuchClass(String, String),
    /// Windows none of which can be used.
    #[error("{0}: no window to train on; shorten the window or keep short series")]
    NoWindows(String),
    /// A window that the fitted models make impossible.
    #[error(
        "{0} training windows are impossible under a class model; raise the symbol pseudocount"
    )]
    ImpossibleWindows(usize),
    /// No candidate for a choice.
    #[error("no {0} to choose from")]
    NoCandidate(&'static str),
    /// Log-odds of a single model.
    #[error("log-odds take the scores of all class models; leave the score model out")]
    NeedsAllModels,
    /// More windows than a Gram matrix has room for.
    #[error(
        "{0} training windows are too many for a {1}, which takes {KERNEL_WINDOWS}; take a linear \
         learner, fewer windows, or no copies"
    )]
    TooManyWindows(usize, Learner),
    /// A machine was not trained.
    #[error(transparent)]
    Machine(#[from] KernelLearnError),
}
