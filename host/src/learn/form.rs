//! What class models are made of, chosen by inner cross-validation: states, the floor of standard deviations,
//! lags of differences, how evidence grows with length.

use fishweir_core::classify::Normalisation;
use serde::Serialize;

use super::augment::Augment;
use super::choice::{Choice, Judgement, Verdict, accuracy, log_loss};
use super::error::TrainError;
use super::features::Scaling;
use super::options::{ScoreModels, TrainOptions};
use super::problem::{Problem, models_of};
use super::train::Trainer;
use crate::batch::log_likelihoods;
use crate::classifier::normalisation_name;
use crate::data::{Dataset, Kind, Lags, SamplesView, Widened};
use crate::fit::BaumWelch;
use crate::runtime::family::OF_CHANNELS;

/// What class models are made of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Form {
    /// Whose models there are.
    pub models: ScoreModels,
    /// Hidden states.
    pub states: usize,
    /// The floor of standard deviations, as a fraction: see [`BaumWelch::std_floor`].
    pub std_floor: f64,
    /// Lags of differences beside the channels.
    pub lags: Lags,
    /// How evidence grows with length.
    #[serde(serialize_with = "normalisation_name::serialize")]
    pub normalisation: Normalisation,
}

/// The form chosen, and what it was chosen from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FormChoice {
    /// What was chosen.
    #[serde(flatten)]
    pub form: Form,
    /// Every trial of every form, in their order; none where there was nothing to choose from or to choose
    /// by.
    pub candidates: Vec<FormCandidate>,
}

impl FormChoice {
    /// Whether nothing but floors of standard deviations differed among what was tried.
    #[must_use]
    pub fn floors_alone(&self) -> bool {
        self.candidates.iter().all(|one| {
            one.stage == 0
                && Form { std_floor: self.form.std_floor, ..one.form.clone() } == self.form
        })
    }
}

/// A trial of a form.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FormCandidate {
    /// What was tried.
    #[serde(flatten)]
    pub form: Form,
    /// The stage, from 0: later ones see more series, and the last one all, with every setting of the
    /// machine.
    pub stage: usize,
    /// Whether it was judged in closed form: see [`ChosenBy::HeldOut`](super::ChosenBy::HeldOut).
    pub closed_form: bool,
    /// Series that it saw.
    pub series: usize,
    /// Its accuracy over the inner folds, or in closed form, on training series as they are.
    pub accuracy: f64,
    /// Its logarithmic loss there, in nats a window.
    pub loss: f64,
}

/// How much is tried before something is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "command", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum Search {
    /// Two floors of standard deviations.
    #[default]
    Quick,
    /// One model of all classes beside a model a class: up to 48 forms of it, with and without differences at lags,
    /// of 4, 8 and 16 states, two floors, and where lengths differ with and without normalisation
    Normal,
    /// Up to 224: more lags, states and floors
    Thorough,
}

/// Forms that the last stage judges on all series with all settings: two floors of the first form, and the best
/// form of one model with its own of a model a class.
const LAST: usize = 4;
/// Of which share a stage keeps the best.
const KEPT: usize = 4;
/// Windows in a class that the first stage sees; the next ones see four times as many.
const FIRST_WINDOWS: usize = 40;
/// Numbers in a row at most where lags are chosen, but for one difference a channel.
const WIDEST: usize = 40;
/// Passes of Baum-Welch in the stages before the last.
const FEW_PASSES: usize = 20;
/// What a lead in nats is held to: one of models that cannot be is endless.
const FARTHEST: f64 = 1e6;
/// Lags reach no further than this part of the middle length of a series. With a fourth, series of 24 samples had
/// a choice of lag 4 alone; lags to 8 had 0.985 instead of 0.955 of ItalyPowerDemand's training part in inner folds.
const REACH: usize = 3;

impl Form {
    /// What options begin with.
    pub(super) fn of(options: &TrainOptions) -> Self {
        Self {
            models: options.scores.clone(),
            states: options.baum_welch.states,
            std_floor: options.baum_welch.std_floor,
            lags: options.lags.clone(),
            normalisation: options.normalisation,
        }
    }
}

