use fishweir_core::classify;
use serde::Serialize;

use super::{Calibration, EvaluateError, Judged, judge};
use crate::classifier::{Confidence, Rejection};
use crate::data::Dataset;
use crate::learn::{TrainOptions, train};

/// Thresholds that reject a share of the windows they are made from, at most: the largest equal shares that are
/// cut off at the low end of margins and at both ends of likelihoods a sample.
///
/// `None` where no window was decided. Cost: two sorts, and `log n` passes over the windows.
#[must_use]
pub fn thresholds(judged: &[&Judged], rate: f64) -> Option<Rejection> {
    let decided: Vec<&Judged> =
        judged.iter().copied().filter(|one| one.decision.is_some()).collect();
    let sorted = |of: &dyn Fn(&Judged) -> Option<f32>| {
        let mut all: Vec<f64> = decided.iter().filter_map(|one| of(one)).map(f64::from).collect();
        all.sort_unstable_by(f64::total_cmp);
        all
    };
    let margins = sorted(&|one| Some(one.margin).filter(|margin| !margin.is_nan()));
    let likelihoods = sorted(&|one| one.likelihood.filter(|likelihood| likelihood.is_finite()));
    if margins.is_empty() {
        return None;
    }
    // Cutting off so many at each end.
    let cutting = |count: usize| Rejection {
        rate,
        // Where models are ruled out a margin may be infinite, and so no threshold.
        least_margin: margins[count.min(margins.len() - 1)].min(f64::from(f32::MAX)),
        likelihood: likelihoods.len().checked_sub(1).map(|last| {
            let count = count.min(last / 2);
            [likelihoods[count], likelihoods[last - count]]
        }),
    };
    let allowed = (rate * decided.len() as f64).floor() as usize;
    let rejects = |count: usize| {
        let rejection = cutting(count).rounded();
        decided.iter().filter(|one| rejected(&rejection, one)).count()
    };
    let (mut most, mut too_many) = (0, margins.len());
    while most + 1 < too_many {
        let middle = usize::midpoint(most, too_many);
        if rejects(middle) <= allowed { most = middle } else { too_many = middle }
    }
    Some(cutting(most))
}

/// Whether thresholds reject what was decided, as a device would; what could not be decided is rejected.
#[must_use]
pub fn rejected(confidence: &classify::Confidence, judged: &Judged) -> bool {
    // A likelihood a sample, as that of one sample.
    let doubt = confidence.doubt(judged.margin, judged.likelihood, 1);
    judged.decision.is_none() || doubt.is_some()
}

/// What was learnt from windows that were held back, `[fold][window]`: for [`Classifier::confidence`]. With a
/// rate, thresholds that reject such a share of them. `None` of fewer than two folds with a labelled window.
///
/// [`Classifier::confidence`]: crate::classifier::Classifier::confidence
#[must_use]
pub fn confidence(folds: &[&[Judged]], classes: usize, rate: Option<f64>) -> Option<Confidence> {
    let Calibration { scale, .. } = Calibration::of(folds, classes)?;
    let all: Vec<&Judged> = folds.iter().copied().flatten().collect();
    let rejection = rate.and_then(|rate| thresholds(&all, rate));
    Some(Confidence { scale, rejection, windows: all.len() })
}

/// How rejection does on windows that were held back, and on classes that were.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RejectionFigures {
    /// The share of windows of known classes that was to be rejected; null where an artefact does not say.
    pub rate: Option<f64>,
    /// The share of them that was, each fold by the thresholds of the others.
    pub rejected: f64,
    /// Of the others, the share decided rightly; null where none is left.
    pub accuracy_of_accepted: Option<f64>,
    /// Classes that a classifier of the others had never seen.
    pub unseen: Vec<Unseen>,
}

/// A class that a classifier had never seen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unseen {
    /// The class.
    pub class: String,
    /// Its windows.
    pub windows: usize,
    /// The share of them rejected.
    pub rejected: f64,
}

