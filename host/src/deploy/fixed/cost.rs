//! Cost of a classifier in fixed point on a device.

use super::FixedPoint;
use super::codebooks::FixedCodebooks;
use crate::classifier::Observations;
use crate::data::Lags;
use crate::deploy::cost::{Cost, bank_bytes, codebooks_cost, ring_of};
use crate::deploy::model::States;

/// The sizes of a classifier in fixed point without codebooks, from which its cost follows.
#[derive(Clone, Debug)]
pub(crate) struct FixedShape {
    pub(crate) observations: Observations,
    pub(crate) states: States,
    pub(crate) models: usize,
    /// Hidden states of each model, its positions, or its contexts.
    pub(crate) rows: usize,
    pub(crate) directions: usize,
    pub(crate) outputs: usize,
    pub(crate) lags: Lags,
    /// `true` if channels may be missing.
    pub(crate) in_part: bool,
}

impl FixedPoint {
    /// Cost on a device: the sizes of the core's types, and multiplications of 16 bits, or additions if states are known.
    ///
    /// Stored samples take two bytes per channel; so do the scales of codebooks, the weights of their codewords and levels, and
    /// the units of those weights. A level takes four.
    pub fn cost(&self) -> Cost {
        let shape = FixedShape {
            observations: self.common.observations.clone(),
            states: self.engine.states,
            models: self.engine.models.len(),
            rows: self.states(),
            directions: self.directions(),
            outputs: self.outputs(),
            lags: self.common.lags.clone(),
            in_part: self.common.in_part(),
        };
        let codebooks = self.engine.codebooks.as_ref().map(FixedCodebooks::size);
        let codes = codebooks_cost(codebooks, self.size(), self.outputs(), 2);
        let cost = shape.cost();
        Cost {
            state_bytes: cost.state_bytes + codes.state_bytes,
            model_bytes: cost.model_bytes + codes.model_bytes,
            multiply_adds_per_sample: cost.multiply_adds_per_sample
                + codes.multiply_adds_per_sample,
            ..cost
        }
        .on(self.windows())
    }
}

impl FixedShape {
    /// Cost of a classifier of this shape.
    pub(crate) fn cost(&self) -> Cost {
        let (n, c, m, o) = (self.rows, self.directions, self.models, self.outputs);
        let known = self.states != States::Hidden;
        let row = if known { 1 } else { n };
        let belief = (4 * row * (1 + c) + 8 + 8 * c + 4).next_multiple_of(8);
        // Where it is, in four bytes or six.
        let belief = belief + if known { 8 } else { 0 };
        let table = 2 * (1 + c);
        let (emission, entry, work, exponentials) = match &self.observations {
            Observations::Channels(names) => {
                let d = self.lags.seen_width(names.len());
                (
                    (8 * d + 4 + 4 * c + 4 * c * d + 2 * c).next_multiple_of(4),
                    // An entry of the chain has an exponent.
                    table + 2,
                    row * d * (2 + 2 * c),
                    if known { 0 } else { m * n },
                )
            }
            Observations::Symbols(_) => {
                let k = self.observations.size();
                let logarithms = (4 * k + 2 * c * (k + 1)).next_multiple_of(4);
                (if known { logarithms } else { k * table + 2 * k + 2 * c }, table, 0, 0)
            }
        };
        let chain = if known { 0 } else { (n + n * n) * entry };
        let chain = chain.next_multiple_of(if exponentials > 0 { 4 } else { 2 });
        let contexts = self.states.automaton_bytes(n, self.observations.size());
        let channels = self.observations.size();
        let columns = 4 * (self.lags.columns_kept(m, channels) + self.lags.as_slice().len());
        let models = m * (contexts + chain + n * emission);
        let (ring, differences) = ring_of(channels, &self.lags, if self.in_part { 4 } else { 2 });
        // The normaliser of a channel's term, and its rates.
        let missing = if self.in_part { m * row } else { 0 };
        let channels_seen = self.lags.seen_width(channels);
        let recursion = if known { 1 + c } else { (1 + 2 * c) * (n * n + n) + n };
        Cost {
            state_bytes: bank_bytes(m, belief) + ring,
            model_bytes: models.next_multiple_of(4) + 4 * o * (m + 1) + 8 + columns,
            multiply_adds_per_sample: m * (recursion + work) + differences,
            exponentials_per_sample: exponentials,
            multiply_adds_per_partial_sample: missing * c * channels_seen.saturating_sub(1),
            logarithms_per_partial_sample: missing * channels_seen.saturating_sub(1),
            multiply_adds_per_decision: m * (o + c),
            logarithms_per_decision: m,
            ..Cost::default()
        }
    }
}
