//! What can be trained, and how.

use std::num::NonZeroUsize;

use fishweir_core::classify::Normalisation;

use super::augment::{Augment, Mirror};
use super::error::TrainError;
use super::features::Features;
use super::form::all_of;
use super::kernel_svm::KERNEL_SVM;
use super::kind::ClassifierKind;
use super::learner::Learner;
use super::limits::Limits;
use super::loss::ClassWeight;
use super::ridge::RIDGE;
use super::space::LEVELS;
use super::svm::LINEAR_SVM;
use super::vectors::mirror_candidates;
#[cfg(doc)]
use crate::classifier::Codebooks;
use crate::classifier::{
    CODEBOOKS_MOST, LEVELS_MOST, Observations, Scaling, ScoreModels, Setting, contexts_of,
};
use crate::data::{Dataset, Front, Kind, Lags, Windowing};
use crate::deploy::{DeployError, check_size, has_machines};
use crate::fit::{BaumWelch, Topology};
use crate::kernel::ScoreKernel;
use crate::runtime::Family;
use crate::runtime::family::{OF_CHANNELS, OF_SYMBOLS};

/// The scalings to choose from, unless told.
pub(super) const SCALINGS: [Scaling; 2] = [Scaling::Practical, Scaling::Diagonal];

/// The same of one model of all classes.
pub(super) const ONE_MODEL_SCALINGS: [Scaling; 3] =
    [Scaling::Practical, Scaling::Diagonal, Scaling::Whitened];

/// How a classifier is trained.
#[derive(Clone, Debug)]
pub struct TrainOptions {
    /// Which classifier.
    pub kind: ClassifierKind,
    /// How the class models are fitted.
    pub baum_welch: BaumWelch,
    /// Passes of Baum-Welch at most of a model of all classes, or one for each lag, and no more than those of
    /// `baum_welch`. What tells classes apart is learnt on its scores: in folds of the training parts of ten sets
    /// (`host/docs/ACCURACY.md`) models of 100, 20 and 10 passes were right in 0.935, 0.931 and 0.937.
    pub one_model_iterations: usize,
    /// Other floors of standard deviations than that of `baum_welch`, of which inner folds choose the
    /// best: see [`BaumWelch::std_floor`]. Channels only.
    pub std_floors: Vec<f64>,
    /// What samples go through before models see them: see [`Front`]. Real channels only, and classifiers that compile.
    pub front: Front,
    /// Lags of differences that are channels beside the sensor's, or of the past that autoregressive emissions
    /// predict from, of order two where there are none: see [`Lags`]. Real channels only, and classifiers that
    /// compile.
    pub lags: Lags,
    /// Other lags to choose from; where they are of the past, emissions are autoregressive.
    pub other_lags: Vec<Lags>,
    /// Codebooks for each dilation whose codewords are counted beside the models' scores: see [`Codebooks`]. Real
    /// channels only, and linear machines on scores.
    pub codebooks: usize,
    /// Numbers of them to choose from beside a model for each lag, in place of that; none to keep to it.
    pub other_codebooks: Vec<usize>,
    /// Levels of each codeword's likeness, at most seven: how often each is exceeded is counted too. Two, unless told.
    pub levels: usize,
    /// Whether fewer levels are tried too where there are `limits`.
    pub fewer_levels: bool,
    /// Other numbers of states than that of `baum_welch` to choose from. Channels only.
    pub other_states: Vec<usize>,
    /// Transitions and numbers of states of models of strings to choose from, `None` for those of `baum_welch`: where
    /// states are positions, as many as nine of ten strings have symbols at most, if the middle one has four fifths as
    /// many and scores by them are no more than a machine learns from in seconds; where they are stages, half as many at
    /// most. Where `baum_welch` tells transitions, of those alone (of positions as many as the longest has, 64 at most).
    /// The last position stands for all that follow. None to keep to `baum_welch`. Symbols only.
    pub chains: Vec<(Topology, Option<usize>)>,
    /// Other transitions than those of `baum_welch` to choose from. Channels only, and stages and positions of whole series
    /// only, for a window begins anywhere; three stages at least, of two samples of the middle series each.
    pub other_topologies: Vec<Topology>,
    /// Whose models there are to choose from beside those of `scores`: one of all classes is learnt from by ridge
    /// regression, so that it is judged in closed form.
    pub other_models: Vec<ScoreModels>,
    /// Whether a model for each lag, where it is among the forms to choose from and keeps within the limits, is taken
    /// without a trial of any.
    pub each_lag_untried: bool,
    /// Other normalisations than the first to choose from, where lengths differ.
    pub other_normalisations: Vec<Normalisation>,
    /// What the classifier may cost on a device: forms of class models that cost more are not tried.
    pub limits: Limits,
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
    pub learner: &'static Learner,
    /// How much the classes weigh; with balanced ones, candidates are judged by mean recall.
    pub class_weight: ClassWeight,
    /// Scalings of the score to choose from.
    pub scalings: Vec<Scaling>,
    /// Weights of codebooks to choose from, beside scores whose block has a mean square norm of one: see
    /// [`Scales`](super::Scales). None for the usual: of one model of all classes 1 and 4, else 1.
    pub codebook_weights: Vec<f64>,
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
    /// Training windows at most that a machine with a kernel on scores keeps, chosen beforehand: see
    /// [`Nystrom`](super::Nystrom). `None` for those that it would choose, its support vectors.
    pub landmarks: Option<NonZeroUsize>,
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

/// What is varied of training series, and counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Varied {
    /// Whether jittered copies of them are made.
    pub copies: bool,
    /// Whether there are vectors among their channels.
    pub vectors: bool,
    /// Whether a copy's vectors are turned.
    pub turned: bool,
    /// Whether a copy differs from its series.
    pub copies_differ: bool,
    /// Whether a mirror image is still to be chosen.
    pub mirror_chosen: bool,
    /// Whether codebooks may be counted of them.
    pub codebooks: bool,
}

