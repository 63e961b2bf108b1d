use std::borrow::Cow;

use fishweir_core::classify::decide;

use super::cross_validation::{JudgedFold, over_folds};
use super::{CrossValidation, CrossValidationOptions, EvaluateError, Judged};
use crate::data::Dataset;
use crate::deploy::leads;
use crate::kernel::Gram;
use crate::learn::{Request, WindowKernel};

/// Cross-validates a machine on the kernel values of all windows of a data set, in their order.
///
/// `gram` is given the series of the training folds, and of whatever it fits it must see no other; a
/// kernel whose numbers do not come from the data gives one matrix to all folds. C is chosen by inner
/// folds of the same matrix, and of the request that counts, as [`WindowKernel`] says. Values are in
/// `f64`; a decision takes the whole window.
///
/// # Errors
/// [`EvaluateError`], and those of `gram`.
///
/// # Panics
/// If a matrix is not of the windows.
pub fn cross_validate_kernel<'g, E: From<EvaluateError>>(
    data: &Dataset,
    gram: impl Fn(&[usize]) -> Result<Cow<'g, Gram>, E>,
    name: &str,
    request: &Request,
    validation: CrossValidationOptions,
) -> Result<CrossValidation, E> {
    let windows = data.windows(request.windowing.as_ref());
    let windows = windows.all();
    request.learner().check_windows(windows.len()).map_err(EvaluateError::from)?;
    let items = |series: &[usize]| -> Vec<usize> {
        (0..windows.len()).filter(|&item| series.contains(&windows[item].series)).collect()
    };
    over_folds(data, request, validation, name.to_owned(), |train, test| {
        let gram = gram(train)?;
        let (train, test) = (items(train), items(test));
        let judged = || -> Result<_, EvaluateError> {
            let problem = WindowKernel::new(data, windows, &gram, request)?;
            let choice = problem.choose(&train)?;
            let values = problem.train(&train, choice.setting.c)?.values(&test);
            let judged = values.iter().zip(problem.labels(&test)).zip(&test);
            let judged = judged.map(|((values, label), &item)| {
                let window = &windows[item];
                let values: Vec<f32> = values.iter().map(|&value| value as f32).collect();
                let decision = decide(&values);
                Judged {
                    series: window.series,
                    start: window.start,
                    label,
                    decision: Some(decision.class),
                    margin: decision.margin,
                    leads: leads(&values, |&value| value, |&a, &b| a - b),
                    likelihood: None,
                    settled: window.samples.len(),
                    refused: 0,
                }
            });
            let judged = judged.collect();
            Ok(JudgedFold { judged, choice: Some(choice), ..JudgedFold::default() })
        };
        Ok(judged()?)
    })
}
