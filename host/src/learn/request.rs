//! Request of a training: the given settings, and the effort for the open ones.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

#[cfg(doc)]
use crate::classifier::Codebooks;
use crate::classifier::{Scaling, ScoreModels};
use crate::data::{Front, Kind, Lags, Windowing};
use crate::elementary::Elementary;
use crate::fit::BaumWelch;
use crate::fit::Topology;
use crate::kernel::parameter::{NumberParameter, SIGMA};
use crate::kernel::{ScoreKernel, ScoreKernelKind};
use crate::learn::features::Features;
use crate::learn::kind::ClassifierKind;
use crate::learn::limits::Limits;
use crate::learn::solver::kernel_svm::KERNEL_SVM;
use crate::learn::solver::learner::Learner;
use crate::learn::solver::loss::ClassWeight;
use crate::learn::solver::ridge::RIDGE;
use crate::learn::solver::svm::LINEAR_SVM;
use crate::learn::variation::{Augment, Mirror};
use crate::runtime::Family;
use crate::runtime::family::OF_CHANNELS;
use fishweir_core::classify::Normalisation;

/// Size of the search over what a [`Request`] leaves open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// One model per class, or the given form, at two floors of standard deviations
    Minimal,
    /// One model of all classes for each lag, with codebooks, and no other form: fisher on real Gaussian channels.
    ///
    /// For other classifiers, and for series too short for codebooks: two floors of standard deviations. For whole strings of
    /// about one length, 64 symbols at most: a state per position against an ergodic chain (for latent-mean-map, the more likely
    /// one)
    #[default]
    Quick,
    /// As [`Quick`](Self::Quick), at two floors, against one model per class (or for each lag), if the error leaves room for a
    /// significant gain: for fisher.
    ///
    /// For other classifiers of channels that compile: 2, 4 and 8 states at two floors, for whole series also from left to right.
    /// For strings: these numbers of states ergodic, 4 and 8 from left to right, and a state per position. If channels form
    /// vectors, jittered copies are compared with no augmentation. If lengths differ, normalisation is compared with none
    Normal,
    /// As [`Normal`](Self::Normal), and more forms: one model of all classes, differences at lags or prediction from the past, 4
    /// to 16 states, from left to right for whole series, with and without codebooks, more floors; for strings up to 16 states
    Thorough,
}

/// Lags of the past that a model reads: see [`Lags`].
#[derive(Clone, Debug, Default, PartialEq)]
pub enum LagChoice {
    /// Lags that the effort tries.
    #[default]
    Usual,
    /// No lag, a model for each of several lags, or differences at four: whichever is best, whatever the effort.
    Choose,
    /// These lags, the first unless another is better. For autoregressive emissions they are lags of the past.
    Given(Vec<Lags>),
}

/// Models that give scores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ModelChoice {
    /// Models that the effort tries; one per class if it tries nothing.
    #[default]
    Usual,
    /// A model of all classes for each lag: the choice of [`Effort::Quick`] for Fisher scores, as far as series reach, with its
    /// codebooks and its learner for one model. If the effort uses no such model, or lags are given, one for each of these lags,
    /// or of 1, 2, 4 and 8.
    EachLag,
    /// These models.
    Given(ScoreModels),
}

