//! Streaming scores at run-time sizes: the core's recursion at the next size that is compiled.
//!
//! Padded states are out of reach, padded symbols have probability zero, padded channels read 0 with
//! a rate of 0; none of them changes a bit of an entry that is picked.

use fishweir_core::ObservationError;
use fishweir_core::classify::{
    Normalisation, ScoreKernel, ScoreOutOfRange, mix_entries, whiten_entries,
};
use fishweir_core::emission::{
    Categorical, Emission, Gaussian, GaussianScore, Parametrisation, SufficientStatistics,
};
use fishweir_core::filter::{Forward, Statistics, StatisticsState, Streaming};
use fishweir_core::hmm::Hmm;
use fishweir_core::score::Score;

use super::{DeployedWhitening, Scores};
use crate::classifier::Observations;
use crate::deploy::block::{Observation, chain};
use crate::deploy::common::Common;
use crate::deploy::error::{DeployError, PushError};
use crate::deploy::kernel_stream::KernelStream;
use crate::deploy::model::DeployedModel;
use crate::runtime::Family;
use crate::runtime::family::{DeployedEmission, OF_CHANNELS, OF_SYMBOLS, Weight};

const MOST_STATES: usize = 8;
const MOST_SYMBOLS: usize = 32;
const MOST_CHANNELS: usize = 9;

/// Returns whether kernel machines on scores are compiled for emissions of a family.
pub(crate) fn has_machines(family: &'static dyn Family) -> bool {
    [OF_SYMBOLS, OF_CHANNELS].contains(&family)
}

/// Refuses sizes that [`block`] is not compiled for.
pub(crate) fn check_size(
    observations: &Observations,
    states: usize,
    size: usize,
) -> Result<(), DeployError> {
    let (kind, most) = match observations {
        Observations::Channels(_) => ("channels", MOST_CHANNELS),
        Observations::Symbols(_) => ("symbols", MOST_SYMBOLS),
    };
    if states <= MOST_STATES && size <= most {
        return Ok(());
    }
    Err(DeployError::Size { states, size, kind })
}

pub(super) fn stream(
    models: &[DeployedModel],
    kernel: &Scores,
    of: &Common,
) -> Box<dyn KernelStream<f32> + Send> {
    let size = of.size();
    Box::new(ScoreRun {
        blocks: models.iter().map(|model| block(model, size)).collect(),
        normalisation: of.normalisation,
        likelihood: kernel.likelihood,
        centre: kernel.centre.clone(),
        whitening: kernel.whitening.clone(),
        kernel: kernel.kernel,
        stored: kernel.stored.clone(),
    })
}

struct ScoreRun {
    blocks: Vec<Box<dyn Block + Send>>,
    normalisation: Normalisation,
    likelihood: bool,
    centre: Vec<f32>,
    whitening: DeployedWhitening,
    kernel: ScoreKernel<f32>,
    stored: Vec<Vec<f32>>,
}

impl KernelStream<f32> for ScoreRun {
    fn push(&mut self, x: &Observation<'_, f32>) -> Result<(), PushError> {
        // All models take a sample, or none.
        self.blocks.iter().try_for_each(|block| block.accepts(x))?;
        self.blocks.iter_mut().try_for_each(|block| block.push(x))
    }

    fn push_missing(&mut self) {
        self.blocks.iter_mut().for_each(|block| block.push_missing());
    }

    fn reset(&mut self) {
        self.blocks.iter_mut().for_each(|block| block.reset());
    }

    fn kernels(&self, samples: u64) -> Result<(Vec<f32>, f32), ScoreOutOfRange> {
        let mut scores = Vec::with_capacity(self.centre.len());
        self.blocks.iter().for_each(|block| block.scores(self.likelihood, &mut scores));
        let factor: f32 = self.normalisation.factor(samples);
        scores.iter_mut().for_each(|score| *score *= factor);
        let mut whitened = match &self.whitening {
            DeployedWhitening::Diagonal(rate) => {
                whiten_entries(&mut scores, &self.centre, rate)?;
                scores
            }
            DeployedWhitening::Full(rows) => {
                let mut whitened = vec![0.0; rows.len()];
                let rows = rows.iter().map(Vec::as_slice);
                mix_entries(&mut scores, &self.centre, rows, &mut whitened)?;
                whitened
            }
        };
        self.kernel.prepare(&mut whitened);
        let mut values = vec![0.0; self.stored.len()];
        let stored = self.stored.iter().map(Vec::as_slice);
        let log_scale = self.kernel.evaluate(&whitened, stored, &mut values);
        Ok((values, log_scale))
    }
}

