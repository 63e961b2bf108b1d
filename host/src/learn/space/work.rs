//! Predicted work of a training.

use std::num::NonZeroUsize;

use crate::classifier::{Codebooks, Form, ScoreModels};
use crate::fit::BaumWelch;
use crate::kernel::mean_map::words_of;
use crate::learn::error::TrainError;
use crate::learn::kind::ClassifierKind;
use crate::learn::room::check_features;
use crate::learn::selection::halving::{LAST, kept_of};
use crate::learn::space::Space;
use crate::learn::space::trial::Trial;
use crate::learn::variation::vectors::mirror_candidates;

/// Passes of a learner over its examples, in round figures.
const PASSES: u128 = 30;

/// Multiply-adds of the eigenvalues of a matrix, in cubes of its side, in round figures.
const EIGENVALUES: u128 = 9;

/// Work of training a classifier on features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Windows that the last machines are trained on, varied copies of them included, with the first number to
    /// choose from: where a mirror image is chosen there are twice as many.
    pub windows: usize,
    /// Least number of features of each window: those known before models are fitted.
    pub features: usize,
    /// Multiply-adds of all machines, those of inner folds included: an estimate, by thirty passes over
    /// the examples for each, or of what is had in closed form by its matrices. Fitting the models, judging their
    /// forms and a Gram matrix are not in it, and a machine may need fewer passes.
    pub multiply_adds: u128,
}

