//! Kernels by marginalisation: their numbers come from a file of their own.

use std::path::Path;

use fishweir::data::SamplesView;
use fishweir::kernel::marginal::MarginalModel;
use fishweir::kernel::registry::{Compares, Computed, Entry};

use super::{Matrix, Refused};
use crate::Failure;
use crate::Topic;

/// The numbers that the kernel asked for needs; `None` for a kernel that takes no such file.
pub(super) fn read(entry: &Entry, path: Option<&Path>) -> Result<Option<MarginalModel>, Failure> {
    let asked = entry.name;
    match (path, matches!(entry.compares, Compares::Marginal)) {
        (Some(path), true) => {
            let model = MarginalModel::read(path)?;
            if model.name() == asked {
                return Ok(Some(model));
            }
            let (path, found) = (path.display(), model.name());
            Err(Failure::input(
                Topic::OtherKernel,
                format!("{path}: has a [{found}]; ask for --kernel {found}"),
            ))
        }
        (None, true) => Err(Failure::input(
            Topic::NeedsKernelModel,
            format!(
                "--kernel {asked} needs its numbers: give a file with a [{asked}] as --kernel-model"
            ),
        )),
        (Some(_), false) => Err(Failure::input(
            Topic::IdleOption,
            format!(
                "--kernel {asked} takes no --kernel-model; kernels that do are {}",
                MarginalModel::NAMES.join(", ")
            ),
        )),
        (None, false) => Ok(None),
    }
}

/// Computes the matrix; cosines in logarithms.
pub(super) fn compute(
    model: &MarginalModel,
    sequences: &[SamplesView<'_>],
    normalise: bool,
) -> Result<Matrix, Refused> {
    let logs = model.log_gram(sequences).map_err(Refused::Marginal)?;
    let lost = |log: &f64| log.is_finite() && log.exp() == 0.0;
    if !normalise && let Some(log) = logs.diagonal().find(lost) {
        return Err(Refused::Usage(
            Topic::KernelOutOfRange,
            format!(
                "the kernel of a sequence with itself is exp({log:.1}), zero in 64 bits: give --normalise"
            ),
        ));
    }
    let gram = if normalise { logs.normalised() } else { logs.kernels() };
    let words = format!("{}, by marginalisation", model.name());
    let computed = Computed { gram, features: None, information: Vec::new() };
    Ok(Matrix { computed, words })
}
