//! Training: class models by Baum-Welch, then a Bayes rule or a machine on what they say.

use super::effort::Effort;
use super::error::TrainError;
use super::fits::{Fits, models_of};
use super::kind::ClassifierKind;
use super::limits::Limits;
use super::metric::Scales;
use super::options::TrainOptions;
use super::problem::{AnyPath, Problem};
use super::search::FormSearch;
use crate::classifier::{Choice, ChosenBy, Classifier, FormChoice, Rule, Selection, Setting};
use crate::data::Dataset;
use crate::fit::Fit;

/// What came of training.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The classifier.
    pub classifier: Classifier,
    /// What was chosen, and what it was chosen from.
    pub choice: Option<Choice>,
    /// How the model of each class was fitted, `[class]`, or the one of all; empty for a kernel by marginalisation, whose
    /// model is given.
    pub fits: Vec<Fit>,
    /// How training series were varied, in words.
    pub varied: String,
    /// What class models are made of, and what that was chosen from; `None` for a kernel by
    /// marginalisation.
    pub form: Option<FormChoice>,
}

/// Trains a classifier on the given series of a data set.
///
/// A machine learns from features of the series that its models were fitted to. Features of models that
/// were fitted to the other folds of five, from the whole data's models onwards so that states keep their
/// places, have no such bias and were tried in their stead: machines on Fisher scores of 2 to 16 states,
/// two scalings, C = 0.1, 1 and 10, were right in 0.801 instead of 0.816 in the mean over 24 settings on
/// GunPoint, in 0.758 instead of 0.792 over 24 on promoters (five folds), in 0.756 instead of 0.757 over
/// 12 on ItalyPowerDemand, in 0.975 instead of 0.978 over 6 on Japanese vowels; worse in 44 of the 66
/// settings and better in 14. So there is no such option.
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
/// RAM: the models fitted so far, and the features of the series that were last judged in closed form.
pub struct Trainer<'a> {
    pub(super) fits: Fits<'a>,
}

impl<'a> Trainer<'a> {
    /// Nothing fitted yet.
    pub fn new(data: &'a Dataset) -> Self {
        Self { fits: Fits::new(data) }
    }

    /// The data set.
    pub fn data(&self) -> &'a Dataset {
        self.fits.data()
    }

    /// Refuses what [`train`](Self::train) would refuse before anything is fitted.
    ///
    /// # Errors
    /// [`TrainError`] naming what is wrong.
    pub fn check(&self, series: &[usize], options: &TrainOptions) -> Result<(), TrainError> {
        let options = options.clone().learnt(self.data(), series)?.on_a_device();
        self.check_room(series, &options)?;
        Problem::new(&self.fits, series, &options, &|| ())?.check_windows(series)
    }

    /// Refuses series of several rates, no windows, lags that reach beyond each, and more features than there is room for.
    fn check_room(&self, series: &[usize], options: &TrainOptions) -> Result<(), TrainError> {
        self.data().check_one_rate()?;
        if self.data().windows(options.windowing.as_ref()).of_all(series).next().is_none() {
            return Err(TrainError::NoWindows(self.data().source().to_owned()));
        }
        options.check_candidates()?;
        options.check_reach(self.data(), series)?;
        Effort::of(self.data(), series, options).map_or(Ok(()), |effort| effort.check())
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
        let trained = self.train_at_any_price(series, options, progress)?;
        if options.limits != Limits::default() {
            options.limits.check(&trained.classifier.deploy().map_err(TrainError::Deploy)?)?;
        }
        Ok(trained)
    }

    fn train_at_any_price(
        &self,
        series: &[usize],
        options: &TrainOptions,
        progress: &(dyn Fn() + Sync),
    ) -> Result<Trained, TrainError> {
        let data = self.data();
        let options = options.clone().learnt(data, series)?.on_a_device();
        self.check_room(series, &options)?;
        let (options, mut form, plain) =
            FormSearch { fits: &self.fits, series, options: &options, progress }.choose()?;
        let (options, mirrored) = self.choose_mirror(series, &options, progress)?;
        let told = options.augment.copies(data.kind());
        let copied = self.choose_copies(series, &options, progress)?;
        let options = &copied.options;
        let problem = Problem::new(&self.fits, series, options, progress)?;
        let words = options.augment.describe(data.kind());
        problem.check_windows(series)?;
        // Before the copies of all series are made: inner folds make their own.
        let mut units = None;
        // A machine of another number of copies was chosen, if at all, with these.
        let as_told = copied.options.augment.copies(data.kind()) == told;
        let with_copies = copied.machine.is_some();
        let mut chosen = copied.machine.or(mirrored.or(plain).filter(|_| as_told));
        if let (Some(features), None) = (options.features(), &chosen) {
            units = problem.held_out_units(series)?;
            if units.is_none() {
                chosen = Some(problem.choose(features, series, false)?.choice);
            }
        }
        let varied = problem.varied(series)?;
        let fits = problem.fit_models(&varied)?;
        if let Some(fit) = fits.first() {
            form.settle(&fit.model);
        }
        let mut classifier = problem.bayes(series, models_of(&fits));
        let learnt = match options.features() {
            Some(features) => {
                let map = problem.feature_map(features, series, &classifier.models)?;
                let examples = match copied.examples {
                    Some((of, examples)) if of == map => examples,
                    _ => problem.examples(&map, &varied)?,
                };
                Some((map, examples))
            }
            None => None,
        };
        if let (Some((map, examples)), Some(units)) = (&learnt, &units) {
            let exact = problem.variation.exactly().variants();
            chosen = Some(problem.held_out(map, examples, units, exact)?.choice);
        }
        if let Some(choice) = chosen.as_mut().filter(|choice| choice.by == ChosenBy::HeldOut)
            && !with_copies
            && options.augment.copies(data.kind()) > 0
        {
            choice.by = ChosenBy::HeldOutWithoutCopies;
        }
        let mirror = options.augment.mirrors(data.kind()).filter(|_| chosen.is_some());
        classifier.provenance.selection = Some(Selection {
            form: (options.kind != ClassifierKind::EmpiricalMap).then(|| form.last_stage()),
            learner: chosen.is_some().then(|| options.learner.name.to_owned()),
            machine: chosen.clone(),
            mirror: mirror.unwrap_or_default().to_vec(),
            copies: copied.choice,
        });
        let form = Some(form);
        classifier.provenance.windows = problem.windows().of_all(series).count();
        let (Some((map, examples)), Some(chosen)) = (learnt, chosen) else {
            let fits = fits.to_vec();
            return Ok(Trained { classifier, choice: None, fits, varied: words, form });
        };
        let Setting { scaling, codebook_weight, sigma, c } = chosen.setting;
        let scaling = scaling.ok_or(TrainError::NoCandidate("scaling"))?;
        let scales = Scales { scaling, codebook_weight };
        let machine = problem.path(&examples, &map, scales, &[sigma], &[c])?;
        classifier.provenance.notes.extend(problem.notes(&chosen));
        classifier.method = options.kind.to_string();
        classifier.models = map.models().to_vec();
        classifier.codebooks = map.codebooks().cloned();
        classifier.normalisation = options.normalisation;
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
        let fits = fits.to_vec();
        Ok(Trained { classifier, choice: Some(chosen), fits, varied: words, form })
    }
}
