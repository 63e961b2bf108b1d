//! Training: class models by Baum-Welch, then a Bayes rule or a machine on what they say.

use super::augment::{Augment, Mirror};
use super::choice::Decided;
use super::choosing::HeldOut;
use super::effort::{Effort, check_features};
use super::error::TrainError;
use super::features::Features;
use super::fits::{Fits, models_of};
use super::kind::ClassifierKind;
use super::limits::Limits;
use super::machine::Examples;
use super::metric::Scales;
use super::options::TrainOptions;
use super::problem::{AnyPath, Problem};
use super::search::{ERRORS, FormSearch};
use super::vectors::mirror_candidates;
use crate::classifier::{Choice, Classifier, FormChoice, Rule, Selection, Setting};
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
    fits: Fits<'a>,
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

    /// Refuses no windows, lags that reach beyond each, and more features than there is room for.
    fn check_room(&self, series: &[usize], options: &TrainOptions) -> Result<(), TrainError> {
        if self.data().windows(options.windowing.as_ref()).of_all(series).next().is_none() {
            return Err(TrainError::NoWindows(self.data().source().to_owned()));
        }
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
        let options = &options;
        let problem = Problem::new(&self.fits, series, options, progress)?;
        let words = options.augment.describe(data.kind());
        problem.check_windows(series)?;
        // Before the copies of all series are made: inner folds make their own.
        let mut units = None;
        let mut chosen = mirrored.or(plain);
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
                let examples = problem.examples(&map, &varied)?;
                Some((map, examples))
            }
            None => None,
        };
        if let (Some((map, examples)), Some(units)) = (&learnt, &units) {
            chosen = Some(problem.held_out(map, examples, units)?.choice);
        }
        let mirror = options.augment.mirrors(data.kind()).filter(|_| chosen.is_some());
        classifier.provenance.selection = Some(Selection {
            form: (options.kind != ClassifierKind::EmpiricalMap).then(|| form.last_stage()),
            learner: chosen.is_some().then(|| options.learner.name.to_owned()),
            machine: chosen.clone(),
            mirror: mirror.unwrap_or_default().to_vec(),
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

    /// The options with the mirror image chosen, and the choice of scaling and C that goes with it
    /// where it took a choice in inner folds.
    fn choose_mirror(
        &self,
        series: &[usize],
        options: &TrainOptions,
        progress: &(dyn Fn() + Sync),
    ) -> Result<(TrainOptions, Option<Choice>), TrainError> {
        let with = |channels: Vec<String>| TrainOptions {
            augment: Augment { mirror: Mirror::Channels(channels), ..options.augment.clone() },
            ..options.clone()
        };
        let images = mirror_candidates(self.data().kind(), &options.augment.vectors);
        let images: Vec<_> = images.into_iter().map(with).collect();
        let features = match options.features() {
            Some(features) if options.augment.mirror == Mirror::Choose && images.len() > 1 => {
                features
            }
            _ => return Ok((options.clone(), None)),
        };
        if options.in_closed_form()
            && let Some(chosen) =
                self.choose_mirror_held_out(features, series, &images, progress)?
        {
            return Ok(chosen);
        }
        let mut best: Option<(TrainOptions, Choice)> = None;
        let mut first = None;
        for options in images {
            // All else is frozen: as suits series that are not mirrored.
            let frozen = first.map_or_else(|| options.clone(), |setting| options.frozen(setting));
            let problem = Problem::new(&self.fits, series, &frozen, progress)?;
            if best.is_some() && problem.check_windows(series).is_err() {
                // A Gram matrix has room for the series, and none for their mirror images as well.
                break;
            }
            let Decided { choice, .. } = problem.choose(features, series, true)?;
            first.get_or_insert(choice.setting);
            // Of equals the first: no mirror image.
            if best.as_ref().is_none_or(|(_, best)| accuracy(&choice) > accuracy(best)) {
                best = Some((options, choice));
            }
        }
        let Some((options, choice)) = best else { return Ok((options.clone(), None)) };
        let plain = options.augment.mirrors(self.data().kind()) == Some(&[]);
        // The machine of mirrored series is chosen on these.
        Ok((options, plain.then_some(choice)))
    }

    /// Of options with a mirror image each, the first with none, those that decide best what is held out in closed form,
    /// and without an image the choice of scaling and C; `None` where that is not to be had. All else is frozen, models
    /// too: those of the series alone, which the classifier keeps. The series alone are taken unless an image leads them
    /// by more than two standard errors over series: what an image gains is of the few who wear the sensor on the other
    /// side, and no error over so few groups would let it pass.
    ///
    /// Cost: the fit and the features that are made anyway, and the features of every image once.
    fn choose_mirror_held_out(
        &self,
        features: Features,
        series: &[usize],
        images: &[TrainOptions],
        progress: &(dyn Fn() + Sync),
    ) -> Result<Option<(TrainOptions, Option<Choice>)>, TrainError> {
        let Some((none, images)) = images.split_first() else { return Ok(None) };
        let problem = Problem::new(&self.fits, series, none, progress)?;
        let Some(HeldOut { units, map, examples, decided: alone }) =
            problem.held_out_of(features, series)?
        else {
            return Ok(None);
        };
        let mut examples = Examples::clone(&examples);
        let own = examples.labels.len();
        let of_series = || problem.windows().of_all(series).map(|window| window.series).collect();
        let mut best = (none, accuracy(&alone.choice));
        for options in images {
            let frozen = options.frozen(alone.choice.setting);
            let mirrored = Problem::new(&self.fits, series, &frozen, progress)?;
            // With an image and its copies there may be more features than there is room for.
            if check_features(own * mirrored.variation.variants(), map.len()).is_err() {
                continue;
            }
            let variation = mirrored.variation.exactly();
            let varied = variation.apply(series)?;
            let image = mirrored.examples_of(&map, &varied, &varied.exact()[series.len()..]);
            let image = match image {
                // What the models make impossible is no image.
                Err(TrainError::ImpossibleWindow { .. }) => continue,
                image => image?,
            };
            examples.append(&image);
            let both = mirrored.held_out(&map, &examples, &units)?;
            examples.truncate(own);
            let right = accuracy(&both.choice);
            let enough = ERRORS * both.marks.over(of_series()).standard_error(&alone.marks);
            if right > best.1 && right - accuracy(&alone.choice) > enough {
                best = (options, right);
            }
        }
        // The machine of mirrored series is chosen on these.
        let alone = std::ptr::eq(best.0, none).then_some(alone.choice);
        Ok(Some((best.0.clone(), alone)))
    }
}

/// How often what was chosen is right.
fn accuracy(choice: &Choice) -> f64 {
    choice.judgement().map_or(0.0, |one| one.accuracy)
}
