//! Training: a space of what may be trained, a plan chosen from it, class models by Baum-Welch, then a Bayes rule or a
//! machine on what they say.

use crate::classifier::{Choice, Classifier, FormChoice, Rule, Selection, Setting};
use crate::data::Dataset;
use crate::fit::{Fit, Topology};
use crate::learn::error::TrainError;
use crate::learn::features::scaler::Scales;
use crate::learn::kind::ClassifierKind;
use crate::learn::limits::Limits;
use crate::learn::request::Request;
use crate::learn::search::plan::{Plan, Taken};
use crate::learn::search::training_judge::TrainingJudge;
use crate::learn::space::Space;
use crate::learn::training::fits::models_of;
use crate::learn::training::set::{AnyPath, Shared, TrainingSet};
use crate::runtime::Hmm;

/// Result of a training.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The classifier.
    pub classifier: Classifier,
    /// Choice, and its alternatives.
    pub choice: Option<Choice>,
    /// Fits of the models of each class, `[class]`, or of the one of all; empty for a kernel by marginalisation, whose
    /// model is given.
    pub fits: Vec<Fit>,
    /// Description of the augmentation.
    pub varied: String,
    /// Form of the class models, and its alternatives; `None` for a kernel by marginalisation.
    pub form: Option<FormChoice>,
}

/// Trains a classifier on the given series of a data set.
///
/// A machine learns from features of the series that its models were fitted to. Features of models that
/// were fitted to the other folds of five, from the whole data's models onwards so that states keep their
/// places, have no such bias and were tried instead: machines on Fisher scores of 2 to 16 states,
/// two scalings, C = 0.1, 1 and 10, were right in 0.801 instead of 0.816 in the mean over 24 settings on
/// GunPoint, in 0.758 instead of 0.792 over 24 on promoters (five folds), in 0.756 instead of 0.757 over
/// 12 on ItalyPowerDemand, in 0.975 instead of 0.978 over 6 on Japanese vowels; worse in 44 of the 66
/// settings and better in 14. So there is no such option.
///
/// `progress` is called after every pass of Baum-Welch.
///
/// # Errors
/// [`TrainError`] naming what is wrong.
pub fn train(
    data: &Dataset,
    series: &[usize],
    request: &Request,
    progress: &(dyn Fn() + Sync),
) -> Result<Trained, TrainError> {
    Trainer::new(data).train(series, request, progress)
}

/// Trains several classifiers on a data set, and fits no class model twice: those of equal series,
/// variation and options are shared, in inner folds too.
///
/// RAM: the models fitted so far, and the features of the series that were last judged in closed form.
pub struct Trainer<'a> {
    shared: Shared<'a>,
}

impl<'a> Trainer<'a> {
    /// Nothing fitted yet.
    pub fn new(data: &'a Dataset) -> Self {
        Self { shared: Shared::new(data) }
    }

