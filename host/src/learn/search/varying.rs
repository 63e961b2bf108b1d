//! Choice of the augmentation of training series: a mirror image, and the number of jittered copies.

use crate::classifier::{Choice, CopiesCandidate, CopiesChoice, Lead};
use crate::learn::error::TrainError;
use crate::learn::features::Features;
use crate::learn::machine::Examples;
use crate::learn::room::check_features;
use crate::learn::search::plan::Taken;
use crate::learn::search::training_judge::TrainingJudge;
use crate::learn::selection::choice::Decided;
use crate::learn::selection::judged::ERRORS;
use crate::learn::space::trial::Trial;
use crate::learn::training::held_out::HeldOut;
use crate::learn::training::set::TrainingSet;
use crate::learn::variation::vectors::mirror_candidates;

/// The number of jittered copies that was chosen.
pub(crate) struct Copied {
    /// Trial with that number.
    pub(crate) trial: Trial,
    /// The choice of scaling and C, where it was made.
    pub(crate) machine: Option<Choice>,
    /// Alternatives, if there was a choice.
    pub(crate) choice: Option<CopiesChoice>,
    /// The features of series and copies by a map, where they were taken.
    pub(crate) examples: Taken,
}

impl TrainingJudge<'_> {
    pub(crate) fn set<'s>(
        &'s self,
        series: &'s [usize],
        trial: &'s Trial,
    ) -> Result<TrainingSet<'s>, TrainError> {
        TrainingSet::new(self.shared, series, trial, self.progress)
    }

    /// A trial with the mirror image chosen, and the choice of scaling and C that goes with it where it took a choice in
    /// inner folds.
    pub(crate) fn choose_mirror(
        &self,
        series: &[usize],
        trial: &Trial,
    ) -> Result<(Trial, Option<Choice>), TrainError> {
        let observed = self.shared.fits.data().kind();
        let images = mirror_candidates(observed, &trial.augment.vectors);
        let told = trial.augment.mirrors(observed).map(<[String]>::to_vec);
        let features = match (trial.request.features(), told) {
            (Some(features), None) => features,
            (_, told) => return Ok((trial.mirrored(told.unwrap_or_default()), None)),
        };
        let images: Vec<_> = images.into_iter().map(|image| trial.mirrored(image)).collect();
        if trial.in_closed_form()
            && let Some(chosen) = self.choose_mirror_held_out(features, series, &images)?
        {
            return Ok(chosen);
        }
        let mut best: Option<(Trial, Choice)> = None;
        let mut first = None;
        for trial in images {
            // All else is frozen: as suits series that are not mirrored.
            let frozen = first.map_or_else(|| trial.clone(), |setting| trial.frozen(setting));
            let set = self.set(series, &frozen)?;
            if best.is_some() && set.check_windows(series).is_err() {
                // A Gram matrix has room for the series, and none for their mirror images as well.
                break;
            }
            let Decided { choice, .. } = set.choose(features, series, true)?;
            first.get_or_insert(choice.setting);
            // Of equals the first: no mirror image.
            if best.as_ref().is_none_or(|(_, best)| accuracy(&choice) > accuracy(best)) {
                best = Some((trial, choice));
            }
        }
        let Some((trial, choice)) = best else { return Ok((trial.clone(), None)) };
        let plain = trial.augment.mirrors(observed) == Some(&[]);
        // The machine of mirrored series is chosen on these.
        Ok((trial, plain.then_some(choice)))
    }

    /// Chooses among trials with a mirror image each, the first without, the one with the best hold-out in closed form, and for
    /// the first the scaling and C.
    ///
    /// `None` if that is not available. All else is fixed, models too: those of the series alone, which the classifier keeps. No
    /// image is used unless it wins by more than two standard errors over series. An image helps the few who wear the sensor on
    /// the other side, and an error over so small a number of groups would reject it.
    ///
    /// Cost: the fit and the features that are made anyway, and the features of every image once.
    fn choose_mirror_held_out(
        &self,
        features: Features,
        series: &[usize],
        images: &[Trial],
    ) -> Result<Option<(Trial, Option<Choice>)>, TrainError> {
        let Some((none, images)) = images.split_first() else { return Ok(None) };
        let set = self.set(series, none)?;
        let Some(HeldOut { units, map, examples, decided: alone, .. }) =
            set.held_out_of(features, series)?
        else {
            return Ok(None);
        };
        let mut examples = Examples::clone(&examples);
        let own = examples.labels.len();
        let of_series = || set.windows().of_all(series).map(|window| window.series).collect();
        let mut best = (none, accuracy(&alone.choice));
        for trial in images {
            let frozen = trial.frozen(alone.choice.setting);
            let mirrored = self.set(series, &frozen)?;
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
                best = (trial, right);
            }
        }
        // The machine of mirrored series is chosen on these.
        let alone = std::ptr::eq(best.0, none).then_some(alone.choice);
        Ok(Some((best.0.clone(), alone)))
    }

    /// A trial with the number of jittered copies chosen: the first of those to choose from, unless machines on another number
    /// win on series without augmentation by more than two standard errors, each series or group held out with its copies, or in
    /// inner folds. The standard error is the larger of that of the difference over these units and that of independent trials.
    /// Each number has its own C, for copies change the unit of a score; all else is fixed, as suits series without copies if
    /// they are held out in closed form, otherwise series with the first number. Copies help with sensors that training series
    /// have not seen, so only a clear loss here rejects them.
    ///
    /// Cost: features of as many copies as are tried, and for each C a factorisation of them; or inner folds of each
    /// number.
    pub(crate) fn choose_copies(
        &self,
        series: &[usize],
        trial: &Trial,
    ) -> Result<Copied, TrainError> {
        let numbers = trial.augment.numbers_of_copies(self.shared.fits.data().kind());
        let with = |copies: usize| trial.with_copies(copies);
        let Some(features) = trial.request.features().filter(|_| numbers.len() > 1) else {
            let trial = with(numbers[0]);
            return Ok(Copied { trial, machine: None, choice: None, examples: None });
        };
        let held_out = self.set(series, trial)?.held_out_of(features, series)?;
        let mut setting = held_out.as_ref().map(|held_out| held_out.decided.choice.setting);
        let mut candidates: Vec<CopiesCandidate> = Vec::new();
        let (mut first, mut best): (Option<Decided>, Option<Best>) = (None, None);
        for &copies in &numbers {
            let mut copied = with(copies);
            if let Some(setting) = setting {
                let c = copied.settings.c.clone();
                copied.settings = copied.settings.only(setting);
                copied.settings.c = c;
            }
            let set = self.set(series, &copied)?;
            let (decided, examples) = match &held_out {
                Some(held_out) if copies == 0 => (held_out.decided.clone(), None),
                Some(held_out) => {
                    let (decided, examples) = set.held_out_with_copies(held_out, series)?;
                    (decided, Some(examples))
                }
                None => (set.choose(features, series, true)?, None),
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
            let trial = with(numbers[0]);
            let choice = Some(CopiesChoice { copies: numbers[0], candidates });
            return Ok(Copied { trial, machine: None, choice, examples: None });
        };
        Ok(Copied {
            trial: with(copies),
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

/// Gain of some decisions over others on the same windows.
fn lead(own: &Decided, other: &Decided) -> Option<Lead> {
    let (judgement, next) = (own.choice.judgement()?, other.choice.judgement()?);
    // Groups may be too few to differ; trials differ by this much in any case.
    let paired = own.marks.standard_error(&other.marks);
    let standard_error = paired.max(judgement.standard_error(own.marks.count_units()));
    Some(Lead { over_kept: true, ..judgement.lead(&next, standard_error) })
}

/// Accuracy of the choice.
fn accuracy(choice: &Choice) -> f64 {
    choice.judgement().map_or(0.0, |one| one.accuracy)
}
