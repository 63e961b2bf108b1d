//! One training's data set, and the stages of training on it.

use std::sync::Arc;

use fishweir_core::classify::Normalisation;
use rayon::prelude::*;

use super::augment::{Augmented, Mirror};
use super::choice::{Choice, Setting};
use super::features::{FeatureMap, Features, Scaling};
use super::loss::ClassWeight;
use super::machine::{Examples, KERNEL_WINDOWS, Path};
use super::one_model::{centre_and_scale, size};
use super::options::{ClassifierKind, ScoreModels, TrainError, TrainOptions};
use super::score_machine::ScorePath;
use super::svm::Matrix;
use super::train::{FitKey, Trainer};
use crate::classifier::{Classifier, Observations, Output, Provenance};
use crate::data::{Dataset, Folds, Kind, SamplesView};
use crate::fit::Fit;
use crate::runtime::Hmm;

pub(super) fn models_of(fits: &[Fit]) -> Vec<Hmm> {
    fits.iter().map(|fit| fit.model.clone()).collect()
}

/// Machines of a scaling, whatever they are trained on.
pub(super) enum AnyPath {
    /// On features, in the primal.
    Linear(Path),
    /// On kernels of them, in the dual.
    OnScores(ScorePath),
}

impl AnyPath {
    /// Whether unscaled examples are decided rightly, `[width and cost][example]`.
    fn judge(&self, examples: &Examples) -> Vec<Vec<bool>> {
        match self {
            Self::Linear(path) => path.judge(examples),
            Self::OnScores(path) => path.judge(examples),
        }
    }
}

/// A data set with what all stages of its training share.
pub(super) struct Problem<'a> {
    trainer: &'a Trainer<'a>,
    data: &'a Dataset,
    augmented: &'a Augmented,
    labels: Vec<usize>,
    options: &'a TrainOptions,
    progress: &'a (dyn Fn() + Sync),
}

impl<'a> Problem<'a> {
    pub(super) fn new(
        trainer: &'a Trainer<'a>,
        augmented: &'a Augmented,
        options: &'a TrainOptions,
        progress: &'a (dyn Fn() + Sync),
    ) -> Result<Self, TrainError> {
        let data = &augmented.data;
        let labels = data.labels()?;
        let found = data.classes().len();
        if found < 2 {
            return Err(TrainError::OneClass { file: data.source().to_owned(), found });
        }
        let log_odds = options.kind.features() == Some(Features::LogOdds);
        if log_odds && options.scores != ScoreModels::All {
            return Err(TrainError::NeedsAllModels);
        }
        if options.scalings.is_empty() {
            return Err(TrainError::NoCandidate("scaling"));
        }
        if options.c.is_empty() {
            return Err(TrainError::NoCandidate("value of C"));
        }
        options.check_kernels(data.kind())?;
        Ok(Self { trainer, data, augmented, labels, options, progress })
    }

    /// A model a class, fitted to whole series and their mirror images.
    pub(super) fn fit_models(&self, series: &[usize]) -> Result<Arc<Vec<Fit>>, TrainError> {
        let exact = self.augmented.exact(series);
        let mirrored = exact.len() > series.len();
        let key = FitKey {
            series: exact.clone(),
            baum_welch: self.options.baum_welch.clone(),
            mirror: mirrored.then(|| self.options.augment.mirror.clone()),
        };
        self.trainer.shared(key, || self.fit_anew(&exact))
    }

    fn fit_anew(&self, series: &[usize]) -> Result<Vec<Fit>, TrainError> {
        let (_, scale) = centre_and_scale(self.data, series);
        let classes = self.data.classes();
        let of_class = |class: usize| -> Vec<SamplesView<'_>> {
            let own = series.iter().filter(|&&index| self.labels[index] == class);
            own.map(|&index| self.data.series()[index].samples.view()).collect()
        };
        let sequences: Vec<_> = (0..classes.len()).map(of_class).collect();
        let kinds: Vec<&[SamplesView<'_>]> = sequences.iter().map(Vec::as_slice).collect();
        let baum_welch = self.options.baum_welch.settled(&kinds, size(self.data), &scale);
        let baum_welch = baum_welch.map_err(TrainError::Topology)?;
        sequences
            .par_iter()
            .enumerate()
            .map(|(class, sequences)| {
                baum_welch
                    .fit(sequences, size(self.data), &scale, self.progress)
                    .map_err(|source| TrainError::Fit { class: classes[class].clone(), source })
            })
            .collect()
    }

