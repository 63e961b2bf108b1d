//! A classifier in fixed point: 16-bit tables for parts without an FPU.
//!
//! ```text
//! Classifier (f64) --quantise--> FixedPoint (Q15) --+--> Stream, the host's run of it, bit for bit
//!                                                   +--> Rust source with a `static`
//! ```
//!
//! Quantising proves the bounds that the core's arithmetic asks for, or names the number that does
//! not keep them; [`Deviation`] then measures what is left of the decisions.

mod measure;
mod quantise;
mod source;
mod stream;

pub use measure::{Deviation, Limits, MeasureError};
pub use quantise::QuantiseError;

use fishweir_core::classify::Normalisation;

use super::Cost;
use crate::classifier::{DeployedConfidence, Observations};

/// A number of a table and its rates, one an output, all relative to `2^-exponent`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FixedWeight {
    pub(crate) value: u16,
    pub(crate) rate: Vec<i16>,
    /// Zero where the family's tables have none.
    pub(crate) exponent: u16,
}

/// A model in fixed point.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FixedModel {
    /// `[state]`.
    pub(crate) initial: Vec<FixedWeight>,
    /// `[from][to]`.
    pub(crate) transition: Vec<Vec<FixedWeight>>,
    /// `[state]`.
    pub(crate) emission: Vec<FixedEmission>,
    /// Exponents of the directions' units, `[output]`.
    pub(crate) unit: Vec<i16>,
}

/// One channel of a Gaussian: the core's `ChannelQ15` and rates `[output]`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FixedChannel {
    pub(crate) channel: fishweir_core::emission::ChannelQ15,
    pub(crate) linear: Vec<i16>,
    pub(crate) quadratic: Vec<i16>,
}

/// The emission of one state: the fields of the core's `CategoricalQ15` or `GaussianQ15`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FixedEmission {
    Categorical { probability: Vec<FixedWeight>, exponent: Vec<u16> },
    Gaussian { channels: Vec<FixedChannel>, constant: i32, constant_rate: Vec<i32> },
}

/// A classifier as a device without an FPU holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct FixedPoint {
    pub(crate) observations: Observations,
    pub(crate) classes: Vec<String>,
    pub(crate) models: Vec<FixedModel>,
    pub(crate) weights: Vec<Vec<f32>>,
    pub(crate) biases: Vec<f32>,
    pub(crate) normalisation: Normalisation,
    pub(crate) confidence: Option<DeployedConfidence>,
    pub(crate) places: Vec<i16>,
}

impl FixedPoint {
    /// Binary places of the observations, `[channel]`: the device is given `round(x 2^places)` in 16
    /// bits, which reach sixteen standard deviations around every state's mean and around that of the
    /// training data. What lies beyond is held at their end. Empty for symbols.
    pub fn places(&self) -> &[i16] {
        &self.places
    }

    /// The same classifier over observations that are the device's integers already.
    pub fn over_integers(&self) -> Self {
        Self { places: vec![0; self.places.len()], ..self.clone() }
    }

    /// What it observes.
    pub fn observations(&self) -> &Observations {
        &self.observations
    }

    /// Names of the classes.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Hidden states of each model.
    pub fn states(&self) -> usize {
        self.models.first().map_or(0, |model| model.initial.len())
    }

    /// Channels or symbols.
    pub fn size(&self) -> usize {
        self.observations.size()
    }

    /// Directions that each model carries: one an output, or none.
    pub fn directions(&self) -> usize {
        self.models.first().map_or(0, |model| model.unit.len())
    }

    /// What it costs on a device: the sizes of the core's types, and multiplications of 16 bits.
    pub fn cost(&self) -> Cost {
        let (n, c, m, o) = (self.states(), self.directions(), self.models.len(), self.biases.len());
        let belief = (4 * n * (1 + c) + 8 + 8 * c + 4).next_multiple_of(8);
        let table = 2 * (1 + c);
        let (emission, entry, work, exponentials) = match &self.observations {
            Observations::Channels(names) => {
                let d = names.len();
                (
                    (8 * d + 4 + 4 * c + 4 * c * d + 2 * c).next_multiple_of(4),
                    // An entry of the chain has an exponent.
                    table + 2,
                    n * d * (2 + 2 * c),
                    m * n,
                )
            }
            Observations::Symbols(symbols) => {
                let k = symbols.chars().count();
                (k * table + 2 * k + 2 * c, table, 0, 0)
            }
        };
        let model = ((n + n * n) * entry).next_multiple_of(if exponentials > 0 { 4 } else { 2 });
        let models = m * (model + n * emission);
        Cost {
            state_bytes: m * belief + 8,
            model_bytes: models.next_multiple_of(4) + 4 * o * (m + 1) + 8,
            multiply_adds_per_sample: m * ((1 + 2 * c) * (n * n + n) + n + work),
            exponentials_per_sample: exponentials,
            multiply_adds_per_decision: m * (o + c),
            exponentials_per_decision: 0,
            logarithms_per_decision: m,
        }
    }
}
