//! A bank of models that are compared with the one that the stream makes: what is stored, and the host's run of it.

use fishweir_core::classify::{ScoreOutOfRange, normalise_logs};
use fishweir_core::emission::{Categorical, Gaussian, Regularisation, SufficientStatistics};
use fishweir_core::filter::{Adapting, OnlineEm, StepSize, Streaming};
use fishweir_core::hmm::Hmm;
use fishweir_core::kernel::{
    Affinity, Covariance, Normal, Overlaps, categorical_log_overlap, gaussian_log_overlap,
    log_between,
};
use fishweir_core::number::Real;

use super::Norms;
use super::scores::Padded;
use crate::classifier::{AdaptedStart, ComparedBy};
use crate::deploy::block::{Observation, chain};
use crate::deploy::cost::{Cost, belief_bytes};
use crate::deploy::error::{DeployError, PushError};
use crate::deploy::kernel_stream::KernelStream;
use crate::deploy::model::DeployedModel;

const MOST_STATES: usize = 8;
const MOST_SYMBOLS: usize = 32;
const MOST_CHANNELS: usize = 3;
const PAIRS: usize = MOST_STATES * MOST_STATES;

/// Fields of the core's `StoredModels`, except the models, of which the first is the start.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Compared {
    pub(super) measure: Affinity<f32>,
    pub(super) steps: usize,
    pub(super) start: Start,
    pub(super) norms: Norms,
}

/// How the stream's model adapts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Start {
    pub(super) step_size: StepSize,
    pub(super) warm_up: u64,
    pub(super) regularisation: Regularisation,
}

impl Compared {
    /// Checks that the sizes are compiled, and rounds the settings.
    pub(super) fn rounded(
        (by, steps): (ComparedBy, usize),
        start: AdaptedStart,
        norms: Norms,
        (symbols, states, size): (bool, usize, usize),
    ) -> Result<Self, DeployError> {
        let (kind, most) =
            if symbols { ("symbols", MOST_SYMBOLS) } else { ("channels", MOST_CHANNELS) };
        if states > MOST_STATES || size > most {
            return Err(DeployError::Models(format!(
                "{states} states over {size} {kind}: models that adapt are compiled for up to {MOST_STATES} states, \
                 {MOST_SYMBOLS} symbols or {MOST_CHANNELS} channels"
            )));
        }
        let measure = match by {
            ComparedBy::Product { rho } => Affinity::Product { rho: rho as f32 },
            ComparedBy::MeanMap { lambda } => Affinity::MeanMap { lambda: lambda as f32 },
        };
        let regularisation = Regularisation {
            variance_floor: start.variance_floor as f32,
            pseudo_count: start.pseudo_count as f32,
        };
        let start = Start {
            step_size: StepSize::Constant(start.step_size as f32),
            warm_up: start.warm_up,
            regularisation,
        };
        measure.validate().map_err(DeployError::Parameter)?;
        Ok(Self { measure, steps, start, norms })
    }

    /// Cost with the models, the first of which the stream starts from.
    pub(super) fn cost(&self, models: &[DeployedModel]) -> Cost {
        let n = models.first().map_or(0, |model| model.initial.len());
        let mut numbers = 0;
        models.iter().for_each(|model| model.for_each_real(&mut |_| numbers += 1));
        let model = numbers / models.len().max(1);
        let emission = (model - n - n * n) / n.max(1);
        // As many statistics as numbers: of a Gaussian a weight, sums and sums of squares for means, spreads and a constant.
        let statistics = emission;
        let collected = n * (n + n * n + n * statistics);
        let steps = self.steps + 1;
        let compared = models.len() - 1 + usize::from(self.norms.normalised);
        let powers = if self.measure.exponent() == 1.0 { 0 } else { 2 * (n + n * n) };
        Cost {
            state_bytes: (4 * (model + collected) + belief_bytes(n, 0) + 8).next_multiple_of(8),
            model_bytes: 4 * numbers + 4 * self.norms.log.len() + 56,
            multiply_adds_per_sample: (n + n * n + n * statistics) * n * n + 2 * n * n,
            multiply_adds_per_decision: compared * (n * n * emission + steps * n * n * (2 * n + 1)),
            exponentials_per_decision: compared * (n * n + powers) + models.len() - 1,
            logarithms_per_decision: compared * (n * n + powers + 1),
            ..Cost::default()
        }
    }
}

pub(super) fn stream(
    models: &[DeployedModel],
    kernel: &Compared,
    size: usize,
) -> Box<dyn KernelStream<f32> + Send> {
    match (models[0].is_over_symbols(), size) {
        (true, _) => Box::new(Run::<Categorical<MOST_SYMBOLS>>::of(models, kernel, size)),
        (false, 1) => Box::new(Run::<Gaussian<1>>::of(models, kernel, size)),
        (false, 2) => Box::new(Run::<Gaussian<2>>::of(models, kernel, size)),
        (false, _) => Box::new(Run::<Gaussian<MOST_CHANNELS>>::of(models, kernel, size)),
    }
}

