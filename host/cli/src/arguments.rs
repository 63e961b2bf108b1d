//! Options for the training of classifiers, for several commands.

use std::num::NonZeroUsize;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use fishweir::data::{Dataset, Front, LagError, Lags, Stage};
use fishweir::fit::{BaumWelch, Topology};
use fishweir::kernel::parameter::NumberParameter;
use fishweir::learn::{
    Augment, ClassWeight, ClassifierKind, Effort, LEARNERS, LagChoice, Learner, Limits, Mirror,
    ModelChoice, Request, Scaling, ScoreModels, Vector, Vectors,
};
use fishweir::report::EmissionSummary;
use fishweir_core::classify::Normalisation;

use super::emitting::Emitting;
use super::names;
use super::numbers::Numbers;
use super::options::{each_once, named, note_idle};
use super::reading::Cutting;
use super::values::{codebook_weight, floor, not_negative, positive, rate, registered};
use super::{Failure, Topic};

mod idle;

/// Options for the training of a classifier. Those that are not given have the library's defaults.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Training")]
pub(super) struct TrainingArguments {
    /// Column whose equal values (subjects, devices, days) stay in one fold
    ///
    /// `series` (a group per series) and `sequence` (identical series share a group) always exist.
    #[arg(long, value_name = "COLUMN")]
    pub(super) group: Option<String>,
    /// Hidden states of each class model [default: 4]
    ///
    /// With --topology positions the number is that of the symbols of the longest string, at most 64 for a device.
    /// For systems (lds, switching) it is the size of the hidden state [default: 2].
    #[arg(long, value_name = "N")]
    states: Option<usize>,
    /// Size of the search before the models are chosen [default: quick]
    ///
    /// Inner cross-validation chooses among configurations. It keeps the values that you give for --score-model,
    /// --learner, --states, --topology, --std-floor, --lags, --codebooks and --normalisation.
    #[arg(long, value_parser = names::effort())]
    effort: Option<Effort>,
    /// Preprocessing stages, comma-separated, such as decimate=4,slopes=8 [default: none]
    ///
    /// decimate=4: the mean of 4 samples. magnitude=ax+ay+az: the Euclidean norm of channels in their place. slopes=8: adds
    /// the slope of each channel over 8 samples. cepstra=256/128/26/13@8000: of one channel, 13 mel cepstra (MFCC) of 26 bands
    /// over 256 samples every 128 at 8000 Hz. bands=256/128/26@8000: log energies of the bands. symbols=16, as the last
    /// stage: which of 16 rows, learnt from the training data, is nearest; for --emission categorical.
    #[arg(long, value_name = "STAGES", value_delimiter = ',')]
    front: Vec<Stage>,
    /// Lags in samples, comma-separated and rising, or none, or choose: the differences from the samples at these
    /// lags are further channels
    ///
    /// With --emission autoregressive the lags of the samples that it predicts from. A device keeps as many samples
    /// as the
    /// longest lag [default: by --effort; for fisher one model for each of 1,2,4,8,16,32; 1,2 for an emission with a past;
    /// else none].
    #[arg(long, value_name = "LAGS", value_parser = lags, allow_negative_numbers = true)]
    lags: Option<LagsName>,
    /// Codebooks per dilation of 1, 2, 4, ... 32 samples, in addition to the class models
    ///
    /// A codebook has eight patterns of nine samples, of one channel or of a sum of channels. It counts which of
    /// them is most similar to each stretch of the stream, regardless of offset and amplitude. A device keeps the
    /// samples that the patterns span [default: 4 beside one model per
    /// lag, where --effort takes these (thorough also tries 0 and 8); else 0].
    #[arg(long, value_name = "N")]
    codebooks: Option<usize>,
    /// Levels of similarity per pattern, 0 to 7, at quantiles of the training data; a codebook also counts how often
    /// each is exceeded
    ///
    /// Each level costs a row of weights per pattern and sample [default: 2, fewer where limits leave no room].
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u8).range(..=7))]
    levels: Option<u8>,
    /// Weights of the codebooks' counts against the models' scores, comma-separated; the best is chosen
    ///
    /// [default: 1,4 beside models of all classes, else 1]
    #[arg(long, value_name = "WEIGHT", value_delimiter = ',', value_parser = codebook_weight,
          allow_negative_numbers = true)]
    codebook_weight: Vec<f64>,
    /// Limit of flash for the model in bytes: larger configurations are not tried
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true)]
    max_flash: Option<usize>,
    /// Limit of RAM for the state of a stream in bytes
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true)]
    max_ram: Option<usize>,
    /// Limit of multiply-adds per sample
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_operations: Option<usize>,
    /// Transitions between states
    ///
    /// [default: automatic; ergodic with --states, and for kernel machines]
    #[arg(long, value_parser = names::topology())]
    topology: Option<Topology>,
    /// Initialisations of Baum-Welch; the likeliest fit is kept [default: 1]
    #[arg(long, value_name = "R")]
    restarts: Option<usize>,
    /// Seed of the first initialisation; the others count up [default: 1]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Limit of Baum-Welch passes [default: 100; 10 for models of all classes]
    #[arg(long, value_name = "PASSES")]
    iterations: Option<usize>,
    /// Baum-Welch stops when a pass, the fifth or later, changes the penalised log-likelihood by less, in nats per sample
    /// [default: 0.00001]
    #[arg(long, value_name = "NATS", value_parser = not_negative, allow_negative_numbers = true)]
    tolerance: Option<f64>,
    /// Smallest standard deviations of a state, comma-separated, as fractions of the channel's in its class
    ///
    /// Inner cross-validation chooses among several [default: 0.3,0.03; --effort thorough adds 0.1 and 0.01; 0.03 for one
    /// model per lag that is taken untried].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = floor,
        allow_negative_numbers = true)]
    pub(super) std_floor: Vec<f64>,
    /// Jittered copies of each training series (data augmentation), comma-separated; 0 for none
    ///
    /// A copy differs from its series as a recording of another device would. Of several numbers the first is used,
    /// unless another is better by two standard errors on held-out data [default: 2 where channels form vectors, 2,0
    /// above --effort quick; else, and
    /// for kernel machines, none].
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true)]
    copies: Vec<usize>,
    /// Channels that form vectors, comma-separated in threes along x, y and z; or none
    ///
    /// Vectors are rotated and mirrored about zero. Subtract the offset of a channel first, or leave the channel out
    /// [default: channels named by a stem and x, y, z, as ax, ay, az; none where --axial is given].
    #[arg(long, value_name = "CHANNELS", value_delimiter = ',')]
    vectors: Vec<String>,
    /// Channels that form axial vectors (turning rates, magnetic fields); a mirror image changes the sign of their
    /// other components
    ///
    /// [default: channels with a stem such as w, gyro or mag; none where --vectors is given]
    #[arg(long, value_name = "CHANNELS", value_delimiter = ',')]
    axial: Vec<String>,
    /// Standard deviation in degrees of the rotation of a copy's vectors; 0 for none [default: 10]
    #[arg(long, value_name = "DEGREES", value_parser = not_negative, allow_negative_numbers = true)]
    rotation: Option<f64>,
    /// Standard deviation of the logarithm of each channel's gain in a copy; the channel's mean stays [default: 0.05]
    #[arg(long, value_name = "FRACTION", value_parser = not_negative, allow_negative_numbers = true)]
    gain: Option<f64>,
    /// Channels that change sign in a mirror image, comma-separated, or none: each training series is mirrored too
    ///
    /// [default: none, or across x, y or z of channels that form vectors (ax, ay, az): whichever is best in inner folds; none for kernel machines]
    #[arg(long, value_name = "CHANNELS", value_delimiter = ',')]
    mirror: Vec<String>,
    /// Linear classifier or kernel machine that is trained on the features (all --classifier but bayes)
    ///
    /// [default: ridge on one model of all classes, or one per lag, where --effort takes these; else svm; kernel-svm for
    /// kernel machines, which take learners on a Gram matrix]
    #[arg(long, value_parser = registered(LEARNERS, |one| PossibleValue::new(one.name).help(one.about)))]
    learner: Option<&'static Learner>,
    /// Weights of the classes in training and in the choice of settings; for bayes only in the choice of models
    /// [default: even]
    #[arg(long, value_parser = names::class_weight())]
    class_weight: Option<ClassWeight>,
    /// Divide decision values by nothing, by the number of samples, or by its square root (all classifiers but bayes) [default: per-sample]
    #[arg(long, value_name = "HOW", visible_alias = "normalization")]
    normalisation: Option<NormalisationName>,
    /// Scaling of the features, comma-separated (all classifiers but bayes); inner cross-validation chooses
    /// [default: all that fit]
    #[arg(long, value_name = "HOW", value_delimiter = ',')]
    scaling: Vec<ScalingName>,
    /// Costs C of an error, comma-separated (all classifiers but bayes); inner cross-validation chooses
    /// [default: 0.1,1,10; up to 10000 for ridge and kernel-ridge]
    #[arg(long = "c", value_name = "LIST", value_delimiter = ',', value_parser = positive,
        allow_negative_numbers = true)]
    c: Vec<f64>,
    /// Models whose scores or counts are features: that of one class, all (one per class), universal, or each-lag
    ///
    /// universal: one model of the series of all classes, without their labels. each-lag: such a model for each of --lags,
    /// on the channels and their differences at that lag (real channels; classifiers fisher and count). Without --lags,
    /// each-lag is what --effort quick takes: lags 1,2,4 to 32 as far as the series reach, --codebooks 4, --learner ridge and
    /// whitened among --scaling, except what you set; where quick takes no such model (--effort normal, count, another
    /// --emission), lags 1,2,4,8. Not for bayes and top [default: by --effort, else all].
    #[arg(long, value_name = "CLASS|all|universal|each-lag")]
    score_model: Option<String>,
    /// Leave log-likelihoods out of the features (classifier fisher, and kernel machines)
    #[arg(long)]
    no_likelihood: bool,
    #[arg(skip)]
    kernels: ScoreKernels,
    #[arg(skip)]
    emitting: Emitting,
}

