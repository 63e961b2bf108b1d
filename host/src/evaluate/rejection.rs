//! Confidence and rejection of a request, by cross-validation.

use super::{
    Calibration, CrossValidationOptions, EvaluateError, Judged, Unseen, cross_validate, judge,
    thresholds,
};
use crate::classifier::Confidence;
use crate::data::Dataset;
use crate::learn::{Request, Trainer, train};

/// Confidence from held-out windows, `[fold][window]`: for [`Classifier::confidence`].
///
/// With a rate, thresholds that reject that share of them. `None` for fewer than two folds with a labelled window.
///
/// [`Classifier::confidence`]: crate::classifier::Classifier::confidence
#[must_use]
pub fn confidence(folds: &[&[Judged]], classes: usize, rate: Option<f64>) -> Option<Confidence> {
    let Calibration { scale, .. } = Calibration::of(folds, classes)?;
    let all: Vec<&Judged> = folds.iter().copied().flatten().collect();
    let rejection = rate.and_then(|rate| thresholds(&all, classes, rate));
    Some(Confidence { scale, rejection, windows: all.len() })
}

/// Cross-validates, and learns from what was held back: for [`Classifier::confidence`] of the classifier that the
/// same request trains on all of the data.
///
/// Cost: that of [`cross_validate`](super::cross_validate).
///
/// # Errors
/// [`EvaluateError`]; [`EvaluateError::NothingHeldBack`] where no two folds have a labelled window,
/// [`EvaluateError::KeepsNoConfidence`] of a kernel machine, [`EvaluateError::Rate`] unless `0 < rate < 1/2`.
///
/// [`Classifier::confidence`]: crate::classifier::Classifier::confidence
pub fn learn_confidence(
    data: &Dataset,
    request: &Request,
    validation: CrossValidationOptions,
    rate: Option<f64>,
    progress: &(dyn Fn() + Sync),
) -> Result<Confidence, EvaluateError> {
    if !request.kind.compiles() {
        return Err(EvaluateError::KeepsNoConfidence(request.kind));
    }
    if let Some(rate) = rate.filter(|rate| !(*rate > 0.0 && *rate < 0.5)) {
        return Err(EvaluateError::Rate(rate));
    }
    let validated = cross_validate(&Trainer::new(data), request, validation, progress)?;
    confidence(&validated.judged(), data.classes().len(), rate)
        .ok_or_else(|| EvaluateError::NothingHeldBack(data.source().to_owned()))
}

/// Leaves each class out in turn: a classifier of the others is trained on all folds but one, thresholds are made
/// from that fold's windows, and the windows of the class, of all groups, are judged by it. Which fold is held back changes from
/// class to class. None of fewer than three classes.
///
/// Cost: a training a class.
///
/// # Errors
/// [`EvaluateError::LeftOut`], where a training fails; [`EvaluateError::KeepsNoConfidence`] of a kernel machine.
pub fn leave_classes_out(
    data: &Dataset,
    request: &Request,
    validation: CrossValidationOptions,
    rate: f64,
    progress: &(dyn Fn() + Sync),
) -> Result<Vec<Unseen>, EvaluateError> {
    if !request.kind.compiles() {
        return Err(EvaluateError::KeepsNoConfidence(request.kind));
    }
    let classes = data.classes();
    if classes.len() < 3 {
        return Ok(Vec::new());
    }
    let one_out = |(index, class): (usize, &String)| {
        let others: Vec<String> = classes.iter().filter(|&one| one != class).cloned().collect();
        let (known, _) = data.clone().of_classes(&others)?;
        let (unseen, _) = data.clone().of_classes(std::slice::from_ref(class))?;
        let group = request.group.as_deref();
        let folds = known.folds(validation.folds, group, validation.seed)?;
        let fold = index % folds.len();
        let trained = train(&known, &folds.train(fold), request, progress)?;
        let deployed = trained.classifier.deploy()?;
        let windows = known.windows(request.windowing.as_ref());
        let cut: Vec<_> = windows.of_all(&folds.test(fold)).copied().collect();
        let held_back = judge(&deployed, &cut);
        let Some(rejection) = thresholds(&held_back.iter().collect::<Vec<_>>(), others.len(), rate)
        else {
            return Err(EvaluateError::NoWindows(data.source().to_owned()));
        };
        let judged = judge(&deployed, unseen.windows(request.windowing.as_ref()).all());
        Ok(Unseen::by(&rejection.rounded().of_core(), class.clone(), &judged))
    };
    let named = |one: (usize, &String)| {
        let class = one.1.clone();
        one_out(one).map_err(|source| EvaluateError::LeftOut { class, source: Box::new(source) })
    };
    classes.iter().enumerate().map(named).collect()
}
