//! What can be trained, how, and why it may come to nothing.

use crate::kernel::ScoreKernel;
use std::fmt;

use fishweir_core::classify::Normalisation;
use fishweir_core::smooth::SequenceError;
use serde::{Deserialize, Serialize};

use super::augment::{Augment, AugmentError, Mirror};
use super::expansion::KernelLearnError;
use super::features::{Features, Scaling};
use super::loss::ClassWeight;
use super::machine::{KERNEL_WINDOWS, Learner};
use super::vectors::mirror_candidates;
use crate::batch::expectations;
use crate::classifier::{CONTEXTS_AT_MOST, Observations, contexts_of};
use crate::data::{DataError, Dataset, Kind, Window, Windowing};
use crate::deploy::{DeployError, check_size, has_machines};
use crate::fit::{BaumWelch, FitError, Topology};
use crate::kernel::marginal::MarginalError;
use crate::kernel::mean_map::WORDS_AT_MOST;
use crate::runtime::family::OF_CHANNELS;
use crate::runtime::{Family, Hmm};

/// The classifiers. The first six are linear in log-likelihoods, scores or statistics, and compile to the
/// same stream; the others are kernel machines on the scores that
/// `Fisher` takes, and go on a device with the whole score and their support vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "command", derive(clap::ValueEnum))]
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
    /// A machine on expected counts of symbols and states and of transitions, each index mixed: the latent
    /// mean map kernel. Symbols only.
    #[cfg_attr(feature = "command", value(name = "latent-mean-map"))]
    #[serde(rename = "latent_mean_map")]
    LatentMap,
    /// A machine on counts of words of symbols, each index mixed: the empirical mean map kernel. It has no
    /// models. Symbols only.
    #[cfg_attr(feature = "command", value(name = "empirical-mean-map"))]
    #[serde(rename = "empirical_mean_map")]
    EmpiricalMap,
    /// A kernel machine with a Gaussian kernel on Fisher scores, `exp(-|z - z'|^2 / (2 sigma^2))`;
    /// does not compile: support vectors in flash.
    Gaussian,
    /// A kernel machine with a polynomial kernel on Fisher scores, `(1 + z . z')^power`; does not
    /// compile: support vectors in flash.
    Polynomial,
    /// A kernel machine with the cosine of Fisher scores, `z . z' / (|z| |z'|)`; does not compile:
    /// support vectors in flash.
    Cosine,
}

impl ClassifierKind {
    /// Whether it is linear in what its models say, so that it compiles to directions (or needs none).
    #[must_use]
    pub fn compiles(self) -> bool {
        !matches!(self, Self::Gaussian | Self::Polynomial | Self::Cosine)
    }
}

impl fmt::Display for ClassifierKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bayes => "bayes",
            Self::Fisher => "fisher",
            Self::Top => "top",
            Self::Count => "count",
            Self::LatentMap => "latent-mean-map",
            Self::EmpiricalMap => "empirical-mean-map",
            Self::Gaussian => "gaussian",
            Self::Polynomial => "polynomial",
            Self::Cosine => "cosine",
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
    /// Other floors of standard deviations than that of `baum_welch`, of which inner folds choose the
    /// best: see [`BaumWelch::std_floor`]. Channels only.
    pub std_floors: Vec<f64>,
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
    /// Widths of the Gaussian kernel to choose from, in units in which scores, and log-likelihoods,
    /// have a mean square norm of one.
    ///
    /// On 2 233 splice windows, models of eight states from left to right, diagonal scaling, C of 0.1, 1
    /// and 10, inner folds were right in 0.519, 0.552, 0.559 at width 0.25, in 0.579, 0.697, 0.702 at
    /// 0.5, in 0.661, 0.700, 0.708 at 1, in 0.625, 0.676, 0.697 at 2 and in 0.582, 0.643, 0.682 at 4.
    /// On 782 windows of the watch, folds by subject, a choice among 0.5, 1 and 2 was right in 0.710, one
    /// among 1, 2, 4 and 8 in 0.742: a narrow kernel knows nobody new. Hence the defaults, 1, 2 and 4.
    pub sigma: Vec<f64>,
    /// Degree of the polynomial kernel.
    pub power: u32,
    /// Symbols of a word before its last, of an empirical mean map.
    pub order: usize,
    /// Rate of a mean map's radial basis function, `exp(-lambda/2 |x - y|^2)`: symbols, and states,
    /// that differ have `exp(-lambda)` in common.
    pub lambda: f64,
    /// Inner folds by which scaling, width and C are chosen.
    pub inner_folds: usize,
    /// How training series are varied; channels only.
    pub augment: Augment,
}

