//! Models whose states follow one another: nothing about them is hidden.

use fishweir_core::artefact::Topology;
use fishweir_core::number::Real;

use super::{Deployed, DeployedModel, Weight};

impl<T: Real> DeployedModel<T> {
    /// The state at each of as many positions as the model has states, where it is known: the first
    /// one begins, and each is followed by the next or by itself for good. The last holds for all
    /// positions that follow. No direction moves such a chain.
    fn steps(&self) -> Option<Vec<usize>> {
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
        steps
            .last()
            .filter(|&&state| certain(&self.transition[state], state))
            .is_some()
            .then_some(steps)
    }
}

impl<T: Real> Deployed<T> {
    /// The state of each model at each position, `[model][position]`, where it is known of all of them;
    /// a single state has nothing to follow, and scores are of hidden states.
    pub(super) fn steps(&self) -> Option<Vec<Vec<usize>>> {
        if !self.models.is_empty()
            && self.states() > 1
            && self.order.is_none()
            && self.kernel.is_none()
        {
            self.models.iter().map(DeployedModel::steps).collect()
        } else {
            None
        }
    }

    /// How the states of its models follow one another. Where that is known of all of them, the device
    /// holds no chain and sums over no states. (A single state has nothing to follow, and is held as a
    /// chain.)
    pub fn topology(&self) -> Topology {
        match self.steps() {
            _ if self.profile.is_some() => Topology::PROFILE,
            Some(_) => Topology::STEPS,
            None => Topology::CHAIN,
        }
    }
}
