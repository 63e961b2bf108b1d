//! Kernels against stored sequences at run-time sizes: one recursion per sequence.

use std::borrow::Borrow;

use fishweir_core::classify::{ScoreOutOfRange, normalise_logs};
use fishweir_core::filter::Streaming;
use fishweir_core::hmm::Hmm;
use fishweir_core::kernel::{
    Aligned, FixedLength, FixedLengthNorm, LogKernel, NormState, Observed,
};

use super::Sequences;
use crate::deploy::block::{Observation, Observe, hmm};
use crate::deploy::error::PushError;
use crate::deploy::kernel_stream::KernelStream;
use crate::deploy::model::DeployedModel;
use crate::runtime::{CategoricalVec, with_states};

pub(super) fn stream(
    model: &DeployedModel,
    kernel: &Sequences,
) -> Box<dyn KernelStream<f32> + Send> {
    with_states!(model.initial.len(), N => Box::new(SequenceRun::<N>::of(model, kernel)))
}

/// A stored symbol.
#[derive(Clone, Copy)]
struct Symbol(u16);

impl Observed<u16> for Symbol {
    fn observation(&self) -> Option<impl Borrow<u16>> {
        Some(self.0)
    }
}

type Law = CategoricalVec<f32>;

struct SequenceRun<const N: usize> {
    hmm: Hmm<Law, N>,
    stored: Vec<Vec<Symbol>>,
    log_norms: Vec<f32>,
    kernels: Vec<Aligned<f32, N, 1>>,
    own: Option<NormState<f32, N>>,
}

impl<const N: usize> SequenceRun<N> {
    fn of(model: &DeployedModel, kernel: &Sequences) -> Self {
        let symbols = |item: &Vec<u16>| item.iter().map(|&symbol| Symbol(symbol)).collect();
        let mut running = Self {
            hmm: hmm(model, 0),
            stored: kernel.stored.iter().map(symbols).collect(),
            log_norms: kernel.log_norms.clone(),
            kernels: Vec::new(),
            own: None,
        };
        running.own = kernel.normalised.then(|| running.norm().initial_state());
        running.kernels =
            running.stored.iter().map(|item| running.against(item).initial_state()).collect();
        running
    }

    fn against<'m>(&'m self, item: &'m [Symbol]) -> FixedLength<'m, Hmm<Law, N>, Symbol, 1> {
        FixedLength::from_parts(&self.hmm, [item])
    }

    fn norm(&self) -> FixedLengthNorm<'_, Law, N> {
        FixedLengthNorm::of(&self.hmm, self.stored.first().map_or(0, Vec::len))
    }

    /// Changes all states, or leaves all unchanged.
    fn step<R>(
        &mut self,
        own: impl Fn(FixedLengthNorm<'_, Law, N>, &mut NormState<f32, N>) -> Result<(), R>,
        with: impl Fn(FixedLength<'_, Hmm<Law, N>, Symbol, 1>, &mut Aligned<f32, N, 1>) -> Result<(), R>,
    ) -> Result<(), R> {
        let (mut next, mut norm) = (self.kernels.clone(), self.own);
        if let Some(norm) = &mut norm {
            own(self.norm(), norm)?;
        }
        for (state, item) in next.iter_mut().zip(&self.stored) {
            with(self.against(item), state)?;
        }
        (self.kernels, self.own) = (next, norm);
        Ok(())
    }
}

impl<const N: usize> KernelStream<f32> for SequenceRun<N> {
    fn push(&mut self, x: &Observation<'_, f32>) -> Result<(), PushError> {
        let x = Law::observe(x).ok_or(PushError::Kind)?;
        Ok(self.step(|norm, state| norm.step(state, x), |kernel, state| kernel.step(state, x))?)
    }

    fn push_missing(&mut self) {
        let _: Result<(), PushError> = self.step(
            |norm, state| {
                norm.step_missing(state);
                Ok(())
            },
            |kernel, state| {
                kernel.step_missing(state);
                Ok(())
            },
        );
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