/// Parameters of the kernels on scores. `gram` has its own by these names.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Training")]
pub(super) struct ScoreKernels {
    /// Widths of the Gaussian kernel, comma-separated, in units in which scores have a mean square norm of one
    /// (gaussian) [default: 1,2,4]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = positive,
        allow_negative_numbers = true)]
    sigma: Vec<f64>,
    #[command(flatten)]
    numbers: Numbers<true>,
    /// Limit of training windows that a kernel machine keeps, which bounds its flash and time
    /// (kernel machines) [default: as many as it needs]
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(1..=4096))]
    landmarks: Option<u32>,
    /// Rate of the mean map: different symbols, and different states, have the similarity exp(-L) (latent-mean-map,
    /// empirical-mean-map) [default: 1]
    #[arg(long, value_name = "L", value_parser = rate, allow_negative_numbers = true)]
    lambda: Option<f64>,
    /// Symbols of a word before its last; commands have the option elsewhere.
    #[arg(skip)]
    order: Option<u8>,
}

impl ScoreKernels {
    /// Sets the number of symbols of a word before its last.
    pub(super) fn with_order(&self, order: Option<u8>) -> Self {
        Self { order, ..self.clone() }
    }

    /// Widths given.
    pub(super) fn sigma(&self) -> &[f64] {
        &self.sigma
    }