    /// The Bayes classifier over fitted class models; priors are the shares of the series.
    pub(super) fn bayes(&self, series: &[usize], models: Vec<Hmm>) -> Classifier {
        let classes = self.data.classes();
        let log_prior = |class: usize| {
            let count = series.iter().filter(|&&index| self.labels[index] == class).count();
            // Laplace's rule keeps a class with no series possible.
            ((count as f64 + 1.0) / (series.len() + classes.len()) as f64).ln()
        };
        let output = |bias: f64, weight: &dyn Fn(usize) -> f64| Output {
            bias,
            weights: (0..classes.len()).map(weight).collect(),
            directions: Vec::new(),
        };
        let outputs = if classes.len() == 2 {
            let odds = log_prior(1) - log_prior(0);
            vec![output(odds, &|model| if model == 1 { 1.0 } else { -1.0 })]
        } else {
            (0..classes.len())
                .map(|class| output(log_prior(class), &|model| f64::from(model == class)))
                .collect()
        };
        let (centre, scale) = centre_and_scale(self.data, series);
        let name = std::path::Path::new(self.data.source());
        let states = models.iter().map(Hmm::states).max().unwrap_or(0);
        Classifier {
            method: ClassifierKind::Bayes.to_string(),
            observations: match self.data.kind() {
                Kind::Channels(names) => Observations::Channels(names.clone()),
                Kind::Symbols(alphabet) => {
                    Observations::Symbols(alphabet.symbols().iter().collect())
                }
            },
            classes: classes.to_vec(),
            centre,
            scale,
            models,
            outputs,
            normalisation: Normalisation::NONE,
            provenance: Provenance {
                version: env!("CARGO_PKG_VERSION").into(),
                data: name.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                series: series.len(),
                windows: 0,
                windowing: self.options.windowing,
                notes: vec![format!(
                    "{states} states, Baum-Welch with {} restart(s) from seed {}",
                    self.options.baum_welch.restarts, self.options.baum_welch.seed
                )],
            },
        }
    }

    pub(super) fn feature_map(
        &self,
        features: Features,
        models: &[Hmm],
    ) -> Result<FeatureMap, TrainError> {
        let classes = self.data.classes();
        let models = match &self.options.scores {
            ScoreModels::All => models.to_vec(),
            ScoreModels::Class(name) => {
                let index = classes
                    .iter()
                    .position(|class| class == name)
                    .ok_or_else(|| TrainError::NoSuchClass(name.clone(), classes.join(", ")))?;
                vec![models[index].clone()]
            }
        };
        // Scores of means are taken in units of the channels' scale over all the data: a metric,
        // the same for every fold.
        let (_, scale) = centre_and_scale(self.data, &(0..self.labels.len()).collect::<Vec<_>>());
        let TrainOptions { with_likelihood, normalisation, .. } = *self.options;
        Ok(FeatureMap::new(features, models, scale, with_likelihood, normalisation))
    }

    /// The windows of some series as examples. Windows that a model makes impossible are
    /// an error: the smoothing of the models exists to prevent them.
    pub(super) fn examples(
        &self,
        map: &FeatureMap,
        series: &[usize],
    ) -> Result<Examples, TrainError> {
        let windows = self.data.windows(self.options.windowing.as_ref());
        let cut: Vec<_> = windows.of_all(series).collect();
        let features: Vec<Option<Vec<f64>>> = cut
            .par_chunks(32)
            .flat_map_iter(|cut| {
                map.extract(&cut.iter().map(|window| window.samples).collect::<Vec<_>>())
            })
            .collect();
        let impossible = features.iter().filter(|features| features.is_none()).count();
        if impossible > 0 {
            return Err(TrainError::ImpossibleWindows(impossible));
        }
        let mut rows = Matrix::new(map.len());
        features.iter().flatten().for_each(|features| rows.push(features));
        let labels = cut.iter().map(|window| self.labels[window.series]).collect();
        let lengths = cut.iter().map(|window| window.samples.len()).collect();
        Ok(Examples { rows, labels, lengths })
    }

    /// Refuses more windows of some series than a Gram matrix takes, where one is needed.
    pub(super) fn check_windows(&self, series: &[usize]) -> Result<(), TrainError> {
        let TrainOptions { kind, learner, .. } = *self.options;
        let windows = self.data.windows(self.options.windowing.as_ref());
        let count = windows.of_all(&self.augmented.all(series)).count();
        match (count > KERNEL_WINDOWS, kind.compiles()) {
            (true, false) => Err(TrainError::TooManyStored(count, kind)),
            (true, true) if learner.on_kernel() => Err(TrainError::TooManyWindows(count, learner)),
            _ => Ok(()),
        }
    }

    /// Machines of a scaling for every width and rising values of C.
    pub(super) fn path(
        &self,
        examples: &Examples,
        map: &FeatureMap,
        scaling: Scaling,
        sigma: &[Option<f64>],
        c: &[f64],
    ) -> Result<AnyPath, TrainError> {
        let learner = self.options.learner;
        let classes = (self.data.classes().len(), self.options.class_weight);
        if self.options.kind.compiles() {
            let path = Path::train(learner, examples, map, scaling, c, classes)?;
            return Ok(AnyPath::Linear(path));
        }
        let kernels = self.options.kernels().into_iter().filter(|(width, _)| sigma.contains(width));
        let kernels = kernels.map(|(_, kernel)| kernel);
        let path = ScorePath::train(learner, kernels, examples, map, scaling, c, classes)?;
        Ok(AnyPath::OnScores(path))
    }

