//! Mean maps: of windows, which take no model, and of samples with their hidden states.

use fishweir::data::SamplesView;
use fishweir::kernel::mean_map::{Cliques, Convention, EmpiricalMap, LatentMap, Rbf};
use fishweir::kernel::{Kernel, KernelError};
use fishweir::runtime::Hmm;

use super::Arguments;
use super::compute::{Computed, Refused, of_models};

/// The function of distances asked for, and its rate.
fn rbf(arguments: &Arguments) -> Result<(Rbf, f64), KernelError> {
    let lambda = arguments.lambda.unwrap_or(1.0);
    Ok((Rbf::new(lambda, Convention::Half)?, lambda))
}

pub(super) fn empirical(
    arguments: &Arguments,
    sequences: &[SamplesView<'_>],
) -> Result<Computed, Refused> {
    let (rbf, lambda) = rbf(arguments)?;
    let order = usize::from(arguments.order.unwrap_or(1));
    let gram = EmpiricalMap { order, rbf }.gram(sequences)?;
    let words = format!("empirical mean map of windows of {}, lambda {lambda}", order + 1);
    Ok(Computed { gram, words, features: None, information: Vec::new() })
}

pub(super) fn latent(
    arguments: &Arguments,
    models: &[Hmm],
    sequences: &[SamplesView<'_>],
) -> Result<Computed, Refused> {
    let ((rbf, lambda), nu) = (rbf(arguments)?, arguments.nu);
    let gram = LatentMap { models, rbf, cliques: Cliques::All, nu }.gram(sequences)?;
    let exponentiated = nu.map_or_else(String::new, |nu| format!(", exponentiated with nu {nu}"));
    let words =
        format!("latent mean map{}, lambda {lambda}{exponentiated}", of_models(models.len()));
    Ok(Computed { gram, words, features: None, information: Vec::new() })
}