    /// The other numbers of kernels on scores that are given.
    pub(super) fn numbers(&self) -> &[(&'static NumberParameter, f64)] {
        self.numbers.given()
    }

    /// The rate, where it is given.
    pub(super) fn lambda(&self) -> Option<f64> {
        self.lambda
    }
}

/// Lags, or none, or a choice of some.
#[derive(Clone, Debug)]
enum LagsName {
    Choose,
    These(Lags),
}

fn lags(text: &str) -> Result<LagsName, LagError> {
    Ok(if text == "choose" { LagsName::Choose } else { LagsName::These(text.parse()?) })
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum NormalisationName {
    None,
    #[value(alias = "per_sample")]
    PerSample,
    #[value(alias = "per_root_sample")]
    PerRootSample,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum ScalingName {
    /// Unscaled
    Practical,
    /// Divided by the square root of the diagonal of the training data's information matrix
    Diagonal,
    /// Whitened by the training data's information matrix
    Whitened,
    /// Whitened by the information matrix of the models, estimated from sampled sequences
    Sampled,
    /// Whitened by the exact information matrix of the models, over all sequences of a length (a few symbols)
    Exact,
}

/// Names three by three.
fn vectors(option: &str, names: &[String], axial: bool) -> Result<Vec<Vector>, Failure> {
    if names == ["none"] {
        return Ok(Vec::new());
    }
    let three = |names: &[String]| {
        let channels = names.to_vec().try_into().map_err(|_| {
            let count = names.len();
            let wanted = "channels three by three, along x, y and z, or none";
            Failure::input(
                Topic::VectorsLeftOver,
                format!("{option} takes {wanted}: {count} are left over"),
            )
        })?;
        Ok(Vector { channels, axial })
    };
    names.chunks(3).map(three).collect()
}

impl TrainingArguments {
    /// Keeps groups by a column together, and makes the search small.
    pub(super) fn by_group(column: &str) -> Self {
        let group = Some(column.to_owned());
        Self { group, effort: Some(Effort::Quick), ..Self::default() }
    }

    /// Mirrors every training series in these channels too.
    pub(super) fn mirrored(self, channels: &[&str]) -> Self {
        Self { mirror: channels.iter().map(|&channel| channel.to_owned()).collect(), ..self }
    }

    /// Fixes all choices, so that no inner cross-validation is needed.
    ///
    /// There is one model per class, scores are divided by the root of the information's diagonal, and there is one value of C
    /// and one floor of standard deviations.
    pub(super) fn without_choice(self, c: f64, std_floor: f64) -> Self {
        Self {
            score_model: Some("all".to_owned()),
            scaling: vec![ScalingName::Diagonal],
            c: vec![c],
            std_floor: vec![std_floor],
            ..self
        }
    }

    /// Adds the parameters of kernels on scores, and of emissions.
    pub(super) fn with(&self, kernels: &ScoreKernels, emitting: &Emitting) -> Self {
        Self { kernels: kernels.clone(), emitting: emitting.clone(), ..self.clone() }
    }

    /// Removes the emissions, for models without hidden states: components are their own.
    pub(super) fn without_emission(&self) -> Self {
        Self { emitting: Emitting::default(), ..self.clone() }
    }

    /// Hidden states, or numbers of one, where they are given.
    pub(super) fn states(&self) -> Option<usize> {
        self.states
    }

    /// Gaussians of a mixture.
    pub(super) fn components(&self) -> Option<usize> {
        self.emitting.components()
    }

    /// Emission of the hidden states of models that would be fitted to the data.
    pub(super) fn emission(&self, data: &Dataset) -> Result<EmissionSummary, Failure> {
        let mut fit = BaumWelch::default();
        self.emitting.set(&mut fit)?;
        // Training refuses a front end that does not fit.
        let heard = Front::of(self.front.clone()).kind(data.kind());
        let heard = heard.unwrap_or_else(|_| data.kind().clone());
        EmissionSummary::of_fit(&fit, &heard).map_err(|error| Failure::of(data, error))
    }

    /// Returns the checked request for a classifier.
    pub(super) fn request(
        &self,
        kind: ClassifierKind,
        cutting: &Cutting,
    ) -> Result<Request, Failure> {
        let mut request = Request::new(kind).trying(self.effort.unwrap_or_default());
        self.set_models(&mut request)?;
        self.set_lags(&mut request)?;
        self.set_augmentation(&mut request.augment)?;
        let (flash, ram) = (self.max_flash, self.max_ram);
        request.limits = Limits { flash, ram, operations: self.max_operations };
        request.windowing = cutting.windowing();
        request.group.clone_from(&self.group);
        request.with_likelihood &= !self.no_likelihood;
        request.learner = self.learner;
        set(&mut request.class_weight, self.class_weight);
        if !self.scaling.is_empty() {
            let scaling = |name: &ScalingName| match name {
                ScalingName::Practical => Scaling::Practical,
                ScalingName::Diagonal => Scaling::Diagonal,
                ScalingName::Whitened => Scaling::Whitened,
                ScalingName::Sampled => Scaling::Sampled,
                ScalingName::Exact => Scaling::Exact,
            };
            request.scalings = each_once(&self.scaling).iter().map(scaling).collect();
        }
        let weights = (&mut request.codebook_weights, &self.codebook_weight);
        let sigma = (&mut request.sigma, &self.kernels.sigma);
        for (to, given) in [(&mut request.c, &self.c), sigma, weights] {
            to.clone_from(given);
            to.sort_by(f64::total_cmp);
            to.dedup();
        }
        let landmarks = self.kernels.landmarks.and_then(|most| usize::try_from(most).ok());
        request.landmarks = landmarks.and_then(NonZeroUsize::new).filter(|_| !kind.compiles());
        request.numbers = self.kernels.numbers.given().to_vec();
        set(&mut request.lambda, self.kernels.lambda);
        set(&mut request.order, self.kernels.order.map(usize::from));
        Ok(request)
    }

    /// Sets the models, and how they are fitted.
    fn set_models(&self, request: &mut Request) -> Result<(), Failure> {
        let fit = &mut request.baum_welch;
        self.emitting.set(fit)?;
        set(&mut fit.states, self.states);
        set(&mut fit.topology, self.topology.or(self.states.map(|_| Topology::Ergodic)));
        let mixed = fit.emission.is_some_and(|family| family.has_components());
        if fit.topology == Topology::Positions && !mixed {
            let given =
                named([("--restarts", self.restarts.is_some()), ("--seed", self.seed.is_some())]);
            note_idle(&given, "models of one state per position have one initialisation")?;
        }
        set(&mut fit.restarts, self.restarts);
        set(&mut fit.seed, self.seed);
        set(&mut fit.iterations, self.iterations);
        set(&mut fit.tolerance, self.tolerance);
        for &floor in &self.std_floor {
            BaumWelch { std_floor: floor, ..fit.clone() }.validate()?;
        }
        set(&mut fit.std_floor, self.std_floor.first().copied());
        fit.validate()?;
        set(&mut request.one_model_iterations, self.iterations);
        request.states = self.states.into_iter().collect();
        request.topologies = self.topology.into_iter().collect();
        request.std_floors.clone_from(&self.std_floor);
        request.front = Front::of(self.front.clone());
        request.codebooks = self.codebooks.into_iter().collect();
        request.levels = self.levels.map(usize::from);
        request.normalisations = match self.normalisation {
            None => Vec::new(),
            Some(NormalisationName::None) => vec![Normalisation::NONE],
            Some(NormalisationName::PerSample) => vec![Normalisation::PER_SAMPLE],
            Some(NormalisationName::PerRootSample) => vec![Normalisation::PER_ROOT_SAMPLE],
        };
        Ok(())
    }

    /// Lags, and whose models see them.
    fn set_lags(&self, request: &mut Request) -> Result<(), Failure> {
        let emission = request.baum_welch.emission;
        let of_past = emission.filter(|family| family.has_past()).map(|family| family.name());
        let none = matches!(&self.lags, Some(LagsName::These(none)) if none.is_empty());
        if let Some(name) = of_past.filter(|_| none) {
            let what = format!(
                "--emission {name} predicts each sample from earlier ones: name them, as --lags 1,2"
            );
            return Err(Failure::input(Topic::NeedsLags, what));
        }
        request.lags = match &self.lags {
            None => LagChoice::Usual,
            Some(LagsName::Choose) => LagChoice::Choose,
            Some(LagsName::These(lags)) => LagChoice::Given(vec![lags.clone()]),
        };
        request.models = match self.score_model.as_deref() {
            None => ModelChoice::Usual,
            Some("each-lag") => ModelChoice::EachLag,
            Some("all") => ModelChoice::Given(ScoreModels::All),
            Some("universal") => ModelChoice::Given(ScoreModels::Universal),
            Some(class) => ModelChoice::Given(ScoreModels::Class(class.to_owned())),
        };
        if let Some(name) = of_past.filter(|_| request.models == ModelChoice::EachLag) {
            let what = format!(
                "--score-model each-lag and --emission {name} both use earlier samples: leave one of them out"
            );
            return Err(Failure::input(Topic::ConflictingOptions, what));
        }
        if request.models == ModelChoice::EachLag && none {
            let what = "--score-model each-lag fits one model per lag; it needs --lags";
            return Err(Failure::input(Topic::NeedsLags, what));
        }
        Ok(())
    }

    /// Sets the augmentation of training series.
    fn set_augmentation(&self, augment: &mut Augment) -> Result<(), Failure> {
        if let Some((&first, others)) = self.copies.split_first() {
            (augment.copies, augment.other_copies) = (Some(first), others.to_vec());
        }
        if !(self.vectors.is_empty() && self.axial.is_empty()) {
            let mut given = vectors("--vectors", &self.vectors, false)?;
            given.extend(vectors("--axial", &self.axial, true)?);
            augment.vectors = Vectors::Given(given);
        }
        set(&mut augment.rotation_degrees, self.rotation);
        set(&mut augment.gain, self.gain);
        if !self.mirror.is_empty() {
            let channels = if self.mirror == ["none"] { &[] } else { self.mirror.as_slice() };
            augment.mirror = Mirror::Channels(channels.to_vec());
        }
        Ok(())
    }
}

/// Replaces a default by the given value, if any.
fn set<T: Copy>(to: &mut T, given: Option<T>) {
    *to = given.unwrap_or(*to);
}
