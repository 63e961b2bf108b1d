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
mod error;
mod known;
mod measure;
mod quantise;
mod source;
mod start;
mod stream;

pub use codebooks::Codewords;
pub use error::QuantiseError;
pub use measure::{Deviation, DeviationBound, DeviationLimits, MeasureError};

use codebooks::FixedCodebooks;
#[cfg(test)]
pub(crate) use cost::FixedShape;
use fishweir_core::ObservationError;

use super::deployed::Deployed;
use super::engine::Format;
use super::model::States;
use super::past::integers_in_part;
use crate::data::{Rows, Samples, SamplesView};

/// A number of a table and its rates, one per output, all relative to `2^-exponent`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FixedWeight {
    pub(crate) value: u16,
    pub(crate) rate: Vec<i16>,
    /// Exponent; zero in families whose tables have no exponents.
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
    /// Emission of a known state: `[symbol]`, and `[symbol][output]`.
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

/// Fixed point: tables of 16 bits, and outputs in `f32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Q15;

/// A classifier as a device without an FPU holds it.
pub type FixedPoint = Deployed<Q15>;

/// Models in fixed point, and how they are given samples.
#[derive(Clone, Debug, PartialEq)]
pub struct FixedBank {
    pub(super) states: States,
    pub(super) models: Vec<FixedModel>,
    /// `[channel]`.
    pub(super) places: Vec<i16>,
    /// The codebooks, if there are any.
    pub(super) codebooks: Option<FixedCodebooks>,
}

impl Format for Q15 {
    type Number = f32;
    type Engine = FixedBank;
}

impl FixedPoint {
    /// Binary places of the observations, `[channel]`: the device is given `round(x 2^places)` in 16
    /// bits, which reach sixteen standard deviations around every state's mean and around that of the
    /// training data, of differences at lags too. What lies beyond is held at their end. Empty for symbols.
    pub fn places(&self) -> &[i16] {
        &self.engine.places
    }

    /// A row of channels in the integers that the device is given, `None` where a channel is missing.
    ///
    /// # Errors
    /// An infinite number, or one that 16 bits do not hold.
    pub fn integers(&self, row: &[f64]) -> Result<Vec<Option<i16>>, ObservationError> {
        integers_in_part(row, &self.engine.places)
    }

    /// Samples in the integers that the device is given: missing where 16 bits do not hold a channel.
    pub fn integer_samples(&self, samples: &SamplesView<'_>) -> Samples {
        let Some(rows) = samples.rows() else { return samples.to_samples() };
        let mut integers = Rows::new(rows.dimension());
        for row in rows.iter_in_part() {
            let row = row.and_then(|row| self.integers(row).ok());
            let row = row.map(|row| {
                let number = |x: Option<i16>| x.map_or(f64::NAN, f64::from);
                row.into_iter().map(number).collect::<Vec<f64>>()
            });
            integers.push(row.as_deref());
        }
        Samples::Channels(integers)
    }

    /// Converts to observations that already are the device's integers.
    pub fn over_integers(&self) -> Self {
        let mut same = self.clone();
        same.engine.places.fill(0);
        same
    }

    /// Number of models.
    pub fn models(&self) -> usize {
        self.engine.models.len()
    }

    /// Hidden states of each model, its positions, or its contexts.
    pub fn states(&self) -> usize {
        self.engine.models.first().map_or(0, |model| model.emission.len())
    }

    /// Number of directions of each model: one per output, or 0.
    pub fn directions(&self) -> usize {
        self.engine.models.first().map_or(0, |model| model.unit.len())
    }

    /// Number of symbols of context, for a classifier that weighs words of symbols.
    #[must_use]
    pub fn order(&self) -> Option<usize> {
        self.engine.states.order()
    }
}
