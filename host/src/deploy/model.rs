//! A hidden Markov model in the numbers of a device, and how its states follow one another.

use fishweir_core::artefact::Topology;
use fishweir_core::number::Real;

use crate::runtime::Observed;
use crate::runtime::family::{DeployedEmission, Weight};

/// A deployed model; all models of a bank have the same number of states.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DeployedModel<T = f32> {
    /// `[state]`; empty, as the transitions are, where states are known.
    pub(crate) initial: Vec<Weight<T>>,
    /// `[from][to]`.
    pub(crate) transition: Vec<Vec<Weight<T>>>,
    /// `[state]`, `[position]` or `[context]`.
    pub(crate) emission: Vec<DeployedEmission<T>>,
}

/// Kind of states: hidden, or known from the position or the last symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum States {
    /// Filtered.
    Hidden,
    /// The position.
    Steps,
    /// Known from this number of last symbols.
    Order(usize),
}

impl States {
    /// Symbols per context.
    pub(crate) fn order(self) -> Option<usize> {
        match self {
            Self::Order(order) => Some(order),
            Self::Hidden | Self::Steps => None,
        }
    }

    /// Topology in an artefact's header.
    pub(super) fn topology(self) -> Topology {
        match self {
            Self::Steps => Topology::STEPS,
            Self::Hidden | Self::Order(_) => Topology::CHAIN,
        }
    }

    /// Rule of a [`ContextModel`](fishweir_core::context::ContextModel) in a source; `None` for hidden states.
    pub(super) fn rule(self) -> Option<&'static str> {
        match self {
            Self::Hidden => None,
            Self::Steps => Some("Steps"),
            Self::Order(_) => Some("CONTEXTS"),
        }
    }

    /// Bytes in flash of the core's `Automaton`: one context per context and symbol, and the start of strings. 0 without
    /// contexts.
    pub(super) fn automaton_bytes(self, contexts: usize, symbols: usize) -> usize {
        self.order().map_or(0, |_| (2 * contexts * symbols + 14).next_multiple_of(4))
    }
}

impl<T> DeployedModel<T> {
    pub(crate) fn is_over_symbols(&self) -> bool {
        let first = self.emission.first();
        first.is_some_and(|emission| emission.family.observes() == Observed::Symbol)
    }

    /// Creates a model without a chain.
    pub(super) fn of_rows(emission: Vec<DeployedEmission<T>>) -> Self {
        Self { initial: Vec::new(), transition: Vec::new(), emission }
    }
}

impl<T: Copy> DeployedModel<T> {
    /// Calls `put` with each number, in memory order.
    pub(super) fn for_each_real(&self, put: &mut dyn FnMut(T)) {
        for weight in self.initial.iter().chain(self.transition.iter().flatten()) {
            weight.for_each_real(&mut *put);
        }
        self.emission.iter().for_each(|emission| emission.for_each_real(put));
    }
}

impl<T: Real> DeployedModel<T> {
    /// Returns the model with an emission per position and no chain, if the state at each position is known: state 0
    /// begins, and each state is followed by the next one, or by itself for good. There are as many positions as states;
    /// the last emission holds for all later positions. No direction moves such a chain.
    pub(super) fn by_position(&self) -> Option<Self> {
        let certain = |row: &[Weight<T>], to: usize| {
            let mut entries = row.iter().enumerate();
            entries.all(|(state, weight)| {
                let value = if state == to { T::ONE } else { T::ZERO };
                weight.value == value && weight.tangent.iter().all(|&rate| rate == T::ZERO)
            })
        };
        let states = self.initial.len();
        let mut steps = vec![0];
        if !certain(&self.initial, 0) {
            return None;
        }
        while let Some(&state) = steps.last().filter(|_| steps.len() < states) {
            let row = self.transition.get(state)?;
            let next = [state + 1, state].into_iter().find(|&next| certain(row, next))?;
            steps.push(next);
        }
        // What follows the last position is the last again.
        let last = *steps.last()?;
        let rows = || steps.iter().map(|&state| self.emission[state].clone()).collect();
        certain(&self.transition[last], last).then(|| Self::of_rows(rows()))
    }
}
