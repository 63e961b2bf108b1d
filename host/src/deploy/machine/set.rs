//! The kernel over a set of models: what is stored, and the host's run of it.

use fishweir_core::ObservationError;
use fishweir_core::classify::{ScoreOutOfRange, normalise_logs};
use fishweir_core::kernel::{log_mixture, log_mixture_norm};

use super::Norms;
use super::round::row;
use crate::deploy::block::{Block, Observation, block};
use crate::deploy::error::{DeployError, PushError};
use crate::deploy::kernel_stream::KernelStream;
use crate::deploy::model::DeployedModel;

/// Fields of the core's `StoredLikelihoods`, except the models.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ModelSet {
    /// `[model]`.
    pub(super) prior: Vec<f32>,
    /// `[item][model]`; minus infinity where the model makes the item impossible.
    pub(super) stored: Vec<Vec<f32>>,
    pub(super) norms: Norms,
}

impl ModelSet {
    /// Rounds a prior and items, each with its number, to `f32`.
    ///
    /// Items are divided by what their kernels are divided by before they are rounded, so that their norms are one: a
    /// logarithm of `-10^5` would be rounded to a hundredth.
    pub(super) fn rounded<'i>(
        prior: &[f64],
        items: impl Iterator<Item = (usize, &'i [Option<f64>])>,
        (normalised, log_scale): (bool, f64),
    ) -> Result<Self, DeployError> {
        let mut stored = Vec::new();
        for (item, logs) in items {
            let parts: Vec<[f64; 2]> =
                logs.iter().map(|log| [log.unwrap_or(f64::NEG_INFINITY), 0.0]).collect();
            let log_norm = if normalised {
                let [own, _] = log_mixture_norm(prior, &parts);
                if !own.is_finite() {
                    return Err(DeployError::Impossible(item));
                }
                0.5 * own
            } else {
                log_scale
            };
            let quotient = |log: &Option<f64>| {
                let quotients = row("items", item, &[log.map_or(0.0, |log| log - log_norm)])?;
                Ok(if log.is_some() { quotients[0] } else { f32::NEG_INFINITY })
            };
            stored.push(logs.iter().map(quotient).collect::<Result<Vec<_>, DeployError>>()?);
        }
        let norms = Norms { log: vec![0.0; stored.len()], normalised };
        Ok(Self { prior: row("prior", 0, prior)?, stored, norms })
    }
}

pub(super) fn stream(
    models: &[DeployedModel],
    kernel: &ModelSet,
) -> Box<dyn KernelStream<f32> + Send> {
    let filters = models.iter().map(|model| (block(model, false, 0, 0), true)).collect();
    Box::new(SetRun { filters, kernel: kernel.clone() })
}

struct SetRun {
    /// Filters, and whether their models make the stream possible.
    filters: Vec<(Box<dyn Block<f32> + Send>, bool)>,
    kernel: ModelSet,
}

impl KernelStream<f32> for SetRun {
    fn push(&mut self, x: &Observation<'_, f32>) -> Result<(), PushError> {
        for (filter, possible) in &mut self.filters {
            // What is ruled out still checks samples, and counts no more.
            if !*possible {
                filter.reset();
            }
            match filter.push(x) {
                Err(PushError::Observation(ObservationError::Impossible)) => *possible = false,
                other => other?,
            }
        }
        Ok(())
    }

    fn push_missing(&mut self) {
        self.filters.iter_mut().for_each(|(filter, _)| filter.push_missing());
    }

    fn reset(&mut self) {
        for (filter, possible) in &mut self.filters {
            filter.reset();
            *possible = true;
        }
    }

    fn kernels(&self, _: u64) -> Result<(Vec<f32>, f32), ScoreOutOfRange> {
        let parts = |(filter, possible): &(Box<dyn Block<f32> + Send>, bool)| {
            if *possible { filter.log_parts().0 } else { [f32::NEG_INFINITY, 0.0] }
        };
        let stream: Vec<[f32; 2]> = self.filters.iter().map(parts).collect();
        let ModelSet { prior, stored, norms } = &self.kernel;
        let items = stored.iter();
        let mut logs: Vec<[f32; 2]> = items.map(|item| log_mixture(prior, &stream, item)).collect();
        let own = if norms.normalised { log_mixture_norm(prior, &stream) } else { [0.0; 2] };
        let mut values = vec![0.0; logs.len()];
        let log_scale = normalise_logs(&mut logs, &norms.log, own, &mut values);
        Ok((values, log_scale))
    }
}
