//! Regressions: a number per window instead of a class, for `fit`, `evaluate` and `predict`.

pub(super) mod predict;
pub(super) mod report;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fishweir::data::{
    Column, Dataset, ReadOptions, RegressionData, Source, TargetValue, Windowing,
};
use fishweir::deploy::Deployed;
use fishweir::learn::Request;
use fishweir::regress::RegressionRequest;

use super::options::named;
use super::reading::Gathering;
use super::training::as_taken;
use super::values::coverage;
use super::{Failure, Topic, note, read};

/// Options for a regression.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Regression")]
pub(super) struct TargetOptions {
    /// Estimate the numbers of this column for each window, instead of deciding between classes
    ///
    /// A channel, a column of whole series, or `label` for labels that are numbers. The other channels are what it is estimated
    /// from. One model without labels gives scores; ridge regression on them gives the estimate, and cross-validation an interval.
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,
    /// The part of a window that the target is of [default: mean]
    #[arg(long, value_enum, value_name = "HOW")]
    target_value: Option<TargetValueName>,
    /// Share of true values that the interval around an estimate covers [default: 0.9]
    #[arg(long, value_name = "SHARE", value_parser = coverage, allow_negative_numbers = true)]
    coverage: Option<f64>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TargetValueName {
    /// The mean over the window
    Mean,
    /// The value at the last sample
    Last,
}

impl TargetOptions {
    /// The column to estimate, if there is one.
    pub(super) fn column(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// Names of the options given that need a target.
    pub(super) fn of_target(&self) -> Vec<&'static str> {
        named([
            ("--target-value", self.target_value.is_some()),
            ("--coverage", self.coverage.is_some()),
        ])
    }

    /// The part of a window, if it was given.
    fn value(&self) -> Option<TargetValue> {
        Some(match self.target_value? {
            TargetValueName::Mean => TargetValue::Mean,
            TargetValueName::Last => TargetValue::Last,
        })
    }

    /// The request of a regression.
    pub(crate) fn request(&self, request: Request) -> RegressionRequest {
        let usual = RegressionRequest::default();
        RegressionRequest {
            request,
            of: self.value().unwrap_or(usual.of),
            coverage: self.coverage.unwrap_or(usual.coverage),
        }
    }
}

/// Options of reading that take a column for the target.
pub(crate) fn with_target(options: ReadOptions, column: &str) -> ReadOptions {
    let source = Source { target: Some(Column::of(column)), ..options.source };
    ReadOptions { source, ..options }
}

/// Reads data, and takes the target out; `None` where only a look at the data was asked for.
pub(crate) fn read_source(
    paths: &[PathBuf],
    column: &str,
    (reading, gathering): (ReadOptions, &Gathering),
    (group, windowing): (Option<&str>, Option<&Windowing>),
    json: bool,
) -> Result<Option<RegressionData>, Failure> {
    let reading = with_target(gathering.add_to(reading, group), column);
    let data = read::all(paths, &reading)?;
    if gathering.shows(&data, json)? {
        return Ok(None);
    }
    taken(data, column, (group, windowing)).map(Some)
}

/// Takes the target out of data. A single series is cut into parts, unless groups are named.
pub(crate) fn taken(
    data: Dataset,
    column: &str,
    (group, windowing): (Option<&str>, Option<&Windowing>),
) -> Result<RegressionData, Failure> {
    let before = data.series().len();
    let source = RegressionData::new(data, column)?;
    let parts = if group.is_none() { source.in_parts(windowing)? } else { source };
    let count = parts.data.series().len();
    if count > before {
        note(
            Topic::SeriesInParts,
            format_args!(
                "{}: the only series is cut into {count} consecutive parts, of which each is held out in turn",
                parts.data.source()
            ),
        );
    }
    Ok(parts)
}

/// The series as a request takes them: whole samples alone, or with channels missing.
pub(crate) fn as_asked(
    mut source: RegressionData,
    request: &Request,
) -> Result<RegressionData, Failure> {
    source.data = as_taken(&source.data, request)?.into_owned();
    Ok(source)
}

/// Refuses a regression where only classifiers are taken.
pub(super) fn refuse(file: &str, deployed: &Deployed) -> Result<(), Failure> {
    let Some(target) = deployed.target() else { return Ok(()) };
    Err(Failure::input(
        Topic::IsRegression,
        format!(
            "{file}: this model estimates `{}` and decides between no classes: evaluate, predict, info, run and export \
             (--rust, --artefact, --c-source) take it",
            target.name
        ),
    ))
}
