use serde::Serialize;

use super::{EvaluateError, Figures, Interval, Judged, Latency, Roc, judge};
use crate::data::{Dataset, Window};
use crate::learn::{Choice, TrainOptions, Trainer};

/// A classifier's cross-validation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CrossValidation {
    /// Its name: `bayes`, `fisher`, a kernel's.
    pub method: String,
    /// Figures over all folds' windows together.
    pub pooled: Figures,
    /// Accuracy over the folds.
    pub accuracy: Option<Interval>,
    /// After how many samples decisions were made.
    pub latency: Option<Latency>,
    /// Detections against false alarms, over all folds' windows together.
    pub roc: Option<Roc>,
    /// The folds one by one.
    pub folds: Vec<FoldFigures>,
}

/// One fold of a cross-validation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoldFigures {
    /// Groups tested on, where a group column was named.
    pub groups: Vec<String>,
    /// Series tested on.
    pub series: usize,
    /// Windows tested on.
    pub windows: usize,
    /// Accuracy.
    pub accuracy: f64,
    /// Macro-F1.
    pub macro_f1: f64,
    /// What was chosen within the training folds.
    pub choice: Option<Choice>,
}

/// How to cross-validate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrossValidationOptions {
    /// Folds.
    pub folds: usize,
    /// Seed of the folds; `None` deals in order.
    pub seed: Option<u64>,
}

/// Cross-validates a classifier: in every fold it is trained on the other folds alone, deployed
/// in `f32`, and judges windows as a device would: see [`judge`]. Groups never straddle folds. Classifiers that are
/// cross-validated with one trainer share their class models where these are the same.
///
/// # Errors
/// [`EvaluateError`].
pub fn cross_validate(
    trainer: &Trainer<'_>,
    options: &TrainOptions,
    validation: CrossValidationOptions,
    progress: &(dyn Fn() + Sync),
) -> Result<CrossValidation, EvaluateError> {
    let data = trainer.data();
    let windows = data.windows(options.windowing.as_ref());
    over_folds(data, options, validation, options.kind.to_string(), |train, test| {
        let trained = trainer.train(train, options, progress)?;
        let cut: Vec<Window<'_>> = windows.of_all(test).copied().collect();
        Ok((judge(trained.classifier.deploy()?.any(), &cut), trained.choice))
    })
}

/// Judges every fold by what is made of the others: `judged` is given series to train on and to test.
pub(super) fn over_folds(
    data: &Dataset,
    options: &TrainOptions,
    validation: CrossValidationOptions,
    method: String,
    judged: impl Fn(&[usize], &[usize]) -> Result<(Vec<Judged>, Option<Choice>), EvaluateError>,
) -> Result<CrossValidation, EvaluateError> {
    let group = options.group.as_deref();
    let folds = data.folds(validation.folds, group, validation.seed)?;
    let groups = group.map(|column| data.groups(column)).transpose()?;
    let mut all = Vec::new();
    let mut by_fold = Vec::new();
    for fold in 0..folds.len() {
        let test = folds.test(fold);
        let (judged, choice) = judged(&folds.train(fold), &test)?;
        let figures = Figures::of(data.classes(), &judged);
        let mut names: Vec<usize> = groups
            .iter()
            .flat_map(|(of_series, _)| test.iter().map(|&series| of_series[series]))
            .collect();
        names.sort_unstable();
        names.dedup();
        by_fold.push(FoldFigures {
            groups: groups
                .iter()
                .flat_map(|(_, all)| names.iter().map(|&name| all[name].clone()))
                .collect(),
            series: test.len(),
            windows: judged.len(),
            accuracy: figures.accuracy,
            macro_f1: figures.macro_f1,
            choice,
        });
        all.extend(judged);
    }
    if all.is_empty() {
        return Err(EvaluateError::NoWindows(data.source().to_owned()));
    }
    let accuracies: Vec<f64> = by_fold.iter().map(|fold| fold.accuracy).collect();
    Ok(CrossValidation {
        method,
        pooled: Figures::of(data.classes(), &all),
        accuracy: Interval::over_folds(&accuracies).map(Interval::of_share),
        latency: Latency::of(&all),
        roc: Roc::of(data.classes().len(), &all),
        folds: by_fold,
    })
}

impl CrossValidation {
    /// By how much this classifier's accuracy exceeds another's on the same folds, fold by fold.
    #[must_use]
    pub fn gain_over(&self, other: &Self) -> Option<Interval> {
        let pairs = self.folds.iter().zip(&other.folds);
        let gains: Vec<f64> = pairs.map(|(own, other)| own.accuracy - other.accuracy).collect();
        Interval::over_folds(&gains)
    }
}
