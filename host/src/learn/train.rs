//! Training: class models by Baum-Welch, then a Bayes rule or a machine on what they say.

use std::sync::{Arc, Mutex, PoisonError};

use super::augment::{Augment, Augmented, Mirror, mirror_candidates};
use super::choice::{Choice, Setting};
use super::options::{TrainError, TrainOptions};
use super::problem::{AnyPath, Problem, models_of};
use crate::classifier::Classifier;
use crate::data::Dataset;
use crate::deploy::{Expansion, ModelKind};
use crate::fit::{BaumWelch, Fit};

/// What came of training.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The classifier: one that compiles, or a kernel machine.
    pub classifier: ModelKind,
    /// What was chosen, and what it was chosen from.
    pub choice: Option<Choice>,
    /// How the model of each class was fitted, `[class]`; empty for a kernel by marginalisation, whose
    /// model is given.
    pub fits: Vec<Fit>,
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
    Trainer::new(data).train(series, options, progress)
}

/// Trains several classifiers on a data set, and fits no class model twice: those of equal series,
/// variation and options are shared, in inner folds too.
///
/// RAM: the models fitted so far.
pub struct Trainer<'a> {
    data: &'a Dataset,
    fitted: Mutex<Vec<(FitKey, Arc<Vec<Fit>>)>>,
}

/// What class models depend on, given the data.
#[derive(Clone, PartialEq)]
pub(super) struct FitKey {
    /// Series and mirror images.
    pub(super) series: Vec<usize>,
    pub(super) baum_welch: BaumWelch,
    /// The signs of the mirror images among them.
    pub(super) mirror: Option<Mirror>,
}

impl<'a> Trainer<'a> {
    /// Nothing fitted yet.
    #[must_use]
    pub fn new(data: &'a Dataset) -> Self {
        Self { data, fitted: Mutex::default() }
    }

    /// The data set.
    #[must_use]
    pub fn data(&self) -> &'a Dataset {
        self.data
    }

    /// Trains a classifier on the given series, as [`train`] does.
    ///
    /// # Errors
    /// [`TrainError`] naming what is wrong.
    pub fn train(
        &self,
        series: &[usize],
        options: &TrainOptions,
        progress: &(dyn Fn() + Sync),
    ) -> Result<Trained, TrainError> {
        let data = self.data;
        let options = options.clone().on_a_device();
        let (options, mirrored) = self.choose_mirror(series, &options)?;
        let options = &options;
        let augmented = Augmented::new(data, &options.augment)?;
        let problem = Problem::new(self, &augmented, options, progress)?;
        let windows = data.windows(options.windowing.as_ref());
        if windows.of_all(series).next().is_none() {
            return Err(TrainError::NoWindows(data.source().to_owned()));
        }
        problem.check_windows(series)?;
        let fits = problem.fit_models(series)?;
        let mut classifier = problem.bayes(series, models_of(&fits));
        classifier.provenance.windows = windows.of_all(series).count();
        let Some(features) = options.kind.features() else {
            let classifier = ModelKind::Linear(Box::new(classifier));
            return Ok(Trained { classifier, choice: None, fits: fits.to_vec() });
        };
        let chosen = match mirrored {
            Some(chosen) => chosen,
            None => problem.choose(features, series)?,
        };
        let Setting { scaling, sigma, c } = chosen.setting;
        let scaling = scaling.ok_or(TrainError::NoCandidate("scaling"))?;
        let map = problem.feature_map(features, &classifier.models)?;
        let examples = problem.examples(&map, &augmented.all(series))?;
        let machine = problem.path(&examples, &map, scaling, &[sigma], &[c])?;
        classifier.provenance.notes.extend(problem.notes(&chosen));
        classifier.method = options.kind.to_string();
        let classifier = match machine {
            AnyPath::Linear(machine) => {
                classifier.models = map.models().to_vec();
                classifier.normalisation = options.normalisation;
                classifier.outputs = machine.outputs(&map);
                ModelKind::Linear(Box::new(classifier))
            }
            AnyPath::OnScores(machine) => {
                let (kernel, coefficients, biases) =
                    machine.expansion(&map).ok_or(TrainError::NoCandidate("kernel"))?;
                let Classifier { method, observations, classes, provenance, .. } = classifier;
                ModelKind::Machine(Box::new(Expansion {
                    method,
                    observations,
                    classes,
                    kernel,
                    coefficients,
                    biases,
                    provenance,
                }))
            }
        };
        Ok(Trained { classifier, choice: Some(chosen), fits: fits.to_vec() })
    }

    /// The options with the mirror image chosen, and the choice of scaling and C that goes with it
    /// where it took a choice.
    fn choose_mirror(
        &self,
        series: &[usize],
        options: &TrainOptions,
    ) -> Result<(TrainOptions, Option<Choice>), TrainError> {
        let with = |channels: Vec<String>| TrainOptions {
            augment: Augment { mirror: Mirror::Channels(channels), ..options.augment.clone() },
            ..options.clone()
        };
        let candidates = mirror_candidates(self.data.kind());
        let features = match options.kind.features() {
            Some(features) if options.augment.mirror == Mirror::Choose => features,
            _ => return Ok((options.clone(), None)),
        };
        if candidates.len() == 1 {
            return Ok((options.clone(), None));
        }
        let mut best: Option<(TrainOptions, Choice)> = None;
        for channels in candidates {
            let options = with(channels);
            let augmented = Augmented::new(self.data, &options.augment)?;
            let problem = Problem::new(self, &augmented, &options, &|| ())?;
            let choice = problem.choose(features, series)?;
            // Of equals the first: no mirror image.
            if best.as_ref().is_none_or(|(_, best)| choice.accuracy() > best.accuracy()) {
                best = Some((options, choice));
            }
        }
        Ok(best.map_or((options.clone(), None), |(options, choice)| (options, Some(choice))))
    }

    /// The models of a key, fitted where nobody has yet.
    pub(super) fn shared(
        &self,
        key: FitKey,
        fit: impl FnOnce() -> Result<Vec<Fit>, TrainError>,
    ) -> Result<Arc<Vec<Fit>>, TrainError> {
        let known = |fitted: &[(FitKey, Arc<Vec<Fit>>)]| {
            fitted.iter().find(|(of, _)| *of == key).map(|(_, fits)| Arc::clone(fits))
        };
        let fitted = || self.fitted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fits) = known(&fitted()) {
            return Ok(fits);
        }
        let fits = Arc::new(fit()?);
        fitted().push((key, Arc::clone(&fits)));
        Ok(fits)
    }
}