impl TrainOptions {
    /// With another form of class models, and none to choose from.
    pub(super) fn with_form(&self, form: &Form) -> Self {
        let (states, std_floor) = (form.states, form.std_floor);
        let options = Self {
            baum_welch: BaumWelch { states, std_floor, ..self.baum_welch.clone() },
            lags: form.lags.clone(),
            normalisation: form.normalisation,
            ..self.clone()
        };
        if form.models == self.scores { options } else { options.on_one_model() }
    }

    /// Whether differences at lags are of what is observed, and compile.
    pub(super) fn takes_lags(&self, observed: &Kind) -> bool {
        let reals =
            |family: &dyn crate::runtime::Family| family.observes() == OF_CHANNELS.observes();
        matches!(observed, Kind::Channels(_))
            && self.kind.compiles()
            && self.baum_welch.emission.is_none_or(reals)
    }

    /// How many forms are tried at most, once for each stage that they see.
    pub(super) fn most_trials(&self, observed: &Kind) -> usize {
        let channels = matches!(observed, Kind::Channels(_));
        let others = |count: usize| if channels { 1 + count } else { 1 };
        let lags = if self.takes_lags(observed) { others(self.other_lags.len()) } else { 1 };
        let normalisations =
            if self.features().is_some() { others(self.other_normalisations.len()) } else { 1 };
        let floors = self.floors(observed).len();
        let all = lags * normalisations * floors * others(self.other_states.len());
        // Of one model there is a fit for each, and no fold; of class models its shape, and the first's floors.
        let (mut left, mut tried) = match self.other_models.len() {
            0 => (all, 0),
            _ if channels => (2 + floors, all.div_ceil(self.inner_folds)),
            _ => (1, 0),
        };
        while left > LAST {
            tried += left;
            left = kept_of(left);
        }
        tried + left
    }

    /// The forms of class models to choose from, the first first.
    pub(super) fn forms(&self, data: &Dataset, series: &[usize]) -> Vec<Form> {
        let first = Form::of(self);
        if !matches!(data.kind(), Kind::Channels(_)) {
            return vec![first];
        }
        fn all<T: Clone + PartialEq>(first: &T, others: &[T]) -> Vec<T> {
            let mut all = vec![first.clone()];
            others.iter().for_each(|one| {
                if !all.contains(one) {
                    all.push(one.clone());
                }
            });
            all
        }
        let mut lengths: Vec<usize> =
            series.iter().map(|&one| data.series()[one].samples.view().len()).collect();
        if let Some(by) = self.windowing {
            lengths.iter_mut().for_each(|length| *length = by.length.get().min(*length));
        }
        lengths.sort_unstable();
        let middle = lengths.get(lengths.len() / 2).copied().unwrap_or(0);
        let differ = lengths.first().zip(lengths.last()).is_some_and(|(a, b)| 5 * a < 4 * b);
        let channels = data.kind().size();
        let within = |lags: &&Lags| {
            lags.depth() * REACH <= middle
                && lags.width(channels) <= usize::max(WIDEST, 2 * channels)
        };
        let lags: Vec<Lags> = match self.takes_lags(data.kind()) {
            true => self.other_lags.iter().filter(within).cloned().collect(),
            false => Vec::new(),
        };
        let normalisations = match differ && self.features().is_some() {
            true => self.other_normalisations.as_slice(),
            false => &[],
        };
        let mut forms = Vec::new();
        let models = all(&first.models, &self.other_models);
        for normalisation in all(&first.normalisation, normalisations) {
            for lags in all(&first.lags, &lags) {
                for &states in &all(&first.states, &self.other_states) {
                    for &std_floor in &self.floors(data.kind()) {
                        for models in &models {
                            let (models, lags) = (models.clone(), lags.clone());
                            forms.push(Form { models, states, std_floor, lags, normalisation });
                        }
                    }
                }
            }
        }
        forms
    }
}

