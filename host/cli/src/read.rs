//! Reading data for a command: whole, as a model's training data were, or against a contract.

use std::path::{Path, PathBuf};

use fishweir::classifier::Contract;
use fishweir::data::{Dataset, ReadOptions};

use super::model::Model;
use super::reading::{Gathering, Reading};
use super::{Failure, progress, recognise, tell, usual};

/// Reads data for whole samples, and notes gaps in time, and unnamed channels that are probably none.
pub(super) fn whole(paths: &[PathBuf], options: &ReadOptions) -> Result<Dataset, Failure> {
    let data = all(paths, options)?;
    data.check_whole_rows()?;
    Ok(data)
}

/// Reads several files.
pub(super) fn all(paths: &[PathBuf], options: &ReadOptions) -> Result<Dataset, Failure> {
    all_against(paths, options, None, &[])
}

/// Reads data to decide on with a model, and notes differences from its training. Strings that cannot be read are left out and
/// counted.
pub(super) fn to_decide(
    paths: &[PathBuf],
    reading: &Reading,
    gathering: &Gathering,
    model: &Model,
) -> Result<Dataset, Failure> {
    let skips = |options| ReadOptions { skips: true, ..options };
    as_trained(paths, (reading, gathering), model, skips)
}

/// Reads data for a model, as those of its training were read where nothing else is said, with further options.
pub(super) fn as_trained(
    paths: &[PathBuf],
    given: (&Reading, &Gathering),
    model: &Model,
    further: impl Fn(ReadOptions) -> ReadOptions,
) -> Result<Dataset, Failure> {
    let (contract, classes) = (model.contract(), model.deployed.classes());
    let fit = |reading: &Reading| reading.options_of(model, None).map(&further);
    let (data, options) = by_recipe(model.recipe(), paths, given, fit)?;
    check(&data, &options, contract.as_ref(), classes)?;
    Ok(data)
}

/// Reads a file, compared with a contract and classes.
pub(super) fn against(
    path: &Path,
    options: &ReadOptions,
    contract: Option<&Contract>,
    classes: &[String],
) -> Result<Dataset, Failure> {
    all_against(&[path.to_owned()], options, contract, classes)
}

/// Reads several files, compared with a contract and classes.
pub(super) fn all_against(
    paths: &[PathBuf],
    options: &ReadOptions,
    contract: Option<&Contract>,
    classes: &[String],
) -> Result<Dataset, Failure> {
    let data = files(paths, options)?;
    check(&data, options, contract, classes)?;
    Ok(data)
}

/// Reads files as the training data of a recipe were read, with the options of reading for its model.
pub(super) fn by_recipe(
    recipe: Option<&str>,
    paths: &[PathBuf],
    given: (&Reading, &Gathering),
    fit: impl Fn(&Reading) -> Result<ReadOptions, Failure>,
) -> Result<(Dataset, ReadOptions), Failure> {
    usual::read(recipe, given, paths, fit, |options| Ok((files(paths, &options)?, options)))
}

/// Reads several files, with a bar.
fn files(paths: &[PathBuf], options: &ReadOptions) -> Result<Dataset, Failure> {
    let first = paths.first().map_or(Path::new(""), PathBuf::as_path);
    let bar = progress::reading(paths);
    let data = Dataset::read_all(paths, options);
    bar.finish_and_clear();
    data.map_err(|error| recognise::no_data(first, error))
}

/// Refuses data that a contract does not take, and notes what may not be as intended.
pub(super) fn check(
    data: &Dataset,
    options: &ReadOptions,
    contract: Option<&Contract>,
    classes: &[String],
) -> Result<(), Failure> {
    if contract.is_some_and(|contract| !contract.lacks_some()) {
        data.check_whole_rows()?;
    }
    tell::of_data(data, options, contract)?;
    tell::similar(data, classes);
    tell::against(data, contract, classes);
    Ok(())
}
