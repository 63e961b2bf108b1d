//! The series that a trial is trained on, and the stages of training on them.

use std::num::NonZeroUsize;

use fishweir_core::classify::Normalisation;

use crate::classifier::{Choice, Classifier, Codebooks, Form, Provenance, Rule, ScoreModels};
use crate::data::internals::{FrontEnd, centre_and_scale_of};
use crate::data::{Dataset, Kind, Lags, SamplesView, Widened, Window, Windows};
use crate::elementary::Elementary;
use crate::fit::BaumWelch;
use crate::kernel::PARAMETERS_AT_MOST;
use crate::learn::error::TrainError;
use crate::learn::features::scaler::Scales;
use crate::learn::features::{FeatureMap, Features};
use crate::learn::kind::ClassifierKind;
use crate::learn::machine::on_scores::ScorePath;
use crate::learn::machine::{Examples, Path};
use crate::learn::room::check_features;
use crate::learn::selection::choice::Verdict;
use crate::learn::solver::expansion::KERNEL_WINDOWS;
use crate::learn::solver::loss::ClassWeight;
use crate::learn::solver::matrix::Matrix;
use crate::learn::space::listing::middle_length;
use crate::learn::space::trial::Trial;
use crate::learn::training::fits::Fits;
use crate::learn::training::held_out::LastHeldOut;
use crate::learn::variation::{AugmentError, Augmented, Variation};
use crate::parallel::each;
use crate::runtime::{Family, Hmm, Shape};
use crate::words::{counted, short};

/// The logarithms of shares, by Laplace's rule, which keeps a class with no window possible.
pub(crate) fn log_shares(counts: &[usize]) -> Vec<f64> {
    let all = counts.iter().map(|count| count + 1).sum::<usize>() as f64;
    counts.iter().map(|&count| ((count + 1) as f64 / all).portable_ln()).collect()
}

/// Machines of a scaling, for any kind of training.
pub(crate) enum AnyPath {
    /// Machines on features, in the primal.
    Linear(Path),
    /// Machines on kernels of features, in the dual.
    OnScores(ScorePath),
}

impl AnyPath {
    /// Decisions on unscaled examples, `[width and cost][example]`.
    pub(crate) fn judge(&self, examples: &Examples) -> Vec<Vec<Verdict>> {
        match self {
            Self::Linear(path) => path.judge(examples),
            Self::OnScores(path) => path.judge(examples),
        }
    }
}

/// Caches shared by the trainings on a data set: no model is fitted, and no features are computed, twice in a row.
pub(crate) struct Shared<'a> {
    pub(crate) fits: Fits<'a>,
    pub(crate) last: LastHeldOut,
}

impl<'a> Shared<'a> {
    /// Nothing fitted yet.
    pub(crate) fn new(data: &'a Dataset) -> Self {
        Self { fits: Fits::new(data), last: LastHeldOut::default() }
    }
}

/// Some series of a data set, with the shared results of all stages of a trial on them.
pub(crate) struct TrainingSet<'a> {
    pub(crate) shared: &'a Shared<'a>,
    pub(crate) data: &'a Dataset,
    pub(crate) variation: Variation<'a>,
    labels: Vec<usize>,
    front: FrontEnd,
    pub(crate) trial: &'a Trial,
    pub(crate) progress: &'a (dyn Fn() + Sync),
}

impl<'a> TrainingSet<'a> {
    /// Training set of a trial in a space that was [checked](crate::learn::Space::check).
    pub(crate) fn new(
        shared: &'a Shared<'a>,
        series: &'a [usize],
        trial: &'a Trial,
        progress: &'a (dyn Fn() + Sync),
    ) -> Result<Self, TrainError> {
        let data = shared.fits.data();
        let variation = Variation::of(data, series, &trial.augment)?;
        let labels = data.labels()?;
        let front = trial.request.front.over(data.kind()).map_err(TrainError::Front)?;
        let windowing = trial.request.windowing;
        if trial.form.codebooks > 0 {
            let middle = middle_length(data, series, windowing, &front);
            if Codebooks::drawn(middle, trial.form.codebooks, 0).is_none() {
                return Err(TrainError::ShortCodebooks(middle));
            }
        }
        Ok(Self { shared, data, variation, labels, front, trial, progress })
    }

    /// Channels that change sign in mirror images; empty while that is to be chosen.
    pub(crate) fn mirror(&self) -> &[String] {
        self.trial.augment.mirrors(self.data.kind()).unwrap_or_default()
    }

