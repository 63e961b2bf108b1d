//! Kernels by marginalisation among the classifiers.

use std::path::PathBuf;

use fishweir::data::{Dataset, ReadOptions, SamplesView};
use fishweir::evaluate::{CrossValidation, CrossValidationOptions, cross_validate_kernel};
use fishweir::kernel::marginal::MarginalModel;
use fishweir::learn::{ClassifierKind, TrainOptions};

use super::{Arguments, each_once};
use crate::commands::Failure;
use crate::commands::kernels::item_refused;

/// A kernel and what it is called beside the others.
pub(super) struct Named {
    name: String,
    model: MarginalModel,
}

/// The models of the files, in order, each once; of several on one kernel the file is in the name.
pub(super) fn read(files: &[PathBuf]) -> Result<Vec<Named>, Failure> {
    let files = each_once(files);
    let models: Vec<MarginalModel> =
        files.iter().map(|path| MarginalModel::read(path)).collect::<Result<_, _>>()?;
    let kernels: Vec<&str> = models.iter().map(MarginalModel::name).collect();
    let name = |(path, kernel): (&PathBuf, &&str)| {
        let alike = kernels.iter().filter(|other| *other == kernel).count();
        if alike > 1 { format!("{kernel} {}", path.display()) } else { (*kernel).to_owned() }
    };
    let names: Vec<String> = files.iter().zip(&kernels).map(name).collect();
    Ok(names.into_iter().zip(models).map(|(name, model)| Named { name, model }).collect())
}

/// How the data are read: as the first kernel observes them, if there is one.
pub(super) fn reading(arguments: &Arguments, kernels: &[Named]) -> Result<ReadOptions, Failure> {
    let values = arguments.emitting.values();
    let plain = || ReadOptions { values, ..arguments.reading.options() };
    let Some(first) = kernels.first() else { return Ok(plain()) };
    let kind = first.model.kind().map_err(|error| Failure::Input(error.to_string()))?;
    Ok(ReadOptions { values, ..arguments.reading.options_for(kind, None)? })
}

fn options(arguments: &Arguments) -> Result<TrainOptions, Failure> {
    arguments.training.options(ClassifierKind::Bayes, &arguments.cutting)
}

/// Refuses what a kernel does not take before anything is trained: more windows than a machine's matrix
/// has room for, or a window that has no kernel value with the first.
pub(super) fn check(
    arguments: &Arguments,
    data: &Dataset,
    kernels: &[Named],
) -> Result<(), Failure> {
    if kernels.is_empty() {
        return Ok(());
    }
    let options = options(arguments)?;
    let windows = data.windows(options.windowing.as_ref());
    options.learner.check_windows(windows.all().len())?;
    let views: Vec<SamplesView<'_>> = windows.all().iter().map(|one| one.samples).collect();
    for Named { model, .. } in kernels {
        let taken = model.log_cross_gram(&views, &views[..views.len().min(1)]);
        taken.map_err(|error| item_refused(error, data, &windows))?;
    }
    Ok(())
}

/// Cross-validates a machine on a kernel, normalised in logarithms.
pub(super) fn validate(
    arguments: &Arguments,
    data: &Dataset,
    Named { name, model }: &Named,
    folds: CrossValidationOptions,
) -> Result<CrossValidation, Failure> {
    let options = options(arguments)?;
    let windows = data.windows(options.windowing.as_ref());
    let views: Vec<SamplesView<'_>> = windows.all().iter().map(|one| one.samples).collect();
    let logs = model.log_gram(&views).map_err(|error| item_refused(error, data, &windows))?;
    let validated = cross_validate_kernel(data, &logs.normalised(), name, &options, folds);
    validated.map_err(|error| Failure::of(data, error))
}