impl Space<'_> {
    /// The form that is trained where nothing is judged, or the first of several.
    fn settled(&self) -> Trial {
        match self.forms() {
            [form] => self.trial(form),
            _ => self.trial(&self.first()),
        }
    }

    /// Predicted work of the training; `None` for Bayes, which has no features.
    #[must_use]
    pub fn work(&self) -> Option<Work> {
        self.request.features()?;
        let (request, data, trial) = (&self.request, self.data, self.settled());
        let classes = data.classes().len();
        let models = match trial.form.models {
            ScoreModels::All => classes,
            _ => trial.form.lags.of_models().len(),
        };
        // Emissions alone: how many transitions there are is not settled yet.
        let emission = self.emission_parameters(&trial.form);
        let states = trial.form.states;
        let counted = match request.kind {
            ClassifierKind::LatentMap => emission + states,
            _ => emission,
        };
        let features = match request.kind {
            ClassifierKind::EmpiricalMap => words_of(emission, request.order).unwrap_or(usize::MAX),
            _ => models * states * counted,
        };
        // Of codebooks at most as many dilations as there are.
        let counted = Codebooks::counted_at_most(trial.form.codebooks, trial.form.levels);
        let features = features.saturating_add(counted);
        // Beside its scores a window has a feature by each landmark.
        let landmarks = request.landmarks.map_or(0, NonZeroUsize::get);
        let features = features.saturating_add(if request.kind.compiles() { 0 } else { landmarks });
        // Series that each becomes in the end, at least, and machines on them that inner folds judge: of all
        // settings, and where a mirror image is chosen of one setting on each.
        // In closed form other weights are tried with one scaling.
        let settings = &trial.settings;
        let (scalings, weights) = (settings.scalings.len(), settings.codebook_weights.len());
        let scales = match trial.in_closed_form() {
            true => scalings + weights - 1,
            false => scalings * weights,
        };
        let costs = settings.c.len();
        let settings = scales * costs * settings.kernels.len().max(1);
        let (exact, judged) = match trial.augment.mirrors(data.kind()) {
            Some([]) => (1, settings),
            Some(_) => (2, 2 * settings),
            None => {
                let candidates = mirror_candidates(data.kind(), &trial.augment.vectors).len();
                (1, settings + 2 * (candidates - 1))
            }
        };
        let cut = data.windows(request.windowing.as_ref()).of_all(self.series).count();
        let numbers = trial.augment.numbers_of_copies(data.kind());
        let copies = numbers[0].saturating_add(1);
        // Numbers of copies are held against each other with one scaling.
        let tried = if numbers.len() > 1 { numbers.as_slice() } else { &[] };
        let windows = cut.saturating_mul(exact).saturating_mul(copies);
        let outputs = if classes == 2 { 1 } else { classes };
        // Every fold trains on all the others.
        // In inner folds of the first number all settings.
        let others = tried.len().saturating_sub(1) * costs;
        let judged_too = if tried.is_empty() { 0 } else { settings + others };
        let inner = request.inner_folds.saturating_sub(1) * (judged + judged_too);
        let machines = (outputs * (exact + inner)) as u128;
        let pass = (cut as u128 * copies as u128).saturating_mul(features as u128);
        let multiply_adds = match trial.in_closed_form() {
            // Of all costs and folds one matrix of inner products, of features or of examples, whichever are fewer,
            // for each scaling, weight and image, without copies; one with each number of them to choose from; and
            // one in the end.
            true => {
                let matrix = |rows: usize| {
                    let (rows, features) = (rows as u128, features as u128);
                    let side = rows.min(features);
                    let eigenvalues = EIGENVALUES.saturating_mul(side.saturating_mul(side));
                    rows.saturating_mul(features).saturating_add(eigenvalues).saturating_mul(side)
                };
                let images = match trial.augment.mirrors(data.kind()) {
                    // The machine's scaling is chosen anew of the image that is.
                    None => 2 * scales + judged - settings,
                    Some(_) => scales,
                };
                let series = cut.saturating_mul(exact);
                let with =
                    |&copies: &usize| matrix(series.saturating_mul(copies.saturating_add(1)));
                let copied = tried.iter().filter(|&&copies| copies > 0).map(with);
                (images as u128)
                    .saturating_mul(matrix(series))
                    .saturating_add(copied.fold(matrix(windows), u128::saturating_add))
            }
            false => (PASSES * machines).saturating_mul(pass),
        };
        Some(Work { windows, features, multiply_adds })
    }

    /// Largest number of fits of a class's model, or of one of all classes, in a training.
    ///
    /// In every inner fold once per form and per mirror image to choose from, in closed form once per form, and once at the end.
    #[must_use]
    pub fn most_fits(&self) -> usize {
        if self.request.kind == ClassifierKind::EmpiricalMap {
            return 0;
        }
        let (trial, observed) = (self.settled(), self.data.kind());
        let images = match (self.request.features(), trial.augment.mirrors(observed)) {
            (None, _) => 0,
            // What is chosen in closed form is chosen on the models that are kept.
            _ if trial.in_closed_form() => 0,
            (_, Some(_)) => 1,
            (_, None) => mirror_candidates(observed, &trial.augment.vectors).len(),
        };
        let folds = if trial.in_closed_form() { 1 } else { self.request.inner_folds };
        // A model for each lag is fitted as often as there are lags.
        let models = |form: &Form| form.lags.of_models().len();
        let most = self.forms().iter().map(models).max().unwrap_or(1);
        most + (self.most_trials() + most * images) * folds
    }

    /// Largest number of passes of Baum-Welch of a training, over the models of all classes.
    #[must_use]
    pub fn most_passes(&self) -> usize {
        let trial = self.settled();
        let models = if trial.universal() { 1 } else { self.data.classes().len() };
        let BaumWelch { restarts, iterations, .. } = trial.baum_welch;
        let passes = restarts.saturating_mul(iterations);
        self.most_fits().saturating_mul(models).saturating_mul(passes)
    }

    /// Largest number of trials of forms, once for each stage that they reach, and for each lag that has a model of its own.
    ///
    /// It is zero for a single form.
    fn most_trials(&self) -> usize {
        let forms = self.forms();
        if forms.len() < 2 {
            return 0;
        }
        let models = |form: &Form| form.lags.of_models().len();
        let (of_one, of_classes): (Vec<&Form>, Vec<&Form>) =
            forms.iter().partition(|form| self.trial(form).in_closed_form());
        let sum = |forms: &[&Form]| forms.iter().map(|form| models(form)).sum::<usize>();
        // Of one model there is a fit for each, and no fold; of class models its shape, and the first's floors and
        // transitions, on some series and on all.
        let is_first = |form: &&&Form| {
            let (std_floor, topology) = (form.std_floor, form.topology);
            **form == &Form { std_floor, topology, ..forms[0].clone() }
        };
        let firsts = of_classes.iter().filter(is_first).count();
        let (mut left, mut tried) = match !of_one.is_empty() && firsts > 0 {
            true => {
                let folds = self.request.inner_folds.max(1);
                (2 + firsts, sum(&of_one).div_ceil(folds) + 2 + firsts)
            }
            false => (sum(&of_one) + sum(&of_classes), 0),
        };
        while left > LAST {
            tried += left;
            left = kept_of(left);
        }
        tried + left
    }
}

