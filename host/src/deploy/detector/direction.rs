//! Directions in which a stream may change.

use crate::classifier::{Direction, EmissionDirection};
use crate::runtime::family::{logit, row_towards, table_towards};
use crate::runtime::{Hmm, Parts};

impl Direction {
    /// No direction at all: every rate zero.
    pub(crate) fn zero(model: &Hmm) -> Self {
        let (states, family) = (model.states(), model.emission.family());
        let parts = Parts::zero(family.score(), states, model.emission.shape());
        Self {
            initial: vec![0.0; states],
            transition: vec![vec![0.0; states]; states],
            emission: EmissionDirection::of_score(family, parts),
        }
    }

    /// The direction in which a channel's means move, in all states alike: an offset of the sensor, a
    /// mount that slips. `None` for symbols, or where there is no such channel.
    pub fn offset(model: &Hmm, channel: usize) -> Option<Self> {
        let mut direction = Self::zero(model);
        for row in direction.emission.parts_mut().get_mut("mean")? {
            *row.get_mut(channel)? = 1.0;
        }
        Some(direction)
    }

    /// The direction from a model to another of the same shape: the differences of means, of log
    /// standard deviations, and of the logits of probabilities. `None` where the shapes differ.
    ///
    /// States must mean the same in both: fit the second on changed data, starting from the first
    /// ([`fit`](crate::fit::fit)). A probability that is zero in either stays where it is.
    pub fn towards(from: &Hmm, to: &Hmm) -> Option<Self> {
        let (family, parts) = (from.emission.family(), from.emission.parts());
        if family != to.emission.family() {
            return None;
        }
        Some(Self {
            initial: row_towards(&from.initial, &to.initial, logit)?,
            transition: table_towards(&from.transition, &to.transition, logit)?,
            emission: EmissionDirection::of_score(
                family,
                family.towards(parts, to.emission.parts())?,
            ),
        })
    }
}
