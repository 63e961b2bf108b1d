//! Kernels by marginalisation: their models come from a file of their own.

use fishweir::data::SamplesView;
use fishweir::kernel::marginal::{MarginalError, MarginalModel};

use super::Arguments;
use super::compute::{Computed, Refused};
use crate::commands::Failure;

/// The model that the kernel asked for needs; `None` for a kernel that takes no such file.
pub(super) fn model(arguments: &Arguments) -> Result<Option<MarginalModel>, Failure> {
    let asked = arguments.kernel.name();
    let takes_one = MarginalModel::NAMES.contains(&asked.as_str());
    match (&arguments.model_file, takes_one) {
        (Some(path), true) => {
            let model = MarginalModel::read(path)?;
            if model.name() == asked {
                return Ok(Some(model));
            }
            let (path, found) = (path.display(), model.name());
            Err(Failure::Input(format!("{path}: has a [{found}]; ask for --kernel {found}")))
        }
        (None, true) => Err(Failure::Input(format!(
            "--kernel {asked} needs its numbers: give a file with a [{asked}] as --model-file"
        ))),
        (Some(_), false) => Err(Failure::Input(format!(
            "--kernel {asked} takes no --model-file; kernels that do are {}",
            MarginalModel::NAMES.join(", ")
        ))),
        (None, false) => Ok(None),
    }
}

impl From<MarginalError> for Refused {
    fn from(error: MarginalError) -> Self {
        Self::Marginal(error)
    }
}

/// Computes the matrix; cosines in logarithms.
pub(super) fn compute(
    model: &MarginalModel,
    sequences: &[SamplesView<'_>],
    normalise: bool,
) -> Result<Computed, Refused> {
    let logs = model.log_gram(sequences)?;
    let lost = |log: &f64| log.is_finite() && log.exp() == 0.0;
    if !normalise && let Some(log) = logs.diagonal().find(lost) {
        return Err(Refused::Usage(format!(
            "a sequence's kernel with itself is exp({log:.1}), nothing in 64 bits: take --normalise"
        )));
    }
    let gram = if normalise { logs.normalised() } else { logs.kernels() };
    let words = format!("{}, by marginalisation", model.name());
    Ok(Computed { gram, words, features: None, information: Vec::new() })
}
