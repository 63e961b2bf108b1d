//! The sensor, and the names of what it measures.

pub use crate::driver::Sensor;

/// Names of the channels, each with its unit in brackets: the columns of the table that is recorded.
pub const CHANNELS: [&str; {{count}}] = [{{channels}}];
