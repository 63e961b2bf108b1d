//! The judge that trains each trial to judge it.

use crate::learn::error::TrainError;
use crate::learn::search::judge::Judge;
use crate::learn::selection::judged::JudgedForm;
use crate::learn::space::trial::Trial;
use crate::learn::training::held_out::HeldOut;
use crate::learn::training::set::{Shared, TrainingSet};

/// A judge of trials that trains them.
pub(crate) struct TrainingJudge<'a> {
    pub(crate) shared: &'a Shared<'a>,
    pub(crate) progress: &'a (dyn Fn() + Sync),
}

impl Judge for TrainingJudge<'_> {
    fn in_folds(&self, trial: &Trial, series: &[usize]) -> Result<Option<JudgedForm>, TrainError> {
        let set = TrainingSet::new(self.shared, series, trial, self.progress)?;
        Ok(match trial.request.features() {
            Some(features) => JudgedForm::of(&trial.form, set.choose(features, series, true)?),
            None => set.judge_bayes(series)?.map(|(judgement, marks)| JudgedForm {
                judgement,
                form: trial.form.clone(),
                choice: None,
                marks,
            }),
        })
    }

    fn in_closed_form(
        &self,
        trial: &Trial,
        series: &[usize],
    ) -> Result<Option<HeldOut>, TrainError> {
        let Some(features) = trial.request.features() else { return Ok(None) };
        TrainingSet::new(self.shared, series, trial, self.progress)?.held_out_of(features, series)
    }

    fn held_out_in_folds(
        &self,
        trial: &Trial,
        held_out: &HeldOut,
        all: &[usize],
        some: &[usize],
    ) -> Result<Option<JudgedForm>, TrainError> {
        let set = TrainingSet::new(self.shared, some, trial, self.progress)?;
        let Some(folds) = set.inner_folds(some)? else { return Ok(None) };
        let mut fold_of = vec![None; set.data.series().len()];
        for fold in 0..folds.len() {
            folds.test(fold).into_iter().for_each(|item| fold_of[some[item]] = Some(fold));
        }
        let windows = set.windows();
        let cut = windows.of_all(all).enumerate();
        let mut rows: Vec<(usize, usize)> =
            cut.filter_map(|(row, window)| Some((fold_of[window.series]?, row))).collect();
        // Fold by fold, as other forms' are.
        rows.sort_by_key(|&(fold, _)| fold);
        let (folds, rows): (Vec<usize>, Vec<usize>) = rows.into_iter().unzip();
        let decided = set.held_out(&held_out.map, &held_out.examples.some(&rows), &folds, 1)?;
        let found = JudgedForm::of(&trial.form, decided);
        let units = rows.iter().map(|&row| held_out.units[row]).collect();
        Ok(found.map(|found| JudgedForm { marks: found.marks.over(units), ..found }))
    }

    fn keep(&self, trial: &Trial, series: &[usize], held_out: &HeldOut) {
        self.shared.last.keep(trial, series, held_out);
    }

    fn fits(&self) -> usize {
        self.shared.fits.count()
    }
}
