//! Kernels against stored sequences at run-time sizes: one recursion per sequence.

use std::borrow::Borrow;

use fishweir_core::ObservationError;
use fishweir_core::classify::{ScoreOutOfRange, normalise_logs};
use fishweir_core::emission::Emission;
use fishweir_core::filter::Streaming;
use fishweir_core::hmm::Hmm;
use fishweir_core::kernel::{
    Aligned, FixedLength, FixedLengthNorm, LogKernel, NormState, Observed,
};

use super::{Sequences, Stored};
use crate::deploy::block::{Build, Observation, hmm};
use crate::deploy::error::PushError;
use crate::deploy::kernel_stream::KernelStream;
use crate::deploy::model::DeployedModel;
use crate::runtime::{CategoricalVec, RowState, with_two_sizes};

pub(super) fn stream(
    model: &DeployedModel,
    kernel: &Sequences,
) -> Box<dyn KernelStream<f32> + Send> {
    with_two_sizes!(model.initial.len(), N => match &kernel.stored {
        Stored::Symbols(stored) => {
            let stored = stored.iter().map(|item| item.iter().map(|&x| Symbol(x)).collect());
            Box::new(SequenceRun::<CategoricalVec<f32>, Symbol, N>::of(model, kernel, stored.collect()))
        }
        Stored::Channels(stored) => {
            let stored = stored.iter().map(|item| item.iter().cloned().map(Channels).collect());
            Box::new(SequenceRun::<RowState<f32>, Channels, N>::of(model, kernel, stored.collect()))
        }
    })
}

/// A stored symbol.
#[derive(Clone, Copy)]
struct Symbol(u16);

impl Observed<u16> for Symbol {
    fn observation(&self) -> Option<impl Borrow<u16>> {
        Some(self.0)
    }
}

/// A stored sample of channels.
struct Channels(Vec<f32>);

impl Observed<[f32]> for Channels {
    fn observation(&self) -> Option<impl Borrow<[f32]>> {
        Some(self.0.as_slice())
    }
}

struct SequenceRun<E: Emission<Weight = f32>, S, const N: usize> {
    hmm: Hmm<E, N>,
    stored: Vec<Vec<S>>,
    log_norms: Vec<f32>,
    kernels: Vec<Aligned<f32, N, 1>>,
    own: Option<NormState<f32, N>>,
}

impl<E, S, const N: usize> SequenceRun<E, S, N>
where
    E: Build<f32> + Emission<Weight = f32>,
    S: Observed<E::Observation>,
{
    fn of(model: &DeployedModel, kernel: &Sequences, stored: Vec<Vec<S>>) -> Self {
        let mut running = Self {
            hmm: hmm(model, 0),
            stored,
            log_norms: kernel.norms.log.clone(),
            kernels: Vec::new(),
            own: None,
        };
        running.own = kernel.norms.normalised.then(|| running.norm().initial_state());
        running.kernels =
            running.stored.iter().map(|item| running.against(item).initial_state()).collect();
        running
    }

    fn against<'m>(&'m self, item: &'m [S]) -> FixedLength<'m, Hmm<E, N>, S, 1> {
        FixedLength::from_parts(&self.hmm, [item])
    }

    fn norm(&self) -> FixedLengthNorm<'_, E, N> {
        FixedLengthNorm::of(&self.hmm, self.stored.first().map_or(0, Vec::len))
    }

    /// Changes all states, or leaves all unchanged.
    fn step(&mut self, x: Option<&E::Observation>) -> Result<(), ObservationError> {
        let (mut next, mut norm) = (self.kernels.clone(), self.own);
        if let Some(norm) = &mut norm {
            self.norm().push_to(norm, x)?;
        }
        for (state, item) in next.iter_mut().zip(&self.stored) {
            self.against(item).push_to(state, x)?;
        }
        (self.kernels, self.own) = (next, norm);
        Ok(())
    }
}

/// A recursion's step on a sample that may be missing.
trait PushTo: Streaming {
    fn push_to(
        &self,
        state: &mut Self::State,
        x: Option<&Self::Observation>,
    ) -> Result<(), ObservationError> {
        match x {
            Some(x) => self.step(state, x),
            None => {
                self.step_missing(state);
                Ok(())
            }
        }
    }
}

impl<R: Streaming> PushTo for R {}

impl<E, S, const N: usize> KernelStream<f32> for SequenceRun<E, S, N>
where
    E: Build<f32> + Emission<Weight = f32>,
    S: Observed<E::Observation>,
{
    fn push(&mut self, x: &Observation<'_, f32>) -> Result<(), PushError> {
        let x = E::observe(x).ok_or(PushError::Kind)?;
        Ok(self.step(Some(x))?)
    }

    fn push_missing(&mut self) {
        let _ = self.step(None);
    }

    fn reset(&mut self) {
        self.own = self.own.map(|_| self.norm().initial_state());
        self.kernels = self.stored.iter().map(|item| self.against(item).initial_state()).collect();
    }

    fn kernels(&self, _: u64) -> Result<(Vec<f32>, f32), ScoreOutOfRange> {
        let states = self.stored.iter().zip(&self.kernels);
        let mut logs: Vec<[f32; 2]> =
            states.map(|(item, state)| self.against(item).log_parts(state)[0]).collect();
        let own = self.own.map_or([0.0; 2], |state| self.norm().log_parts(&state));
        let mut values = vec![0.0; logs.len()];
        let log_scale = normalise_logs(&mut logs, &self.log_norms, own, &mut values);
        Ok((values, log_scale))
    }
}