/// What is varied of training series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Varied {
    /// Whether jittered copies of them are made.
    pub copies: bool,
    /// Whether there are vectors among their channels.
    pub vectors: bool,
    /// Whether a copy's vectors are turned.
    pub turned: bool,
    /// Whether a mirror image is still to be chosen.
    pub mirror_chosen: bool,
}

impl TrainOptions {
    /// The defaults for a classifier. Kernel machines on scores are trained on a Gram matrix, which
    /// bounds the number of windows, and on models of a size that is deployed: no varied copies, no
    /// mirror images, an ergodic chain.
    #[must_use]
    pub fn new(kind: ClassifierKind) -> Self {
        let options = Self {
            kind,
            baum_welch: BaumWelch::default(),
            std_floors: vec![0.03],
            windowing: None,
            group: None,
            scores: ScoreModels::All,
            with_likelihood: true,
            normalisation: Normalisation::PER_SAMPLE,
            learner: Learner::default(),
            class_weight: ClassWeight::default(),
            scalings: vec![Scaling::Practical, Scaling::Diagonal],
            c: vec![0.1, 1.0, 10.0],
            sigma: vec![1.0, 2.0, 4.0],
            power: 2,
            order: 0,
            lambda: 1.0,
            inner_folds: 3,
            augment: Augment::default(),
        };
        if kind.compiles() {
            return options;
        }
        let unvaried = Mirror::Channels(Vec::new());
        let augment = Augment { copies: Some(0), mirror: unvaried, ..Augment::default() };
        Self { learner: Learner::KernelSvm, augment, ..options }.on_a_device()
    }

    /// What the machine sees; `None` of a classifier that has none.
    #[must_use]
    pub fn features(&self) -> Option<Features> {
        match self.kind {
            ClassifierKind::Bayes => None,
            ClassifierKind::Fisher
            | ClassifierKind::Gaussian
            | ClassifierKind::Polynomial
            | ClassifierKind::Cosine => Some(Features::Scores),
            ClassifierKind::Top => Some(Features::LogOdds),
            ClassifierKind::Count => Some(Features::Counts),
            ClassifierKind::LatentMap => {
                Some(Features::LatentMap { mismatch: (-self.lambda).exp() })
            }
            ClassifierKind::EmpiricalMap => {
                let mismatch = (-self.lambda).exp();
                Some(Features::EmpiricalMap { order: self.order, mismatch })
            }
        }
    }

    /// The kernels on scores to choose from, with their widths; none for what compiles.
    pub(super) fn kernels(&self) -> Vec<(Option<f64>, ScoreKernel)> {
        match self.kind {
            ClassifierKind::Gaussian => {
                let gamma = |sigma: f64| (2.0 * sigma * sigma).recip();
                let kernel = |&sigma| (Some(sigma), ScoreKernel::Gaussian { gamma: gamma(sigma) });
                self.sigma.iter().map(kernel).collect()
            }
            ClassifierKind::Polynomial => {
                vec![(None, ScoreKernel::Polynomial { degree: self.power })]
            }
            ClassifierKind::Cosine => vec![(None, ScoreKernel::Cosine)],
            _ => Vec::new(),
        }
    }

    /// What a kind of classifier leaves to ask for. Models that a kernel machine on their scores is
    /// deployed with have no state a position, which would be too many. Class models see no jittered
    /// copies, and without a machine on them nothing chooses a mirror image. Counts, and yes and no, are not
    /// varied.
    pub(super) fn on_a_device(mut self) -> Self {
        let emission = self.baum_welch.emission;
        // Counts, and yes and no, that are turned or amplified are none.
        if emission.is_some_and(|family| family.observes() != OF_CHANNELS.observes()) {
            self.augment = Augment::NONE;
        }
        if !self.has_floor() {
            self.std_floors = Vec::new();
        }
        if !self.kind.compiles() && self.baum_welch.topology == Topology::Automatic {
            self.baum_welch.topology = Topology::Ergodic;
        }
        if self.features().is_none() {
            self.augment.copies = Some(0);
            if self.augment.mirror == Mirror::Choose {
                self.augment.mirror = Mirror::Channels(Vec::new());
            }
        }
        self
    }

