//! Errors of trainings.

use fishweir_core::smooth::SequenceError;

use crate::batch::expectations;
use crate::classifier::{CODEBOOKS_MOST, CONTEXTS_AT_MOST, LEVELS_MOST, ScoreModels};
use crate::data::{DataError, Dataset, FrontError, Lags, SamplesView, Window};
use crate::deploy::DeployError;
use crate::fit::FitError;
use crate::kernel::marginal::MarginalError;
use crate::kernel::mean_map::WORDS_AT_MOST;
use crate::learn::features::FeatureMap;
use crate::learn::kind::ClassifierKind;
use crate::learn::limits::Resource;
use crate::learn::solver::expansion::{KERNEL_WINDOWS, KernelLearnError};
use crate::learn::variation::AugmentError;
use crate::runtime::Hmm;
use crate::words::{counted, grouped};

impl TrainError {
    /// A window that ends before its first row.
    pub(crate) fn short_front(data: &Dataset, window: &Window<'_>, first: usize) -> Self {
        let (file, series) = (data.source().to_owned(), data.series()[window.series].id.clone());
        Self::ShortFront { file, series, length: window.samples.len(), first }
    }

    /// Error of a window that one of some models makes impossible; `seen` is the input of the models.
    pub(crate) fn impossible(
        data: &Dataset,
        window: &Window<'_>,
        seen: SamplesView<'_>,
        map: &FeatureMap,
        scores: &ScoreModels,
    ) -> Self {
        let refused = |(index, model): (usize, &Hmm)| {
            let seen = map.seen_by(index, seen);
            let error = expectations(model, &[seen.view()]).into_iter().find_map(Result::err);
            error.map(|error| (index, error))
        };
        let (model, error) = map.models().iter().enumerate().find_map(refused).unzip();
        let (time, why) = match error {
            Some(SequenceError::Observation { time, error }) => (time, error.to_string()),
            other => (0, other.map_or_else(String::new, |error| error.to_string())),
        };
        let class = match scores {
            ScoreModels::All => model.and_then(|model| data.classes().get(model)),
            ScoreModels::Class(name) => Some(name),
            ScoreModels::Universal => None,
        };
        Self::ImpossibleWindow {
            file: data.source().to_owned(),
            series: window.source.id.clone(),
            line: window.source.line,
            sample: window.start + time + 1,
            model: class.map_or("all classes".to_owned(), |class| format!("class `{class}`")),
            why,
        }
    }
}

/// Remedy for estimates that failed on the way.
fn remedy(error: &FitError) -> &'static str {
    match error {
        FitError::Model(_) => "; raise the floor of standard deviations, or take fewer states",
        _ => "",
    }
}

