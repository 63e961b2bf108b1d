//! Below which fraction of a channel's spread no state's standard deviation falls: chosen by inner
//! cross-validation.

use serde::Serialize;

use super::augment::Augment;
use super::choice::{Choice, accuracy};
use super::error::TrainError;
use super::options::TrainOptions;
use super::problem::{Problem, models_of};
use super::train::Trainer;
use crate::batch::log_likelihoods;
use crate::data::SamplesView;
use crate::fit::BaumWelch;

/// The floor of standard deviations, and what it was chosen from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FloorChoice {
    /// The fraction: see [`BaumWelch::std_floor`].
    pub std_floor: f64,
    /// Inner accuracy of each candidate; none where there was nothing to choose from or to choose by.
    pub candidates: Vec<FloorCandidate>,
}

/// A floor and its inner accuracy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FloorCandidate {
    /// The fraction.
    pub std_floor: f64,
    /// Its accuracy over the inner folds, on training series as they are.
    pub accuracy: f64,
}

impl Trainer<'_> {
    /// The options with the floor chosen, of equals the first, and where it took one, the choice of
    /// scaling and C on training series as they are. Channels only.
    ///
    /// A floor keeps a state from resting on a few samples, and keeps it from being as narrow as the
    /// data are. With 0.3 Fisher got 0.900 of the test series of a gun pointed or not, with 0.03 0.873;
    /// of vibrations of a fan 0.818 and 0.927: none is right everywhere, and inner folds rank them.
    pub(super) fn choose_floor(
        &self,
        series: &[usize],
        options: &TrainOptions,
        progress: &(dyn Fn() + Sync),
    ) -> Result<(TrainOptions, FloorChoice, Option<Choice>), TrainError> {
        let (first, floors) = (options.baum_welch.std_floor, options.floors(self.data().kind()));
        let with = |std_floor: f64| TrainOptions {
            baum_welch: BaumWelch { std_floor, ..options.baum_welch.clone() },
            ..options.clone()
        };
        let only = FloorChoice { std_floor: first, candidates: Vec::new() };
        if floors.len() < 2 {
            return Ok((options.clone(), only, None));
        }
        let mut candidates = Vec::new();
        let mut best: Option<(FloorCandidate, Option<Choice>)> = None;
        for std_floor in floors {
            let plain = TrainOptions { augment: Augment::NONE, ..with(std_floor) };
            let problem = Problem::new(self, series, &plain, progress)?;
            let judged = match plain.features() {
                Some(features) => {
                    let choice = problem.choose(features, series, true)?;
                    (!choice.candidates.is_empty()).then(|| (choice.accuracy(), Some(choice)))
                }
                None => problem.judge_bayes(series)?.map(|accuracy| (accuracy, None)),
            };
            let Some((accuracy, choice)) = judged else {
                return Ok((options.clone(), only, None));
            };
            let candidate = FloorCandidate { std_floor, accuracy };
            candidates.push(candidate);
            if best.as_ref().is_none_or(|(best, _)| accuracy > best.accuracy) {
                best = Some((candidate, choice));
            }
        }
        let Some((chosen, choice)) = best else { return Ok((options.clone(), only, None)) };
        let floor = FloorChoice { std_floor: chosen.std_floor, candidates };
        // Of series that will be varied the choice says nothing yet.
        let names = self.data().kind();
        let plain =
            options.augment.copies(names) == 0 && options.augment.mirrors(names) == Some(&[]);
        Ok((with(chosen.std_floor), floor, choice.filter(|_| plain)))
    }
}

impl Problem<'_> {
    /// The share of windows that the Bayes rule decides rightly in inner folds, with balanced classes the
    /// mean over classes; `None` without folds.
    fn judge_bayes(&self, series: &[usize]) -> Result<Option<f64>, TrainError> {
        let Some(folds) = self.inner_folds(series)? else { return Ok(None) };
        let windows = self.windows();
        let (classes, mut labels, mut right) = (self.classes(), Vec::new(), Vec::new());
        for fold in 0..folds.len() {
            let of = |items: Vec<usize>| items.into_iter().map(|i| series[i]).collect::<Vec<_>>();
            let (inner, held_back) = (of(folds.train(fold)), of(folds.test(fold)));
            let models = models_of(&self.fit_models(&self.varied(&inner)?)?);
            let log_prior = self.log_priors(&inner);
            let cut: Vec<_> = windows.of_all(&held_back).collect();
            let samples: Vec<SamplesView<'_>> = cut.iter().map(|window| window.samples).collect();
            let mut best = vec![(f64::NEG_INFINITY, None); cut.len()];
            for (class, (model, log_prior)) in models.iter().zip(log_prior).enumerate() {
                let logs = log_likelihoods::<f64>(model, &samples).map_err(|error| {
                    TrainError::Fit { class: classes[class].clone(), source: error.into() }
                })?;
                for (best, log) in best.iter_mut().zip(logs) {
                    // What a class makes impossible has no vote for it.
                    let log = log.map_or(f64::NEG_INFINITY, |log| log + log_prior);
                    if log > best.0 {
                        *best = (log, Some(class));
                    }
                }
            }
            for ((_, decision), window) in best.into_iter().zip(&cut) {
                let label = self.label(window.series);
                labels.push(label);
                right.push(decision == Some(label));
            }
        }
        Ok((!labels.is_empty()).then(|| accuracy(&labels, &right, self.class_weight())))
    }
}