/// Settings of a training.
///
/// A list holds the values to choose from, the default first: a single value is fixed, and an empty list leaves the choice to the
/// effort.
///
/// ```
/// use fishweir::learn::{ClassifierKind, Effort, Request};
///
/// let request = Request::new(ClassifierKind::Fisher).with(|request| {
///     request.effort = Effort::Normal;
///     request.std_floors = vec![0.1, 0.03];
/// });
/// assert_eq!(request.baum_welch.restarts, 1);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Request {
    /// Kind of classifier.
    pub kind: ClassifierKind,
    /// Size of the search.
    pub effort: Effort,
    /// Fit of the models. Its states, topology and floor come first, unless others are given below.
    pub baum_welch: BaumWelch,
    /// Passes of Baum-Welch at most of a model of all classes, or one for each lag, and no more than those of
    /// `baum_welch`. What tells classes apart is learnt on its scores: in folds of the training parts of ten sets
    /// (`host/docs/ACCURACY.md`) models of 100, 20 and 10 passes were right in 0.935, 0.931 and 0.937.
    pub one_model_iterations: usize,
    /// Hidden states. Where they are given, transitions are ergodic unless they are given too.
    pub states: Vec<usize>,
    /// Transitions that states may make. Others than the first are of channels; stages and positions of whole series
    /// alone, for a window begins anywhere, three stages at least, of two samples of the middle series each. Of strings
    /// positions are as many as the longest has symbols, 64 at most: the last stands for all that follow.
    pub topologies: Vec<Topology>,
    /// Floors of standard deviations: see [`BaumWelch::std_floor`]. Channels only.
    pub std_floors: Vec<f64>,
    /// Front end that samples go through first: see [`Front`]. Real channels only, and classifiers that compile.
    pub front: Front,
    /// Lags of differences that are additional channels, or of the past that autoregressive emissions predict from; without any,
    /// these are of order two. Real channels only, and classifiers that compile.
    pub lags: LagChoice,
    /// Codebooks for each dilation whose codewords are counted beside the models' scores: see [`Codebooks`]. Real
    /// channels only, and linear machines on scores. Others than the first are tried beside a model for each lag.
    pub codebooks: Vec<usize>,
    /// Levels of each codeword's likeness, at most seven: how often each is exceeded is counted too. `None` for two,
    /// or fewer where limits leave no room for them.
    pub levels: Option<usize>,
    /// Models that give scores.
    ///
    /// If the effort compares one model of all classes with models of each class, the former is trained by ridge regression, so
    /// that it is judged in closed form.
    pub models: ModelChoice,
    /// Normalisations of evidence by length. Others than the first are tried if lengths differ.
    pub normalisations: Vec<Normalisation>,
    /// Limits on the cost on a device: forms of class models that cost more are not tried.
    pub limits: Limits,
    /// Windows of the series; `None` for whole series.
    pub windowing: Option<Windowing>,
    /// Column of the groups that stay in one inner fold.
    pub group: Option<String>,
    /// `true` if log-likelihoods are among the features.
    pub with_likelihood: bool,
    /// Learner that is trained on the features; `None` for the one that suits the classifier and its models.
    pub learner: Option<&'static Learner>,
    /// Weights of the classes; with balanced ones, candidates are judged by mean recall.
    pub class_weight: ClassWeight,
    /// Scalings of the score.
    pub scalings: Vec<Scaling>,
    /// Weights of codebooks, beside scores whose block has a mean square norm of one: see
    /// [`Scales`](crate::learn::Scales). Unless given 1 and 4 of one model of all classes, else 1.
    pub codebook_weights: Vec<f64>,
    /// Values of C, rising; unless given those of the learner.
    pub c: Vec<f64>,
    /// Widths of the Gaussian kernel, in units in which scores, and log-likelihoods, have a mean square norm of one;
    /// unless given 1, 2 and 4.
    ///
    /// On 2 233 splice windows, models of eight states from left to right, diagonal scaling, C of 0.1, 1
    /// and 10, inner folds were right in 0.519, 0.552, 0.559 at width 0.25, in 0.579, 0.697, 0.702 at
    /// 0.5, in 0.661, 0.700, 0.708 at 1, in 0.625, 0.676, 0.697 at 2 and in 0.582, 0.643, 0.682 at 4.
    /// On 782 windows of the watch, folds by subject, a choice among 0.5, 1 and 2 was right in 0.710, one
    /// among 1, 2, 4 and 8 in 0.742: a narrow kernel knows nobody new. Hence the defaults.
    pub sigma: Vec<f64>,
    /// Numbers of kernels on scores other than a width; unless given their defaults.
    pub numbers: Vec<(&'static NumberParameter, f64)>,
    /// Training windows at most that a machine with a kernel on scores keeps, chosen beforehand: see
    /// [`Nystrom`](crate::learn::Nystrom). `None`: no limit, all support vectors.
    pub landmarks: Option<NonZeroUsize>,
    /// Symbols of a word before its last, of an empirical mean map.
    pub order: usize,
    /// Rate of a mean map's radial basis function, `exp(-lambda/2 |x - y|^2)`: symbols, and states,
    /// that differ have `exp(-lambda)` in common.
    pub lambda: f64,
    /// Inner folds by which open choices are made.
    pub inner_folds: usize,
    /// Augmentation of training series; channels only.
    pub augment: Augment,
}