    /// The floors of standard deviations to choose from, the first first; one alone where there are none to
    /// hold.
    pub(super) fn floors(&self, observed: &Kind) -> Vec<f64> {
        let mut floors = vec![self.baum_welch.std_floor];
        for &floor in &self.std_floors {
            if self.has_floor() && matches!(observed, Kind::Channels(_)) && !floors.contains(&floor)
            {
                floors.push(floor);
            }
        }
        floors
    }

    /// How often a class' model is fitted in a training, at most: in every inner fold once a floor and
    /// once a mirror image to choose from, and in the end.
    #[must_use]
    pub fn most_fits(&self, observed: &Kind) -> usize {
        if self.kind == ClassifierKind::EmpiricalMap {
            return 0;
        }
        let floors = match self.floors(observed).len() {
            1 => 0,
            several => several,
        };
        let images = match (self.features(), self.augment.mirrors(observed)) {
            (None, _) => 0,
            (_, Some(_)) => 1,
            (_, None) => mirror_candidates(observed, &self.augment.vectors).len(),
        };
        1 + (floors + images) * self.inner_folds
    }

    /// What is varied of training series of a kind.
    #[must_use]
    pub fn varies(&self, observed: &Kind) -> Varied {
        let augment = self.clone().on_a_device().augment;
        let Kind::Channels(names) = observed else { return Varied::default() };
        let copies = augment.copies(observed) > 0;
        let vectors = !augment.vectors.among(names).is_empty();
        Varied {
            copies,
            vectors,
            turned: copies && vectors && augment.rotation_degrees > 0.0,
            mirror_chosen: augment.mirrors(observed).is_none(),
        }
    }

    /// Whether standard deviations are held above a floor, over channels.
    #[must_use]
    pub fn has_floor(&self) -> bool {
        self.baum_welch.emission.is_none_or(Family::has_floor)
    }

    /// How training series of a kind are varied, in words.
    #[must_use]
    pub fn varied(&self, observed: &Kind) -> String {
        self.clone().on_a_device().augment.describe(observed)
    }

    /// Refuses, before anything is fitted, emissions that are not of what is observed, and what a kernel
    /// machine on scores cannot be trained or deployed with.
    pub(super) fn check_kernels(&self, observed: &Kind) -> Result<(), TrainError> {
        let channels = matches!(observed, Kind::Channels(_));
        let of_words = self.kind == ClassifierKind::EmpiricalMap;
        if channels && (of_words || self.kind == ClassifierKind::LatentMap) {
            return Err(TrainError::NotSymbols(self.kind));
        }
        if of_words && contexts_of(observed.size(), self.order).is_none() {
            let (symbols, length) = (observed.size(), self.order.saturating_add(1));
            return Err(TrainError::TooManyWords { symbols, length });
        }
        if self.lambda.is_nan() || self.lambda < 0.0 {
            return Err(TrainError::Lambda(self.lambda));
        }
        self.baum_welch.family_over(channels).map_err(TrainError::Observed)?;
        if let Some(family) = self.baum_welch.emission {
            let counts = self.features() == Some(Features::Counts);
            let refused = counts && family.statistics_name().is_none()
                || !self.kind.compiles() && !has_machines(family);
            if refused {
                return Err(TrainError::Emission { kind: self.kind, family: family.name() });
            }
        }
        if self.kind.compiles() {
            return Ok(());
        }
        if !self.learner.on_kernel() {
            return Err(TrainError::NeedsKernelLearner(self.kind, self.learner));
        }
        let observations = Observations::from(observed);
        let size = observations.size();
        let refused =
            |advice| move |source| TrainError::NotDeployed { kind: self.kind, source, advice };
        let advice = match check_size(&observations, 1, size) {
            Ok(()) => "take fewer with --states",
            Err(_) => "take fisher, which compiles",
        };
        check_size(&observations, self.baum_welch.states, size).map_err(refused(advice))?;
        let kernels = self.kernels();
        if kernels.is_empty() {
            return Err(TrainError::NoCandidate("width (--sigma)"));
        }
        for (_, kernel) in kernels {
            kernel
                .validate()
                .map_err(DeployError::Parameter)
                .map_err(refused("take another --sigma or --power"))?;
        }
        Ok(())
    }
}

