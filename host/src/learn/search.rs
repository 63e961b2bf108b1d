//! How the form of class models is chosen: by successive halving in inner folds, and in closed form.

mod judged;

use judged::{Chosen, Judged, Seen, can_be_led};

use super::augment::Augment;
use super::choice::{Decided, Judgement, Marks, Verdict, accuracy, log_loss};
use super::choosing::HeldOut;
use super::error::TrainError;
use super::fits::{Fits, models_of};
use super::form::{LAST, kept_of};
use super::options::TrainOptions;
use super::price::Pricing;
use super::problem::Problem;
use crate::batch::log_likelihoods;
use crate::classifier::{Choice, Form, FormCandidate, FormChoice, Lead, Scaling};
use crate::data::{Kind, SamplesView, Widened};

/// Windows in a class that the first stage sees; the next ones see four times as many.
const FIRST_WINDOWS: usize = 40;
/// Where less than this part of all windows would be left out, none is.
const ALL_BUT: usize = 4;
/// Passes of Baum-Welch in the stages before the last, and in the last beside models of all that have no more; and in the
/// first of several in closed form.
const FEW_PASSES: usize = 20;
const FIRST_PASSES: usize = 5;
/// Standard errors by which models of classes must lead models of all to be taken, series with a mirror image those
/// without, and other numbers of jittered copies the first. With one, of models, eight sets had 0.928 of their training
/// parts in the mean over folds, with two 0.933: inner folds of a few groups are worth less than their size says.
pub(super) const ERRORS: f64 = 2.0;
/// What a lead in nats is held to: one of models that cannot be is endless.
const FARTHEST: f64 = 1e6;

/// A search among the forms of class models that options leave open, on some series.
pub(super) struct FormSearch<'a> {
    pub(super) fits: &'a Fits<'a>,
    pub(super) series: &'a [usize],
    pub(super) options: &'a TrainOptions,
    pub(super) progress: &'a (dyn Fn() + Sync),
}

/// The form of one model that decides best what is held out in closed form, by how much, and what was held out of all
/// series.
struct OfOne {
    form: Form,
    /// Whether it is what is taken untried, and others have to lead it: not where codebooks were to be beside it, and series
    /// are too short for any.
    first: bool,
    lead: Option<Lead>,
    held_out: HeldOut,
}

