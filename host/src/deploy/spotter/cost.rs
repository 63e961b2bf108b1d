//! Cost of a spotter on a device.

use serde::Serialize;

use super::super::cost::{FilterWork, belief_bytes};
use super::super::source::EmissionType;
use super::{BACKGROUND_STATES, PENDING, Spotter};
use crate::runtime::family::reals;

/// RAM, flash and work of a spotter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SpotterCost {
    /// Bytes of the state, all of it, on a 32-bit device: the size of the core's `SpotState`.
    pub state_bytes: usize,
    /// Bytes of the model in flash: the size of the core's `Spotter`.
    pub model_bytes: usize,
    /// Multiply-adds per sample, a comparison for each addition: recursions and emissions, without the exponentials.
    pub multiply_adds_per_sample: usize,
    /// Exponentials per sample.
    pub exponentials_per_sample: usize,
    /// Logarithms a sample at most: two for every state of the background that an event may end in.
    pub logarithms_per_sample: usize,
    /// Most extra multiply-adds per sample if all channels but one are missing; zero if none may be.
    pub multiply_adds_per_partial_sample: usize,
    /// Most extra logarithms of such a sample.
    pub logarithms_per_partial_sample: usize,
}

impl Spotter {
    /// Cost on a device.
    ///
    /// State, for `S` states, `B` of the background and `P` undecided events per path: a belief of each of the two, `S` tokens of
    /// `24 P + 64` bytes, two counters and the last decision. While a sample is taken in, the tokens are on the stack twice more.
    /// Work per sample: that of two forward filters.
    pub fn cost(&self) -> SpotterCost {
        let emission = EmissionType::of(std::slice::from_ref(&self.network));
        let (s, b) = (self.states(), BACKGROUND_STATES);
        let network = FilterWork::of(s, 0, &emission);
        let background = FilterWork::of(b, 0, &emission);
        let token = 24 * PENDING + 64;
        let missing = if self.in_part { s + b } else { 0 };
        let partial = emission.family.work_of_missing(emission.shape, 0);
        let weights = s + s * s + b + b * b + s * reals(emission.family, emission.shape, 0);
        SpotterCost {
            state_bytes: belief_bytes(s, 0) + belief_bytes(b, 0) + s * token + 24 * PENDING + 32,
            model_bytes: 4 * weights + (s + 4).next_multiple_of(4),
            multiply_adds_per_sample: network.multiply_adds + background.multiply_adds,
            exponentials_per_sample: network.exponentials + background.exponentials,
            logarithms_per_sample: 2 * b,
            multiply_adds_per_partial_sample: missing * partial.0,
            logarithms_per_partial_sample: missing * partial.1,
        }
    }
}

#[cfg(test)]
mod tests {
    use fishweir_core::emission::Gaussian;
    use fishweir_core::spot::{SpotState, Spotter as CoreSpotter};

    use super::super::model::tests::two;
    use super::*;

    #[test]
    fn the_bytes_are_those_of_the_core() {
        let mut model = two();
        for states in [8, 6] {
            let cost = model.deploy().expect("sound").cost();
            // Alignment of `u64` is the device's too.
            let sizes = match states {
                8 => [
                    size_of::<SpotState<f32, 8, BACKGROUND_STATES, PENDING>>(),
                    size_of::<CoreSpotter<Gaussian<1>, 8, BACKGROUND_STATES, PENDING>>(),
                ],
                _ => [
                    size_of::<SpotState<f32, 6, BACKGROUND_STATES, PENDING>>(),
                    size_of::<CoreSpotter<Gaussian<1>, 6, BACKGROUND_STATES, PENDING>>(),
                ],
            };
            assert_eq!([cost.state_bytes, cost.model_bytes], sizes, "{states} states");
            model.classes.pop();
        }
    }
}
