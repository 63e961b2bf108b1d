//! Training: one model without targets, its scores, and ridge regression on them.

use std::num::NonZeroUsize;

use super::evaluate::{Validation, cross_validate};
use crate::classifier::Classifier;
use crate::classifier::{Regressor, Rule, ScoreModels, Setting, Target, TargetSpread};
use crate::data::{RegressionData, TargetValue, Window};
use crate::evaluate::{CrossValidationOptions, EvaluateError};
use crate::fit::Fit;
use crate::kernel::ScoreKernel;
use crate::learn::internals::{
    Examples, Path, ScorePath, Shared, TrainingSet, Trial, estimator, held_out_estimates, models_of,
};
use crate::learn::{
    ClassifierKind, FeatureMap, FeatureScaler, Features, KernelLearnError, KernelMachine,
    LagChoice, Matrix, ModelChoice, Nystrom, RIDGE, Request, Scales, Space, TrainError,
};
use crate::words::to_three_digits;

/// Costs of an error to choose from: lambda is `1 / (2 C)`, of scores whose block has a mean square norm of one.
const COSTS: [f64; 10] = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6];

/// Windows that a kernel is taken with, unless a number is given.
const LANDMARKS: NonZeroUsize = NonZeroUsize::new(128).unwrap();

/// Settings of a regression.
pub struct RegressionRequest {
    /// Models, features and windows, as of a classifier: `fisher`, `count` or a kernel on scores.
    pub request: Request,
    /// The part of a window that the target is of.
    pub of: TargetValue,
    /// Share of true values that the interval covers, above 0 and below 1.
    pub coverage: f64,
}

impl Default for RegressionRequest {
    /// Fisher scores, the mean of a window, 0.9.
    fn default() -> Self {
        Self { request: Request::new(ClassifierKind::Fisher), of: TargetValue::Mean, coverage: 0.9 }
    }
}

/// Result of a training.
pub struct TrainedRegression {
    /// The regression.
    pub regressor: Regressor,
    /// Cross-validation of the training, which gave the interval.
    pub validation: Validation,
    /// Fits of the models.
    pub fits: Vec<Fit>,
    /// Root of the mean squared error on windows held out of the ridge regression alone, in closed form, at the chosen setting.
    pub held_out_rmse: f64,
}

/// Trains a regression on all series, with an interval by their cross-validation.
///
/// Cost: about six fits.
///
/// `progress` is called after every pass of Baum-Welch.
///
/// # Errors
/// [`EvaluateError`]: a request that is not of numbers, no window with a target, too few windows for the coverage.
pub fn train(
    source: &RegressionData,
    request: &RegressionRequest,
    progress: &(dyn Fn() + Sync),
) -> Result<TrainedRegression, EvaluateError> {
    let data = &source.data;
    // First: what cannot be learnt is known before the rest is.
    let folds = CrossValidationOptions::usual(data, request.request.group.as_deref())?;
    let validation = cross_validate(source, request, folds, progress)?;
    let all: Vec<usize> = (0..data.series().len()).collect();
    let Fitted { classifier, spread, fits, rmse, .. } = fit(source, &all, request, progress)?;
    let target = Target {
        name: source.name.clone(),
        unit: source.unit.clone(),
        of: request.of,
        interval: Some(validation.interval),
    };
    let regressor = Regressor { target, trained: spread, estimator: classifier };
    Ok(TrainedRegression { regressor, validation, fits, held_out_rmse: rmse })
}

/// A regression without its interval.
pub(super) struct Fitted {
    pub(super) classifier: Classifier,
    pub(super) spread: TargetSpread,
    pub(super) setting: Setting,
    fits: Vec<Fit>,
    rmse: f64,
}

/// Trains on some series: of the forms of models that the request leaves open the one of the least error on what is held out.
pub(super) fn fit(
    source: &RegressionData,
    series: &[usize],
    request: &RegressionRequest,
    progress: &(dyn Fn() + Sync),
) -> Result<Fitted, TrainError> {
    let shared = Shared::new(&source.data);
    let wanted = of_numbers(request, source)?;
    let space = Space::of(&source.data, series, &wanted)?;
    space.check_for(1)?;
    let mut best: Option<Fitted> = None;
    for form in space.forms() {
        if form.models != ScoreModels::Universal {
            continue;
        }
        let trial = space.trial(form).plain();
        let set = TrainingSet::new(&shared, series, &trial, progress)?;
        let fitted = of_form(&set, &trial, source, (series, request.of))?;
        if best.as_ref().is_none_or(|best| fitted.rmse < best.rmse) {
            best = Some(fitted);
        }
    }
    best.ok_or(TrainError::NoCandidate("form"))
}