/// A family whose overlaps are those of an unpadded one.
trait Alike: Padded {
    fn log_overlap_of(&self, other: &Self, size: usize, measure: Affinity<f32>) -> Option<f32>;
}

impl<const K: usize> Alike for Categorical<K> {
    fn log_overlap_of(&self, other: &Self, size: usize, measure: Affinity<f32>) -> Option<f32> {
        let (own, other) = (&self.probability()[..size], &other.probability()[..size]);
        Some(categorical_log_overlap(own, other, measure))
    }
}

/// Channels are not padded: an estimate's constant would have the padding's share.
impl<const D: usize> Alike for Gaussian<D> {
    fn log_overlap_of(&self, other: &Self, _: usize, measure: Affinity<f32>) -> Option<f32> {
        let (own, others) = (self.variance(), other.variance());
        let of = |gaussian: &Self, variance| {
            let half = -(gaussian.view().constant + D as f32 * f32::HALF_LN_TAU);
            (*gaussian.mean(), Covariance::Diagonal(variance), half + half)
        };
        let (a, b) = (of(self, &own), of(other, &others));
        let (a, b) = (Normal::from_parts(&a.0, a.1, a.2), Normal::from_parts(&b.0, b.1, b.2));
        gaussian_log_overlap(&a, &b, measure, &mut []).ok()
    }
}

struct Run<E: SufficientStatistics> {
    start: Hmm<E, MOST_STATES>,
    bank: Vec<Hmm<E, MOST_STATES>>,
    kernel: Compared,
    state: Adapting<E, MOST_STATES>,
    states: usize,
    size: usize,
}

impl<E: Alike> Run<E> {
    fn of(models: &[DeployedModel], kernel: &Compared, size: usize) -> Self {
        let model = |model: &DeployedModel| {
            let emission = std::array::from_fn(|state| {
                E::padded(model.emission.get(state).filter(|_| state < model.initial.len()))
            });
            Hmm::new(chain::<f32, f32, MOST_STATES>(model, 0), emission)
        };
        let start = model(&models[0]);
        let (bank, kernel) = (models[1..].iter().map(model).collect(), kernel.clone());
        let state = adapting(&start, kernel.start).initial_state();
        Self { start, bank, kernel, state, states: models[0].initial.len(), size }
    }

    /// `log k` of two models in two parts.
    fn log_kernel(
        &self,
        a: &Hmm<E, MOST_STATES>,
        b: &Hmm<E, MOST_STATES>,
    ) -> Result<[f32; 2], ScoreOutOfRange> {
        let measure = self.kernel.measure;
        // A padded state has nothing in common with any.
        let mut logs = [f32::NEG_INFINITY; PAIRS];
        for i in 0..self.states {
            for j in 0..self.states {
                let (own, other) = (&a.emission()[i], &b.emission()[j]);
                logs[i * MOST_STATES + j] =
                    own.log_overlap_of(other, self.size, measure).ok_or(ScoreOutOfRange)?;
            }
        }
        let rho = measure.exponent();
        let (a, b) = (a.chain().powered(rho), b.chain().powered(rho));
        Ok(log_between(&a, &b, Overlaps::of_logs(logs), self.kernel.steps))
    }
}

fn adapting<E: SufficientStatistics<Real = f32>>(
    start: &Hmm<E, MOST_STATES>,
    Start { step_size, warm_up, regularisation }: Start,
) -> OnlineEm<'_, E, MOST_STATES> {
    OnlineEm::from_parts(start, step_size, warm_up, regularisation)
}

impl<E: Alike + Send> KernelStream<f32> for Run<E> {
    fn push(&mut self, x: &Observation<'_, f32>) -> Result<(), PushError> {
        let x = E::sample(x, self.size)?;
        Ok(adapting(&self.start, self.kernel.start).step(&mut self.state, &x)?)
    }

    fn push_missing(&mut self) {
        adapting(&self.start, self.kernel.start).step_missing(&mut self.state);
    }

    fn reset(&mut self) {
        self.state = adapting(&self.start, self.kernel.start).initial_state();
    }

    fn kernels(&self, _: u64) -> Result<(Vec<f32>, f32), ScoreOutOfRange> {
        let Norms { log, normalised } = &self.kernel.norms;
        let hmm = self.state.hmm();
        let bank = self.bank.iter();
        let mut logs =
            bank.map(|model| self.log_kernel(hmm, model)).collect::<Result<Vec<_>, _>>()?;
        let own = if *normalised { self.log_kernel(hmm, hmm)? } else { [0.0; 2] };
        let mut values = vec![0.0; logs.len()];
        let log_scale = normalise_logs(&mut logs, log, own, &mut values);
        Ok((values, log_scale))
    }
}
