use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    Calibration, EvaluateError, Figures, Interval, Judged, Latency, RejectionFigures, Roc, Units,
    judge,
};
use crate::data::{Dataset, Window};
use crate::deploy::DeviceCost;
use crate::learn::{Choice, CopiesChoice, Form, Request, Trained, Trainer};
use crate::words::short;

/// A classifier's cross-validation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CrossValidation {
    /// Name of the method: `bayes`, `fisher`, or a kernel's.
    pub method: String,
    /// Figures over all folds' windows together.
    pub pooled: Figures,
    /// Accuracy over all folds' windows together, with its interval over groups where a column was
    /// named, else over series.
    pub accuracy: Option<Interval>,
    /// Units of that interval.
    #[serde(skip)]
    pub units: Units,
    /// Number of samples after which decisions were made.
    pub latency: Option<Latency>,
    /// Detections against false alarms, over all folds' windows together: as if leads of the folds'
    /// classifiers could be held against each other.
    pub roc: Option<Roc>,
    /// The mean of the folds' own areas, which holds no fold's leads against another's (G. Forman and
    /// M. Scholz, Apples-to-apples in cross-validation studies, SIGKDD Explorations 12, 2010).
    pub roc_area_by_fold: Option<f64>,
    /// Probabilities made of decision values, each fold's by the others' temperature.
    pub calibration: Option<Calibration>,
    /// Effect of rejection, if requested.
    pub rejection: Option<RejectionFigures>,
    /// The folds one by one.
    pub folds: Vec<FoldFigures>,
    /// Decisions on held-out windows, `[fold][window]`.
    #[serde(skip)]
    pub judged: Vec<Vec<Judged>>,
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
    /// Area below detections against false alarms; `None` if the fold tests one class alone.
    pub roc_area: Option<f64>,
    /// Choice made within the training folds.
    pub choice: Option<Choice>,
    /// Number of jittered copies of each training series; null if only one number was allowed.
    pub copies: Option<CopiesChoice>,
    /// Form of the class models, chosen within the training folds; null for a kernel by marginalisation.
    pub form: Option<Form>,
    /// The floor of standard deviations; null for symbols and for a kernel by marginalisation.
    pub floor: Option<Floor>,
    /// Cost on a device of the fold's classifier; null for a kernel machine, which is not deployed here.
    pub cost: Option<DeviceCost>,
}

/// A fold as it was judged: decisions on its windows, and what was chosen on the others. Part of the file of
/// [`FoldPart`](crate::parts::FoldPart).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgedFold {
    pub(crate) judged: Vec<Judged>,
    pub(crate) choice: Option<Choice>,
    pub(crate) copies: Option<CopiesChoice>,
    pub(crate) form: Option<Form>,
    pub(crate) floor: Option<Floor>,
    pub(crate) cost: Option<DeviceCost>,
}

/// The floor of standard deviations chosen within the training folds, and the parameters at it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    /// The fraction of the channel's in its class.
    pub std_floor: f64,
    /// Standard deviations that are held there.
    pub held: usize,
    /// Standard deviations of all models.
    pub all: usize,
}

impl Floor {
    fn of(trained: &Trained) -> Option<Self> {
        let (mut held, mut all) = (0, 0);
        for fit in &trained.fits {
            held += fit.floored.iter().sum::<usize>();
            all += fit.floored.len() * fit.model.states();
        }
        let std_floor = trained.form.as_ref()?.form.std_floor?;
        (all > 0).then_some(Self { std_floor, held, all })
    }
}

impl fmt::Display for Floor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} held at {}", self.held, self.all, short(self.std_floor))
    }
}

/// Options of a cross-validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrossValidationOptions {
    /// Folds.
    pub folds: usize,
    /// Seed of the folds; `None` deals in order.
    pub seed: Option<u64>,
}

impl CrossValidationOptions {
    /// Five folds dealt in order, or fewer if there are fewer series, or groups of them.
    ///
    /// # Errors
    /// [`DataError`](crate::data::DataError) for a group that is not a column.
    pub fn usual(data: &Dataset, group: Option<&str>) -> Result<Self, crate::data::DataError> {
        Ok(Self { folds: Self::units(data, group)?.clamp(2, Self::USUAL), seed: None })
    }

    /// Number of units that folds are dealt from: groups by the column of that name, or series.
    ///
    /// # Errors
    /// As [`usual`](Self::usual).
    pub fn units(data: &Dataset, group: Option<&str>) -> Result<usize, crate::data::DataError> {
        Ok(match group {
            Some(column) => data.groups(column)?.1.len(),
            None => data.series().len(),
        })
    }

    /// Folds where there are series enough.
    pub const USUAL: usize = 5;
}

/// Refuses, before the first of several classifiers is trained, what [`cross_validate`] would refuse after
/// the others: folds that cannot be made, parts of a request that do not go together, more windows than a Gram
/// matrix takes.
///
/// # Errors
/// [`EvaluateError`].
pub fn check(
    trainer: &Trainer<'_>,
    request: &Request,
    validation: CrossValidationOptions,
) -> Result<(), EvaluateError> {
    let group = request.group.as_deref();
    let folds = trainer.data().folds(validation.folds, group, validation.seed)?;
    Ok((0..folds.len()).try_for_each(|fold| trainer.check(&folds.train(fold), request))?)
}

/// Cross-validates a classifier: in every fold it is trained on the other folds alone, deployed
/// in `f32`, and judges windows as a device would: see [`judge`]. Groups stay in one fold.
/// Classifiers that are cross-validated with one trainer share their class models where these are the
/// same.
///
/// # Errors
/// [`EvaluateError`].
pub fn cross_validate(
    trainer: &Trainer<'_>,
    request: &Request,
    validation: CrossValidationOptions,
    progress: &(dyn Fn() + Sync),
) -> Result<CrossValidation, EvaluateError> {
    let method = request.kind.to_string();
    over_folds(trainer.data(), request, validation, method, |train, test| {
        judge_fold(trainer, request, (train, test), progress)
    })
}