/// The request of one model for all, with ridge regression.
fn of_numbers(own: &RegressionRequest, source: &RegressionData) -> Result<Request, TrainError> {
    let mut request = own.request.clone();
    let kind = request.kind;
    let refused = |what: String, other| Err(TrainError::NoRegression(what, other));
    if matches!(kind, ClassifierKind::Bayes | ClassifierKind::Top) {
        return refused(kind.to_string(), "fisher, count, or a kernel on scores such as gaussian");
    }
    if let Some(learner) = request.learner
        && !["ridge", "kernel-ridge"].contains(&learner.name)
    {
        return refused(format!("the learner {}", learner.name), "ridge");
    }
    request.learner = Some(&RIDGE);
    let no_lag =
        matches!(&request.lags, LagChoice::Given(all) if all.iter().all(|one| one.is_empty()));
    let each_lag = kind == ClassifierKind::Fisher
        && request.takes_lags(source.data.kind())
        && !request.has_past()
        && !no_lag;
    request.models = match &request.models {
        ModelChoice::EachLag => ModelChoice::EachLag,
        ModelChoice::Usual if each_lag => ModelChoice::EachLag,
        _ => ModelChoice::Given(ScoreModels::Universal),
    };
    if !kind.compiles() {
        request.landmarks = request.landmarks.or(Some(LANDMARKS));
    }
    if request.c.is_empty() {
        request.c = COSTS.to_vec();
    }
    Ok(request)
}

/// Trains with one form of models.
fn of_form(
    set: &TrainingSet<'_>,
    trial: &Trial,
    source: &RegressionData,
    (series, of): (&[usize], TargetValue),
) -> Result<Fitted, TrainError> {
    let data = &source.data;
    let windows = set.windows();
    let mut cut: Vec<&Window<'_>> = Vec::new();
    let mut targets = Vec::new();
    for window in windows.of_all(series) {
        if let Some(target) = source.of_window(window, of) {
            cut.push(window);
            targets.push(target);
        }
    }
    if targets.is_empty() {
        return Err(TrainError::NoTargets(data.source().to_owned()));
    }
    let fits = set.fit_models(&set.varied(series)?)?;
    let features = trial.request.features().unwrap_or(Features::Scores);
    let map = set.feature_map(features, series, &models_of(&fits))?;
    let examples = set.examples_in(&map, (data, usize::MAX), &cut)?;
    let groups = match trial.request.group.as_deref() {
        Some(column) => data.groups(column)?.0,
        None => (0..data.series().len()).collect(),
    };
    let (mut held_out, mut several) = (Vec::with_capacity(cut.len()), false);
    for window in &cut {
        held_out.push(groups[window.series]);
        several |= held_out[0] != groups[window.series];
    }
    if !several {
        // One series alone: each window is held out by itself.
        held_out = (0..cut.len()).collect();
    }
    let estimating = Estimating { map: &map, examples: &examples, targets: &targets, trial };
    let (setting, least) = estimating.choose(&held_out)?;
    let mut classifier = set.bayes(series, map.models().to_vec());
    classifier.rule = estimating.rule(setting)?;
    classifier.method = trial.request.kind.to_string();
    classifier.classes = Regressor::SIGNS.map(str::to_owned).to_vec();
    classifier.codebooks = map.codebooks().cloned();
    classifier.normalisation = trial.form.normalisation;
    let provenance = &mut classifier.provenance;
    provenance.windows = targets.len();
    for note in &mut provenance.notes {
        *note = note.replace(" of all classes", "");
    }
    provenance.notes.push(format!(
        "ridge regression: {setting}, of {} tried by leave-one-out cross-validation in closed form; RMSE there {}",
        estimating.candidates(),
        to_three_digits(least)
    ));
    let mean = targets.iter().sum::<f64>() / targets.len() as f64;
    let spread = TargetSpread { mean, deviation: rmse(&vec![mean; targets.len()], &targets) };
    Ok(Fitted { classifier, spread, setting, fits: fits.to_vec(), rmse: least })
}

