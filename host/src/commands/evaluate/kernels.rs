//! Kernels by marginalisation among the classifiers.

use std::path::PathBuf;

use fishweir::data::{Dataset, ReadOptions, SamplesView};
use fishweir::evaluate::{CrossValidation, CrossValidationOptions, cross_validate_kernel};
use fishweir::kernel::marginal::MarginalModel;
use fishweir::learn::ClassifierKind;

use super::Arguments;
use crate::commands::Failure;
use crate::commands::gram::item_refused;

/// The models of the files, in order.
pub(super) fn read(files: &[PathBuf]) -> Result<Vec<MarginalModel>, Failure> {
    files.iter().map(|path| Ok(MarginalModel::read(path)?)).collect()
}

/// How the data are read: as the first kernel observes them, if there is one.
pub(super) fn reading(
    arguments: &Arguments,
    kernels: &[MarginalModel],
) -> Result<ReadOptions, Failure> {
    let Some(first) = kernels.first() else { return Ok(arguments.reading.options()) };
    let kind = first.kind().map_err(|error| Failure::Input(error.to_string()))?;
    Ok(arguments.reading.options_for(kind, None))
}

/// Cross-validates a machine on a kernel, normalised in logarithms.
pub(super) fn validate(
    arguments: &Arguments,
    data: &Dataset,
    kernel: &MarginalModel,
    folds: CrossValidationOptions,
) -> Result<CrossValidation, Failure> {
    let options = arguments.training.options(ClassifierKind::Bayes, &arguments.cutting)?;
    let windows = data.windows(options.windowing.as_ref());
    let views: Vec<SamplesView<'_>> = windows.all().iter().map(|one| one.samples).collect();
    let logs = kernel.log_gram(&views).map_err(|error| item_refused(error, data, &windows))?;
    Ok(cross_validate_kernel(data, &logs.normalised(), kernel.name(), &options, folds)?)
}
