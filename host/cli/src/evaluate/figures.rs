//! The figures: decisions by class, detections against false alarms, and confidence against accuracy.

use std::path::Path;

use fishweir::evaluate::{Calibration, Figures, Interval, ReliabilityBin, Roc};
use fishweir::plot::{
    Bin, Confusion, ConfusionPlot, Curve, Reliability, ReliabilityPlot, RocPlot, Shares,
};
use fishweir::report::{CrossValidationReport, DataSummary, grouped};

use super::{Arguments, JudgedModel};
use crate::{Failure, Topic, output};

/// Draws the requested figures of a cross-validation.
pub(super) fn draw_validated(
    arguments: &Arguments,
    report: &CrossValidationReport,
    classes: &[String],
) -> Result<(), Failure> {
    let all = || report.classifiers.0.iter();
    let by = report.group.iter().map(|column| format!(" by {column}")).collect::<String>();
    let subtitle = format!("{}\ncross-validated in {} folds{by}", report.data, report.folds);
    let drawn = all().map(|one| (one.method.as_str(), &one.pooled, one.accuracy));
    draw_confusion(arguments.draw.as_deref(), unit(&report.data), &subtitle, drawn)?;
    let curves = all().map(|one| (&one.method, one.roc.as_ref()));
    draw_roc(arguments.roc.as_deref(), classes, &report.data, curves)?;
    let calibrated = all().map(|one| (&one.method, one.calibration.as_ref()));
    let why = "too few folds have a labelled window to calibrate probabilities";
    draw_reliability(arguments.reliability.as_deref(), &report.data, calibrated, why)
}

/// Draws the requested figures of fitted models.
pub(super) fn draw_judged(arguments: &Arguments, judged: &[JudgedModel]) -> Result<(), Failure> {
    let Some(first) = judged.first() else { return Ok(()) };
    let (data, all) = (&first.evaluation.data, || judged.iter().map(|one| &one.evaluation));
    let drawn =
        all().filter_map(|one| Some((one.model.as_str(), one.figures.as_ref()?, one.interval)));
    draw_confusion(arguments.draw.as_deref(), unit(data), &data.to_string(), drawn)?;
    let curves = all().map(|one| (&one.model, one.roc.as_ref()));
    draw_roc(arguments.roc.as_deref(), &first.classes, data, curves)?;
    let calibrated = all().map(|one| {
        let believed = one.believed.as_ref();
        (&one.model, believed.and_then(|one| one.calibration.as_ref()))
    });
    let why = "the model keeps no probabilities: fit it with --calibrate or --reject";
    draw_reliability(arguments.reliability.as_deref(), data, calibrated, why)
}

/// Draws the decisions of each classifier by class, if requested: its name, its figures and its accuracy; `unit` is what it
/// decides on, in the plural.
pub(super) fn draw_confusion<'a>(
    path: Option<&Path>,
    unit: &str,
    subtitle: &str,
    classifiers: impl Iterator<Item = (&'a str, &'a Figures, Option<Interval>)>,
) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let of = |(name, figures, interval): (&str, &'a Figures, Option<Interval>)| {
        let interval = interval.map_or_else(String::new, |Interval { low, high, .. }| {
            format!(" (95 % {low:.3} to {high:.3})")
        });
        Confusion {
            title: format!(
                "{name}: accuracy {:.3}{interval}, {} {unit}",
                figures.accuracy,
                grouped(figures.windows)
            ),
            subtitle: subtitle.to_owned(),
            figures,
        }
    };
    let classifiers: Vec<Confusion<'_>> = classifiers.map(of).collect();
    output::draw(path, &ConfusionPlot { unit, classifiers: &classifiers }.to_svg())
}

/// What is decided on: windows, or whole series.
fn unit(data: &DataSummary) -> &'static str {
    if data.window.is_some() { "windows" } else { "series" }
}

/// Draws the curves there are, if asked to.
fn draw_roc<'a>(
    path: Option<&Path>,
    classes: &[String],
    data: &DataSummary,
    curves: impl Iterator<Item = (&'a String, Option<&'a Roc>)>,
) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let curve = |(name, roc): (&'a String, Option<&'a Roc>)| {
        roc.map(|roc| Curve { name: name.as_str(), points: &roc.points, area: roc.area })
    };
    let curves: Vec<Curve<'_>> = curves.filter_map(curve).collect();
    if curves.is_empty() {
        return Err(Failure::input(
            Topic::NothingToDraw,
            format!("{}: all windows are of one class, and a curve needs two", data.data),
        ));
    }
    let subtitle = match classes {
        [_, detected] => format!("{}\ndetected: {detected}", data.data),
        _ => format!("{}\nmean over {} classes, each against all others", data.data, classes.len()),
    };
    let plot = RocPlot {
        shares: Shares::Windows,
        title: "Detections against false alarms",
        subtitle: &subtitle,
        curves: &curves,
    };
    output::draw(path, &plot.to_svg())
}

/// Draws the bins of the classifiers that have probabilities, if requested; `why` explains missing ones.
fn draw_reliability<'a>(
    path: Option<&Path>,
    data: &DataSummary,
    classifiers: impl Iterator<Item = (&'a String, Option<&'a Calibration>)>,
    why: &str,
) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let bin = |&ReliabilityBin { windows, confidence, right }: &ReliabilityBin| Bin {
        windows,
        confidence,
        right,
    };
    let of = |(name, calibration): (&'a String, Option<&'a Calibration>)| {
        let calibration = calibration?;
        Some(Reliability {
            name,
            bins: calibration.reliability.iter().map(bin).collect(),
            error: calibration.calibration_error,
        })
    };
    let classifiers: Vec<Reliability<'_>> = classifiers.filter_map(of).collect();
    if classifiers.is_empty() {
        return Err(Failure::input(
            Topic::NothingToDraw,
            format!("--reliability: there is nothing to draw: {why}"),
        ));
    }
    let subtitle = format!("{}\non the dashed line probability equals accuracy", data.data);
    let plot = ReliabilityPlot {
        title: "Accuracy against confidence",
        subtitle: &subtitle,
        classifiers: &classifiers,
    };
    output::draw(path, &plot.to_svg())
}
