//! How training series are varied, where that is to be chosen: a mirror image, and the number of jittered copies.

use super::augment::{Augment, Mirror};
use super::choice::Decided;
use super::choosing::HeldOut;
use super::effort::check_features;
use super::error::TrainError;
use super::features::{FeatureMap, Features};
use super::machine::Examples;
use super::options::TrainOptions;
use super::problem::Problem;
use super::search::ERRORS;
use super::train::Trainer;
use super::vectors::mirror_candidates;
use crate::classifier::{Choice, CopiesCandidate, CopiesChoice, Lead};

/// The number of jittered copies that was chosen.
pub(super) struct Copied {
    /// With that number.
    pub(super) options: TrainOptions,
    /// The choice of scaling and C, where it was made.
    pub(super) machine: Option<Choice>,
    /// What it was chosen from, where there was a choice.
    pub(super) choice: Option<CopiesChoice>,
    /// The features of series and copies by a map, where they were taken.
    pub(super) examples: Option<(FeatureMap, Examples)>,
}

impl Trainer<'_> {
    /// The options with the mirror image chosen, and the choice of scaling and C that goes with it
    /// where it took a choice in inner folds.
    pub(super) fn choose_mirror(
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
            let both = mirrored.held_out(&map, &examples, &units, variation.variants())?;
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

    /// The options with the number of jittered copies chosen: the first of those to choose from, unless machines on
    /// another are right of series as they are by more than two standard errors more often, each series or group held
    /// out with its copies, or in inner folds: the larger of that of the difference over these and that of so many trials.
    /// Each has its own C, for copies change what a score's unit is; all else is frozen: as suits series without copies
    /// where they are held out in closed form, else series with the first number. What copies gain is of sensors that
    /// training series have not seen, so what they lose here has to be plain.
    ///
    /// Cost: features of as many copies as are tried, and for each C a factorisation of them; or inner folds of each
    /// number.
    pub(super) fn choose_copies(
        &self,
        series: &[usize],
        options: &TrainOptions,
        progress: &(dyn Fn() + Sync),
    ) -> Result<Copied, TrainError> {
        let numbers = options.augment.numbers_of_copies(self.data().kind());
        let with = |copies: usize| {
            let augment = options.augment.with_copies(copies);
            TrainOptions { augment, ..options.clone() }
        };
        let Some(features) = options.features().filter(|_| numbers.len() > 1) else {
            let options = with(numbers[0]);
            return Ok(Copied { options, machine: None, choice: None, examples: None });
        };
        let problem = Problem::new(&self.fits, series, options, progress)?;
        let held_out = problem.held_out_of(features, series)?;
        let mut setting = held_out.as_ref().map(|held_out| held_out.decided.choice.setting);
        let mut candidates: Vec<CopiesCandidate> = Vec::new();
        let (mut first, mut best): (Option<Decided>, Option<Best>) = (None, None);
        for &copies in &numbers {
            let mut options = with(copies);
            if let Some(setting) = setting {
                options = TrainOptions { c: options.c.clone(), ..options.frozen(setting) };
            }
            let problem = Problem::new(&self.fits, series, &options, progress)?;
            let (decided, examples) = match &held_out {
                Some(held_out) if copies == 0 => (held_out.decided.clone(), None),
                Some(held_out) => {
                    let (decided, examples) = problem.held_out_with_copies(held_out, series)?;
                    (decided, Some(examples))
                }
                None => (problem.choose(features, series, true)?, None),
            };
            setting.get_or_insert(decided.choice.setting);
            // Of too few series to judge by the first is taken.
            let Some(judgement) = decided.choice.judgement() else { break };
            let lead = first.as_ref().and_then(|first| lead(&decided, first));
            let candidate = CopiesCandidate { copies, accuracy: judgement.accuracy, lead };
            let leads = lead.is_none_or(|it| it.accuracy > ERRORS * it.standard_error);
            let ahead = best.as_ref().map(|best| accuracy(&best.machine));
            if leads && ahead.is_none_or(|ahead| ahead < judgement.accuracy) {
                best = Some(Best { copies, machine: decided.choice.clone(), examples });
            }
            candidates.push(candidate);
            first.get_or_insert(decided);
        }
        let Some(Best { copies, machine, examples }) = best else {
            let options = with(numbers[0]);
            let choice = Some(CopiesChoice { copies: numbers[0], candidates });
            return Ok(Copied { options, machine: None, choice, examples: None });
        };
        Ok(Copied {
            options: with(copies),
            // In inner folds the machine of another number is chosen on that.
            machine: (held_out.is_some() || copies == numbers[0]).then_some(machine),
            choice: Some(CopiesChoice { copies, candidates }),
            examples: held_out.map(|held_out| held_out.map).zip(examples),
        })
    }
}

/// A number of copies that leads, its machine, and where they were taken, the features of series and copies.
struct Best {
    copies: usize,
    machine: Choice,
    examples: Option<Examples>,
}

/// By how much what was decided leads other decisions of the same windows.
fn lead(own: &Decided, other: &Decided) -> Option<Lead> {
    let (judgement, next) = (own.choice.judgement()?, other.choice.judgement()?);
    // Groups may be too few to differ; trials differ by this much in any case.
    let paired = own.marks.standard_error(&other.marks);
    let standard_error = paired.max(judgement.standard_error(own.marks.count_units()));
    Some(Lead { over_kept: true, ..judgement.lead(&next, standard_error) })
}

/// How often what was chosen is right.
fn accuracy(choice: &Choice) -> f64 {
    choice.judgement().map_or(0.0, |one| one.accuracy)
}