impl TrainError {
    /// Of a window that one of some models makes impossible.
    pub(super) fn impossible(data: &Dataset, window: &Window<'_>, models: &[Hmm]) -> Self {
        let refused = |(index, model): (usize, &Hmm)| {
            let error = expectations(model, &[window.samples]).into_iter().find_map(Result::err);
            error.map(|error| (index, error))
        };
        let (model, error) = models.iter().enumerate().find_map(refused).unzip();
        let (time, why) = match error {
            Some(SequenceError::Observation { time, error }) => (time, error.to_string()),
            other => (0, other.map_or_else(String::new, |error| error.to_string())),
        };
        // Scores may be of one class' model alone.
        let class = model.filter(|_| models.len() == data.classes().len());
        let class = class.and_then(|class| data.classes().get(class));
        Self::ImpossibleWindow {
            file: data.source().to_owned(),
            series: window.source.id.clone(),
            line: window.source.line,
            sample: window.start + time + 1,
            model: class.map_or("a class".to_owned(), |class| format!("class `{class}`")),
            why,
        }
    }
}

/// What to do where estimates broke down on the way.
fn remedy(error: &FitError) -> &'static str {
    match error {
        FitError::Model(_) => "; raise --std-floor, or take fewer --states",
        _ => "",
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
    #[error("class `{class}`: {source}{}", remedy(source))]
    Fit {
        /// The class.
        class: String,
        /// Why.
        source: FitError,
    },
    /// Emissions of a kind that is not observed.
    #[error(transparent)]
    Observed(FitError),
    /// A classifier that is not made of such emissions.
    #[error(
        "--classifier {kind} is not made of {family} emissions; take bayes, fisher or top, which are of \
         all"
    )]
    Emission {
        /// The classifier.
        kind: ClassifierKind,
        /// The family.
        family: &'static str,
    },
    /// A classifier of symbols, and channels.
    #[error(
        "--classifier {0} counts symbols, and these are channels; take count, which is of both"
    )]
    NotSymbols(ClassifierKind),
    /// More words than a device has contexts for, or a table room.
    #[error(
        "{symbols} symbols make too many words of {length}: {CONTEXTS_AT_MOST} contexts and \
         {WORDS_AT_MOST} words are the most; take a smaller --order"
    )]
    TooManyWords {
        /// Symbols.
        symbols: usize,
        /// Symbols of a word.
        length: usize,
    },
    /// A rate that is none.
    #[error("lambda is {0}; it must be zero, positive or infinite")]
    Lambda(f64),
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
        "{file}: sample {sample} of series `{series}`, which begins on line {line}, is impossible under \
         the model of {model} ({why}): look for a stray value, or raise --std-floor"
    )]
    ImpossibleWindow {
        /// The file.
        file: String,
        /// Its series.
        series: String,
        /// Where that begins in the file.
        line: u64,
        /// The sample's place in the series, from 1.
        sample: usize,
        /// Whose model.
        model: String,
        /// What a model says of it.
        why: String,
    },
    /// More features than there is room for.
    #[error(
        "the models of {classes} classes give {features} features, in {windows} windows at least \
         {gigabytes:.1} GB, and 2.1 are the most: take bayes, --score-model CLASS, fewer --copies or a \
         longer --hop"
    )]
    TooManyFeatures {
        /// Classes.
        classes: usize,
        /// Windows and varied copies of them.
        windows: usize,
        /// Features of each.
        features: usize,
        /// What they would take.
        gigabytes: f64,
    },
    /// No candidate for a choice.
    #[error("no {0} to choose from")]
    NoCandidate(&'static str),
    /// Log-odds of a single model.
    #[error("log-odds take the scores of all class models; leave the score model out")]
    NeedsAllModels,
    /// A kernel that is no inner product of features, and a learner that needs them.
    #[error(
        "{0} is a kernel that no features in the primal stand for, so that a {1} cannot be trained \
         on it: leave --learner out, or take kernel-svm or klr; fisher takes all of them"
    )]
    NeedsKernelLearner(ClassifierKind, Learner),
    /// A kernel machine that could not be deployed.
    #[error("{kind} cannot be deployed: {source}; {advice}")]
    NotDeployed {
        /// The classifier.
        kind: ClassifierKind,
        /// What is too large, or out of range.
        source: DeployError,
        /// What to do.
        advice: &'static str,
    },
    /// More windows than the Gram matrix of a kernel machine on scores has room for.
    #[error(
        "{0} training windows are too many for {1}, whose Gram matrix takes {KERNEL_WINDOWS}: cut \
         fewer with a longer --hop, leave out --copies and --mirror, or take fisher, which has none"
    )]
    TooManyStored(usize, ClassifierKind),
    /// A kernel whose items no device stores.
    #[error(transparent)]
    NotStored(DeployError),
    /// A kernel by marginalisation that has no value.
    #[error(transparent)]
    Marginal(#[from] MarginalError),
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
