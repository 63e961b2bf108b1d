//! Training: class models by Baum-Welch, then a Bayes rule or a linear machine on their scores.

use std::fmt;

use fishweir_core::classify::Normalisation;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::augment::{Augment, AugmentError, Augmented, Mirror, mirror_candidates};
use super::choice::{Candidate, Choice};
use super::features::{FeatureMap, Scaling};
use super::machine::Machine;
use super::one_model::{centre_and_scale, size};
use super::svm::Matrix;
use crate::classifier::{Classifier, Observations, Output, Provenance};
use crate::data::{DataError, Dataset, Folds, Kind, SamplesView, Windowing};
use crate::fit::{BaumWelch, Fit, FitError};
use crate::runtime::Hmm;

/// The two classifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum ClassifierKind {
    /// Maximum-likelihood Bayes: a model a class, the largest log-likelihood plus log-prior wins.
    Bayes,
    /// A linear support vector machine, one class against the rest, on Fisher scores.
    Fisher,
}

impl fmt::Display for ClassifierKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bayes => "bayes",
            Self::Fisher => "fisher",
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
            scalings: vec![Scaling::Practical, Scaling::Diagonal],
            c: vec![0.1, 1.0, 10.0],
            inner_folds: 3,
            augment: Augment::default(),
        }
    }
}

/// What came of training.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The classifier.
    pub classifier: Classifier,
    /// What was chosen, and what it was chosen from.
    pub choice: Option<Choice>,
    /// How the model of each class was fitted, `[class]`.
    pub fits: Vec<Fit>,
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
}

/// Trains a classifier on the given series of a data set.
///
/// `progress` is told of every pass of Baum-Welch.
///
/// # Errors
/// [`TrainError`] naming what is wrong.
pub fn train(
    data: &Dataset,
    series: &[usize],
    options: &TrainOptions,
    progress: &(dyn Fn() + Sync),
) -> Result<Trained, TrainError> {
    let (options, mirrored) = choose_mirror(data, series, options)?;
    let options = &options;
    let augmented = Augmented::new(data, &options.augment)?;
    let problem = Problem::new(&augmented, options, progress)?;
    let windows = data.windows(options.windowing.as_ref());
    if windows.of_all(series).next().is_none() {
        return Err(TrainError::NoWindows(data.source().to_owned()));
    }
    let fits = problem.fit_models(series)?;
    let mut classifier = problem.bayes(series, models_of(&fits));
    let mut choice = None;
    if options.kind == ClassifierKind::Fisher {
        let chosen = match mirrored {
            Some(chosen) => chosen,
            None => problem.choose(series)?,
        };
        let map = problem.feature_map(&classifier.models)?;
        let (rows, labels) = problem.features(&map, &augmented.all(series))?;
        let classes = data.classes().len();
        let machine = Machine::train(rows, &labels, classes, &map, chosen.scaling, chosen.c);
        classifier.method = ClassifierKind::Fisher.to_string();
        classifier.models = map.models().to_vec();
        classifier.normalisation = options.normalisation;
        classifier.outputs = machine.outputs(&map);
        classifier.provenance.notes.push(format!(
            "score scaled by {}, C = {}, chosen by inner cross-validation",
            chosen.scaling.name(),
            chosen.c
        ));
        if let Mirror::Channels(channels) = &options.augment.mirror
            && !channels.is_empty()
        {
            let channels = channels.join(", ");
            classifier.provenance.notes.push(format!("mirrored in {channels} as well"));
        }
        choice = Some(chosen);
    }
    classifier.provenance.windows = windows.of_all(series).count();
    Ok(Trained { classifier, choice, fits })
}

/// The options with the mirror image chosen, and the choice of scaling and C that goes with it where
/// it took a choice.
fn choose_mirror(
    data: &Dataset,
    series: &[usize],
    options: &TrainOptions,
) -> Result<(TrainOptions, Option<Choice>), TrainError> {
    let with = |channels: Vec<String>| TrainOptions {
        augment: Augment { mirror: Mirror::Channels(channels), ..options.augment.clone() },
        ..options.clone()
    };
    let candidates = mirror_candidates(data.kind());
    let asks = options.augment.mirror == Mirror::Choose && options.kind == ClassifierKind::Fisher;
    if !asks || candidates.len() == 1 {
        return Ok((options.clone(), None));
    }
    let mut best: Option<(TrainOptions, Choice)> = None;
    for channels in candidates {
        let options = with(channels);
        let augmented = Augmented::new(data, &options.augment)?;
        let choice = Problem::new(&augmented, &options, &|| ())?.choose(series)?;
        // Of equals the first: no mirror image.
        if best.as_ref().is_none_or(|(_, best)| choice.accuracy() > best.accuracy()) {
            best = Some((options, choice));
        }
    }
    Ok(best.map_or((options.clone(), None), |(options, choice)| (options, Some(choice))))
}

