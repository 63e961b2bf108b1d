//! `fishweir fit --target`.

use std::path::Path;

use fishweir::classifier::TargetSpread;
use fishweir::data::ReadOptions;
use fishweir::evaluate::CrossValidationOptions;
use fishweir::learn::ClassifierKind;
use fishweir::regress::{TrainedRegression, train};
use fishweir::report::DataSummary;

use super::{Arguments, check_group};
use crate::options::{named, refuse_idle};
use crate::output::{self, Outputs};
use crate::recipe::Recipe;
use crate::regression::report::{FitSummary, GroupErrors};
use crate::regression::{as_asked, read_source};
use crate::training::{most_passes, requests};
use crate::{Failure, Topic, next, note, progress, tell};

/// Fits a regression on a column of the data.
pub(super) fn run(
    arguments: &Arguments,
    column: &str,
    (output, outputs): (&Path, &Outputs),
    recipe: Recipe,
) -> Result<(), Failure> {
    let other = named([
        ("--kernel-model", arguments.kernel_model.is_some()),
        ("--family", arguments.family.is_some()),
        ("--teachable", arguments.teachable),
        ("--report", arguments.page.output().is_some()),
    ]);
    let of_classes = [arguments.believing.given(), arguments.out_of_core.given()].concat();
    refuse_idle(&[other, of_classes].concat(), "--target estimates numbers")?;
    arguments.cutting.check()?;
    let kind = arguments.classifier;
    let words = kind == ClassifierKind::EmpiricalMap;
    let kernels = arguments.kernels.with_order(arguments.order.filter(|_| words));
    let training = arguments.training.with(&kernels, &arguments.emitting);
    let training = training.read_by(&[kind], false, false)?;
    let group = arguments.training.group.as_deref();
    let reading =
        ReadOptions { values: arguments.emitting.values(), ..arguments.reading.options() };
    let (reading, windowing) = ((reading, &arguments.gathering), arguments.cutting.windowing());
    let cut = (group, windowing.as_ref());
    let found = read_source(&arguments.data, column, reading, cut, arguments.json)?;
    let Some(source) = found else { return Ok(()) };
    let (_, mut all) = requests(&training, &[kind], &arguments.cutting, &source.data)?;
    let request = all.remove(0);
    let source = as_asked(source, &request)?;
    check_group(&source.data, &request)?;
    tell::windows(&source.data, windowing.as_ref());
    tell::groups(&source.data, group);
    let folds = CrossValidationOptions::usual(&source.data, group)?.folds;
    let most = most_passes(&source.data, &request).saturating_mul(folds + 1);
    let bar = progress::passes(format!("fitting {kind} for `{column}`"), most);
    let request = arguments.target.request(request);
    let trained = train(&source, &request, &|| bar.inc(1));
    bar.finish_and_clear();
    let trained = trained.map_err(|error| Failure::of(&source.data, error))?;
    let TrainedRegression { mut regressor, validation, held_out_rmse, .. } = trained;
    note_spread(&regressor.target.name, regressor.trained);
    regressor.estimator.provenance.recipe = recipe;
    let deployed = regressor.deploy().map_err(|error| Failure::of(&source.data, error))?;
    output::write(output, regressor.to_json()?.as_bytes())?;
    let report = FitSummary {
        data: DataSummary::of(&source.data, None, windowing.as_ref()),
        method: regressor.estimator.method.clone(),
        groups: GroupErrors::all(&source.data, group, &validation.estimates)?,
        group: group.map(str::to_owned),
        target: regressor.target,
        trained: regressor.trained,
        notes: regressor.estimator.provenance.notes,
        held_out_rmse,
        validation,
        cost: deployed.device_cost(),
        model: output.display().to_string(),
    };
    let next = next::estimating(&report.model);
    outputs.print_with(&report, arguments.json, next.as_deref())
}

/// Notes a target that is constant, or whose changes a device rounds away.
fn note_spread(target: &str, TargetSpread { mean, deviation }: TargetSpread) {
    // A number of 32 bits has 24 binary digits.
    if deviation == 0.0 {
        note(
            Topic::ConstantChannel,
            format_args!("the target `{target}` is the same in all windows"),
        );
    } else if deviation < 1e-4 * mean.abs() || deviation < f64::from(f32::MIN_POSITIVE) {
        note(
            Topic::CoarseChannel,
            format_args!(
                "the target `{target}` varies by {deviation:e} around {mean:e}, which 32 bits hardly tell apart; \
                 subtract a constant from the column, or take another unit"
            ),
        );
    }
}
