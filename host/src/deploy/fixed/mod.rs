//! A classifier in fixed point: 16-bit tables for parts without an FPU.
//!
//! ```text
//! Classifier (f64) --quantise--> FixedPoint (Q15) --+--> Stream, the host's run of it, bit for bit
//!                                                   +--> Rust source with a `static`
//! ```
//!
//! Quantising proves the bounds that the core's arithmetic asks for, or names the number that does
//! not keep them; [`Deviation`] then measures what is left of the decisions.

mod bound;
mod codebooks;
mod cost;
mod known;
mod measure;
mod quantise;
mod source;
mod stream;

pub use measure::{Codewords, Deviation, DeviationBound, Limits, MeasureError};
pub use quantise::QuantiseError;

use codebooks::FixedCodebooks;
#[cfg(test)]
pub(crate) use cost::FixedShape;
use fishweir_core::ObservationError;
use fishweir_core::classify::Normalisation;

use super::model::States;
use super::past::integer;
use crate::classifier::{Contract, DeployedConfidence, Observations};
use crate::data::{Lags, Windowing};

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
    /// `[state]`; empty, as the chain is, where states are known.
    pub(crate) initial: Vec<FixedWeight>,
    /// `[from][to]`.
    pub(crate) transition: Vec<Vec<FixedWeight>>,
    /// `[state]`, `[position]` or `[context]`.
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

/// The emission of one state: the fields of the core's `CategoricalQ15`, `CategoricalLogQ15` or
/// `GaussianQ15`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FixedEmission {
    Categorical {
        probability: Vec<FixedWeight>,
        exponent: Vec<u16>,
    },
    /// Of a state that is known: `[symbol]`, and `[symbol][output]`.
    Logarithms {
        log2: Vec<i32>,
        rate: Vec<Vec<i16>>,
    },
    Gaussian {
        channels: Vec<FixedChannel>,
        constant: i32,
        constant_rate: Vec<i32>,
    },
}

/// A classifier as a device without an FPU holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct FixedPoint {
    pub(crate) observations: Observations,
    pub(crate) classes: Vec<String>,
    pub(crate) states: States,
    pub(crate) models: Vec<FixedModel>,
    pub(crate) weights: Vec<Vec<f32>>,
    pub(crate) biases: Vec<f32>,
    pub(crate) normalisation: Normalisation,
    pub(crate) confidence: Option<DeployedConfidence>,
    pub(crate) contract: Option<Contract>,
    pub(crate) places: Vec<i16>,
    /// Lags at which differences of the channels are further channels of what models see.
    pub(crate) lags: Lags,
    /// Codebooks beside the models.
    pub(crate) codebooks: Option<FixedCodebooks>,
}

/// A row in the integers that a device is given.
fn integers(row: &[f64], places: &[i16]) -> Result<Vec<i16>, ObservationError> {
    row.iter().zip(places).map(|(&x, &places)| integer(x, places)).collect()
}

impl FixedPoint {
    /// Binary places of the observations, `[channel]`: the device is given `round(x 2^places)` in 16
    /// bits, which reach sixteen standard deviations around every state's mean and around that of the
    /// training data, of differences at lags too. What lies beyond is held at their end. Empty for symbols.
    pub fn places(&self) -> &[i16] {
        &self.places
    }

    /// A row of channels in the integers that the device is given.
    ///
    /// # Errors
    /// What is no number, or what 16 bits do not hold.
    pub fn integers(&self, row: &[f64]) -> Result<Vec<i16>, ObservationError> {
        integers(row, &self.places)
    }

    /// How far its decisions are to be believed, as was learnt in floating point.
    #[must_use]
    pub fn confidence(&self) -> Option<&DeployedConfidence> {
        self.confidence.as_ref()
    }

    /// What it was trained on, and keeps to.
    #[must_use]
    pub fn contract(&self) -> Option<&Contract> {
        self.contract.as_ref()
    }

    /// The same on other windows, or on a stream that never ends.
    #[must_use]
    pub fn on_windows(mut self, windowing: Option<Windowing>) -> Self {
        let contract = self.contract.take().unwrap_or_default();
        self.contract = Some(Contract { windowing, ..contract });
        self
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

    /// Number of models.
    pub fn models(&self) -> usize {
        self.models.len()
    }

    /// Hidden states of each model, its positions, or its contexts.
    pub fn states(&self) -> usize {
        self.models.first().map_or(0, |model| model.emission.len())
    }

    /// Channels or symbols.
    pub fn size(&self) -> usize {
        self.observations.size()
    }

    /// Directions that each model carries: one an output, or none.
    pub fn directions(&self) -> usize {
        self.models.first().map_or(0, |model| model.unit.len())
    }

    /// How many symbols are the context of the next, of what weighs words of symbols.
    #[must_use]
    pub fn order(&self) -> Option<usize> {
        self.states.order()
    }
}