impl TrainOptions {
    /// The defaults for a classifier. Kernel machines on scores are trained on a Gram matrix, which
    /// bounds the number of windows, and on models of a size that is deployed: no varied copies, no
    /// mirror images, an ergodic chain.
    pub fn new(kind: ClassifierKind) -> Self {
        let options = Self {
            kind,
            baum_welch: BaumWelch::default(),
            one_model_iterations: 10,
            std_floors: vec![0.03],
            front: Front::NONE,
            lags: Lags::NONE,
            other_lags: Vec::new(),
            codebooks: 0,
            other_codebooks: Vec::new(),
            levels: LEVELS,
            fewer_levels: true,
            other_states: Vec::new(),
            chains: Vec::new(),
            other_topologies: Vec::new(),
            other_models: Vec::new(),
            each_lag_untried: false,
            other_normalisations: Vec::new(),
            limits: Limits::default(),
            windowing: None,
            group: None,
            scores: ScoreModels::All,
            with_likelihood: true,
            normalisation: Normalisation::PER_SAMPLE,
            learner: &LINEAR_SVM,
            class_weight: ClassWeight::default(),
            scalings: SCALINGS.to_vec(),
            codebook_weights: Vec::new(),
            c: LINEAR_SVM.costs.to_vec(),
            sigma: vec![1.0, 2.0, 4.0],
            power: 2,
            landmarks: None,
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
        Self { augment, ..options }.learning(&KERNEL_SVM).on_a_device()
    }

    /// With another learner, and its values of C to choose from.
    #[must_use]
    pub fn learning(self, learner: &'static Learner) -> Self {
        Self { learner, c: learner.costs.to_vec(), ..self }
    }

    /// What the machine sees; `None` of a classifier that has none.
    pub fn features(&self) -> Option<Features> {
        match self.kind {
            ClassifierKind::Bayes => None,
            ClassifierKind::Fisher
            | ClassifierKind::Gaussian
            | ClassifierKind::Polynomial
            | ClassifierKind::Cosine
            | ClassifierKind::RootCosine => Some(Features::Scores),
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

    /// With one setting of the machine, and none to choose from.
    pub(super) fn frozen(&self, setting: Setting) -> Self {
        Self {
            scalings: setting.scaling.into_iter().collect(),
            codebook_weights: vec![setting.codebook_weight],
            sigma: setting.sigma.map_or_else(|| self.sigma.clone(), |sigma| vec![sigma]),
            c: vec![setting.c],
            ..self.clone()
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
            ClassifierKind::RootCosine => vec![(None, ScoreKernel::RootCosine)],
            _ => Vec::new(),
        }
    }

    /// For one model of all classes: ridge regression, and whitened scores to choose from too, but for what differs
    /// from the defaults; and fewer passes of Baum-Welch.
    pub(super) fn on_one_model(self) -> Self {
        let own = self.c == self.learner.costs;
        let mut options = Self { scores: ScoreModels::Universal, learner: &RIDGE, ..self };
        if own {
            options.c = RIDGE.costs.to_vec();
        }
        if options.scalings == SCALINGS {
            options.scalings = ONE_MODEL_SCALINGS.to_vec();
        }
        options.with_passes()
    }

    /// With as many passes of Baum-Welch as its models take.
    fn with_passes(mut self) -> Self {
        if self.universal() {
            self.baum_welch.iterations = self.baum_welch.iterations.min(self.one_model_iterations);
        }
        self
    }

    /// What a kind of classifier leaves to ask for. Models that a kernel machine on their scores is
    /// deployed with have no state a position, which would be too many. Class models see no jittered
    /// copies, and without a machine on them nothing chooses a mirror image. Counts, and yes and no, are not
    /// varied.
    pub(super) fn on_a_device(mut self) -> Self {
        let emission = self.baum_welch.emission;
        // Counts, and yes and no, that are turned or amplified are none.
        let reals = |family: &dyn Family| family.observes() == OF_CHANNELS.observes();
        if !self.front.makes_symbols() && !emission.is_none_or(reals) {
            self.augment = Augment::NONE;
        }
        if !self.has_floor() {
            self.std_floors = Vec::new();
        }
        if emission.is_some_and(Family::is_autoregressive) {
            let own = if self.lags.is_empty() { Lags::order(2) } else { self.lags };
            self.lags = own.of_past();
            self.other_lags = self.other_lags.into_iter().map(Lags::of_past).collect();
        }
        if !self.kind.compiles() {
            self.baum_welch.topology = self.baum_welch.topology.without_positions();
        }
        if self.features().is_none() {
            self.scores = ScoreModels::All;
            // Models of classes, which is what is left, see no lag each.
            if self.lags.is_apart() {
                self.lags = Lags::NONE;
            }
            self.augment = self.augment.with_copies(0);
            if self.augment.mirror == Mirror::Choose {
                self.augment.mirror = Mirror::Channels(Vec::new());
            }
        }
        self.with_passes()
    }

    /// With the words of a front end's symbols learnt from training series, none of their labels looked at, and
    /// emissions of symbols.
    pub(super) fn learnt(mut self, data: &Dataset, series: &[usize]) -> Result<Self, TrainError> {
        if !self.front.makes_symbols() {
            return Ok(self);
        }
        let views = series.iter().map(|&one| data.series()[one].samples.view());
        let (views, seed) = (views.collect::<Vec<_>>(), self.baum_welch.seed);
        self.front = self.front.learnt(data.kind(), &views, seed).map_err(TrainError::Front)?;
        self.baum_welch.emission.get_or_insert(OF_SYMBOLS);
        Ok(self)
    }

    /// The floors of standard deviations to choose from, the first first; one alone where there are none to
    /// hold.
    pub(super) fn floors(&self, observed: &Kind) -> Vec<f64> {
        let any = self.has_floor() && matches!(observed, Kind::Channels(_));
        all_of(&self.baum_welch.std_floor, self.std_floors.iter().filter(|_| any))
    }

    /// How often a class' model is fitted in a training, or one of all classes, at most: in every inner fold once a floor
    /// and once a mirror image to choose from, in closed form once a form, and in the end.
    pub fn most_fits(&self, data: &Dataset) -> usize {
        if self.kind == ClassifierKind::EmpiricalMap {
            return 0;
        }
        let all: Vec<usize> = (0..data.series().len()).collect();
        self.settled(data, &all).most_fits_of_any(data.kind())
    }

    /// How many passes of Baum-Welch a training makes at most, of the models of all classes together.
    pub fn most_passes(&self, data: &Dataset) -> usize {
        let all: Vec<usize> = (0..data.series().len()).collect();
        let settled = self.settled(data, &all).on_a_device();
        let models = if settled.universal() { 1 } else { data.classes().len() };
        let BaumWelch { restarts, iterations, .. } = settled.baum_welch;
        let passes = restarts.saturating_mul(iterations);
        self.most_fits(data).saturating_mul(models).saturating_mul(passes)
    }

    fn most_fits_of_any(&self, observed: &Kind) -> usize {
        let floors = match self.most_trials(observed) {
            1 => 0,
            several => several,
        };
        let images = match (self.features(), self.augment.mirrors(observed)) {
            (None, _) => 0,
            // What is chosen in closed form is chosen on the models that are kept.
            _ if self.in_closed_form() => 0,
            (_, Some(_)) => 1,
            (_, None) => mirror_candidates(observed, &self.augment.vectors).len(),
        };
        let folds = if self.in_closed_form() { 1 } else { self.inner_folds };
        // A model for each lag is fitted as often as there are lags.
        self.lags.of_models().len() * (1 + (floors + images) * folds)
    }

    /// Whether one model is fitted for all classes.
    pub(super) fn universal(&self) -> bool {
        self.scores == ScoreModels::Universal && self.features().is_some()
    }

    /// Whether what is held out is had in closed form.
    pub(super) fn in_closed_form(&self) -> bool {
        self.universal() && self.learner.in_closed_form() && self.kind.compiles()
    }

    /// What is varied of training series of a kind, and counted.
    pub fn varies(&self, observed: &Kind) -> Varied {
        let augment = self.clone().on_a_device().augment;
        let Kind::Channels(names) = observed else { return Varied::default() };
        let copies = augment.numbers_of_copies(observed).iter().any(|&number| number > 0);
        let vectors = !augment.vectors.among(names).is_empty();
        let turned = copies && vectors && augment.rotation_degrees > 0.0;
        Varied {
            copies,
            vectors,
            turned,
            copies_differ: turned || (copies && augment.gain > 0.0),
            mirror_chosen: augment.mirrors(observed).is_none(),
            codebooks: self.codebooks > 0 || self.tries_codebooks(),
        }
    }

    /// Whether standard deviations are held above a floor, over channels.
    pub fn has_floor(&self) -> bool {
        self.baum_welch.emission.is_none_or(Family::has_floor)
    }

    /// How training series of a kind are varied, in words.
    pub fn varied(&self, observed: &Kind) -> String {
        self.clone().on_a_device().augment.describe(observed)
    }

    /// Refuses, before anything is fitted, emissions that are not of what is observed, and what a kernel
    /// machine on scores cannot be trained or deployed with.
    pub(super) fn check_kernels(&self, observed: &Kind) -> Result<(), TrainError> {
        let front = self.front.over(observed).map_err(TrainError::Front)?;
        let channels = matches!(front.kind(observed), Kind::Channels(_));
        let of_words = self.kind == ClassifierKind::EmpiricalMap;
        if channels && (of_words || self.kind == ClassifierKind::LatentMap) {
            return Err(TrainError::NotSymbols(self.kind));
        }
        let symbols = front.makes_symbols() && self.kind.compiles() && !of_words;
        if !(front.is_empty() || symbols || channels && self.takes_lags(observed)) {
            return Err(TrainError::FrontOf);
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
        if !self.lags.is_empty() && !self.takes_lags(observed) {
            return Err(TrainError::Lags(self.lags.clone()));
        }
        if let Some(lags) = self.other_lags.first()
            && self.asks_each_lag()
            && !self.takes_lags(observed)
        {
            return Err(TrainError::Lags(lags.clone()));
        }
        if self.lags.is_apart() && !self.universal() {
            return Err(TrainError::LagsApart(self.lags.clone()));
        }
        let is_autoregressive = self.baum_welch.emission.is_some_and(Family::is_autoregressive);
        let scores = self.features() == Some(Features::Scores) && self.takes_lags(observed);
        if self.codebooks > 0 && (is_autoregressive || !scores) {
            return Err(TrainError::Codebooks);
        }
        if self.levels > LEVELS_MOST {
            return Err(TrainError::Levels(self.levels));
        }
        if self.codebooks > CODEBOOKS_MOST {
            return Err(TrainError::TooManyCodebooks(self.codebooks));
        }
        if self.kind.compiles() {
            return Ok(());
        }
        if !self.learner.on_kernel() && self.landmarks.is_none() {
            let on_kernel = super::LEARNERS.iter().filter(|one| one.on_kernel());
            let names: Vec<&str> = on_kernel.map(|one| one.name).collect();
            let names = names.join(" or ");
            return Err(TrainError::NeedsKernelLearner(self.kind, self.learner.machine, names));
        }
        let observations = Observations::from(observed);
        let size = observations.size();
        let refused =
            |advice| move |source| TrainError::NotDeployed { kind: self.kind, source, advice };
        let advice = match check_size(&observations, 1, size) {
            Ok(()) => "take fewer states",
            Err(_) => "take fisher, which compiles",
        };
        check_size(&observations, self.baum_welch.states, size).map_err(refused(advice))?;
        for (_, kernel) in self.kernels() {
            kernel
                .validate()
                .map_err(DeployError::Parameter)
                .map_err(refused("take another width or degree"))?;
        }
        Ok(())
    }
}
