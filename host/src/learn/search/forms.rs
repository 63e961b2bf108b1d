//! Choice of the form of class models: by successive halving in inner folds, and in closed form.

use crate::classifier::{Choice, Form, FormCandidate, FormChoice, Lead};
use crate::learn::error::TrainError;
use crate::learn::search::judge::Judge;
use crate::learn::selection::choice::{Decided, Judgement};
use crate::learn::selection::halving::{LAST, kept_of};
use crate::learn::selection::judged::{ChosenForm, ERRORS, JudgedForm, Seen, can_be_led};
use crate::learn::space::Space;
use crate::learn::space::trial::Trial;
use crate::learn::training::held_out::HeldOut;

/// Number of windows per class that the first stage sees; each next stage sees four times as many.
const FIRST_WINDOWS: usize = 40;
/// Divisor of the windows: if less than this part would be left out, all are used.
const ALL_BUT: usize = 4;
/// Passes of Baum-Welch in the stages before the last, and in the last beside models of all that have no more; and in the
/// first of several in closed form.
const FEW_PASSES: usize = 20;
const FIRST_PASSES: usize = 5;

/// A search among the forms of a space, by a judge.
pub(crate) struct FormSearch<'a, J> {
    pub(crate) space: &'a Space<'a>,
    pub(crate) judge: &'a J,
}

/// The form of one model that decides best what is held out in closed form, by how much, and what was held out of all
/// series.
struct OfOne {
    form: Form,
    /// `true` if it is the default, which others have to beat.
    ///
    /// It is not if it was to have codebooks and series are too short for any.
    first: bool,
    lead: Option<Lead>,
    held_out: HeldOut,
}