fn models_of(fits: &[Fit]) -> Vec<Hmm> {
    fits.iter().map(|fit| fit.model.clone()).collect()
}

/// A data set with what all stages of its training share.
struct Problem<'a> {
    data: &'a Dataset,
    augmented: &'a Augmented,
    labels: Vec<usize>,
    options: &'a TrainOptions,
    progress: &'a (dyn Fn() + Sync),
}

impl<'a> Problem<'a> {
    fn new(
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
        if options.scalings.is_empty() {
            return Err(TrainError::NoCandidate("scaling"));
        }
        if options.c.is_empty() {
            return Err(TrainError::NoCandidate("value of C"));
        }
        Ok(Self { data, augmented, labels, options, progress })
    }

    /// A model a class, fitted to whole series and their mirror images.
    fn fit_models(&self, series: &[usize]) -> Result<Vec<Fit>, TrainError> {
        let series = self.augmented.exact(series);
        let (_, scale) = centre_and_scale(self.data, &series);
        let classes = self.data.classes();
        (0..classes.len())
            .into_par_iter()
            .map(|class| {
                let sequences: Vec<SamplesView<'_>> = series
                    .iter()
                    .filter(|&&index| self.labels[index] == class)
                    .map(|&index| self.data.series()[index].samples.view())
                    .collect();
                self.options
                    .baum_welch
                    .fit(&sequences, size(self.data), &scale, self.progress)
                    .map_err(|source| TrainError::Fit { class: classes[class].clone(), source })
            })
            .collect()
    }

    /// The Bayes classifier over fitted class models; priors are the shares of the series.
    fn bayes(&self, series: &[usize], models: Vec<Hmm>) -> Classifier {
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

    fn feature_map(&self, models: &[Hmm]) -> Result<FeatureMap, TrainError> {
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
        Ok(FeatureMap::new(models, scale, self.options.with_likelihood, self.options.normalisation))
    }

    /// Features and labels of the windows of some series. Windows that a model makes impossible are
    /// an error: the smoothing of the models exists to prevent them.
    fn features(
        &self,
        map: &FeatureMap,
        series: &[usize],
    ) -> Result<(Matrix, Vec<usize>), TrainError> {
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
        Ok((rows, labels))
    }

    /// Chooses scaling and C by cross-validation within the training series: models are fitted anew
    /// in every inner fold, so that no window is judged by a model that has seen it.
    fn choose(&self, series: &[usize]) -> Result<Choice, TrainError> {
        let candidates: Vec<(Scaling, f64)> = self
            .options
            .scalings
            .iter()
            .flat_map(|&scaling| self.options.c.iter().map(move |&c| (scaling, c)))
            .collect();
        let folds = match self.inner_folds(series)? {
            Some(folds) if candidates.len() > 1 => folds,
            // One candidate, or too little data to choose by: the middle of the grid.
            _ => {
                let c = self.options.c[self.options.c.len() / 2];
                let scaling = self.options.scalings[self.options.scalings.len() - 1];
                return Ok(Choice { scaling, c, candidates: Vec::new() });
            }
        };
        let mut right = vec![0_usize; candidates.len()];
        let mut total = 0;
        for fold in 0..folds.len() {
            let of = |items: Vec<usize>| items.into_iter().map(|i| series[i]).collect::<Vec<_>>();
            let (inner, held_back) = (of(folds.train(fold)), of(folds.test(fold)));
            let map = self.feature_map(&models_of(&self.fit_models(&inner)?))?;
            let (rows, labels) = self.features(&map, &self.augmented.all(&inner))?;
            let (test_rows, test_labels) = self.features(&map, &held_back)?;
            total += test_labels.len();
            let classes = self.data.classes().len();
            let judged: Vec<Vec<usize>> = self
                .options
                .scalings
                .par_iter()
                .map(|&scaling| {
                    Machine::path(rows.clone(), &labels, classes, &map, scaling, &self.options.c)
                        .iter()
                        .map(|machine| machine.count_right(&test_rows, &test_labels))
                        .collect()
                })
                .collect();
            for (right, judged) in right.iter_mut().zip(judged.into_iter().flatten()) {
                *right += judged;
            }
        }
        // Of equals the first: the smaller C, the plainer scaling.
        let best = (0..candidates.len())
            .max_by_key(|&index| (right[index], std::cmp::Reverse(index)))
            .unwrap_or(0);
        let (scaling, c) = candidates[best];
        let candidates = candidates
            .into_iter()
            .zip(right)
            .map(|((scaling, c), right)| Candidate {
                scaling,
                c,
                accuracy: right as f64 / total.max(1) as f64,
            })
            .collect();
        Ok(Choice { scaling, c, candidates })
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