/// Reason why nothing was trained.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum TrainError {
    /// The data could not be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Samples that lack channels, for methods that take whole ones.
    #[error(
        "{file}: {rows} samples lack a channel, and {what} take whole samples; fill them in, leave out a channel that is \
         often missing, or leave out what takes whole samples"
    )]
    #[strum(serialize = "partial-samples")]
    PartialSamples {
        /// The file.
        file: String,
        /// Samples that lack a channel.
        rows: usize,
        /// Part that takes whole samples only.
        what: &'static str,
    },
    /// A training that needs all of the data at a time.
    #[error("{what} not possible in chunks: {remedy}")]
    InChunks {
        /// What is trained, with its verb.
        what: String,
        /// Remedy.
        remedy: &'static str,
    },
    /// Fewer than two classes among the labels.
    #[error("{file}: {found} class{} among the labels, two are needed; check the column `label`", if *.found == 1 { "" } else { "es" })]
    OneClass {
        /// The file.
        file: String,
        /// Classes found.
        found: usize,
    },
    /// A regression without a window that has a target.
    #[error(
        "{0}: no window has a target; fill in the column, or take the mean of a window for its target"
    )]
    NoTargets(String),
    /// A regression by features or a learner that do not estimate numbers.
    #[error("{0} decides between classes; to estimate numbers take {1}")]
    #[strum(serialize = "no-regression")]
    NoRegression(String, &'static str),
    /// An interval that the held-out windows are too few for.
    #[error(
        "an interval that covers {coverage} needs {needed} held-out windows in all folds but one, found {windows}; take a \
         smaller coverage, or more data"
    )]
    TooFewForCoverage {
        /// Held-out windows.
        windows: usize,
        /// Share to cover.
        coverage: f64,
        /// Windows needed.
        needed: usize,
    },
    /// A coverage that no interval has.
    #[error("an interval that covers {0} of the windows; the share must be above 0 and below 1")]
    #[strum(serialize = "bad-coverage")]
    Coverage(f64),
    /// A class whose model could not be fitted.
    #[error("class `{class}`: {source}{}", remedy(source))]
    Fit {
        /// The class.
        class: String,
        /// Reason.
        source: FitError,
    },
    /// No model of all classes could be fitted.
    #[error("the model of all classes: {source}{}", remedy(source))]
    Universal {
        /// Reason.
        source: FitError,
    },
    /// Emissions of a kind that is not observed.
    #[error(transparent)]
    Observed(FitError),
    /// A classifier that is not made of such emissions.
    #[error(
        "{kind} does not support {family} emissions; take bayes, fisher or top, which support all"
    )]
    #[strum(serialize = "wrong-emissions")]
    Emission {
        /// The classifier.
        kind: ClassifierKind,
        /// The family.
        family: &'static str,
    },
    /// A classifier of symbols, and channels.
    #[error("{0} counts symbols, and these are channels; take count, which supports both")]
    NotSymbols(ClassifierKind),
    /// More words than a device has contexts for, or a table room.
    #[error(
        "{symbols} symbols make too many words of {length}: {CONTEXTS_AT_MOST} contexts and \
         {WORDS_AT_MOST} words are the most; take a smaller order"
    )]
    TooManyWords {
        /// Symbols.
        symbols: usize,
        /// Symbols of a word.
        length: usize,
    },
    /// An invalid rate.
    #[error("lambda is {0}; it must be zero, positive or infinite")]
    #[strum(serialize = "bad-setting")]
    Lambda(f64),
    /// No topology could be chosen for the class models.
    #[error("which topology the class models have: {0}")]
    Topology(#[source] FitError),
    /// The training series could not be varied.
    #[error(transparent)]
    Augment(#[from] AugmentError),
    /// A score model named that is no class.
    #[error("no class `{0}` whose model could give scores; the classes are {1}")]
    #[strum(serialize = "unknown-class")]
    NoSuchClass(String, String),
    /// Windows of which none can be used.
    #[error("{0}: no window to train on; shorten the window or keep short series")]
    NoWindows(String),
    /// A window that the fitted models make impossible.
    #[error(
        "{file}: sample {sample} of series `{series}`, which begins on line {line}, is impossible under \
         the model of {model} ({why}): look for a stray value, or raise \
         the floor of standard deviations"
    )]
    ImpossibleWindow {
        /// The file.
        file: String,
        /// Name of the series.
        series: String,
        /// Line where the series begins.
        line: u64,
        /// The sample's place in the series, from 1.
        sample: usize,
        /// Class of the model.
        model: String,
        /// Error of the model.
        why: String,
    },
    /// More features than memory holds.
    #[error(
        "{} features for each of {} (with copies) take at least {gigabytes:.1} GB, and 2.1 are the most: take fewer \
         copies, states or codebooks, a longer hop, or bayes",
        grouped(*features),
        counted(*windows, "window")
    )]
    TooManyFeatures {
        /// Windows and varied copies of them.
        windows: usize,
        /// Features of each.
        features: usize,
        /// Memory that they would take.
        gigabytes: f64,
    },
    /// No candidate for a choice.
    #[error("no {0} to choose from")]
    NoCandidate(&'static str),
    /// Values to choose from that do not rise.
    #[error("values of {0} to choose from must be above zero, finite and rising")]
    NotRising(&'static str),
    /// Log-odds of a single model.
    #[error("log-odds take the scores of all class models; leave the score model out")]
    NeedsAllModels,
    /// A model for each lag, where there is a model per class.
    #[error(
        "models for each of the lags {0} are fitted to all classes, so they need universal score models and a \
         classifier on scores or counts"
    )]
    LagsApart(Lags),
    /// A kernel that is no inner product of features without landmarks, and a learner that needs them.
    #[error(
        "{0} has no explicit feature map, so that a {1} cannot be trained on it: take {2}, or landmarks, which make \
         features; fisher takes every learner"
    )]
    NeedsKernelLearner(ClassifierKind, &'static str, String),
    /// A kernel machine that could not be deployed.
    #[error("{kind} cannot be deployed: {source}; {advice}")]
    NotDeployed {
        /// The classifier.
        kind: ClassifierKind,
        /// Part that is too large, or out of range.
        source: DeployError,
        /// Remedy.
        advice: &'static str,
    },
    /// More windows than the Gram matrix of a kernel machine on scores has room for.
    #[error(
        "{0} training windows are too many for {1}, whose Gram matrix has at most {KERNEL_WINDOWS} rows: cut fewer \
         with a longer hop, leave out copies and mirror images, take landmarks and a linear machine, or take fisher, \
         which needs no Gram matrix"
    )]
    #[strum(serialize = "too-many-windows")]
    TooManyStored(usize, ClassifierKind),
    /// A kernel by marginalisation that has no value.
    #[error(transparent)]
    Marginal(#[from] MarginalError),
    /// More windows than a Gram matrix has room for.
    #[error(
        "{0} training windows are too many for a {1}, which can have {KERNEL_WINDOWS}; take a linear learner, fewer \
         windows, or no copies"
    )]
    TooManyWindows(usize, &'static str),
    /// A front end that does not fit the observations.
    #[error(transparent)]
    Front(FrontError),
    /// A front end whose mel bands are of another rate than the data.
    #[error(
        "{file}: by the column `t` there are {found} samples per second, and the mel bands of the front end are of {wanted}: \
         write the rate of the data after its `@`"
    )]
    FrontRate {
        /// The file.
        file: String,
        /// Samples per second by the times.
        found: f64,
        /// Samples per second of the bands.
        wanted: f64,
    },
    /// A front end before a machine that does not compile, or emissions that are not of real channels.
    #[error(
        "a front end needs emissions of real channels, or of its symbols, and a linear classifier: leave the front \
         end out"
    )]
    #[strum(serialize = "no-front")]
    FrontOf,
    /// A series, or a window, that ends before its first row.
    #[error(
        "{file}: series `{series}` has a window of {}, and the first row takes {}: take a longer \
         window, or a shorter front end",
        counted(*length, "sample"),
        grouped(*first)
    )]
    ShortFront {
        /// The data.
        file: String,
        /// The series.
        series: String,
        /// Samples of the window.
        length: usize,
        /// Samples of a first row.
        first: usize,
    },
    /// Codebooks for data without channels, or with a machine that cannot use them.
    #[error(
        "codebooks need real channels and a linear machine on Fisher scores of emissions that do not predict from the \
         past: leave codebooks out, or take fisher"
    )]
    #[strum(serialize = "no-codebooks")]
    Codebooks,
    /// More levels of a codeword than a device knows.
    #[error("{0} levels of each pattern: at most {LEVELS_MOST}")]
    #[strum(serialize = "too-many-levels")]
    Levels(usize),
    /// More codebooks than a device counts.
    #[error("{0} codebooks for each dilation: at most {CODEBOOKS_MOST}")]
    TooManyCodebooks(usize),
    /// An invalid weight of codebooks.
    #[error("the weight of codebooks is {0}; it must be from 0.01 to 100")]
    #[strum(serialize = "bad-setting")]
    CodebookWeight(f64),
    /// Codebooks of windows that have no room for one.
    #[error(
        "the middle window has {0} samples, and a codebook is over nine at least: leave codebooks out, or take a \
         longer window"
    )]
    ShortCodebooks(usize),
    /// Differences at lags for data without channels, or before a machine that does not compile.
    #[error(
        "{} need real channels and a linear classifier: leave out lags and models for each of them", .0.words()
    )]
    #[strum(serialize = "no-lags")]
    Lags(Lags),
    /// Lags that no window is long enough for.
    #[error(
        "{}: the longest series is `{series}`, and models see {} of it at once, so no two are {} apart: take shorter \
         lags{}",
        lags.words(),
        counted(*length, "sample"),
        lags.depth(),
        if *windowed { ", or a longer window" } else { "" }
    )]
    LongLags {
        /// The lags.
        lags: Lags,
        /// The longest series.
        series: String,
        /// Samples that models see of it at once.
        length: usize,
        /// `true` if the series is cut into windows.
        windowed: bool,
    },
    /// A classifier, or the cheapest of all forms, takes more than was allowed.
    #[error(
        "{} {what} are needed, and {} are allowed: allow more, or take fewer states, lags, codebooks or levels",
        grouped(*takes),
        grouped(*most)
    )]
    #[strum(serialize = "over-limit")]
    TooDear {
        /// Amount that the classifier takes.
        takes: usize,
        /// Amount that was allowed.
        most: usize,
        /// Resource of the limit.
        what: Resource,
    },
    /// A trained classifier that cannot be deployed, so that its cost is unknown.
    #[error(transparent)]
    Deploy(DeployError),
    /// A machine was not trained.
    #[error(transparent)]
    Machine(#[from] KernelLearnError),
}

crate::kinds!(TrainError,
    Self::Data(error) => error,
    Self::Fit { source: error, .. } => error,
    Self::Universal { source: error } => error,
    Self::Observed(error) => error,
    Self::Topology(error) => error,
    Self::Augment(error) => error,
    Self::NotDeployed { source: error, .. } => error,
    Self::Marginal(error) => error,
    Self::Front(error) => error,
    Self::Deploy(error) => error,
    Self::Machine(error) => error,
);