    /// Some of the training series, varied.
    pub(crate) fn varied<'s>(&self, series: &'s [usize]) -> Result<Augmented<'s>, TrainError>
    where
        'a: 's,
    {
        Ok(self.variation.apply(series)?)
    }

    /// Samples as models see them: through the front end, with their past at lags, or differences from it.
    pub(crate) fn widen<'s>(&self, samples: SamplesView<'s>) -> Widened<'s> {
        self.widen_by(&self.trial.form.lags, samples)
    }

    /// Widens samples by other lags.
    pub(crate) fn widen_by<'s>(&self, lags: &Lags, samples: SamplesView<'s>) -> Widened<'s> {
        self.front.widen(samples, lags)
    }

    /// Input of the models at some lags, by names.
    pub(crate) fn seen_at(&self, lags: &Lags) -> Kind {
        lags.kind(&self.front.kind(self.data.kind()))
    }

    /// Mean and standard deviation over some series of each channel that models see.
    fn units(&self, series: &[usize]) -> (Vec<f64>, Vec<f64>) {
        let views = series.iter().map(|&index| self.data.series()[index].samples.view());
        let wide: Vec<Widened<'_>> = views.map(|view| self.widen(view)).collect();
        let views: Vec<SamplesView<'_>> = wide.iter().map(Widened::view).collect();
        centre_and_scale_of(&self.seen_at(&self.trial.form.lags), &views)
    }

    /// The windows of all series.
    pub(crate) fn windows(&self) -> Windows<'_> {
        self.data.windows(self.trial.request.windowing.as_ref())
    }

    /// The options of Baum-Welch that models of a settled topology were fitted with.
    pub(crate) fn baum_welch(&self, settled: &Form) -> BaumWelch {
        BaumWelch {
            rows: self.trial.form.lags.rows(),
            topology: settled.topology,
            states: settled.states,
            ..self.trial.baum_welch.clone()
        }
    }

    pub(crate) fn classes(&self) -> &[String] {
        self.data.classes()
    }

    pub(crate) fn class_weight(&self) -> ClassWeight {
        self.trial.request.class_weight
    }

    pub(crate) fn label(&self, series: usize) -> usize {
        self.labels[series]
    }

    /// The logarithms of the classes' shares of the windows of some series.
    pub(crate) fn log_priors(&self, series: &[usize]) -> Vec<f64> {
        let (windows, mut counts) = (self.windows(), vec![0_usize; self.data.classes().len()]);
        windows.of_all(series).for_each(|window| counts[self.labels[window.series]] += 1);
        log_shares(&counts)
    }

    /// The Bayes classifier over fitted class models; priors are the shares of the windows.
    pub(crate) fn bayes(&self, series: &[usize], models: Vec<Hmm>) -> Classifier {
        let classes = self.data.classes();
        let (centre, scale) = self.units(series);
        let states = models.iter().map(Hmm::states).max().unwrap_or(0);
        let emits = |family: &'static dyn Family| {
            let shape = models.first().map_or_else(Shape::default, |model| model.emission.shape());
            format!(", {}", family.words(shape))
        };
        let emissions = self.trial.baum_welch.emission.map_or_else(String::new, emits);
        let of = match self.trial.universal() {
            true if self.trial.form.lags.is_apart() => "a model of all classes for each lag, ",
            true => "one model of all classes, ",
            false => "",
        };
        let differences = match &self.trial.form.lags {
            none if none.is_empty() => String::new(),
            lags => format!(", {}", lags.words()),
        };
        let front = match &self.trial.request.front {
            none if none.is_empty() => String::new(),
            front => format!(", {}", front.words()),
        };
        Classifier {
            method: ClassifierKind::Bayes.to_string(),
            observations: self.data.kind().into(),
            classes: classes.to_vec(),
            front: self.trial.request.front.clone(),
            lags: self.trial.form.lags.clone(),
            centre,
            scale,
            models,
            codebooks: None,
            normalisation: Normalisation::NONE,
            rule: Rule::bayes(&self.log_priors(series)),
            confidence: None,
            teaching: None,
            provenance: Provenance {
                windowing: self.trial.request.windowing,
                notes: vec![match self.trial.request.kind {
                    ClassifierKind::EmpiricalMap => format!(
                        "words of {}, lambda {}",
                        counted(self.trial.request.order + 1, "symbol"),
                        short(self.trial.request.lambda)
                    ),
                    _ => format!(
                        "{of}{states} states{emissions}{front}{differences}, Baum-Welch with {} from seed {}",
                        counted(self.trial.baum_welch.restarts, "restart"),
                        self.trial.baum_welch.seed
                    ),
                }],
                ..Provenance::of(self.data, series).behind(&self.trial.request.front)
            },
        }
    }

    /// The features of models that were fitted to some series.
    pub(crate) fn feature_map(
        &self,
        features: Features,
        series: &[usize],
        models: &[Hmm],
    ) -> Result<FeatureMap, TrainError> {
        let classes = self.data.classes();
        let size = self.data.kind().size();
        let models = match &self.trial.form.models {
            _ if self.trial.request.kind == ClassifierKind::EmpiricalMap => vec![Hmm::even(size)],
            ScoreModels::All | ScoreModels::Universal => models.to_vec(),
            ScoreModels::Class(name) => {
                let index = classes
                    .iter()
                    .position(|class| class == name)
                    .ok_or_else(|| TrainError::NoSuchClass(name.clone(), classes.join(", ")))?;
                vec![models[index].clone()]
            }
        };
        // Scores of means are taken in units of the channels' scale over the same series: what is held
        // back is not looked at.
        let (_, scale) = self.units(series);
        let normalisation = self.trial.form.normalisation;
        let with_likelihood = self.trial.request.with_likelihood;
        let map = FeatureMap::new(features, models, scale, with_likelihood, normalisation);
        let channels = self.front.width(self.data.kind().size());
        let codebooks = self.codebooks(series, map.units_of(channels));
        Ok(map.behind(&self.trial.form.lags, channels).beside(codebooks))
    }

    /// Codebooks drawn from windows of some series, whose channels have a scale; `None` without codebooks.
    fn codebooks(&self, series: &[usize], scale: &[f64]) -> Option<Codebooks> {
        let each = self.trial.form.codebooks;
        if each == 0 {
            return None;
        }
        let windows = self.windows();
        let cut = windows.of_all(series).map(|window| self.widen_by(&Lags::NONE, window.samples));
        let cut: Vec<Widened<'_>> = cut.collect();
        let views: Vec<SamplesView<'_>> = cut.iter().map(Widened::view).collect();
        let rows: Vec<_> = views.iter().filter_map(SamplesView::rows).collect();
        Some(Codebooks::draw(&rows, scale, each)?.with_levels(&rows, self.trial.form.levels))
    }

    /// The windows of some series, varied or not, as examples. Windows that a model makes
    /// impossible are an error: the smoothing of the models exists to prevent them. What was
    /// [kept](LastHeldOut::keep) of the series themselves is not extracted again.
    pub(crate) fn examples(
        &self,
        map: &FeatureMap,
        varied: &Augmented<'_>,
    ) -> Result<Examples, TrainError> {
        let (own, all) = (varied.series(), varied.all());
        let kept = self.shared.last.of(map, self.trial, own);
        let serves = |mirror: &[String]| mirror.is_empty() || *mirror == *self.mirror();
        let Some(kept) = kept.filter(|kept| serves(&kept.held_out.mirror)) else {
            return self.examples_of(map, varied, &all);
        };
        let plain = kept.held_out.mirror.is_empty();
        let there = if plain { own.len() } else { varied.exact().len() };
        let mut examples = Examples::clone(&kept.held_out.examples);
        check_features(examples.labels.len() * (all.len() / there.max(1)), map.len())?;
        examples.append(&self.examples_of(map, varied, &all[there..])?);
        Ok(examples)
    }

    /// The windows of some of the series that were varied, or of their variants.
    pub(crate) fn examples_of(
        &self,
        map: &FeatureMap,
        varied: &Augmented<'_>,
        some: &[usize],
    ) -> Result<Examples, TrainError> {
        let windows = varied.data.windows(self.trial.request.windowing.as_ref());
        let cut: Vec<_> = windows.of_all(some).collect();
        self.examples_in(map, (&varied.data, varied.first_copy()), &cut)
    }

    /// Windows of a data set whose series are copies from one on, as examples.
    pub(crate) fn examples_in(
        &self,
        map: &FeatureMap,
        (data, first_copy): (&Dataset, usize),
        cut: &[&Window<'_>],
    ) -> Result<Examples, TrainError> {
        check_features(cut.len(), map.len())?;
        let parts: Vec<_> = cut.chunks(32).collect();
        let of_part = |part: usize| {
            let wide: Vec<Widened<'_>> =
                parts[part].iter().map(|window| self.widen(window.samples)).collect();
            map.extract(&wide.iter().map(Widened::view).collect::<Vec<_>>())
        };
        let features: Vec<Option<Vec<f64>>> =
            each(parts.len(), &of_part).into_iter().flatten().collect();
        if let Some(place) = features.iter().position(Option::is_none) {
            let window = cut[place];
            if window.series >= first_copy {
                let what = "is impossible under a model fitted to the series themselves";
                let (options, kind) = (&self.trial.augment, self.data.kind());
                return Err(AugmentError::wild(window.source, what, options, kind).into());
            }
            let seen = self.widen(window.samples);
            let scores = &self.trial.form.models;
            return Err(TrainError::impossible(data, window, seen.view(), map, scores));
        }
        let mut rows = Matrix::new(map.len());
        features.iter().flatten().for_each(|features| rows.push(features));
        let labels = data.labels()?;
        let labels = cut.iter().map(|window| labels[window.series]).collect();
        let lengths = cut.iter().map(|window| self.front.rows(window.samples.len())).collect();
        Ok(Examples { rows, labels, lengths })
    }

    /// Refuses more windows of some series than a Gram matrix takes, where one is needed.
    pub(crate) fn check_windows(&self, series: &[usize]) -> Result<(), TrainError> {
        let (kind, landmarks) = (self.trial.request.kind, self.trial.request.landmarks);
        let learner = self.trial.learner;
        // A variant of a series is cut as the series is.
        let cut = self.windows().of_all(series).count();
        let count = cut.saturating_mul(self.variation.variants());
        match kind.compiles() || landmarks.is_some() {
            true if learner.on_kernel() => learner.check_windows(count),
            false if count > KERNEL_WINDOWS => Err(TrainError::TooManyStored(count, kind)),
            _ => Ok(()),
        }
    }

    /// Machines of a scaling for every width and rising values of C.
    pub(crate) fn path(
        &self,
        examples: &Examples,
        map: &FeatureMap,
        scales: Scales,
        sigma: &[Option<f64>],
        c: &[f64],
    ) -> Result<AnyPath, TrainError> {
        let learner = self.trial.learner;
        let classes = (self.data.classes().len(), self.trial.request.class_weight);
        if self.trial.request.kind.compiles() {
            let path = Path::train(learner, examples, map, scales, c, classes)?;
            return Ok(AnyPath::Linear(path));
        }
        let kernels = self.trial.settings.kernels.iter();
        let kernels = kernels.filter(|(width, _)| sigma.contains(width));
        let kernels: Vec<_> = kernels.map(|(_, kernel)| *kernel).collect();
        let learner = (learner, self.trial.request.landmarks.map(NonZeroUsize::get));
        let path = ScorePath::train(learner, &kernels, examples, map, scales, c, classes)?;
        Ok(AnyPath::OnScores(path))
    }

    /// Describes the choice.
    pub(crate) fn notes(&self, chosen: &Choice) -> Vec<String> {
        let (learner, augment) = (self.trial.learner, &self.trial.augment);
        let weight = match self.trial.request.class_weight {
            ClassWeight::Even => "",
            ClassWeight::Balanced => ", classes balanced",
        };
        let kernel = match self.trial.request.kind {
            ClassifierKind::OnScores(kind) => {
                format!(", {} Fisher scores", kind.words(self.trial.request.number_of(kind)))
            }
            _ => String::new(),
        };
        let landmarks = match self.trial.request.landmarks {
            Some(most) if !kernel.is_empty() => {
                format!(", by at most {}", counted(most.get(), "landmark"))
            }
            _ => String::new(),
        };
        let setting = chosen.setting;
        let how = chosen.by;
        let mut notes = vec![format!(
            "{learner}{weight}{kernel}{landmarks}: score scaled by {}, C = {}, {how}",
            setting.form(),
            short(setting.c)
        )];
        if self.trial.settings.without_whitening {
            notes.push(format!(
                "whitened scores were not tried: models have more than {PARAMETERS_AT_MOST} parameters"
            ));
        }
        if self.trial.form.codebooks > 0 {
            let each = counted(self.trial.form.codebooks, "codebook");
            let levels = match self.trial.form.levels {
                0 => String::new(),
                levels => format!(", {} of each likeness", counted(levels, "level")),
            };
            notes.push(format!("{each} for each dilation{levels}"));
        }
        notes.push(format!("training series: {}", augment.describe(self.data.kind())));
        notes
    }
}
