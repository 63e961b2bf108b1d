//! A model in fixed point, measured on data.

use std::path::Path;

use clap::ValueEnum;
use fishweir::classifier::Classifier;
use fishweir::data::Dataset;
use fishweir::deploy::{Deviation, FixedPoint, Limits};
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

/// Why data are read.
pub(super) const WHY: &str = "fixed point is measured on data before it is exported";

/// The model in fixed point, measured: an error where it decides otherwise than `f64` more often than `equal` allows.
pub(super) fn fixed_point(
    path: &Path,
    model: &Model,
    data: &Dataset,
    equal: Option<f64>,
) -> Result<(FixedPoint, Deviation), Failure> {
    let (classifier, fixed) = quantised(path, model)?;
    let windowing = model.windowing(None);
    tell::windows(data, windowing.as_ref());
    let deviation = fixed.deviation(classifier, data, windowing.as_ref())?;
    deviation
        .check(equal.map_or_else(Limits::default, |equal_decisions| Limits { equal_decisions }))
        .map_err(|error| Failure::Check(error.to_string()))?;
    Ok((fixed, deviation))
}

/// The model in fixed point, and what it was made from; an error where it has none.
pub(super) fn quantised<'a>(
    path: &Path,
    model: &'a Model,
) -> Result<(&'a Classifier, FixedPoint), Failure> {
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

/// The data named, or that the model of a file was trained on; `why` they are wanted.
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
            Some(data) => (data, "this is not there"),
            None => (path, "an artefact does not name any"),
        };
        Failure::Input(format!("{}: {why}, and {which}; name it with --data", file.display()))
    })?;
    let options = reading.options_of(model, None)?;
    tell::read(there, &options)
}
