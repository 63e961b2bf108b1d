//! `fishweir evaluate` of regressions: cross-validation with `--target`, or of a fitted model.

use std::path::Path;

use fishweir::classifier::TargetSpread;
use fishweir::data::{Kind, ReadOptions};
use fishweir::evaluate::CrossValidationOptions;
use fishweir::learn::ClassifierKind;
use fishweir::regress::{RegressionFigures, cross_validate, estimate};
use fishweir::report::DataSummary;

use super::Arguments;
use crate::model::{Model, Origin};
use crate::options::{each_once, named, note_idle, refuse_idle};
use crate::output::Outputs;
use crate::reading::Reading;
use crate::regression::report::{CrossValidated, GroupErrors, ModelErrors, Validated};
use crate::regression::{as_asked, read_source, taken, with_target};
use crate::training::{most_passes, requests};
use crate::{Failure, Topic, next, note, progress, read, tell};

/// Refuses options that are about classes.
fn refuse_classes(arguments: &Arguments) -> Result<(), Failure> {
    let of_classes = named([
        ("--kernel-model", !arguments.kernel_model.is_empty()),
        ("--kernel", !arguments.kernel.is_empty()),
        ("--gram", !arguments.gram.is_empty()),
        ("--reject", arguments.reject.is_some()),
        ("--draw", arguments.draw.is_some()),
        ("--roc", arguments.roc.is_some()),
        ("--reliability", arguments.reliability.is_some()),
        ("--report", arguments.page.output().is_some()),
    ]);
    let part = arguments.in_parts.output(&arguments.data).is_some();
    let parts =
        named([("--part", part), ("--folds-from", !arguments.in_parts.inputs().is_empty())]);
    let parts = [arguments.out_of_core.given(), parts].concat();
    refuse_idle(&[of_classes, parts].concat(), "a regression estimates numbers")
}

/// Cross-validates regressions on a column.
pub(super) fn run(arguments: &Arguments, column: &str, outputs: &Outputs) -> Result<(), Failure> {
    refuse_classes(arguments)?;
    let mut kinds = each_once(&arguments.classifier);
    if kinds == [ClassifierKind::Bayes, ClassifierKind::Fisher] {
        // The default of classifiers.
        kinds.remove(0);
    }
    let words = kinds.contains(&ClassifierKind::EmpiricalMap);
    let kernels = arguments.kernels.with_order(arguments.options.order.filter(|_| words));
    let training = arguments.training.with(&kernels, &arguments.emitting);
    let training = training.read_by(&kinds, false, false)?;
    let group = arguments.training.group.as_deref();
    let reading =
        ReadOptions { values: arguments.emitting.values(), ..arguments.reading.options() };
    let (reading, windowing) = ((reading, &arguments.gathering), arguments.cutting.windowing());
    let cut = (group, windowing.as_ref());
    let found = read_source(&arguments.data, column, reading, cut, arguments.json)?;
    let Some(source) = found else { return Ok(()) };
    tell::windows(&source.data, windowing.as_ref());
    tell::groups(&source.data, group);
    let folds = match arguments.folds {
        Some(folds) => folds,
        None => tell::usual_folds(&source.data, group)?,
    };
    let folds = CrossValidationOptions { folds, seed: arguments.fold_seed };
    let (_, all) = requests(&training, &kinds, &arguments.cutting, &source.data)?;
    let mut regressions = Vec::new();
    for (kind, request) in kinds.iter().zip(all) {
        let source = as_asked(source.clone(), &request)?;
        let most = most_passes(&source.data, &request).saturating_mul(folds.folds);
        let bar = progress::passes(format!("cross-validating {kind} for `{column}`"), most);
        let request = arguments.target.request(request);
        let validation = cross_validate(&source, &request, folds, &|| bar.inc(1));
        bar.finish_and_clear();
        let validation = validation.map_err(|error| Failure::of(&source.data, error))?;
        let groups = GroupErrors::all(&source.data, group, &validation.estimates)?;
        regressions.push(Validated { method: kind.to_string(), validation, groups });
    }
    let report = CrossValidated {
        data: DataSummary::of(&source.data, None, windowing.as_ref()),
        target: source.name.clone(),
        unit: source.unit.clone(),
        group: group.map(str::to_owned),
        folds: folds.folds,
        regressions,
    };
    let without = ["classifier", "draw", "report", "json"];
    let fit = next::same("fit", &arguments.data, &without);
    outputs.print_with(&report, arguments.json, next::hint(Some(fit)).as_deref())
}