/// Windows of a training, and what estimates their targets.
struct Estimating<'e> {
    map: &'e FeatureMap,
    examples: &'e Examples,
    targets: &'e [f64],
    trial: &'e Trial,
}

impl Estimating<'_> {
    /// Settings that are tried.
    fn candidates(&self) -> usize {
        let settings = &self.trial.settings;
        let scales = settings.scalings.len() * settings.codebook_weights.len();
        scales * settings.widths().len() * settings.c.len()
    }

    /// The setting of the least error on groups that are held out of the regression, and its root mean square.
    fn choose(&self, groups: &[usize]) -> Result<(Setting, f64), TrainError> {
        let settings = &self.trial.settings;
        let mut best: Option<(Setting, f64)> = None;
        for &scaling in &settings.scalings {
            for &codebook_weight in &settings.codebook_weights {
                let scales = Scales { scaling, codebook_weight };
                let (_, scaled) = self.scaled(scales)?;
                for sigma in settings.widths() {
                    let rows = match self.kernel(sigma) {
                        Some(kernel) => self.landmarks(&scaled, kernel)?.features().clone(),
                        None => scaled.clone(),
                    };
                    let held = held_out_estimates(&rows, self.targets, groups, &settings.c)?;
                    for (&c, held) in settings.c.iter().zip(held) {
                        let Some(held) = held else { continue };
                        let setting = Setting { scaling: Some(scaling), codebook_weight, sigma, c };
                        let rmse = rmse(&held, self.targets);
                        if best.is_none_or(|(_, least)| rmse < least) {
                            best = Some((setting, rmse));
                        }
                    }
                }
            }
        }
        best.ok_or(TrainError::NoCandidate("setting"))
    }

    /// Scaler, and scaled rows.
    fn scaled(&self, scales: Scales) -> Result<(FeatureScaler, Matrix), KernelLearnError> {
        let Examples { rows, lengths, .. } = self.examples;
        FeatureScaler::mapped(rows, lengths, self.map, scales)
    }

    /// The kernel of a width, if there is one.
    fn kernel(&self, sigma: Option<f64>) -> Option<ScoreKernel> {
        for (width, kernel) in &self.trial.settings.kernels {
            if *width == sigma {
                return Some(*kernel);
            }
        }
        None
    }

    /// Features of a kernel by landmarks.
    fn landmarks(&self, scaled: &Matrix, kernel: ScoreKernel) -> Result<Nystrom, KernelLearnError> {
        let mut stored: Vec<Vec<f64>> = Vec::with_capacity(self.targets.len());
        for row in scaled.rows() {
            let mut wide = Vec::with_capacity(row.len());
            for &x in row {
                wide.push(f64::from(x));
            }
            stored.push(kernel.stored(wide));
        }
        let most = self.trial.request.landmarks.unwrap_or(LANDMARKS).get();
        Nystrom::of(stored.len(), most, |i, j| kernel.value(&stored[i], &stored[j]))
    }

    /// The rule of a setting.
    fn rule(&self, setting: Setting) -> Result<Rule, TrainError> {
        let Setting { scaling, codebook_weight, sigma, c } = setting;
        let scaling = scaling.ok_or(TrainError::NoCandidate("scaling"))?;
        let (metric, scaled) = self.scaled(Scales { scaling, codebook_weight })?;
        let Some(kernel) = self.kernel(sigma) else {
            let machine = estimator(&scaled, self.targets, c)?;
            let outputs = Path::of_machines(metric, vec![machine]).outputs(self.map);
            return Ok(match self.map.order() {
                Some(order) => Rule::Words { order, outputs },
                None => Rule::Linear(outputs),
            });
        };
        let nystrom = self.landmarks(&scaled, kernel)?;
        let machine = estimator(nystrom.features(), self.targets, c)?;
        let machine = KernelMachine { outputs: vec![nystrom.expansion(&machine)] };
        let items = (kernel, nystrom.landmarks().to_vec());
        let path = ScorePath::of_machine(metric, self.examples.rows.clone(), items, machine);
        Ok(Rule::Expansion(path.expansion(self.map).ok_or(TrainError::NoCandidate("kernel"))?))
    }
}

fn rmse(estimates: &[f64], targets: &[f64]) -> f64 {
    let mut squares = 0.0;
    for (one, target) in estimates.iter().zip(targets) {
        squares += (one - target) * (one - target);
    }
    (squares / targets.len().max(1) as f64).sqrt()
}
