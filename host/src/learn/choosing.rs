//! How the setting of a machine is chosen on training series: in inner folds, and in closed form.

use std::sync::Arc;

use rayon::prelude::*;

use super::augment::Augmented;
use super::choice::{Decided, Grid, HeldBack, Verdict, inner_folds};
use super::error::TrainError;
use super::features::{FeatureMap, Features};
use super::fits::models_of;
use super::machine::{Examples, Path};
use super::metric::Scales;
use super::options::{ONE_MODEL_SCALINGS, SCALINGS, TrainOptions};
use super::problem::Problem;
use crate::classifier::{Choice, Scaling};
use crate::data::{Folds, Window};
use crate::kernel::PARAMETERS_AT_MOST;

/// What is held out in closed form, and what was decided of it.
#[derive(Clone)]
pub(super) struct HeldOut {
    /// The series, or group, that each window is held out with.
    pub(super) units: Vec<usize>,
    pub(super) map: FeatureMap,
    pub(super) examples: Arc<Examples>,
    pub(super) decided: Decided,
}

impl Problem<'_> {
    /// Chooses scaling and C by cross-validation within the training series: models are fitted anew
    /// in every inner fold, so that no window is judged by a model that has seen it. A setting without
    /// an alternative is judged where its accuracy is held against that of other models.
    pub(super) fn choose(
        &self,
        features: Features,
        series: &[usize],
        judge_alone: bool,
    ) -> Result<Decided, TrainError> {
        self.check_windows(series)?;
        let TrainOptions { c, learner, .. } = self.options;
        let scales = scales_of(&self.scalings(), self.options.codebook_weights());
        let sigma = self.widths();
        let grid = Grid {
            scales: scales.iter().copied().map(Some).collect(),
            sigma: sigma.clone(),
            c: c.clone(),
            judge_alone,
        };
        let (folds, groups) = (self.inner_folds(series)?, self.groups()?);
        Choice::by_folds(&grid, folds.as_ref(), self.options.class_weight, |inner, held_back| {
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
                scales.par_iter().map(judged).collect()
            };
            let units = self.windows().of_all(&held_back).map(|one| groups[one.series]).collect();
            Ok(HeldBack { labels: test.labels, units, verdicts: judged?.concat() })
        })
    }

    /// Chooses scaling and C by what is held out in closed form: each series, or group, with its mirror images, of the
    /// machine alone, for the model has seen no label. Of series as they are it is [kept](super::fits::Fits::keep). `None`
    /// where that is [not to be had](Self::held_out_units).
    pub(super) fn held_out_of(
        &self,
        features: Features,
        series: &[usize],
    ) -> Result<Option<HeldOut>, TrainError> {
        let Some(units) = self.held_out_units(series)? else { return Ok(None) };
        let variation = self.variation.exactly();
        let varied = variation.apply(series)?;
        let map = self.feature_map(features, series, &models_of(&self.fit_models(&varied)?))?;
        let alone = variation.variants() == 1;
        let kept = self.fits.kept(&map, self.options, series).filter(|_| alone);
        let examples = match kept {
            Some(kept) if kept.decides_by(self.options) => return Ok(Some(kept.held_out.clone())),
            Some(kept) => Arc::clone(&kept.held_out.examples),
            None => Arc::new(self.examples(&map, &varied)?),
        };
        let decided = self.held_out(&map, &examples, &units, variation.variants())?;
        let held_out = HeldOut { units, map, examples, decided };
        if alone {
            self.fits.keep(self.options, series, &held_out);
        }
        Ok(Some(held_out))
    }

    /// The series, or group, that each window of some series is held out with in closed form. `None` where that is not to
    /// be had: of another learner, of class models, where each class is of one group.
    pub(super) fn held_out_units(
        &self,
        series: &[usize],
    ) -> Result<Option<Vec<usize>>, TrainError> {
        if !self.options.in_closed_form() {
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

    /// How the options' setting decides series as they are, held out in closed form with their mirror images and jittered
    /// copies, and the features of all of these: beside those that there are already of the series.
    pub(super) fn held_out_with_copies(
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
    pub(super) fn held_out(
        &self,
        map: &FeatureMap,
        examples: &Examples,
        units: &[usize],
        variants: usize,
    ) -> Result<Decided, TrainError> {
        let TrainOptions { c, class_weight, .. } = self.options;
        let (scalings, weights) = (self.scalings(), self.options.codebook_weights());
        let groups = units.repeat(variants);
        let classes = (self.data.classes().len(), *class_weight);
        let of = |scaling: Scaling, weights: &[f64]| {
            Path::held_out(examples, map, (scaling, weights), c, &groups, classes)
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
            Choice::held_out(&grid, &held_out, *class_weight)
        };
        let own = |mut verdicts: Vec<Vec<Verdict>>| {
            verdicts.iter_mut().for_each(|of_setting| of_setting.truncate(units.len()));
            verdicts
        };
        let (first, others) = weights.split_at(1);
        let verdicts: Result<Vec<_>, _> = scalings.par_iter().map(|&one| of(one, first)).collect();
        let mut verdicts = own(verdicts?.concat());
        let mut scales = scales_of(&scalings, first);
        let best = decided(&scales, verdicts.clone());
        let Some(scaling) = best.choice.setting.scaling.filter(|_| !others.is_empty()) else {
            return Ok(best);
        };
        // Each matrix is to be factored: other weights are tried with the scaling that is best without them.
        verdicts.extend(own(of(scaling, others)?));
        scales.extend(scales_of(&[scaling], others));
        Ok(decided(&scales, verdicts))
    }

    /// The group of each series of the data set, or its number where there are none.
    pub(super) fn groups(&self) -> Result<Vec<usize>, TrainError> {
        Ok(match &self.options.group {
            Some(column) => self.data.groups(column)?.0,
            None => (0..self.data.series().len()).collect(),
        })
    }

    /// The scalings to choose from; without whitening where nobody asked for it and a model has more parameters than an
    /// information matrix is taken of.
    pub(super) fn scalings(&self) -> Vec<Scaling> {
        let TrainOptions { scalings, baum_welch, .. } = self.options;
        let emission = self.options.emission_parameters(self.data.kind());
        let parameters = baum_welch.states * (1 + baum_welch.states + emission);
        match *scalings == ONE_MODEL_SCALINGS && parameters > PARAMETERS_AT_MOST {
            true => SCALINGS.to_vec(),
            false => scalings.clone(),
        }
    }

    /// The kernels' widths; one that is none for a kernel without, or for features.
    fn widths(&self) -> Vec<Option<f64>> {
        let widths: Vec<_> = self.options.kernels().into_iter().map(|(width, _)| width).collect();
        if widths.is_empty() { vec![None] } else { widths }
    }

    pub(super) fn inner_folds(&self, series: &[usize]) -> Result<Option<Folds>, TrainError> {
        let labels: Vec<usize> = series.iter().map(|&index| self.label(index)).collect();
        let groups = match &self.options.group {
            Some(column) => {
                let (groups, _) = self.data.groups(column)?;
                Some(series.iter().map(|&index| groups[index]).collect::<Vec<_>>())
            }
            None => None,
        };
        let most = self.options.inner_folds;
        Ok(inner_folds(&labels, self.data.classes(), groups.as_deref(), most))
    }
}

/// Each scaling with every weight of codebooks.
fn scales_of(scalings: &[Scaling], weights: &[f64]) -> Vec<Scales> {
    let with = |&scaling: &Scaling| {
        weights.iter().map(move |&codebook_weight| Scales { scaling, codebook_weight })
    };
    scalings.iter().flat_map(with).collect()
}