/// Evaluates a fitted regression on data with its target.
pub(super) fn judge(
    arguments: &Arguments,
    (path, model): (&Path, &Model),
    outputs: &Outputs,
) -> Result<(), Failure> {
    refuse_classes(arguments)?;
    let training = arguments.training.with(&arguments.kernels, &arguments.emitting);
    let given = [training.given(), arguments.options.given(), arguments.target.of_target()];
    note_idle(&given.concat(), "the model is trained already")?;
    let Some(target) = model.deployed.target() else { return Ok(()) };
    let own = target.named();
    let column = arguments.target.column().unwrap_or(&own);
    let observed = model.kind()?;
    let bare = |name: &str| name.split(" [").next() == column.split(" [").next();
    if matches!(&observed, Kind::Channels(names) if names.iter().any(|name| bare(name))) {
        let what = format!(
            "--target {column}: {} observes this channel, and estimates {}; leave --target out, or name its column",
            path.display(),
            target.name
        );
        return Err(Failure::input(Topic::ConflictingOptions, what));
    }
    if column != own && column != target.name {
        let of = &target.name;
        note(
            Topic::NotAsTrained,
            format_args!("estimates of `{of}` are compared with the column `{column}` (--target)"),
        );
    }
    let given = (&arguments.reading, &arguments.gathering);
    let group = arguments.training.group.as_deref();
    let options = |reading: &Reading, is_channel: bool| {
        reading.options_of(model, None).map(|mut options| {
            if let (true, Some(Kind::Channels(names))) = (is_channel, &mut options.kind) {
                names.push(column.to_owned());
            }
            with_target(options, column)
        })
    };
    let read = |is_channel: bool| {
        let fit = |reading: &Reading| options(reading, is_channel);
        let (data, _) = read::by_recipe(model.recipe(), &arguments.data, given, fit)?;
        taken(data, column, (Some(""), None))
    };
    // The target is a channel, or else a number of each series.
    let source = match read(true) {
        Err(Failure::Input(why)) => match read(false) {
            Err(_) if why.kind != "bad-header" => return Err(Failure::Input(why)),
            other => other?,
        },
        other => other?,
    };
    let source = match model.contract().is_some_and(|contract| !contract.lacks_some()) {
        true => fishweir::data::RegressionData { data: source.data.whole_samples(), ..source },
        false => source,
    };
    if let Some(contract) = model.contract() {
        contract.check_rate(&source.data)?;
    }
    super::notes::note_trained_on(path, model, &source.data);
    let windowing = model.windowing(arguments.cutting.windowing());
    tell::windows(&source.data, windowing.as_ref());
    let trained = match &model.origin {
        Origin::Regressor(fitted) => Some(fitted.trained),
        _ => None,
    };
    let TargetSpread { mean, .. } = trained.unwrap_or_default();
    let all: Vec<usize> = (0..source.data.series().len()).collect();
    let cut = (windowing.as_ref(), target.of);
    let (estimates, omitted) = estimate(&model.deployed, &source, &all, cut, mean);
    if estimates.is_empty() {
        let none = fishweir::learn::TrainError::NoTargets(source.data.source().to_owned());
        return Err(none.into());
    }
    let report = ModelErrors {
        model: path.display().to_string(),
        method: model.method().to_owned(),
        data: DataSummary::of(&source.data, None, windowing.as_ref()),
        target: target.clone(),
        figures: RegressionFigures::of(&estimates),
        baseline: trained.map(|_| RegressionFigures::of_mean(&estimates)),
        omitted,
        groups: GroupErrors::all(&source.data, group, &estimates)?,
        group: group.map(str::to_owned),
        cost: model.deployed.device_cost(),
    };
    let next = next::estimating(&report.model);
    outputs.print_with(&report, arguments.json, next.as_deref())
}
