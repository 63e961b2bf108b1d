//! Weights of words, run as the core's Markov strings: every symbol as likely as any other, and directions that
//! count what comes in each context.

use fishweir_core::classify::StreamModel;
use fishweir_core::context::{
    AutomatonView, ContextBelief, ContextLikelihood, ContextRule, Independent, Span, StringEnd,
    StringHistory,
};
use fishweir_core::emission::Emission;
use fishweir_core::filter::Streaming;
use fishweir_core::number::{Parameter, Real, Scalar};

use super::block::{Block, Build, Observation, Observe};
use super::error::PushError;
use super::model::DeployedModel;
use crate::runtime::{CategoricalVec, HostReal, HostWeight};

type NumberOf<E> = <<E as Emission>::Weight as Parameter>::Number;

/// The core's recursion with as many contexts as there are: each is a model of its own, that moves one state.
pub(super) struct Words<E: Emission> {
    contexts: Vec<Independent<E>>,
    next: Vec<u16>,
    symbols: usize,
    span: Span,
    history: StringHistory,
    state: ContextBelief<(), NumberOf<E>>,
}

impl<E: Emission<Observation = u16>> Words<E> {
    /// Creates a model of words from one row per context, the last `order` of `symbols` symbols. There is at least one row.
    pub(super) fn over(rows: Vec<E>, symbols: usize, order: usize) -> Self {
        let mut next = vec![0; rows.len() * symbols];
        // Compiling has looked at the number of contexts.
        let span = u16::try_from(order)
            .ok()
            .and_then(|order| Span::order(order, symbols, StringEnd::Open, &mut next).ok())
            .unwrap_or_else(|| unreachable!("too many contexts"));
        Self::with(rows, next, symbols, span)
    }

    /// Creates a model of one row per context of an automaton. There is at least one row.
    pub(super) fn with(rows: Vec<E>, next: Vec<u16>, symbols: usize, span: Span) -> Self {
        let contexts: Vec<_> = rows.into_iter().map(Independent::of).collect();
        let state = ContextLikelihood::of(&contexts[0]).initial_state();
        let history = ContextRule::<usize, 1>::start(&AutomatonView::new(&next, symbols, span));
        Self { contexts, next, symbols, span, history, state }
    }

    fn rule(&self) -> AutomatonView<'_> {
        AutomatonView::new(&self.next, self.symbols, self.span)
    }

    fn start(&mut self) {
        self.history = ContextRule::<usize, 1>::start(&self.rule());
        self.state = ContextLikelihood::of(&self.contexts[0]).initial_state();
    }
}

impl<T: Real, E> Block<T> for Words<E>
where
    E: Emission<Observation = u16, Weight: Parameter<Real = T>> + Observe<T>,
{
    fn push(&mut self, x: &Observation<'_, T>) -> Result<(), PushError> {
        let symbol = E::observe(x).ok_or(PushError::Kind)?;
        let step = ContextRule::<usize, 1>::step(&self.rule(), self.history, &(*symbol).into());
        let (context, next) = step?;
        if let Some(model) = context.and_then(|context| self.contexts.get(context)) {
            ContextLikelihood::of(model).step(&mut self.state, symbol)?;
        }
        self.history = next;
        Ok(())
    }
    fn push_missing(&mut self) {
        self.history = ContextRule::<usize, 1>::skip(&self.rule(), self.history);
    }
    fn reset(&mut self) {
        self.start();
    }
    fn log(&self) -> T {
        ContextLikelihood::of(&self.contexts[0]).read(&self.state).value()
    }
    fn log_parts(&self) -> ([T; 2], Vec<[T; 2]>) {
        super::block::parts(self.contexts[0].log_parts(&self.state))
    }
}

/// The weights of words of `order + 1` symbols along the directions from `first` on.
pub(super) fn words<T: HostReal>(
    model: &DeployedModel<T>,
    order: usize,
    first: usize,
    left: usize,
) -> Box<dyn Block<T> + Send> {
    match left {
        0 | 1 => of_weight::<T, T::One>(model, order, first),
        _ => of_weight::<T, T::Many>(model, order, first),
    }
}

fn of_weight<T: HostReal, W: HostWeight<Real = T>>(
    model: &DeployedModel<T>,
    order: usize,
    first: usize,
) -> Box<dyn Block<T> + Send> {
    let row = |row| {
        let [one] = <CategoricalVec<W> as Build<T>>::states::<1>(std::slice::from_ref(row), first)
            .unwrap_or_else(|| unreachable!("there is a row"));
        one
    };
    let symbols = model.emission.first().map_or(0, |row| row.shape.size);
    Box::new(Words::over(model.emission.iter().map(row).collect(), symbols, order))
}
