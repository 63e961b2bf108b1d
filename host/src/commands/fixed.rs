//! A model in fixed point, measured on data.

use std::path::Path;

use clap::ValueEnum;
use fishweir::classifier::Classifier;
use fishweir::data::Dataset;
use fishweir::deploy::{Deviation, FixedPoint, Limits};
use fishweir::report::counted;
use serde::Serialize;

use super::model::Model;
use super::reading::Reading;
use super::{Failure, tell};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum NumberName {
    F32,
    Q15,
}

/// A model in fixed point, and what it was measured on.
pub(super) struct Measured {
    pub(super) fixed: FixedPoint,
    pub(super) deviation: Deviation,
    pub(super) data: Dataset,
}

/// The model in fixed point, measured on data: an error where it has no such form, before data are asked for, and where
/// it decides otherwise than `f64` more often than `equal` allows.
pub(super) fn measured(
    path: &Path,
    model: &Model,
    named: Option<&Path>,
    reading: &Reading,
    equal: Option<f64>,
) -> Result<Measured, Failure> {
    let (classifier, fixed) = quantised(path, model)?;
    let why = "fixed point is measured on data before it is exported";
    let data = read_data(path, model, named, reading, why)?;
    let windowing = model.windowing(None);
    tell::windows(&data, windowing.as_ref());
    let deviation = fixed.deviation(classifier, &data, windowing.as_ref())?;
    deviation
        .check(equal.map_or_else(Limits::default, |equal_decisions| Limits { equal_decisions }))
        .map_err(|error| Failure::Check(error.to_string()))?;
    Ok(Measured { fixed, deviation, data })
}

/// The model in fixed point, and what it was made from; an error where it has none.
fn quantised<'a>(path: &Path, model: &'a Model) -> Result<(&'a Classifier, FixedPoint), Failure> {
    let file = path.display();
    let classifier = model.classifier().map_err(|what| {
        Failure::Input(format!(
            "{file}: {what}; fixed point is exported from a fitted classifier (JSON)"
        ))
    })?;
    let fixed =
        classifier.quantise().map_err(|error| Failure::Input(format!("{file}: {error}")))?;
    Ok((classifier, fixed))
}

/// The data named, or that the model of a file was trained on, which it knows by its name without a folder; `why` they
/// are wanted.
pub(super) fn read_data(
    path: &Path,
    model: &Model,
    named: Option<&Path>,
    reading: &Reading,
    why: &str,
) -> Result<Dataset, Failure> {
    let trained_on = model.provenance().map(|trained| Path::new(&trained.data));
    let data = named.or(trained_on);
    let there = data.filter(|data| data.exists()).ok_or_else(|| {
        let (file, which) = match data {
            Some(data) if named.is_none() => (data, "there is none of this name here"),
            Some(data) => (data, "this is not there"),
            None => (path, "an artefact does not name any"),
        };
        Failure::Input(format!("{}: {why}, and {which}; name it with --data", file.display()))
    })?;
    let options = reading.options_of(model, None)?;
    let data = tell::read(there, &options)?;
    if named.is_none() {
        check_trained_on(path, model, &data)?;
    }
    Ok(data)
}

/// Refuses other data of the name that a classifier was trained on: it knows how many series and windows those had.
fn check_trained_on(path: &Path, model: &Model, data: &Dataset) -> Result<(), Failure> {
    let Some(fitted) = model.fitted() else { return Ok(()) };
    let (trained_on, all) = (&fitted.provenance, (0..data.series().len()).collect::<Vec<_>>());
    let windows = data.windows(trained_on.windowing.as_ref()).of_all(&all).count();
    if (all.len(), windows) == (trained_on.series, trained_on.windows) {
        return Ok(());
    }
    Err(Failure::Input(format!(
        "{}: its {} and {} are not the {} and {} of that name that {} was trained on; name the data with --data",
        data.source(),
        counted(all.len(), "series"),
        counted(windows, "window"),
        trained_on.series,
        trained_on.windows,
        path.display(),
    )))
}
