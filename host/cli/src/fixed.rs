//! A model in fixed point, measured on data.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use fishweir::classifier::Classifier;
use fishweir::data::{Dataset, ReadOptions, Resample, checksum};
use fishweir::deploy::{Deviation, DeviationLimits, FixedPoint};
use fishweir::report::{counted, grouped};
use serde::{Deserialize, Serialize};

use super::model::Model;
use super::reading::{Gathering, Reading};
use super::remedy::words;
use super::{Failure, Topic, read, tell};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum NumberName {
    F32,
    Q15,
}

/// A model in fixed point, and the data it was measured on.
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
    reading: (&Reading, &Gathering),
    equal: Option<f64>,
) -> Result<Measured, Failure> {
    let (classifier, fixed) = quantised(path, model)?;
    let why = "fixed point is compared with f64 on data before it is exported";
    let data = read_data(path, model, named, reading, why)?;
    let windowing = model.windowing(None);
    tell::windows(&data, windowing.as_ref());
    let deviation = fixed.deviation(classifier, &data, windowing.as_ref())?;
    deviation
        .check(equal.map_or_else(DeviationLimits::default, |equal_decisions| DeviationLimits {
            equal_decisions,
        }))
        .map_err(|error| Failure::check(error.kind(), words(&error)))?;
    Ok(Measured { fixed, deviation, data })
}

/// The model in fixed point, and its origin; an error if it has no fixed-point form.
pub(super) fn quantised<'a>(
    path: &Path,
    model: &'a Model,
) -> Result<(&'a Classifier, FixedPoint), Failure> {
    let file = path.display();
    let classifier = model.classifier().map_err(|what| {
        Failure::input(
            Topic::NeedsClassifier,
            format!("{file}: {what}; fixed point is exported from a fitted classifier (JSON)"),
        )
    })?;
    let fixed = classifier
        .quantise()
        .map_err(|error| Failure::input(error.kind(), format!("{file}: {}", words(&error))))?;
    Ok((classifier, fixed))
}

/// The data named, or those that the model of a file was trained on: the file of their name, here or next to the model, and
/// of their checksum; `why` they are wanted.
pub(super) fn read_data(
    path: &Path,
    model: &Model,
    named: Option<&Path>,
    reading: (&Reading, &Gathering),
    why: &str,
) -> Result<Dataset, Failure> {
    let candidates = trained_on(path, model);
    let wanted = |file: &Path, which: &str| {
        let file = file.display();
        Failure::input(
            Topic::OtherData,
            format!("{file}: {why}, and {which}; name the data with --data"),
        )
    };
    let there = match (named, candidates.first()) {
        (Some(data), _) if data.exists() => data,
        (Some(data), _) => return Err(wanted(data, "this is not there")),
        (None, None) => return Err(wanted(path, "an artefact does not name any")),
        (None, Some(name)) => {
            let mut there = candidates.iter().filter(|candidate| candidate.is_file());
            let none = "no file of this name is here or next to the model";
            let first = there.clone().next().ok_or_else(|| wanted(name, none))?;
            match model.provenance().and_then(|trained| trained.checksum) {
                None => first,
                Some(known) => {
                    let mut unread = None;
                    let same = there.find(|file| match checksum(file) {
                        Ok(checksum) => checksum == known,
                        Err(error) => {
                            unread.get_or_insert(error);
                            false
                        }
                    });
                    let why = || unread.map_or_else(|| other_data(first, path), Failure::from);
                    same.ok_or_else(why)?
                }
            }
        }
    };
    let resampled = named.is_none() && model.provenance().is_some_and(|trained| trained.resampled);
    let data = read::as_trained(&[there.to_owned()], reading, model, |options| {
        let rate = options.period.map(|period| Resample::To(period.rate()));
        ReadOptions { resample: rate.filter(|_| resampled).or(options.resample), ..options }
    })?;
    if named.is_none() {
        check_size(path, model, &data)?;
    }
    Ok(data)
}

/// Candidate paths of the data that a model was trained on, which its file names without a folder.
pub(super) fn trained_on(path: &Path, model: &Model) -> Vec<PathBuf> {
    let Some(trained) = model.provenance() else { return Vec::new() };
    let mut candidates = vec![PathBuf::from(&trained.data), path.with_file_name(&trained.data)];
    candidates.dedup();
    candidates
}

fn other_data(found: &Path, path: &Path) -> Failure {
    let (found, path) = (found.display(), path.display());
    Failure::input(
        Topic::OtherData,
        format!(
            "{found}: the checksum differs from that of the data of this name that {path} was trained on; name the \
             data with --data"
        ),
    )
}

/// Refuses other data than a classifier was trained on where it does not know their checksum, but how many series and
/// windows they had.
fn check_size(path: &Path, model: &Model, data: &Dataset) -> Result<(), Failure> {
    let Some(fitted) = model.fitted() else { return Ok(()) };
    let (trained_on, all) = (&fitted.provenance, (0..data.series().len()).collect::<Vec<_>>());
    if trained_on.checksum.is_some() {
        return Ok(());
    }
    let windows = data.windows(trained_on.windowing.as_ref()).of_all(&all).count();
    if (all.len(), windows) == (trained_on.series, trained_on.windows) {
        return Ok(());
    }
    Err(Failure::input(
        Topic::OtherData,
        format!(
            "{}: it has {} and {}, not the {} and {} of the file of this name that {} was trained on; name the data \
             with --data",
            data.source(),
            counted(all.len(), "series"),
            counted(windows, "window"),
            grouped(trained_on.series),
            grouped(trained_on.windows),
            path.display(),
        ),
    ))
}