/// A model's score, of any size.
trait Block {
    fn accepts(&self, x: &Observation<'_, f32>) -> Result<(), PushError>;
    fn push(&mut self, x: &Observation<'_, f32>) -> Result<(), PushError>;
    fn push_missing(&mut self);
    fn reset(&mut self);
    /// Adds the entries of the score, and the log-likelihood if asked for.
    fn scores(&self, likelihood: bool, into: &mut Vec<f32>);
}

/// A family at a compiled size.
pub(super) trait Padded: SufficientStatistics<Real = f32, Observation: Sized> {
    /// Emission of a state; for `None` one that is out of reach.
    fn padded(emission: Option<&DeployedEmission>) -> Self;
    /// The observation, where it is one of `size` symbols or channels.
    fn sample(x: &Observation<'_, f32>, size: usize) -> Result<Self::Observation, PushError>;
    /// Adds the entries that the unpadded distribution has.
    fn pick(score: &Self::Score, size: usize, into: &mut Vec<f32>);
}

impl<const K: usize> Padded for Categorical<K> {
    fn padded(emission: Option<&DeployedEmission>) -> Self {
        let mut probability = [0.0; K];
        fill(&mut probability, emission.iter().flat_map(|emission| emission.weights(0)).map(value));
        Self::from_parts(probability)
    }

    fn sample(x: &Observation<'_, f32>, size: usize) -> Result<usize, PushError> {
        match x {
            Observation::Symbol(symbol) if usize::from(*symbol) < size => Ok(usize::from(*symbol)),
            Observation::Symbol(_) => Err(ObservationError::UnknownSymbol.into()),
            _ => Err(PushError::Kind),
        }
    }

    fn pick(score: &[f32; K], size: usize, into: &mut Vec<f32>) {
        into.extend_from_slice(&score[..size]);
    }
}

impl<const D: usize> Padded for Gaussian<D> {
    fn padded(emission: Option<&DeployedEmission>) -> Self {
        let (mut mean, mut rate, mut constant) = ([0.0; D], [0.0; D], f32::NEG_INFINITY);
        if let Some(fields) = emission.and_then(DeployedEmission::gaussian) {
            fill(&mut mean, fields.mean.iter().copied());
            fill(&mut rate, fields.rate.iter().copied());
            constant = fields.constant.value;
        }
        Self::from_parts(mean, rate, constant, [(); D], [(); D])
    }

    fn sample(x: &Observation<'_, f32>, size: usize) -> Result<[f32; D], PushError> {
        let Observation::Row(row) = x else { return Err(PushError::Kind) };
        if row.len() != size {
            return Err(PushError::Kind);
        }
        let mut channels = [0.0; D];
        fill(&mut channels, row.iter().copied());
        Ok(channels)
    }

    fn pick(score: &GaussianScore<f32, D>, size: usize, into: &mut Vec<f32>) {
        into.extend_from_slice(&score.mean[..size]);
        into.extend_from_slice(&score.spread[..size]);
    }
}

fn value(weight: &Weight) -> f32 {
    weight.value
}

fn fill(slots: &mut [f32], values: impl Iterator<Item = f32>) {
    slots.iter_mut().zip(values).for_each(|(slot, value)| *slot = value);
}

/// `S` are the family's statistics.
struct Scored<E: Emission, S, const N: usize> {
    hmm: Hmm<E, N>,
    collected: StatisticsState<S, f32, N>,
    states: usize,
    size: usize,
}

impl<E: Padded, const N: usize> Scored<E, E::Statistics, N> {
    fn of(model: &DeployedModel, size: usize) -> Self {
        let emission = std::array::from_fn(|state| E::padded(model.emission.get(state)));
        let hmm = Hmm::new(chain::<f32, f32, N>(model, 0), emission);
        let collected = Statistics::of(&hmm).initial_state();
        Self { hmm, collected, states: model.initial.len(), size }
    }
}

impl<E: Padded, const N: usize> Block for Scored<E, E::Statistics, N> {
    fn accepts(&self, x: &Observation<'_, f32>) -> Result<(), PushError> {
        let x = E::sample(x, self.size)?;
        Ok(Forward::of(&self.hmm).step(&mut self.collected.belief().clone(), &x)?)
    }

    fn push(&mut self, x: &Observation<'_, f32>) -> Result<(), PushError> {
        let x = E::sample(x, self.size)?;
        Ok(Statistics::of(&self.hmm).step(&mut self.collected, &x)?)
    }

    fn push_missing(&mut self) {
        Statistics::of(&self.hmm).step_missing(&mut self.collected);
    }

    fn reset(&mut self) {
        self.collected = Statistics::of(&self.hmm).initial_state();
    }

    fn scores(&self, likelihood: bool, into: &mut Vec<f32>) {
        let expected = Statistics::of(&self.hmm).read(&self.collected);
        let score = Score::of(&self.hmm, &expected, Parametrisation::SOFTMAX);
        into.extend_from_slice(&score.initial[..self.states]);
        for row in &score.transition[..self.states] {
            into.extend_from_slice(&row[..self.states]);
        }
        for part in &score.emission[..self.states] {
            E::pick(part, self.size, into);
        }
        into.extend(likelihood.then(|| self.collected.belief().log()));
    }
}

/// A model at the next sizes that are compiled; [`check_size`] has passed.
fn block(model: &DeployedModel, size: usize) -> Box<dyn Block + Send> {
    match (model.is_over_symbols(), size) {
        (true, 0..=4) => scored::<Categorical<4>>(model, size),
        (true, _) => scored::<Categorical<MOST_SYMBOLS>>(model, size),
        (false, 0..=3) => scored::<Gaussian<3>>(model, size),
        (false, _) => scored::<Gaussian<MOST_CHANNELS>>(model, size),
    }
}

fn scored<E: Padded<Statistics: Send> + Send>(
    model: &DeployedModel,
    size: usize,
) -> Box<dyn Block + Send> {
    match model.initial.len() {
        0..=4 => Box::new(Scored::<E, _, 4>::of(model, size)),
        _ => Box::new(Scored::<E, _, MOST_STATES>::of(model, size)),
    }
}