impl Work {
    /// Refuses work that exceeds the memory.
    ///
    /// # Errors
    /// [`TrainError::TooManyFeatures`].
    pub fn check(&self) -> Result<(), TrainError> {
        check_features(self.windows, self.features)
    }

    /// Minutes, at a thousand million multiply-adds per second.
    pub fn minutes(&self) -> f64 {
        self.multiply_adds as f64 / 60e9
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::data::Lags;
    use crate::data::{Dataset, ReadOptions};
    use crate::kernel::ScoreKernelKind;
    use crate::learn::variation::Augment;
    use crate::learn::variation::vectors::Vectors;
    use crate::learn::{
        ClassifierKind, LagChoice, Mirror, ModelChoice, RIDGE, Request, Scaling, train,
    };

    /// Series of three channels that form a vector, of two classes.
    fn six() -> Dataset {
        let mut text = String::from("series,label,t,ax,ay,az\n");
        for n in 0..6 {
            for t in 0..4 {
                text += &format!("{n},{},{t},{},2,{n}\n", ["a", "b"][n % 2], n * t);
            }
        }
        Dataset::parse("six.csv", text.as_bytes(), &ReadOptions::default()).expect("a data set")
    }

    #[test]
    fn a_thousand_million_multiply_adds_take_a_second() {
        let work = Work { windows: 1, features: 1, multiply_adds: 120_000_000_000 };
        assert_eq!(work.minutes(), 2.0);
    }

    /// A mirror image may also be rejected: the refused memory is that without one.
    #[test]
    fn windows_are_a_lower_bound_and_work_counts_what_inner_folds_train_on() {
        let data = six();
        let series: Vec<usize> = (0..6).collect();
        let work = |request: &Request| Space::of(&data, &series, request).expect("forms").work();
        let mut request = Request::minimal(ClassifierKind::Fisher);
        let copies = request.augment.copies(data.kind()) + 1;
        let mut of = |mirror| {
            request.augment.mirror = mirror;
            work(&request).expect("features")
        };
        let [chosen, none, one] = [
            of(Mirror::Choose),
            of(Mirror::Channels(Vec::new())),
            of(Mirror::Channels(vec!["ax".to_owned()])),
        ];
        assert_eq!(
            (chosen.windows, none.windows, one.windows),
            (6 * copies, 6 * copies, 12 * copies)
        );
        // Two scalings and three costs, two of three folds, on 1 + 3 x 2 images of a series.
        let pass = PASSES * (6 * copies * chosen.features) as u128;
        assert_eq!(none.multiply_adds, (1 + 6 * 2) * pass);
        assert_eq!(one.multiply_adds, 2 * none.multiply_adds);
        assert_eq!(chosen.multiply_adds, (1 + (6 + 2 * 3) * 2) * pass);
        // A mean and a deviation of three channels in four states of two models, or of one; three widths.
        assert_eq!(chosen.features, 2 * 4 * 2 * 3);
        request.models = ModelChoice::Given(ScoreModels::Class("a".to_owned()));
        assert_eq!(work(&request).map(|work| work.features), Some(24));
        let request = Request::minimal(ClassifierKind::OnScores(ScoreKernelKind::Gaussian));
        let machine = work(&request).expect("features");
        let pass = PASSES * (6 * machine.features) as u128;
        assert_eq!(machine.multiply_adds, (1 + 6 * 3 * 2) * pass);
        // In closed form a matrix of as many rows as there are windows, for each scaling, however many features.
        let mut request = Request::minimal(ClassifierKind::Fisher).with(|request| {
            request.models = ModelChoice::Given(ScoreModels::Universal);
            request.learner = Some(&RIDGE);
            request.scalings = vec![Scaling::Practical, Scaling::Diagonal, Scaling::Whitened];
            (request.augment, request.codebooks) = (Augment::NONE, vec![1000]);
        });
        let wide = work(&request).expect("features");
        let one = (6 * wide.features) as u128 + EIGENVALUES * 36;
        // Three scalings, and one of them with another weight of codebooks; and the last.
        assert_eq!(wide.multiply_adds, (4 + 1) * 6 * one);
        // Two copies of each against none are a matrix of thrice as many rows.
        request.augment.other_copies = vec![2];
        let copied = work(&request).expect("features").multiply_adds;
        assert_eq!(
            copied - wide.multiply_adds,
            18 * ((18 * wide.features) as u128 + EIGENVALUES * 324)
        );
        request.augment.other_copies = Vec::new();
        // Of the image that is chosen the scaling is chosen anew.
        request.augment.vectors = Vectors::Named;
        request.augment.mirror = Mirror::Choose;
        let chosen = work(&request).expect("features");
        assert_eq!(chosen.multiply_adds, (2 * 4 + 2 * 3 + 1) * 6 * one);
    }

    /// The end of a progress bar: an iteration per fit.
    #[test]
    fn no_training_fits_more_often_than_is_said() {
        let data = six();
        let series: Vec<usize> = (0..6).collect();
        let most_passes =
            |request: &Request| Space::of(&data, &series, request).expect("forms").most_passes();
        for kind in [ClassifierKind::Bayes, ClassifierKind::Fisher] {
            for mirror in [Mirror::Choose, Mirror::Channels(vec!["ax".to_owned()])] {
                let mut request = Request::minimal(kind);
                request.augment.mirror = mirror;
                request.baum_welch.states = 2;
                request.baum_welch.iterations = 1;
                let passes = AtomicUsize::new(0);
                let count = || {
                    passes.fetch_add(1, Ordering::Relaxed);
                };
                train(&data, &series, &request, &count).expect("trained");
                let most = most_passes(&request);
                let passes = passes.into_inner();
                assert!(passes <= most && 2 * passes >= most, "{kind}: {passes} of {most}");
            }
        }
        // Forms of one model, some of them for each lag.
        let lags = vec![Lags::NONE, Lags::dyadic(2).apart(), Lags::one(1).apart()];
        let request = Request::minimal(ClassifierKind::Fisher).with(|request| {
            request.models = ModelChoice::Given(ScoreModels::Universal);
            (request.learner, request.lags) = (Some(&RIDGE), LagChoice::Given(lags));
            (request.baum_welch.tolerance, request.one_model_iterations) = (0.0, 3);
        });
        let passes = AtomicUsize::new(0);
        let count = || {
            passes.fetch_add(1, Ordering::Relaxed);
        };
        train(&data, &series, &request, &count).expect("trained");
        let (passes, most) = (passes.into_inner(), most_passes(&request));
        assert!(passes > 0 && passes <= most, "{passes} of {most}");
        // Models of all classes: one for each lag that there is room for, of as many passes as those take.
        let mut request = Request::new(ClassifierKind::Fisher);
        request.baum_welch.tolerance = 0.0;
        request.models = ModelChoice::EachLag;
        request.one_model_iterations = 3;
        let passes = AtomicUsize::new(0);
        let count = || {
            passes.fetch_add(1, Ordering::Relaxed);
        };
        train(&data, &series, &request, &count).expect("trained");
        let (passes, most) = (passes.into_inner(), most_passes(&request));
        assert!(passes > 0 && passes.is_multiple_of(3) && passes <= most, "{passes} of {most}");
    }
}