impl<J: Judge> FormSearch<'_, J> {
    /// The form of class models, of those as often right that of the least loss, and where it took one, the choice of
    /// scaling and C on training series as they are.
    ///
    /// A floor keeps a state from resting on a few samples, and keeps it from being as narrow as the
    /// data are. With 0.3 Fisher got 0.900 of the test series of a gun pointed or not, with 0.03 0.873;
    /// of vibrations of a fan 0.818 and 0.927: none is right everywhere, and inner folds rank them. So it is
    /// with lags, and with states.
    ///
    /// By successive halving (K. Jamieson and A. Talwalkar, Non-stochastic best arm identification and
    /// hyperparameter optimization, AISTATS 2016): all forms on some series of each class with one setting
    /// of the machine, a quarter of them on four times as many, at last four on all with every setting.
    ///
    /// Forms of one model that has seen no label are judged in closed form instead, with one fit each: all after the first passes
    /// of Baum-Welch with one scaling, a quarter of them after more of the same fit. The best of them is the simpler form, and is
    /// used at once if its error is too small for any other to win by two standard errors. Otherwise inner folds compare it with
    /// one model per class: that of the first form, at every floor and with all transitions, and that of its own form, unless
    /// this has a model for each lag. They are compared on some series first, and on all series with those that it does not beat
    /// there by more than one standard error. The best replaces it if it wins by more than two, the larger of the error of the
    /// difference and its own (of the best, and one, in L. Breiman, J. Friedman, R. Olshen and C. Stone, Classification and
    /// Regression Trees, 1984, section 3.4.3). If series are too short for the codebooks that it was to have, the roles are
    /// exchanged: the form of one model has to beat a model per class.
    pub(crate) fn choose(&self) -> Result<(FormChoice, Option<Choice>), TrainError> {
        let space = self.space;
        let before = self.judge.fits();
        let forms = space.forms().to_vec();
        let left_out = space.left_out();
        let mut candidates = Vec::new();
        let chosen = match forms.len() {
            0 | 1 => None,
            _ => self.chosen(forms, &mut candidates)?,
        };
        let fits = self.judge.fits() - before;
        let Some(ChosenForm { form, choice, lead, could_not_lead }) = chosen else {
            // Nothing to judge by: what is taken where nothing is tried.
            let (form, candidates) = (space.unjudged(), Vec::new());
            let choice =
                FormChoice { form, candidates, left_out, could_not_lead: 0, fits, lead: None };
            return Ok((choice, None));
        };
        let last = candidates.iter().map(|one| one.stage).max();
        for one in &mut candidates {
            one.won = Some(one.stage) == last && one.form == form;
            one.price = space.price(&one.form);
        }
        // Of series that will be varied the choice of a machine says nothing yet.
        let plain_alone = space.trial(&form).is_plain(space.data.kind());
        let choice = choice.filter(|_| plain_alone);
        Ok((FormChoice { form, candidates, left_out, could_not_lead, fits, lead }, choice))
    }

    /// Chooses the best of several forms; `None` if there is nothing to judge by.
    fn chosen(
        &self,
        forms: Vec<Form>,
        candidates: &mut Vec<FormCandidate>,
    ) -> Result<Option<ChosenForm>, TrainError> {
        let first = &forms[0].clone();
        let (of_one, mut forms): (Vec<Form>, Vec<Form>) =
            forms.into_iter().partition(|form| self.space.trial(form).in_closed_form());
        let one = self.best_of_one(&of_one, candidates)?;
        if let Some(OfOne { form: best, first: is_first, lead, held_out }) = &one {
            let Decided { choice, marks } = &held_out.decided;
            let errs_enough = |found: Judgement| can_be_led(&found, marks.count());
            let is_safe = *is_first && !choice.judgement().is_none_or(errs_enough);
            forms.retain(|form| {
                let (std_floor, topology) = (form.std_floor, form.topology);
                let firsts = Form { std_floor, topology, ..first.clone() };
                let own = Form { models: form.models.clone(), ..best.clone() };
                *form == firsts || *form == own
            });
            if forms.is_empty() || is_safe {
                return Ok(Some(ChosenForm {
                    form: best.clone(),
                    choice: Some(choice.clone()),
                    lead: *lead,
                    could_not_lead: forms.len(),
                }));
            }
            forms.push(best.clone());
        }
        let found = self.halve(forms, first, one.as_ref(), candidates)?;
        // Without inner folds what is right in closed form.
        let alone = one.filter(|one| one.first).map(|OfOne { form, lead, held_out, .. }| {
            let choice = Some(held_out.decided.choice);
            ChosenForm { form, choice, lead, could_not_lead: 0 }
        });
        Ok(found.or(alone))
    }

    /// Successive halving: all forms on some series, a quarter of them on four times as many, at last a few on
    /// all. What `one` leads on some series by more than a standard error is not judged on all.
    fn halve(
        &self,
        mut forms: Vec<Form>,
        first: &Form,
        one: Option<&OfOne>,
        candidates: &mut Vec<FormCandidate>,
    ) -> Result<Option<ChosenForm>, TrainError> {
        let first_stage = candidates.last().map_or(0, |one| one.stage + 1);
        let (mut stage, mut most) = (first_stage, FIRST_WINDOWS);
        let is_one = |form: &Form| one.is_some_and(|one| one.form == *form);
        loop {
            let last = forms.len() <= LAST && (one.is_none() || stage > first_stage);
            let some = if last { self.space.series.to_vec() } else { self.some_of_each(most)? };
            // Beside models of all, which have few passes themselves, those of classes are judged on few.
            let most_passes = match (last, one) {
                (false, _) => FEW_PASSES,
                (true, None) => usize::MAX,
                (true, Some(one)) => FEW_PASSES.max(self.plain(&one.form).baum_welch.iterations),
            };
            let mut judged: Vec<JudgedForm> = Vec::new();
            for form in forms {
                let found = match one.filter(|one| one.form == form) {
                    Some(OfOne { held_out, .. }) => {
                        let setting = held_out.decided.choice.setting;
                        let trial = self.plain(&form).frozen(setting);
                        self.judge.held_out_in_folds(&trial, held_out, self.space.series, &some)
                    }
                    None => self.judge(&form, &some, last, most_passes),
                };
                let mut found = match found {
                    Ok(Some(found)) => found,
                    Ok(None) => return Ok(None),
                    // What cannot be fitted is not chosen; the first would fail at the end as well.
                    Err(_) if form != *first => continue,
                    Err(error) => return Err(error),
                };
                let whole = self.plain(&form).baum_welch.iterations;
                // Those of models that there are already are as they were.
                let passes = if is_one(&form) { whole } else { whole.min(most_passes) };
                let seen = Seen { stage, closed_form: false, series: some.len(), passes };
                candidates.push(found.candidate(seen));
                match one.filter(|one| one.form == found.form) {
                    Some(one) => found.choice = Some(one.held_out.decided.choice.clone()),
                    // Of other models than those that will be fitted.
                    None if passes < whole => found.choice = None,
                    None => {}
                }
                judged.push(found);
            }
            // Stable: of equals the first.
            judged.sort_by(|a, b| b.judgement.order(&a.judgement));
            if last {
                let Some(best) = judged.first() else { return Ok(None) };
                // Of the kind that is taken untried the best, unless it is led.
                let is_first = |form: &Form| one.is_some_and(|one| one.first == is_one(form));
                let kept = judged
                    .iter()
                    .position(|one| is_first(&one.form) && !one.loses_to(best, ERRORS));
                let chosen = judged.remove(kept.unwrap_or(0));
                let led = judged.iter().find(|one| is_first(&one.form));
                let lead = match (kept, led) {
                    (Some(_), _) => judged.first().map(|next| chosen.safe_lead(next)),
                    (None, Some(led)) => Some(led.lead_over(&chosen)),
                    (None, None) => chosen.lead(&judged),
                };
                return Ok(Some(chosen.taken(lead)));
            }
            let kept = kept_of(judged.len());
            let place = judged.iter().position(|judged| is_one(&judged.form));
            let simplest = place.map(|place| judged.remove(place));
            // It stays, wherever it is.
            judged.truncate(kept - usize::from(simplest.is_some()));
            if let Some(simplest) = simplest {
                let lead = judged.first().map(|next| simplest.safe_lead(next));
                // On all series they would have to lead by two standard errors.
                let has_to_lead = one.is_some_and(|one| one.first);
                judged.retain(|other| !(has_to_lead && simplest.beats(other, 1.0)));
                if judged.is_empty() {
                    return Ok(Some(simplest.taken(lead)));
                }
                judged.insert(0, simplest);
            }
            forms = judged.into_iter().map(|judged| judged.form).collect();
            (stage, most) = (stage + 1, 4 * most);
        }
    }

    /// Chooses the best form of one model that has seen no label, on some series, and the setting of its machine, on all: one fit
    /// each.
    ///
    /// Forms that cannot be fitted are left out.
    fn best_of_one(
        &self,
        forms: &[Form],
        candidates: &mut Vec<FormCandidate>,
    ) -> Result<Option<OfOne>, TrainError> {
        if forms.is_empty() {
            return Ok(None);
        }
        let first =
            !self.space.open.tries_codebooks() || forms.iter().any(|form| form.codebooks > 0);
        let judge = |form: &Form, series: &[usize], passes: usize| {
            let mut trial = self.plain(form).with_passes(passes);
            // Scalings, and what codebooks weigh, are chosen of the one form that is left.
            if passes < usize::MAX {
                trial.settings = trial.settings.of_one_scale();
            }
            let held_out = self.judge.in_closed_form(&trial, series)?;
            Ok::<_, TrainError>(held_out.map(|held_out| (held_out, trial)))
        };
        let some = self.some_of_each(4 * FIRST_WINDOWS)?;
        let mut forms: Vec<&Form> = forms.iter().collect();
        let stages: &[usize] =
            if forms.len() > LAST { &[FIRST_PASSES, FEW_PASSES] } else { &[FEW_PASSES] };
        let mut lead = None;
        for (stage, &passes) in stages.iter().enumerate() {
            let mut judged: Vec<(JudgedForm, &Form)> = Vec::new();
            let mut best_yet: Option<(Judgement, HeldOut, Trial)> = None;
            for form in forms {
                let Ok(Some((held_out, trial))) = judge(form, &some, passes) else {
                    continue;
                };
                let Some(found) = JudgedForm::of(form, held_out.decided.clone()) else { continue };
                let best = best_yet.as_ref().map(|(best, ..)| best);
                if best.is_none_or(|best| found.judgement.order(best).is_gt()) {
                    best_yet = Some((found.judgement, held_out, trial));
                }
                let passes = passes.min(self.plain(form).baum_welch.iterations);
                let seen = Seen { stage, closed_form: true, series: some.len(), passes };
                candidates.push(found.candidate(seen));
                judged.push((found, form));
            }
            // The features of the best serve what is tried of it.
            if let Some((_, held_out, trial)) = best_yet {
                self.judge.keep(&trial, &some, &held_out);
            }
            // Stable: of equals the first, and of floors the highest, which holds a state the most.
            judged.sort_by(|(a, _), (b, _)| b.judgement.order(&a.judgement));
            let best = judged.split_first();
            lead = best.and_then(|((best, _), others)| best.lead(others.iter().map(|one| &one.0)));
            let kept = if stage + 1 == stages.len() { 1 } else { kept_of(judged.len()) };
            forms = judged.into_iter().take(kept).map(|(_, form)| form).collect();
        }
        let Some(&best) = forms.first() else { return Ok(None) };
        let held_out = judge(best, self.space.series, usize::MAX)?;
        let form = best.clone();
        Ok(held_out.map(|(held_out, _)| OfOne { form, first, lead, held_out }))
    }

    /// A form, and series as they are.
    fn plain(&self, form: &Form) -> Trial {
        self.space.trial(form).plain()
    }

    /// Judges a form in inner folds, and chooses its machine; `None` without folds. Before the last stage
    /// with one setting.
    fn judge(
        &self,
        form: &Form,
        series: &[usize],
        last: bool,
        most_passes: usize,
    ) -> Result<Option<JudgedForm>, TrainError> {
        let mut trial = self.plain(form).with_passes(most_passes);
        if !last {
            trial.settings = trial.settings.middle();
        }
        self.judge.in_folds(&trial, series)
    }

    /// Selects series with at least `windows` windows of each class, spread over all, and enough of them for inner folds.
    ///
    /// Returns all series if the selection would leave out less than a quarter of the windows.
    fn some_of_each(&self, windows: usize) -> Result<Vec<usize>, TrainError> {
        let (data, request) = (self.space.data, self.space.request());
        let labels = data.labels()?;
        let all = data.windows(request.windowing.as_ref());
        let mut of_class = vec![(0_usize, 0_usize); data.classes().len()];
        for &one in self.space.series {
            let (series, windows) = &mut of_class[labels[one]];
            (*series, *windows) = (*series + 1, *windows + all.of(one).len());
        }
        let mut seen = vec![0_usize; of_class.len()];
        let taken = |one: &usize| {
            let ((series, cut), seen) = (of_class[labels[*one]], &mut seen[labels[*one]]);
            let most = (windows * series).div_ceil(cut.max(1)).max(2 * request.inner_folds);
            *seen += 1;
            // Where the share of those taken steps up.
            series <= most || *seen * most / series > (*seen - 1) * most / series
        };
        let some: Vec<usize> = self.space.series.iter().copied().filter(taken).collect();
        // What is fitted to all serves what follows, too.
        let (some_windows, windows) =
            (all.of_all(&some).count(), all.of_all(self.space.series).count());
        let nearly_all = ALL_BUT * (windows - some_windows) < windows;
        Ok(if nearly_all { self.space.series.to_vec() } else { some })
    }
}

#[cfg(test)]
mod tests;
