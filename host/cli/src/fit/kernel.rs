//! A machine on a kernel by marginalisation.

use std::path::Path;

use fishweir::StableKind as _;
use fishweir::data::Dataset;
use fishweir::kernel::marginal::MarginalModel;
use fishweir::learn::{ClassifierKind, Request, TrainError, Trained, train_marginal};

use super::{Arguments, check_group, series_of, tell_cut};
use crate::kernels::item_refused;
use crate::options::note_idle;
use crate::{Failure, read};

#[cfg(target_family = "wasm")]
pub(super) fn trained(_: &Arguments, _: &Path) -> Result<(Dataset, Request, Trained), Failure> {
    Err(Failure::not_in_a_page("--kernel-model"))
}

/// Trains on the kernel of all windows of the data, read as the kernel's file requires.
#[cfg(not(target_family = "wasm"))]
pub(super) fn trained(
    arguments: &Arguments,
    path: &Path,
) -> Result<(Dataset, Request, Trained), Failure> {
    let file = path.display();
    let model = MarginalModel::read(path)?;
    let kind =
        model.kind().map_err(|error| Failure::input(error.kind(), format!("{file}: {error}")))?;
    let mut idle = arguments.training.with(&arguments.kernels, &arguments.emitting).given();
    idle.retain(|name| !["--c", "--class-weight", "--learner"].contains(name));
    note_idle(&idle, "the kernel's numbers are given")?;
    // Of this the kernel reads what every classifier has.
    let request = arguments.training.request(ClassifierKind::Bayes, &arguments.cutting)?;
    let reading = arguments.reading.options_for(kind, None)?;
    let data = read::all(&arguments.data, &arguments.gathering.add_to(reading, None))?;
    check_group(&data, &request)?;
    tell_cut(&data, &request);
    let trained = train_marginal(&data, &series_of(&data), &model, &request);
    let trained = trained.map_err(|error| match error {
        TrainError::Marginal(error) => {
            item_refused(error, &data, &data.windows(request.windowing.as_ref()))
        }
        other => Failure::of(&data, other),
    })?;
    Ok((data, request, trained))
}
