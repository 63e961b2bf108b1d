//! Choices by what is held back of a training set: in inner folds, and in closed form.

use std::sync::Arc;

use crate::batch::log_likelihoods;
use crate::classifier::{Choice, Scaling};
use crate::data::{Folds, SamplesView, Widened, Window};
use crate::learn::error::TrainError;
use crate::learn::features::scaler::Scales;
use crate::learn::features::{FeatureMap, Features};
use crate::learn::machine::{Examples, Path};
use crate::learn::selection::choice::{
    Decided, Grid, HeldBack, Judgement, Marks, Verdict, accuracy, inner_folds, log_loss,
};
use crate::learn::training::fits::models_of;
use crate::learn::training::held_out::HeldOut;
use crate::learn::training::set::TrainingSet;
use crate::learn::variation::Augmented;
use crate::parallel::try_each;

/// Bound on a margin in nats: an impossible model would make it infinite.
const FARTHEST: f64 = 1e6;

impl TrainingSet<'_> {
    /// Chooses scaling and C by cross-validation within the training series: models are fitted anew
    /// in every inner fold, so that no window is judged by a model that has seen it. A setting without
    /// an alternative is judged where its accuracy is held against that of other models.
    pub(crate) fn choose(
        &self,
        features: Features,
        series: &[usize],
        judge_alone: bool,
    ) -> Result<Decided, TrainError> {
        self.check_windows(series)?;
        let (settings, learner) = (&self.trial.settings, self.trial.learner);
        let scales = scales_of(&settings.scalings, &settings.codebook_weights);
        let (sigma, c) = (settings.widths(), &settings.c);
        let grid = Grid {
            scales: scales.iter().copied().map(Some).collect(),
            sigma: sigma.clone(),
            c: c.clone(),
            judge_alone,
        };
        let (folds, groups) = (self.inner_folds(series)?, self.groups()?);
        Choice::by_folds(&grid, folds.as_ref(), self.class_weight(), |inner, held_back| {
            let of = |items: Vec<usize>| items.into_iter().map(|i| series[i]).collect::<Vec<_>>();
            let (inner, held_back) = (of(inner), of(held_back));
            let varied = self.varied(&inner)?;
            let map = self.feature_map(features, &inner, &models_of(&self.fit_models(&varied)?))?;
            let examples = self.examples(&map, &varied)?;
            let test = self.examples(&map, &Augmented::plain(self.data, &held_back))?;
            let judged = |&scales| Ok(self.path(&examples, &map, scales, &sigma, c)?.judge(&test));
            let judged: Result<Vec<_>, TrainError> = if learner.on_kernel() {
                // One after the other: each has a Gram matrix.
                scales.iter().map(judged).collect()
            } else {
                try_each(scales.len(), &|index| judged(&scales[index]))
            };
            let units = self.windows().of_all(&held_back).map(|one| groups[one.series]).collect();
            Ok(HeldBack { labels: test.labels, units, verdicts: judged?.concat() })
        })
    }

    /// Chooses scaling and C by what is held out in closed form: each series, or group, with its mirror images, of the
    /// machine alone, for the model has seen no label. It is [kept](crate::learn::training::held_out::LastHeldOut::keep). `None`
    /// where that is [not to be had](Self::held_out_units).
    pub(crate) fn held_out_of(
        &self,
        features: Features,
        series: &[usize],
    ) -> Result<Option<HeldOut>, TrainError> {
        let Some(units) = self.held_out_units(series)? else { return Ok(None) };
        let variation = self.variation.exactly();
        let varied = variation.apply(series)?;
        let map = self.feature_map(features, series, &models_of(&self.fit_models(&varied)?))?;
        let kept = self.shared.last.of(&map, self.trial, series);
        let kept = kept.filter(|kept| *kept.held_out.mirror == *self.mirror());
        let examples = match kept {
            Some(kept) if kept.decides_by(self.trial) => return Ok(Some(kept.held_out.clone())),
            Some(kept) => Arc::clone(&kept.held_out.examples),
            None => Arc::new(self.examples(&map, &varied)?),
        };
        let decided = self.held_out(&map, &examples, &units, variation.variants())?;
        let mirror = self.mirror().to_vec();
        let held_out = HeldOut { units, map, mirror, examples, decided };
        self.shared.last.keep(self.trial, series, &held_out);
        Ok(Some(held_out))
    }

    /// The series, or group, that each window of some series is held out with in closed form. `None` where that is not to
    /// be had: of another learner, of class models, where each class is of one group.
    pub(crate) fn held_out_units(
        &self,
        series: &[usize],
    ) -> Result<Option<Vec<usize>>, TrainError> {
        if !self.trial.in_closed_form() {
            return Ok(None);
        }
        let groups = self.groups()?;
        let windows = self.windows();
        let mut first_of = vec![None; self.classes().len()];
        let alone = |window: &Window<'_>| {
            let group = groups[window.series];
            *first_of[self.label(window.series)].get_or_insert(group) == group
        };
        if windows.of_all(series).all(alone) {
            return Ok(None);
        }
        Ok(Some(windows.of_all(series).map(|window| groups[window.series]).collect()))
    }

    /// Judges the trial's setting on series without augmentation, held out in closed form with their variants.
    ///
    /// The variants are mirror images and jittered copies. Also returns the features of all of these, in addition to those of
    /// the series that exist already.
    pub(crate) fn held_out_with_copies(
        &self,
        HeldOut { units, map, .. }: &HeldOut,
        series: &[usize],
    ) -> Result<(Decided, Examples), TrainError> {
        let examples = self.examples(map, &self.varied(series)?)?;
        let decided = self.held_out(map, &examples, units, self.variation.variants())?;
        Ok((decided, examples))
    }

    /// Chooses scaling, weight of codebooks and C by what is held out in closed form of examples: windows of these units,
    /// and as many variants of each in the same order, mirror images before jittered copies. Others that come after
    /// them are left out: the scores of a group's copies take their square.
    pub(crate) fn held_out(
        &self,
        map: &FeatureMap,
        examples: &Examples,
        units: &[usize],
        variants: usize,
    ) -> Result<Decided, TrainError> {
        let (settings, class_weight) = (&self.trial.settings, self.class_weight());
        let (scalings, weights, c) =
            (&settings.scalings, settings.codebook_weights.as_slice(), &settings.c);
        let groups = units.repeat(variants);
        let classes = (self.data.classes().len(), class_weight);
        let machines = self.trial.learner.held_out().ok_or(TrainError::NoCandidate("machine"))?;
        let of = |scaling: Scaling, weights: &[f64]| {
            Path::held_out(machines, examples, map, (scaling, weights), c, &groups, classes)
        };
        let labels = || examples.labels[..units.len()].to_vec();
        let decided = |scales: &[Scales], verdicts: Vec<Vec<Verdict>>| {
            let grid = Grid {
                scales: scales.iter().copied().map(Some).collect(),
                sigma: vec![None],
                c: c.clone(),
                judge_alone: true,
            };
            let held_out = HeldBack { labels: labels(), units: units.to_vec(), verdicts };
            Choice::held_out(&grid, &held_out, class_weight)
        };
        let own = |mut verdicts: Vec<Vec<Verdict>>| {
            verdicts.iter_mut().for_each(|of_setting| of_setting.truncate(units.len()));
            verdicts
        };
        let (first, others) = weights.split_at(1);
        let verdicts = try_each(scalings.len(), &|index| of(scalings[index], first))?;
        let mut verdicts = own(verdicts.concat());
        let mut scales = scales_of(scalings, first);
        let best = decided(&scales, verdicts.clone());
        let Some(scaling) = best.choice.setting.scaling.filter(|_| !others.is_empty()) else {
            return Ok(best);
        };
        // Each matrix is to be factored: other weights are tried with the scaling that is best without them.
        verdicts.extend(own(of(scaling, others)?));
        scales.extend(scales_of(&[scaling], others));
        Ok(decided(&scales, verdicts))
    }

    /// Group of each series of the data set, or its index without groups.
    pub(crate) fn groups(&self) -> Result<Vec<usize>, TrainError> {
        Ok(match &self.trial.request.group {
            Some(column) => self.data.groups(column)?.0,
            None => (0..self.data.series().len()).collect(),
        })
    }

    pub(crate) fn inner_folds(&self, series: &[usize]) -> Result<Option<Folds>, TrainError> {
        let labels: Vec<usize> = series.iter().map(|&index| self.label(index)).collect();
        let groups = match &self.trial.request.group {
            Some(column) => {
                let (groups, _) = self.data.groups(column)?;
                Some(series.iter().map(|&index| groups[index]).collect::<Vec<_>>())
            }
            None => None,
        };
        let most = self.trial.request.inner_folds;
        Ok(inner_folds(&labels, self.data.classes(), groups.as_deref(), most))
    }

    /// Judges the Bayes rule in inner folds: the share of windows that it decides rightly, with
    /// balanced classes the mean over classes; `None` without folds.
    pub(crate) fn judge_bayes(
        &self,
        series: &[usize],
    ) -> Result<Option<(Judgement, Marks)>, TrainError> {
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

/// Each scaling with every weight of codebooks.
fn scales_of(scalings: &[Scaling], weights: &[f64]) -> Vec<Scales> {
    let with = |&scaling: &Scaling| {
        weights.iter().map(move |&codebook_weight| Scales { scaling, codebook_weight })
    };
    scalings.iter().flat_map(with).collect()
}