/// Judges one fold: trains on some series, and decides the windows of others.
fn judge_fold(
    trainer: &Trainer<'_>,
    request: &Request,
    (train, test): (&[usize], &[usize]),
    progress: &(dyn Fn() + Sync),
) -> Result<JudgedFold, EvaluateError> {
    let trained = trainer.train(train, request, progress)?;
    let floor = Floor::of(&trained);
    let selection = trained.classifier.provenance.selection.as_ref();
    let copies = selection.and_then(|selection| selection.copies.clone());
    let deployed = trained.classifier.deploy()?;
    let windows = trainer.data().windows(request.windowing.as_ref());
    let cut: Vec<Window<'_>> = windows.of_all(test).copied().collect();
    Ok(JudgedFold {
        judged: judge(&deployed, &cut),
        choice: trained.choice,
        copies,
        form: trained.form.map(|choice| choice.form),
        floor,
        cost: Some(deployed.device_cost()),
    })
}

/// Judges some folds of [`cross_validate`], by their numbers from 0, in their order.
///
/// # Errors
/// [`EvaluateError`].
pub fn judge_folds(
    trainer: &Trainer<'_>,
    request: &Request,
    validation: CrossValidationOptions,
    some: &[usize],
    progress: &(dyn Fn() + Sync),
) -> Result<Vec<JudgedFold>, EvaluateError> {
    let group = request.group.as_deref();
    let folds = trainer.data().folds(validation.folds, group, validation.seed)?;
    let judge = |&fold: &usize| {
        judge_fold(trainer, request, (&folds.train(fold), &folds.test(fold)), progress)
    };
    some.iter().map(judge).collect()
}

/// Joins all folds of a cross-validation, in order, that [`judge_folds`] judged: what [`cross_validate`] returns.
///
/// # Errors
/// [`EvaluateError`]: no folds, or no window in any.
pub fn join_folds(
    data: &Dataset,
    request: &Request,
    validation: CrossValidationOptions,
    judged: Vec<JudgedFold>,
) -> Result<CrossValidation, EvaluateError> {
    let judged = std::cell::RefCell::new(judged.into_iter());
    over_folds(data, request, validation, request.kind.to_string(), |_, _| {
        let next = judged.borrow_mut().next();
        next.ok_or_else(|| EvaluateError::NoWindows(data.source().to_owned()))
    })
}

/// Judges every fold by training on the others: `judged` is given series to train on and to test.
pub(super) fn over_folds<E: From<EvaluateError>>(
    data: &Dataset,
    request: &Request,
    validation: CrossValidationOptions,
    method: String,
    judged: impl Fn(&[usize], &[usize]) -> Result<JudgedFold, E>,
) -> Result<CrossValidation, E> {
    let group = request.group.as_deref();
    let of_data = EvaluateError::from;
    let folds = data.folds(validation.folds, group, validation.seed).map_err(of_data)?;
    let groups = group.map(|column| data.groups(column)).transpose().map_err(of_data)?;
    let (mut all, mut ends) = (Vec::new(), Vec::new());
    let mut by_fold = Vec::new();
    for fold in 0..folds.len() {
        let test = folds.test(fold);
        let JudgedFold { judged, choice, copies, form, floor, cost } =
            judged(&folds.train(fold), &test)?;
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
            roc_area: Roc::of(data.classes().len(), &judged).map(|roc| roc.area),
            choice,
            copies,
            form,
            floor,
            cost,
        });
        all.extend(judged);
        ends.push(all.len());
    }
    if all.is_empty() {
        return Err(EvaluateError::NoWindows(data.source().to_owned()).into());
    }
    let unit_of =
        |series: usize| groups.as_ref().map_or(series, |(of_series, _)| of_series[series]);
    let unit: Vec<usize> = all.iter().map(|one| unit_of(one.series)).collect();
    let units = Units::of(&all, &unit);
    let areas: Vec<f64> = by_fold.iter().filter_map(|fold| fold.roc_area).collect();
    let starts = [0].into_iter().chain(ends.iter().copied());
    let of_folds: Vec<&[Judged]> =
        starts.zip(&ends).map(|(start, &end)| &all[start..end]).collect();
    Ok(CrossValidation {
        calibration: Calibration::of(&of_folds, data.classes().len()),
        method,
        pooled: Figures::of(data.classes(), &all).with_intervals(&all, &unit),
        accuracy: units.accuracy(),
        units,
        latency: Latency::of(&all),
        roc: Roc::of(data.classes().len(), &all),
        roc_area_by_fold: (!areas.is_empty())
            .then(|| areas.iter().sum::<f64>() / areas.len() as f64),
        rejection: None,
        folds: by_fold,
        judged: of_folds.into_iter().map(<[Judged]>::to_vec).collect(),
    })
}

impl CrossValidation {
    /// Returns whether no fold's models use differences at lags or ordered states.
    pub(crate) fn are_plain(&self) -> bool {
        let plain = |form: &Form| form.lags.is_empty() && !form.topology.is_ordered();
        self.folds.iter().filter_map(|fold| fold.form.as_ref()).all(plain)
    }

    /// Decisions on held-out windows, `[fold][window]`.
    #[must_use]
    pub fn judged(&self) -> Vec<&[Judged]> {
        self.judged.iter().map(Vec::as_slice).collect()
    }

    /// Gain in accuracy over another classifier on the same windows.
    pub fn gain_over(&self, other: &Self) -> Option<Interval> {
        self.units.gain_over(&other.units)
    }
}