impl FormSearch<'_> {
    /// The options with the form of class models chosen, of those as often right that of the least loss, and
    /// where it took one, the choice of scaling and C on training series as they are.
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
    /// Forms of one model that has seen no label are judged in closed form instead, a fit each: all after the first
    /// passes of Baum-Welch with one scaling, a quarter of them after more of the same fit. The best of them is the
    /// simpler one, and is taken at once where it errs too little to be led by two standard errors. Else it is held in
    /// inner folds against a model a class: of the first form, at every floor and with all transitions, and of its own,
    /// but that of a model for each lag there is none; on some series first, and on all against those alone that it does
    /// not lead there by more than one standard error. It gives way to the best where that leads it by more than two, the
    /// larger of that of the difference and its own (of the best, and one, in L. Breiman, J. Friedman, R. Olshen and
    /// C. Stone, Classification and Regression Trees, 1984, section 3.4.3). Where series are too short for the codebooks that
    /// were to be beside it, it is a model a class that gives way, if the form of one model leads by as much.
    pub(super) fn choose(&self) -> Result<(TrainOptions, FormChoice, Option<Choice>), TrainError> {
        let (options, data) = (self.options, self.fits.data());
        let before = self.fits.count();
        let all = options.forms(data, self.series);
        let count = all.len();
        let pricing = Pricing::of(options, data, self.series)?;
        let forms = options.limits.kept(all, pricing.as_ref())?;
        let left_out = count - forms.len();
        let forms = options.untried(forms);
        // Of strings it is settled by likelihood where nothing is judged, if all that may come of it keep the limits.
        let untold = || Form::of(options, data.kind());
        let first = forms.first().cloned().unwrap_or_else(untold);
        let several = forms.len() > 1;
        let untried = match (options.usual(&forms), data.kind()) {
            (Some(usual), _) => usual.clone(),
            (None, Kind::Symbols(_)) if several && left_out == 0 => untold(),
            (None, _) => first.clone(),
        };
        let mut candidates = Vec::new();
        let chosen = match several {
            false => None,
            true => self.chosen(forms, &first, &mut candidates)?,
        };
        let fits = self.fits.count() - before;
        let Some(Chosen { form, choice, lead, could_not_lead }) = chosen else {
            // Nothing to judge by: what is taken where nothing is tried.
            let options = options.with_form(&untried);
            let (form, candidates) = (untried, Vec::new());
            let choice =
                FormChoice { form, candidates, left_out, could_not_lead: 0, fits, lead: None };
            return Ok((options, choice, None));
        };
        let last = candidates.iter().map(|one| one.stage).max();
        for one in &mut candidates {
            one.won = Some(one.stage) == last && one.form == form;
            one.price = pricing.as_ref().and_then(|pricing| pricing.price(&one.form));
        }
        // Of series that will be varied the choice of a machine says nothing yet.
        let (names, augment) = (data.kind(), &options.augment);
        let plain_alone = augment.copies(names) == 0 && augment.mirrors(names) == Some(&[]);
        let choice = choice.filter(|_| plain_alone);
        let options = options.with_form(&form);
        Ok((options, FormChoice { form, candidates, left_out, could_not_lead, fits, lead }, choice))
    }

    /// Of several forms the best; `None` where there is nothing to judge by.
    fn chosen(
        &self,
        forms: Vec<Form>,
        first: &Form,
        candidates: &mut Vec<FormCandidate>,
    ) -> Result<Option<Chosen>, TrainError> {
        let (of_one, mut forms): (Vec<Form>, Vec<Form>) =
            forms.into_iter().partition(|form| self.options.with_form(form).in_closed_form());
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
                return Ok(Some(Chosen {
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
            Chosen { form, choice, lead, could_not_lead: 0 }
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
    ) -> Result<Option<Chosen>, TrainError> {
        let first_stage = candidates.last().map_or(0, |one| one.stage + 1);
        let (mut stage, mut most) = (first_stage, FIRST_WINDOWS);
        let is_one = |form: &Form| one.is_some_and(|one| one.form == *form);
        loop {
            let last = forms.len() <= LAST && (one.is_none() || stage > first_stage);
            let some = if last { self.series.to_vec() } else { self.some_of_each(most)? };
            // Beside models of all, which have few passes themselves, those of classes are judged on few.
            let most_passes = match (last, one) {
                (false, _) => FEW_PASSES,
                (true, None) => usize::MAX,
                (true, Some(one)) => FEW_PASSES.max(self.plain(&one.form).baum_welch.iterations),
            };
            let mut judged: Vec<Judged> = Vec::new();
            for form in forms {
                let found = match one.filter(|one| one.form == form) {
                    Some(one) => self.judge_of_one(one, &some),
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
                    .position(|one| is_first(&one.form) && !one.is_led_by(best, ERRORS));
                let chosen = judged.remove(kept.unwrap_or(0));
                let led = judged.iter().find(|one| is_first(&one.form));
                let lead = match (kept, led) {
                    (Some(_), _) => judged.first().map(|next| chosen.safe_lead(next)),
                    (None, Some(led)) => Some(led.lead_of(&chosen)),
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
                judged.retain(|other| !(has_to_lead && simplest.leads(other, 1.0)));
                if judged.is_empty() {
                    return Ok(Some(simplest.taken(lead)));
                }
                judged.insert(0, simplest);
            }
            forms = judged.into_iter().map(|judged| judged.form).collect();
            (stage, most) = (stage + 1, 4 * most);
        }
    }

    /// Of forms of one model that has seen no label the best, on some series, and the setting of its machine, on
    /// all: a fit each. Forms that cannot be fitted are left out.
    fn best_of_one(
        &self,
        forms: &[Form],
        candidates: &mut Vec<FormCandidate>,
    ) -> Result<Option<OfOne>, TrainError> {
        let Some(features) = self.options.features() else { return Ok(None) };
        let first = !self.options.tries_codebooks() || forms.iter().any(|form| form.codebooks > 0);
        let judge = |form: &Form, series: &[usize], passes: usize| {
            let mut plain = self.plain(form);
            // Scalings, and what codebooks weigh, are chosen of the one form that is left.
            if passes < usize::MAX {
                plain.scalings = vec![middle(&plain.scalings, Scaling::Diagonal)];
                plain.codebook_weights = vec![plain.codebook_weights()[0]];
            }
            plain.baum_welch.iterations = plain.baum_welch.iterations.min(passes);
            let problem = Problem::new(self.fits, series, &plain, self.progress)?;
            let held_out = problem.held_out_of(features, series)?;
            Ok::<_, TrainError>(held_out.map(|held_out| (held_out, plain.clone())))
        };
        let some = self.some_of_each(4 * FIRST_WINDOWS)?;
        let mut forms: Vec<&Form> = forms.iter().collect();
        let stages: &[usize] =
            if forms.len() > LAST { &[FIRST_PASSES, FEW_PASSES] } else { &[FEW_PASSES] };
        let mut lead = None;
        for (stage, &passes) in stages.iter().enumerate() {
            let mut judged: Vec<(Judged, &Form)> = Vec::new();
            let mut best_yet: Option<(Judgement, HeldOut, TrainOptions)> = None;
            for form in forms {
                let Ok(Some((held_out, plain))) = judge(form, &some, passes) else {
                    continue;
                };
                let Some(found) = Judged::of(form, held_out.decided.clone()) else { continue };
                let best = best_yet.as_ref().map(|(best, ..)| best);
                if best.is_none_or(|best| found.judgement.order(best).is_gt()) {
                    best_yet = Some((found.judgement, held_out, plain));
                }
                let passes = passes.min(self.plain(form).baum_welch.iterations);
                let seen = Seen { stage, closed_form: true, series: some.len(), passes };
                candidates.push(found.candidate(seen));
                judged.push((found, form));
            }
            // The features of the best serve what is tried of it.
            if let Some((_, held_out, plain)) = best_yet {
                self.fits.keep(&plain, &some, &held_out);
            }
            // Stable: of equals the first, and of floors the highest, which holds a state the most.
            judged.sort_by(|(a, _), (b, _)| b.judgement.order(&a.judgement));
            let best = judged.split_first();
            lead = best.and_then(|((best, _), others)| best.lead(others.iter().map(|one| &one.0)));
            let kept = if stage + 1 == stages.len() { 1 } else { kept_of(judged.len()) };
            forms = judged.into_iter().take(kept).map(|(_, form)| form).collect();
        }
        let Some(&best) = forms.first() else { return Ok(None) };
        let held_out = judge(best, self.series, usize::MAX)?;
        let form = best.clone();
        Ok(held_out.map(|(held_out, _)| OfOne { form, first, lead, held_out }))
    }

    /// The options with a form, and series as they are.
    fn plain(&self, form: &Form) -> TrainOptions {
        TrainOptions { augment: Augment::NONE, ..self.options.with_form(form) }
    }

    /// How well a form of one model decides in the inner folds of some series, with the setting that was chosen on all:
    /// each fold is held out in closed form, of the features that there are. `None` without folds.
    fn judge_of_one(&self, one: &OfOne, some: &[usize]) -> Result<Option<Judged>, TrainError> {
        let OfOne { form, held_out, .. } = one;
        let options = self.plain(form).frozen(held_out.decided.choice.setting);
        let problem = Problem::new(self.fits, some, &options, self.progress)?;
        let Some(folds) = problem.inner_folds(some)? else { return Ok(None) };
        let mut fold_of = vec![None; self.fits.data().series().len()];
        for fold in 0..folds.len() {
            folds.test(fold).into_iter().for_each(|item| fold_of[some[item]] = Some(fold));
        }
        let windows = problem.windows();
        let cut = windows.of_all(self.series).enumerate();
        let mut rows: Vec<(usize, usize)> =
            cut.filter_map(|(row, window)| Some((fold_of[window.series]?, row))).collect();
        // Fold by fold, as other forms' are.
        rows.sort_by_key(|&(fold, _)| fold);
        let (folds, rows): (Vec<usize>, Vec<usize>) = rows.into_iter().unzip();
        let decided = problem.held_out(&held_out.map, &held_out.examples.some(&rows), &folds, 1)?;
        let found = Judged::of(form, decided);
        let units = rows.iter().map(|&row| held_out.units[row]).collect();
        Ok(found.map(|found| Judged { marks: found.marks.over(units), ..found }))
    }

    /// How well a form decides in inner folds, and which machine; `None` without folds. Before the last stage
    /// with one setting.
    fn judge(
        &self,
        form: &Form,
        series: &[usize],
        last: bool,
        most_passes: usize,
    ) -> Result<Option<Judged>, TrainError> {
        let mut options = self.plain(form);
        options.baum_welch.iterations = options.baum_welch.iterations.min(most_passes);
        if !last {
            options.scalings = vec![middle(&options.scalings, Scaling::Diagonal)];
            options.codebook_weights = vec![options.codebook_weights()[0]];
            options.c = vec![options.c[options.c.len() / 2]];
            let middle = options.sigma.get(options.sigma.len() / 2).copied();
            options.sigma = middle.into_iter().collect();
        }
        let problem = Problem::new(self.fits, series, &options, self.progress)?;
        Ok(match options.features() {
            Some(features) => Judged::of(form, problem.choose(features, series, true)?),
            None => problem.judge_bayes(series)?.map(|(judgement, marks)| Judged {
                judgement,
                form: form.clone(),
                choice: None,
                marks,
            }),
        })
    }

    /// Series with so many windows of each class, spread over all; enough of them for inner folds. All, where those leave
    /// out less than a quarter of the windows.
    fn some_of_each(&self, windows: usize) -> Result<Vec<usize>, TrainError> {
        let (data, options) = (self.fits.data(), self.options);
        let labels = data.labels()?;
        let all = data.windows(options.windowing.as_ref());
        let mut of_class = vec![(0_usize, 0_usize); data.classes().len()];
        for &one in self.series {
            let (series, windows) = &mut of_class[labels[one]];
            (*series, *windows) = (*series + 1, *windows + all.of(one).len());
        }
        let mut seen = vec![0_usize; of_class.len()];
        let taken = |one: &usize| {
            let ((series, cut), seen) = (of_class[labels[*one]], &mut seen[labels[*one]]);
            let most = (windows * series).div_ceil(cut.max(1)).max(2 * options.inner_folds);
            *seen += 1;
            // Where the share of those taken steps up.
            series <= most || *seen * most / series > (*seen - 1) * most / series
        };
        let some: Vec<usize> = self.series.iter().copied().filter(taken).collect();
        // What is fitted to all serves what follows, too.
        let (some_windows, windows) = (all.of_all(&some).count(), all.of_all(self.series).count());
        let nearly_all = ALL_BUT * (windows - some_windows) < windows;
        Ok(if nearly_all { self.series.to_vec() } else { some })
    }
}

/// One of a list: this, where it is among them, else the middle.
fn middle<T: Copy + PartialEq>(list: &[T], wanted: T) -> T {
    if list.contains(&wanted) { wanted } else { list[list.len() / 2] }
}

impl Problem<'_> {
    /// How well the Bayes rule decides in inner folds: the share of windows that it decides rightly, with
    /// balanced classes the mean over classes; `None` without folds.
    fn judge_bayes(&self, series: &[usize]) -> Result<Option<(Judgement, Marks)>, TrainError> {
        let Some(folds) = self.inner_folds(series)? else { return Ok(None) };
        let windows = self.windows();
        let (classes, groups) = (self.classes(), self.groups()?);
        let (mut labels, mut units, mut verdicts) = (Vec::new(), Vec::new(), Vec::new());
        for fold in 0..folds.len() {
            let of = |items: Vec<usize>| items.into_iter().map(|i| series[i]).collect::<Vec<_>>();
            let (inner, held_back) = (of(folds.train(fold)), of(folds.test(fold)));
            let models = models_of(&self.fit_models(&self.varied(&inner)?)?);
            let log_prior = self.log_priors(&inner);
            let cut: Vec<_> = windows.of_all(&held_back).collect();
            let wide: Vec<Widened<'_>> = cut.iter().map(|one| self.widen(one.samples)).collect();
            let samples: Vec<SamplesView<'_>> = wide.iter().map(Widened::view).collect();
            let mut values = vec![Vec::with_capacity(classes.len()); cut.len()];
            for (class, (model, log_prior)) in models.iter().zip(log_prior).enumerate() {
                let logs = log_likelihoods::<f64>(model, &samples).map_err(|error| {
                    TrainError::Fit { class: classes[class].clone(), source: error.into() }
                })?;
                // What a class makes impossible has no vote for it.
                let log =
                    |log: Result<f64, _>| log.map_or(f64::NEG_INFINITY, |log| log + log_prior);
                values
                    .iter_mut()
                    .zip(logs)
                    .for_each(|(values, of_class)| values.push(log(of_class)));
            }
            for (values, window) in values.iter().zip(&cut) {
                let label = self.label(window.series);
                let Verdict { right, lead } = Verdict::of(values, label);
                let possible = values.iter().any(|value| value.is_finite());
                let lead = if possible { lead.clamp(-FARTHEST, FARTHEST) } else { 0.0 };
                labels.push(label);
                units.push(groups[window.series]);
                verdicts.push(Verdict { right: right && possible, lead });
            }
        }
        let marks = Marks::of(&verdicts, &labels, &units, self.class_weight());
        let accuracy = accuracy(&labels, &marks.right, self.class_weight());
        let judgement = Judgement { accuracy, loss: log_loss(&verdicts) };
        Ok((!labels.is_empty()).then_some((judgement, marks)))
    }
}

#[cfg(test)]
mod tests;