impl RejectionFigures {
    /// Of what was decided on windows that were held back, `[fold][window]`, each fold by thresholds made from the
    /// others. `None` of fewer than two folds with a window.
    #[must_use]
    pub fn of(folds: &[&[Judged]], rate: f64) -> Option<Self> {
        let mut judged = Vec::new();
        for (held_back, own) in folds.iter().enumerate() {
            let others = folds.iter().enumerate().filter(|&(fold, _)| fold != held_back);
            let others: Vec<&Judged> = others.flat_map(|(_, fold)| *fold).collect();
            if let Some(rejection) = thresholds(&others, rate) {
                let rejection = rejection.rounded();
                judged.extend(own.iter().map(|one| (rejected(&rejection, one), one)));
            }
        }
        Self::of_rejected(Some(rate), &judged)
    }

    /// Of what was decided on windows of known classes, by thresholds that are settled, to reject a share that is
    /// told where it is known. `None` of no window.
    #[must_use]
    pub fn by(
        confidence: &classify::Confidence,
        rate: Option<f64>,
        judged: &[Judged],
    ) -> Option<Self> {
        let judged: Vec<_> = judged.iter().map(|one| (rejected(confidence, one), one)).collect();
        Self::of_rejected(rate, &judged)
    }

    fn of_rejected(rate: Option<f64>, judged: &[(bool, &Judged)]) -> Option<Self> {
        let kept: Vec<&Judged> = judged.iter().filter(|one| !one.0).map(|one| one.1).collect();
        let right = kept.iter().filter(|one| one.decision == Some(one.label)).count();
        (!judged.is_empty()).then(|| Self {
            rate,
            rejected: (judged.len() - kept.len()) as f64 / judged.len() as f64,
            accuracy_of_accepted: (!kept.is_empty()).then(|| right as f64 / kept.len() as f64),
            unseen: Vec::new(),
        })
    }
}

impl Unseen {
    /// Of the windows of a class that no model knows, by thresholds that are settled.
    #[must_use]
    pub fn by(confidence: &classify::Confidence, class: String, judged: &[Judged]) -> Self {
        let away = judged.iter().filter(|one| rejected(confidence, one)).count();
        let windows = judged.len();
        Self { class, windows, rejected: away as f64 / windows.max(1) as f64 }
    }
}

/// Leaves each class out in turn: a classifier of the others is trained on all folds but one, thresholds are made
/// from that fold's windows, and the windows of the class are judged by it. Which fold is held back changes from
/// class to class. None of fewer than three classes.
///
/// Cost: a training a class.
///
/// # Errors
/// [`EvaluateError`], where a training fails.
pub fn leave_classes_out(
    data: &Dataset,
    options: &TrainOptions,
    validation: super::CrossValidationOptions,
    rate: f64,
    progress: &(dyn Fn() + Sync),
) -> Result<Vec<Unseen>, EvaluateError> {
    let classes = data.classes();
    if classes.len() < 3 {
        return Ok(Vec::new());
    }
    let one_out = |(index, class): (usize, &String)| {
        let others: Vec<String> = classes.iter().filter(|&one| one != class).cloned().collect();
        let (known, _) = data.clone().of_classes(&others)?;
        let (unseen, _) = data.clone().of_classes(std::slice::from_ref(class))?;
        let group = options.group.as_deref();
        let folds = known.folds(validation.folds, group, validation.seed)?;
        let fold = index % folds.len();
        let trained = train(&known, &folds.train(fold), options, progress)?;
        let deployed = trained.classifier.deploy()?;
        let windows = known.windows(options.windowing.as_ref());
        let cut: Vec<_> = windows.of_all(&folds.test(fold)).copied().collect();
        let held_back = judge(&deployed, &cut);
        let Some(rejection) = thresholds(&held_back.iter().collect::<Vec<_>>(), rate) else {
            return Err(EvaluateError::NoWindows(data.source().to_owned()));
        };
        let judged = judge(&deployed, unseen.windows(options.windowing.as_ref()).all());
        Ok(Unseen::by(&rejection.rounded(), class.clone(), &judged))
    };
    classes.iter().enumerate().map(one_out).collect()
}
