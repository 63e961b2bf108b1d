//! Estimates of windows, cross-validation, and intervals.

use std::ops::Range;

use fishweir_core::classify::Decision;
use serde::Serialize;

use super::RegressionFigures;
use super::train::{RegressionRequest, fit};
use crate::classifier::TargetInterval;
use crate::data::{RegressionData, TargetValue, Window, Windowing};
use crate::deploy::Deployed;
use crate::evaluate::{CrossValidationOptions, EvaluateError, judge};
use crate::learn::TrainError;

/// The estimate of one window, beside its target.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Index of its series.
    pub series: usize,
    /// Index of its first sample in the series.
    pub start: usize,
    /// The target.
    pub target: f64,
    /// The estimate, in the arithmetic of a device.
    pub estimate: f64,
    /// Mean of the target in training.
    pub mean: f64,
    /// Half the width of the interval around the estimate; `None` without an interval.
    pub half_width: Option<f64>,
}

/// Windows that are no estimates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Omitted {
    /// Windows without a target.
    pub without_target: usize,
    /// Windows whose scores went out of range.
    pub undecided: usize,
    /// Samples that were refused, and counted as missing.
    pub refused_samples: usize,
}

/// Estimates for the windows of some series of data, all that have a target, in the `f32` arithmetic of a device.
#[must_use]
pub fn estimate(
    deployed: &Deployed,
    source: &RegressionData,
    series: &[usize],
    (windowing, of): (Option<&Windowing>, TargetValue),
    mean: f64,
) -> (Vec<Estimate>, Omitted) {
    let windows = source.data.windows(windowing);
    let (mut cut, mut targets): (Vec<Window<'_>>, Vec<f64>) = (Vec::new(), Vec::new());
    let mut omitted = Omitted::default();
    for window in windows.of_all(series) {
        match source.of_window(window, of) {
            Some(target) => {
                cut.push(*window);
                targets.push(target);
            }
            None => omitted.without_target += 1,
        }
    }
    let half_width = deployed.target().and_then(|target| target.interval);
    let half_width = half_width.map(|interval| interval.half_width);
    let mut estimates = Vec::with_capacity(cut.len());
    for (judged, target) in judge(deployed, &cut).iter().zip(targets) {
        omitted.refused_samples += judged.refused;
        let Some(class) = judged.decision else {
            omitted.undecided += 1;
            continue;
        };
        let estimate = f64::from(Decision { class, margin: judged.margin }.value());
        let (series, start) = (judged.series, judged.start);
        estimates.push(Estimate { series, start, target, estimate, mean, half_width });
    }
    (estimates, omitted)
}

/// Half the width of an interval that covers a share of held-out errors: of `n` errors in order the `ceil((n + 1) coverage)`-th.
///
/// For windows that can be exchanged with the held-out ones it covers at least that share of the targets, whatever the model
/// (split conformal prediction: see [`regress`](super)). Windows of one person or machine are alike, so that of new ones it may
/// cover less.
///
/// # Errors
/// [`TrainError::Coverage`], [`TrainError::TooFewForCoverage`].
pub fn interval(errors: &[f64], coverage: f64) -> Result<TargetInterval, TrainError> {
    if !(coverage > 0.0 && coverage < 1.0) {
        return Err(TrainError::Coverage(coverage));
    }
    let mut sorted = errors.to_vec();
    for error in &mut sorted {
        *error = error.abs();
    }
    sorted.sort_by(f64::total_cmp);
    let windows = sorted.len();
    // Rounding must not ask for one more: 0.9 of 10 is 9.
    let rank = ((windows + 1) as f64 * coverage - 1e-9).ceil() as usize;
    match sorted.get(rank.saturating_sub(1)) {
        Some(&half_width) => Ok(TargetInterval { half_width, coverage }),
        None => {
            let needed = (coverage / (1.0 - coverage) - 1e-9).ceil() as usize;
            Err(TrainError::TooFewForCoverage { windows, coverage, needed })
        }
    }
}

/// One fold of a cross-validation.
#[derive(Serialize)]
pub struct RegressionFold {
    /// Series tested on.
    pub series: usize,
    /// Errors on its windows.
    #[serde(flatten)]
    pub figures: RegressionFigures,
    /// Setting chosen within the training folds.
    pub setting: String,
}

/// A cross-validation: every window is estimated by a model that has not seen its fold.
#[derive(Serialize)]
pub struct Validation {
    /// Errors over all folds together. A fold's interval is that of the others' errors.
    pub figures: RegressionFigures,
    /// Errors of the training folds' mean.
    pub baseline: RegressionFigures,
    /// The folds one by one.
    pub folds: Vec<RegressionFold>,
    /// Interval of the errors of all folds.
    pub interval: TargetInterval,
    /// Windows that were left out.
    pub omitted: Omitted,
    /// Estimates, fold by fold.
    #[serde(skip)]
    pub estimates: Vec<Estimate>,
}

/// Cross-validates a regression. Groups, where the request names a column, stay in one fold.
///
/// # Errors
/// [`EvaluateError`].
pub fn cross_validate(
    source: &RegressionData,
    request: &RegressionRequest,
    validation: CrossValidationOptions,
    progress: &(dyn Fn() + Sync),
) -> Result<Validation, EvaluateError> {
    let (data, group) = (&source.data, request.request.group.as_deref());
    let folds = data.folds(validation.folds, group, validation.seed)?;
    let mut estimates: Vec<Estimate> = Vec::new();
    let mut by_fold: Vec<RegressionFold> = Vec::new();
    let mut omitted = Omitted::default();
    for fold in 0..folds.len() {
        let fitted = fit(source, &folds.train(fold), request, progress)?;
        let deployed = fitted.classifier.deploy()?;
        let cut = (request.request.windowing.as_ref(), request.of);
        let test = folds.test(fold);
        let (own, some) = estimate(&deployed, source, &test, cut, fitted.spread.mean);
        omitted.without_target += some.without_target;
        omitted.undecided += some.undecided;
        omitted.refused_samples += some.refused_samples;
        let figures = RegressionFigures { windows: own.len(), ..RegressionFigures::default() };
        let setting = fitted.setting.to_string();
        by_fold.push(RegressionFold { series: test.len(), figures, setting });
        estimates.extend_from_slice(&own);
    }
    if estimates.is_empty() {
        return Err(EvaluateError::NoWindows(data.source().to_owned()));
    }
    let mut begin = 0;
    for fold in &mut by_fold {
        let end = begin + fold.figures.windows;
        let others = interval(&errors(&estimates, begin..end), request.coverage)?;
        let own = &mut estimates[begin..end];
        for one in own.iter_mut() {
            one.half_width = Some(others.half_width);
        }
        fold.figures = RegressionFigures::of(own);
        begin = end;
    }
    let of_all = interval(&errors(&estimates, 0..0), request.coverage)?;
    Ok(Validation {
        figures: RegressionFigures::of(&estimates),
        baseline: RegressionFigures::of_mean(&estimates),
        folds: by_fold,
        interval: of_all,
        omitted,
        estimates,
    })
}

/// Errors of estimates other than those of a range.
fn errors(estimates: &[Estimate], without: Range<usize>) -> Vec<f64> {
    let mut errors = Vec::with_capacity(estimates.len());
    for (index, one) in estimates.iter().enumerate() {
        if !without.contains(&index) {
            errors.push(one.estimate - one.target);
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_the_error_of_its_rank() {
        let errors: Vec<f64> =
            (1..=19).map(f64::from).map(|x| if x > 9.0 { -x } else { x }).collect();
        // The 18th of 19, for 20 times 0.9 is 18.
        assert_eq!(interval(&errors, 0.9).expect("enough").half_width, 18.0);
        assert_eq!(interval(&errors, 0.5).expect("enough").half_width, 10.0);
        assert_eq!(interval(&errors, 0.95).expect("just enough").half_width, 19.0);
        let refused = interval(&errors, 0.96).expect_err("too few");
        assert!(matches!(refused, TrainError::TooFewForCoverage { needed: 24, .. }), "{refused:?}");
        for coverage in [0.0, 1.0, f64::NAN] {
            assert!(matches!(interval(&errors, coverage), Err(TrainError::Coverage(_))));
        }
    }
}