    /// The data set.
    pub fn data(&self) -> &'a Dataset {
        self.shared.fits.data()
    }

    /// Refuses, before anything is fitted, requests that [`train`](Self::train) would refuse.
    ///
    /// # Errors
    /// [`TrainError`] naming what is wrong.
    pub fn check(&self, series: &[usize], request: &Request) -> Result<(), TrainError> {
        let space = Space::of(self.data(), series, request)?;
        space.check()?;
        let trial = space.trial(&space.first());
        TrainingSet::new(&self.shared, series, &trial, &|| ())?.check_windows(series)
    }

    /// Trains a classifier on the given series, as [`train`] does.
    ///
    /// # Errors
    /// [`TrainError`] naming what is wrong.
    pub fn train(
        &self,
        series: &[usize],
        request: &Request,
        progress: &(dyn Fn() + Sync),
    ) -> Result<Trained, TrainError> {
        self.train_in(&Space::of(self.data(), series, request)?, progress)
    }

    /// Trains in a space that was listed before.
    ///
    /// # Errors
    /// [`TrainError`] naming what is wrong.
    pub fn train_in(
        &self,
        space: &Space<'_>,
        progress: &(dyn Fn() + Sync),
    ) -> Result<Trained, TrainError> {
        Ok(self.train_planned(space, progress)?.1)
    }

    /// [`train_in`](Self::train_in), with the plan that was chosen.
    pub(crate) fn train_planned(
        &self,
        space: &Space<'_>,
        progress: &(dyn Fn() + Sync),
    ) -> Result<(Plan, Trained), TrainError> {
        space.check()?;
        let (plan, taken) = self.judge(progress).plan(space)?;
        let trained = self.fit_within_limits(&plan, taken, progress)?;
        Ok((plan, trained))
    }

    /// What trainings share.
    pub(crate) fn shared(&self) -> &Shared<'a> {
        &self.shared
    }

    /// Chooses the best of a space that was [checked](Space::check).
    ///
    /// It chooses the form of class models, a mirror image, the number of jittered copies, and the setting of the machine, in
    /// this order, each by held-out windows.
    ///
    /// # Errors
    /// [`TrainError`] naming what is wrong.
    pub fn choose(
        &self,
        space: &Space<'_>,
        progress: &(dyn Fn() + Sync),
    ) -> Result<Plan, TrainError> {
        Ok(self.judge(progress).plan(space)?.0)
    }

    fn judge<'j>(&'j self, progress: &'j (dyn Fn() + Sync)) -> TrainingJudge<'j> {
        TrainingJudge { shared: &self.shared, progress }
    }

    /// Fits a plan that was [chosen](Self::choose) on this data set.
    ///
    /// # Errors
    /// [`TrainError`] naming what is wrong.
    pub fn fit(&self, plan: &Plan, progress: &(dyn Fn() + Sync)) -> Result<Trained, TrainError> {
        self.fit_within_limits(plan, None, progress)
    }

    fn fit_within_limits(
        &self,
        plan: &Plan,
        taken: Taken,
        progress: &(dyn Fn() + Sync),
    ) -> Result<Trained, TrainError> {
        let trained = self.fit_with(plan, taken, progress)?;
        let limits = plan.trial.request.limits;
        if limits != Limits::default() {
            let deployed = trained.classifier.deploy().map_err(TrainError::Deploy)?;
            if let Some((takes, most, what)) = limits.excess(&deployed.cost()) {
                return Err(TrainError::TooDear { takes, most, what });
            }
        }
        Ok(trained)
    }

    fn fit_with(
        &self,
        plan: &Plan,
        taken: Taken,
        progress: &(dyn Fn() + Sync),
    ) -> Result<Trained, TrainError> {
        let (series, trial) = (plan.series.as_slice(), &plan.trial);
        let set = TrainingSet::new(&self.shared, series, trial, progress)?;
        let varied = set.varied(series)?;
        let fits = set.fit_models(&varied)?;
        let mut form = plan.form.clone();
        if let Some(fit) = fits.first() {
            form.settle(&fit.model);
        }
        let mut classifier = set.bayes(series, models_of(&fits));
        classifier.provenance.selection = Some(selection(plan, &form));
        classifier.provenance.windows = set.windows().of_all(series).count();
        let trained = |classifier| Trained {
            classifier,
            choice: plan.setting.clone(),
            fits: fits.to_vec(),
            varied: trial.augment.describe(self.data().kind()),
            form: Some(form.clone()),
        };
        let (Some(features), Some(choice)) = (trial.request.features(), &plan.setting) else {
            return Ok(trained(classifier));
        };
        let map = set.feature_map(features, series, &classifier.models)?;
        let examples = match taken {
            Some((of, examples)) if of == map => examples,
            _ => set.examples(&map, &varied)?,
        };
        let Setting { scaling, codebook_weight, sigma, c } = choice.setting;
        let scaling = scaling.ok_or(TrainError::NoCandidate("scaling"))?;
        let machine =
            set.path(&examples, &map, Scales { scaling, codebook_weight }, &[sigma], &[c])?;
        classifier.provenance.notes.extend(set.notes(choice));
        classifier.method = trial.request.kind.to_string();
        classifier.models = map.models().to_vec();
        classifier.codebooks = map.codebooks().cloned();
        classifier.normalisation = trial.form.normalisation;
        classifier.rule = match machine {
            AnyPath::Linear(machine) => {
                let outputs = machine.outputs(&map);
                match map.order() {
                    Some(order) => Rule::Words { order, outputs },
                    None => Rule::Linear(outputs),
                }
            }
            AnyPath::OnScores(machine) => {
                let expansion = machine.expansion(&map);
                Rule::Expansion(expansion.ok_or(TrainError::NoCandidate("kernel"))?)
            }
        };
        Ok(trained(classifier))
    }
}

impl FormChoice {
    /// Settles [`Topology::Automatic`] as in a fitted model.
    fn settle(&mut self, model: &Hmm) {
        let states = model.states();
        let stays = states < 2 || model.transition[0][1] < 1.0;
        let won = self.candidates.iter_mut().filter(|one| one.won).map(|one| &mut one.form);
        for form in won.chain([&mut self.form]) {
            if form.topology == Topology::Automatic {
                form.topology = if stays { Topology::Ergodic } else { Topology::Positions };
                form.states = states;
            }
        }
    }
}

/// Record of a plan with a settled form, for a model's file.
fn selection(plan: &Plan, form: &FormChoice) -> Selection {
    let words = plan.trial.request.kind == ClassifierKind::EmpiricalMap;
    Selection {
        form: (!words).then(|| form.last_stage()),
        learner: plan.learner().map(|learner| learner.name.to_owned()),
        machine: plan.setting.clone(),
        mirror: plan.setting.as_ref().map(|_| plan.mirror().to_vec()).unwrap_or_default(),
        copies: plan.copies.clone(),
    }
}