    /// What was chosen, in words.
    pub(super) fn notes(&self, chosen: &Choice) -> Vec<String> {
        let TrainOptions { learner, class_weight, augment, .. } = self.options;
        let weight = match class_weight {
            ClassWeight::Even => "",
            ClassWeight::Balanced => ", classes balanced",
        };
        let kernel = match self.options.kind {
            ClassifierKind::Gaussian => ", Gaussian kernel on Fisher scores".to_owned(),
            ClassifierKind::Polynomial => {
                format!(", polynomial kernel of degree {} on Fisher scores", self.options.power)
            }
            ClassifierKind::Cosine => ", cosine of Fisher scores".to_owned(),
            _ => String::new(),
        };
        let setting = chosen.setting;
        let how = match chosen.candidates.len() {
            0 => "nothing to choose from",
            _ => "chosen by inner cross-validation",
        };
        let mut notes = vec![format!(
            "{learner}{weight}{kernel}: score scaled by {}, C = {}, {how}",
            setting.form(),
            setting.c
        )];
        if let Mirror::Channels(channels) = &augment.mirror
            && !channels.is_empty()
        {
            notes.push(format!("mirrored in {} as well", channels.join(", ")));
        }
        notes
    }

    /// Chooses scaling and C by cross-validation within the training series: models are fitted anew
    /// in every inner fold, so that no window is judged by a model that has seen it.
    pub(super) fn choose(
        &self,
        features: Features,
        series: &[usize],
    ) -> Result<Choice, TrainError> {
        self.check_windows(series)?;
        let sigma = self.widths();
        let settings: Vec<Setting> = self
            .options
            .scalings
            .iter()
            .flat_map(|&scaling| sigma.iter().map(move |&sigma| (Some(scaling), sigma)))
            .flat_map(|(scaling, sigma)| {
                self.options.c.iter().map(move |&c| Setting { scaling, sigma, c })
            })
            .collect();
        let folds = match self.inner_folds(series)? {
            Some(folds) if settings.len() > 1 => folds,
            // One candidate, or too little data to choose by: the middle of the grid.
            _ => {
                let c = self.options.c[self.options.c.len() / 2];
                let scaling = self.options.scalings.last().copied();
                return Ok(Choice::only(Setting { scaling, sigma: sigma[sigma.len() / 2], c }));
            }
        };
        let classes = self.data.classes().len();
        let mut right = vec![vec![0_usize; classes]; settings.len()];
        let mut total = vec![0_usize; classes];
        for fold in 0..folds.len() {
            let of = |items: Vec<usize>| items.into_iter().map(|i| series[i]).collect::<Vec<_>>();
            let (inner, held_back) = (of(folds.train(fold)), of(folds.test(fold)));
            let map = self.feature_map(features, &models_of(&self.fit_models(&inner)?))?;
            let examples = self.examples(&map, &self.augmented.all(&inner))?;
            let test = self.examples(&map, &held_back)?;
            test.labels.iter().for_each(|&label| total[label] += 1);
            let judged: Vec<Vec<Vec<bool>>> = self
                .options
                .scalings
                .par_iter()
                .map(|&scaling| {
                    let c = &self.options.c;
                    Ok(self.path(&examples, &map, scaling, &sigma, c)?.judge(&test))
                })
                .collect::<Result<_, TrainError>>()?;
            for (right, judged) in right.iter_mut().zip(judged.iter().flatten()) {
                for (&label, &is_right) in test.labels.iter().zip(judged) {
                    right[label] += usize::from(is_right);
                }
            }
        }
        // Of equals the first: the smaller C, the narrower kernel, the plainer scaling.
        Choice::best(&settings, &right, &total, self.options.class_weight)
            .ok_or(TrainError::NoCandidate("candidate"))
    }

    /// The kernels' widths; one that is none for a kernel without, or for features.
    fn widths(&self) -> Vec<Option<f64>> {
        let widths: Vec<_> = self.options.kernels().into_iter().map(|(width, _)| width).collect();
        if widths.is_empty() { vec![None] } else { widths }
    }

    fn inner_folds(&self, series: &[usize]) -> Result<Option<Folds>, TrainError> {
        let labels: Vec<usize> = series.iter().map(|&index| self.labels[index]).collect();
        let classes = self.data.classes();
        let Some(column) = &self.options.group else {
            let folds = (2..=self.options.inner_folds).rev();
            return Ok(folds
                .filter_map(|count| Folds::stratified(&labels, classes, count, None).ok())
                .next());
        };
        let (groups, _) = self.data.groups(column)?;
        let groups: Vec<usize> = series.iter().map(|&index| groups[index]).collect();
        let folds = (2..=self.options.inner_folds).rev();
        Ok(folds
            .filter_map(|count| Folds::grouped(&labels, classes, &groups, count, None).ok())
            .next())
    }
}