impl Trainer<'_> {
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
    /// Forms of one model that has seen no label are judged in closed form instead, a fit each, and the best of them
    /// is held in inner folds against a model a class: of the first form, and of its own. It is the simpler one, and
    /// is taken unless the best leads it by more than a standard error (L. Breiman, J. Friedman, R. Olshen and
    /// C. Stone, Classification and Regression Trees, 1984, section 3.4.3).
    pub(super) fn choose_form(
        &self,
        series: &[usize],
        options: &TrainOptions,
        progress: &(dyn Fn() + Sync),
    ) -> Result<(TrainOptions, FormChoice, Option<Choice>), TrainError> {
        let only = |form: &Form, candidates| FormChoice { form: form.clone(), candidates };
        let forms = options.forms(self.data(), series);
        let mut forms = options.limits.kept(forms, options, self.data())?;
        let first = forms.first().cloned().unwrap_or_else(|| Form::of(options));
        let unchosen = || Ok((options.with_form(&first), only(&first, Vec::new()), None));
        if forms.len() < 2 {
            return unchosen();
        }
        // Of series that will be varied the choice of a machine says nothing yet.
        let (names, augment) = (self.data().kind(), &options.augment);
        let plain_alone = augment.copies(names) == 0 && augment.mirrors(names) == Some(&[]);
        let (mut candidates, mut stage, mut most) = (Vec::new(), 0, FIRST_WINDOWS);
        let (of_one, rest): (Vec<Form>, Vec<Form>) =
            forms.into_iter().partition(|form| options.with_form(form).in_closed_form());
        forms = rest;
        let one = self.best_of_one(&of_one, series, options, (&mut candidates, progress))?;
        if let Some((best, choice)) = &one {
            if forms.is_empty() {
                let choice = plain_alone.then(|| choice.clone());
                return Ok((options.with_form(best), only(best, candidates), choice));
            }
            let of = |models: &ScoreModels| Form { models: models.clone(), ..best.clone() };
            forms.retain(|form| {
                let floor = Form { std_floor: form.std_floor, ..first.clone() };
                *form == floor || *form == of(&form.models)
            });
            forms.push(best.clone());
            stage = 1;
        }
        let (form, choice) = loop {
            let last = forms.len() <= LAST;
            let some =
                if last { series.to_vec() } else { self.some_of_each(series, most, options)? };
            let mut judged: Vec<(Judgement, Form, Option<Choice>)> = Vec::new();
            for form in forms {
                let mut plain = TrainOptions { augment: Augment::NONE, ..options.with_form(&form) };
                let known = one.as_ref().filter(|(best, _)| *best == form);
                if let Some((_, choice)) = known {
                    plain = plain.frozen(choice.setting);
                }
                if !last {
                    plain.baum_welch.iterations = plain.baum_welch.iterations.min(FEW_PASSES);
                    plain.scalings = vec![middle(&plain.scalings, Scaling::Diagonal)];
                    plain.c = vec![plain.c[plain.c.len() / 2]];
                    plain.sigma = vec![plain.sigma[plain.sigma.len() / 2]];
                }
                let (judgement, choice) = match self.judge_form(&some, &plain, progress) {
                    Ok((Some(judgement), choice)) => (judgement, choice),
                    Ok((None, _)) => return unchosen(),
                    // What cannot be fitted is not chosen; the first would fail at the end as well.
                    Err(_) if form != first => continue,
                    Err(error) => return Err(error),
                };
                let Judgement { accuracy, loss } = judgement;
                let (of, series, closed_form) = (form.clone(), some.len(), false);
                candidates.push(FormCandidate {
                    form: of,
                    stage,
                    closed_form,
                    series,
                    accuracy,
                    loss,
                });
                let choice = known.map(|(_, choice)| choice.clone()).or(choice);
                judged.push((judgement, form, choice));
            }
            // Stable: of equals the first.
            judged.sort_by(|a, b| b.0.order(&a.0));
            if last {
                let Some((most, _, _)) = judged.first() else { return unchosen() };
                let enough = most.accuracy - most.standard_error(series.len());
                let simplest = judged.iter().position(|(judgement, form, _)| {
                    one.as_ref().is_some_and(|(one, _)| one == form) && judgement.accuracy >= enough
                });
                let (_, form, choice) = judged.swap_remove(simplest.unwrap_or(0));
                break (form, choice);
            }
            judged.truncate(kept_of(judged.len()));
            forms = judged.into_iter().map(|(_, form, _)| form).collect();
            (stage, most) = (stage + 1, 4 * most);
        };
        let choice = choice.filter(|_| plain_alone);
        Ok((options.with_form(&form), only(&form, candidates), choice))
    }

    /// Of forms of one model that has seen no label the best, on some series, and the setting of its machine, on
    /// all: a fit each. Forms that cannot be fitted are left out.
    fn best_of_one(
        &self,
        forms: &[Form],
        series: &[usize],
        options: &TrainOptions,
        (candidates, progress): (&mut Vec<FormCandidate>, &(dyn Fn() + Sync)),
    ) -> Result<Option<(Form, Choice)>, TrainError> {
        let Some(features) = options.features() else { return Ok(None) };
        let judge = |form: &Form, series: &[usize], passes: usize| {
            let mut plain = TrainOptions { augment: Augment::NONE, ..options.with_form(form) };
            plain.baum_welch.iterations = plain.baum_welch.iterations.min(passes);
            Problem::new(self, series, &plain, progress)?.choose_held_out(features, series)
        };
        let some = self.some_of_each(series, 4 * FIRST_WINDOWS, options)?;
        let mut best: Option<(Judgement, &Form)> = None;
        for form in forms {
            let Ok(Some(choice)) = judge(form, &some, FEW_PASSES) else { continue };
            let Some(judgement) = choice.judgement() else { continue };
            let (Judgement { accuracy, loss }, series) = (judgement, some.len());
            let of = form.clone();
            candidates.push(FormCandidate {
                form: of,
                stage: 0,
                closed_form: true,
                series,
                accuracy,
                loss,
            });
            if best.as_ref().is_none_or(|(best, _)| judgement.order(best).is_gt()) {
                best = Some((judgement, form));
            }
        }
        let Some((_, form)) = best else { return Ok(None) };
        Ok(judge(form, series, usize::MAX)?.map(|choice| (form.clone(), choice)))
    }

    /// How well a form decides in inner folds, and which machine; `None` without folds.
    fn judge_form(
        &self,
        series: &[usize],
        options: &TrainOptions,
        progress: &(dyn Fn() + Sync),
    ) -> Result<(Option<Judgement>, Option<Choice>), TrainError> {
        let problem = Problem::new(self, series, options, progress)?;
        Ok(match options.features() {
            Some(features) => {
                let choice = problem.choose(features, series, true)?;
                (choice.judgement(), Some(choice))
            }
            None => (problem.judge_bayes(series)?, None),
        })
    }

    /// Series with so many windows of each class at most, spread over all; enough of them for inner folds.
    fn some_of_each(
        &self,
        series: &[usize],
        windows: usize,
        options: &TrainOptions,
    ) -> Result<Vec<usize>, TrainError> {
        let labels = self.data().labels()?;
        let all = self.data().windows(options.windowing.as_ref());
        let mut of_class = vec![(0_usize, 0_usize); self.data().classes().len()];
        for &one in series {
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
        Ok(series.iter().copied().filter(taken).collect())
    }
}

/// How many of so many forms the next stage sees.
fn kept_of(judged: usize) -> usize {
    usize::max(judged.div_ceil(KEPT), LAST)
}

/// One of a list: this, where it is among them, else the middle.
fn middle<T: Copy + PartialEq>(list: &[T], wanted: T) -> T {
    if list.contains(&wanted) { wanted } else { list[list.len() / 2] }
}

impl Problem<'_> {
    /// How well the Bayes rule decides in inner folds: the share of windows that it decides rightly, with
    /// balanced classes the mean over classes; `None` without folds.
    fn judge_bayes(&self, series: &[usize]) -> Result<Option<Judgement>, TrainError> {
        let Some(folds) = self.inner_folds(series)? else { return Ok(None) };
        let windows = self.windows();
        let (classes, mut labels, mut verdicts) = (self.classes(), Vec::new(), Vec::new());
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
                verdicts.push(Verdict { right: right && possible, lead });
            }
        }
        let right: Vec<bool> = verdicts.iter().map(|one| one.right).collect();
        Ok((!labels.is_empty()).then(|| Judgement {
            accuracy: accuracy(&labels, &right, self.class_weight()),
            loss: log_loss(&verdicts),
        }))
    }
}