/// Summary of the augmentation of training series, and of their codebooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Varied {
    /// `true` if jittered copies are made.
    pub copies: bool,
    /// `true` if there are vectors among the channels.
    pub vectors: bool,
    /// `true` if a copy's vectors are turned.
    pub turned: bool,
    /// `true` if a copy differs from its series.
    pub copies_differ: bool,
    /// `true` if a mirror image is still to be chosen.
    pub mirror_chosen: bool,
    /// `true` if codebooks may be counted.
    pub codebooks: bool,
}

impl Request {
    /// Creates a request with the command's defaults for a classifier: all choices are left to [`Effort::Quick`].
    ///
    /// Kernel machines on scores are trained on a Gram matrix, which bounds the number of windows, and on models of a deployable
    /// size: no jittered copies, no mirror images, no state per position.
    #[must_use]
    pub fn new(kind: ClassifierKind) -> Self {
        let augment = match kind.compiles() {
            true => Augment::default(),
            false => {
                let mirror = Mirror::Channels(Vec::new());
                Augment { copies: Some(0), mirror, ..Augment::default() }
            }
        };
        Self {
            kind,
            effort: Effort::default(),
            baum_welch: BaumWelch::default(),
            one_model_iterations: 10,
            states: Vec::new(),
            topologies: Vec::new(),
            std_floors: Vec::new(),
            front: Front::NONE,
            lags: LagChoice::Usual,
            codebooks: Vec::new(),
            levels: None,
            models: ModelChoice::Usual,
            normalisations: Vec::new(),
            limits: Limits::default(),
            windowing: None,
            group: None,
            with_likelihood: true,
            learner: None,
            class_weight: ClassWeight::default(),
            scalings: Vec::new(),
            codebook_weights: Vec::new(),
            c: Vec::new(),
            sigma: Vec::new(),
            numbers: Vec::new(),
            landmarks: None,
            order: 0,
            lambda: 1.0,
            inner_folds: 3,
            augment,
        }
    }

    /// One form, or the given one, and the floors of [`Effort::Minimal`].
    #[must_use]
    pub fn minimal(kind: ClassifierKind) -> Self {
        Self::new(kind).trying(Effort::Minimal)
    }

    /// Changes the request by a closure.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Sets the effort.
    #[must_use]
    pub fn trying(self, effort: Effort) -> Self {
        Self { effort, ..self }
    }

    /// Features of the machine; `None` for a classifier without features.
    #[must_use]
    pub fn features(&self) -> Option<Features> {
        match self.kind {
            ClassifierKind::Bayes => None,
            ClassifierKind::Fisher | ClassifierKind::OnScores(_) => Some(Features::Scores),
            ClassifierKind::Top => Some(Features::LogOdds),
            ClassifierKind::Count => Some(Features::Counts),
            ClassifierKind::LatentMap => {
                Some(Features::LatentMap { mismatch: (-self.lambda).portable_exp() })
            }
            ClassifierKind::EmpiricalMap => {
                let mismatch = (-self.lambda).portable_exp();
                Some(Features::EmpiricalMap { order: self.order, mismatch })
            }
        }
    }

    /// Models that give scores if nothing is tried.
    #[must_use]
    pub fn scores(&self) -> ScoreModels {
        match &self.models {
            ModelChoice::Usual => ScoreModels::All,
            ModelChoice::EachLag => ScoreModels::Universal,
            ModelChoice::Given(models) => models.clone(),
        }
    }

