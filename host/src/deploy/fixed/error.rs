//! Errors of classifiers that do not fit fixed point.

use fishweir_core::ModelError;

use crate::deploy::error::DeployError;

/// Reason why a classifier does not fit fixed point.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum QuantiseError {
    /// The classifier does not compile at all.
    #[error(transparent)]
    Compile(#[from] DeployError),
    /// A parameter that no table can hold.
    #[error("{place}, state {state}: {source}; fixed point cannot represent it: export f32")]
    Model {
        /// Name of the model, by its class if it has one, and of the channel if known.
        place: String,
        /// State of the emission.
        state: usize,
        /// Parameter, and its fault.
        source: ModelError,
    },
    /// A direction with a rate that is not finite or past every unit.
    #[error("{model}, output {output}: its direction cannot be scaled into 16 bits")]
    #[strum(serialize = "direction-out-of-range")]
    Direction {
        /// Name of the model, by its class if it has one.
        model: String,
        /// Index of the output.
        output: usize,
    },
    /// States so wide and so narrow that no unit serves both.
    #[error(
        "channel {channel}: standard deviations from {narrowest:.3e} to {widest:.3e} do not fit 16 \
         bits together; raise the floor of standard deviations when fitting, or scale the channel"
    )]
    #[strum(serialize = "spread-out-of-range")]
    Channel {
        /// Name of the channel.
        channel: String,
        /// The least of any state.
        narrowest: f64,
        /// The largest.
        widest: f64,
    },
    /// Values so far from zero, compared with their spread, that no unit serves both.
    #[error(
        "channel {channel}: values about {level:.3e} with standard deviations from {narrowest:.3e} do not fit 16 bits; \
         subtract the level, in the data and on the device"
    )]
    #[strum(serialize = "level-out-of-range")]
    Level {
        /// Name of the channel.
        channel: String,
        /// The middle of the states' means.
        level: f64,
        /// The least standard deviation of any state.
        narrowest: f64,
    },
    /// A weight or a bias that is not finite in `f32`.
    #[error("output {0}: a weight or its bias is not finite in f32")]
    #[strum(serialize = "not-finite")]
    Output(usize),
    /// A front end, which is in real numbers.
    #[error("fixed point has no front end: export f32, or fit without one")]
    #[strum(serialize = "fixed-point-front")]
    Front,
    /// Emissions that fixed point has no tables for.
    #[error("fixed point holds categorical and gaussian emissions, not {0}: export f32")]
    #[strum(serialize = "fixed-point-emission")]
    Family(&'static str),
    /// More hidden states or outputs than the proof allows for or the host runs.
    #[error("{0}: at most 64 hidden states and 32 outputs with scores")]
    TooLarge(String),
}

crate::kinds!(QuantiseError,
    Self::Compile(error) => error,
    Self::Model { source: error, .. } => error,
);
