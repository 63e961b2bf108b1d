use fishweir_core::classify::decide;

use super::cross_validation::over_folds;
use super::judge::leads;
use super::{CrossValidation, CrossValidationOptions, EvaluateError, Judged};
use crate::data::{Dataset, Folds, Windows};
use crate::kernel::Gram;
use crate::learn::{KernelLearner, KernelMachine, TrainOptions};

/// Cross-validates a support vector machine on the kernel values of all windows of a data set, in
/// their order: for kernels whose numbers do not come from the data, so that one matrix serves all
/// folds.
///
/// C is the first of the best of `options.c` over folds inside the training windows, in which series
/// (or groups) stay whole. Of the other options the windows, the group and the class weights count.
/// Values are in `f64`; a decision takes the whole window.
///
/// # Errors
/// [`EvaluateError`].
///
/// # Panics
/// If the matrix is not of the windows.
pub fn cross_validate_kernel(
    data: &Dataset,
    gram: &Gram,
    name: &str,
    options: &TrainOptions,
    validation: CrossValidationOptions,
) -> Result<CrossValidation, EvaluateError> {
    let windows = data.windows(options.windowing.as_ref());
    assert_eq!(gram.len(), windows.all().len(), "a kernel value for every pair of windows");
    let group_of_series = match options.group.as_deref() {
        Some(column) => data.groups(column)?.0,
        None => (0..data.series().len()).collect(),
    };
    let of_series = data.labels()?;
    let task = Task { data, gram, windows, of_series, group_of_series, options };
    over_folds(data, options, validation, name.to_owned(), |train, test| {
        let (train, test) = (task.items(train), task.items(test));
        Ok((task.judge(&train, &test, task.choose(&train)?)?, None))
    })
}

struct Task<'a> {
    data: &'a Dataset,
    gram: &'a Gram,
    windows: Windows<'a>,
    of_series: Vec<usize>,
    group_of_series: Vec<usize>,
    options: &'a TrainOptions,
}

impl Task<'_> {
    /// The windows of some series.
    fn items(&self, series: &[usize]) -> Vec<usize> {
        let all = self.windows.all().iter().enumerate();
        all.filter(|(_, window)| series.contains(&window.series)).map(|(item, _)| item).collect()
    }

    fn labels(&self, items: &[usize]) -> Vec<usize> {
        items.iter().map(|&item| self.of_series[self.windows.all()[item].series]).collect()
    }

    /// The best C by folds inside the training windows; the first where there are none.
    fn choose(&self, train: &[usize]) -> Result<f64, EvaluateError> {
        let labels = self.labels(train);
        let group = |&item: &usize| self.group_of_series[self.windows.all()[item].series];
        let groups: Vec<usize> = train.iter().map(group).collect();
        let classes = self.data.classes();
        let folds = (2..=self.options.inner_folds).rev();
        let made = |count| Folds::grouped(&labels, classes, &groups, count, None).ok();
        let first = self.options.c.first().copied().unwrap_or(1.0);
        let Some(folds) = folds.filter_map(made).next() else { return Ok(first) };
        let (mut best, mut most) = (first, 0);
        for &c in &self.options.c {
            let mut right = 0;
            for fold in 0..folds.len() {
                let pick = |places: Vec<usize>| -> Vec<usize> {
                    places.into_iter().map(|place| train[place]).collect()
                };
                let judged = self.judge(&pick(folds.train(fold)), &pick(folds.test(fold)), c)?;
                right += judged.iter().filter(|one| one.decision == Some(one.label)).count();
            }
            if right > most {
                (best, most) = (c, right);
            }
        }
        Ok(best)
    }

    /// What a machine trained on some windows says of others.
    fn judge(&self, train: &[usize], test: &[usize], c: f64) -> Result<Vec<Judged>, EvaluateError> {
        let machine = KernelMachine::train(
            KernelLearner::Svm,
            &self.gram.subset(train),
            &self.labels(train),
            self.data.classes().len(),
            c,
            self.options.class_weight,
        )?;
        let cross = self.gram.cross(test, train);
        let judged =
            self.labels(test).into_iter().zip(test).enumerate().map(|(row, (label, &item))| {
                let window = &self.windows.all()[item];
                let values: Vec<f32> =
                    machine.values(cross.row(row)).into_iter().map(|value| value as f32).collect();
                let decision = decide(&values);
                Judged {
                    series: window.series,
                    start: window.start,
                    label,
                    decision: Some(decision.class),
                    margin: decision.margin,
                    leads: leads(&values),
                    settled: window.samples.len(),
                    refused: 0,
                }
            });
        Ok(judged.collect())
    }
}