    /// The learner where nothing was chosen for one model of all classes: the one given, or the classifier's own.
    #[must_use]
    pub fn learner(&self) -> &'static Learner {
        let own = if self.kind.compiles() { &LINEAR_SVM } else { &KERNEL_SVM };
        self.learner.unwrap_or(own)
    }

    /// The learner for one model of all classes that has seen no label.
    pub(crate) fn learner_of_one(&self) -> &'static Learner {
        self.learner.unwrap_or(&RIDGE)
    }

    /// The values of C to choose from, of the learner that is [given](Self::learner).
    #[must_use]
    pub fn costs(&self) -> Vec<f64> {
        self.costs_of(self.learner())
    }

    pub(crate) fn costs_of(&self, learner: &Learner) -> Vec<f64> {
        if self.c.is_empty() { learner.costs.to_vec() } else { self.c.clone() }
    }

    /// The kernels on scores to choose from, with their widths; empty for classifiers that compile.
    pub(crate) fn kernels(&self) -> Vec<(Option<f64>, ScoreKernel)> {
        let ClassifierKind::OnScores(kind) = self.kind else { return Vec::new() };
        if !self.kind.takes(&SIGMA) {
            return vec![(None, kind.with(self.number_of(kind).unwrap_or_default()))];
        }
        let widths = if self.sigma.is_empty() { &[1.0, 2.0, 4.0] } else { self.sigma.as_slice() };
        widths.iter().map(|&sigma| (Some(sigma), kind.with(sigma))).collect()
    }

    /// The number of a kernel on scores; `None` for one without, and for a width, which is chosen.
    pub(crate) fn number_of(&self, kind: ScoreKernelKind) -> Option<f64> {
        let number = kind.number().filter(|number| **number != SIGMA)?;
        let given = self.numbers.iter().rev().find(|(given, _)| *given == number);
        Some(given.map_or(number.default, |(_, value)| *value))
    }

    /// Returns whether standard deviations are held above a floor, over channels.
    #[must_use]
    pub fn has_floor(&self) -> bool {
        self.baum_welch.emission.is_none_or(Family::has_floor)
    }

    /// Returns whether emissions are of real channels, or chosen by the observations.
    pub(crate) fn of_reals(&self) -> bool {
        let reals = |family: &dyn Family| family.observes() == OF_CHANNELS.observes();
        self.baum_welch.emission.is_none_or(reals)
    }

    /// Returns whether differences at lags apply to the observations, and compile.
    pub(crate) fn takes_lags(&self, observed: &Kind) -> bool {
        matches!(observed, Kind::Channels(_)) && self.kind.compiles() && self.of_reals()
    }

    pub(crate) fn has_past(&self) -> bool {
        self.baum_welch.emission.is_some_and(Family::has_past)
    }

    /// Augmentation of training series, and its open choices.
    ///
    /// Counts, and yes and no, are not augmented: they are invalid once they are turned or amplified. If no machine is
    /// trained on features, there are no jittered copies, and no mirror image is chosen.
    pub(crate) fn augmentation(&self) -> Augment {
        if !self.front.makes_symbols() && !self.of_reals() {
            return Augment::NONE;
        }
        let mut augment = self.augment.clone();
        if self.features().is_none() {
            augment = augment.with_copies(0);
            if augment.mirror == Mirror::Choose {
                augment.mirror = Mirror::Channels(Vec::new());
            }
            return augment;
        }
        let more = matches!(self.effort, Effort::Normal | Effort::Thorough);
        let open = augment.copies.is_none() && augment.other_copies.is_empty();
        if more && open && self.kind.compiles() && self.kind != ClassifierKind::EmpiricalMap {
            augment.other_copies = vec![0];
        }
        augment
    }

    /// Describes the augmentation of training series of a kind.
    #[must_use]
    pub fn varied(&self, observed: &Kind) -> String {
        self.augmentation().describe(observed)
    }
}
