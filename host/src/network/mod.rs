//! Bayesian networks over categorical variables: logs, machine states, survey rows, door sensors.

pub mod bif;
mod error;
mod factors;
mod fisher;
mod junction;
mod model;
mod product;
mod sets;
mod shape;
mod triangulate;

pub use bif::{BifError, read_bif, write_bif};
pub use error::NetworkError;
pub use factors::Factor;
pub use fisher::NetworkFisher;
pub use junction::{Calibrated, Inference, JunctionTree, Posterior, Width, joint};
pub use model::Network;
pub use product::{NetworkProduct, ObservedNetwork, Power};
pub use sets::{MeanFeature, Representatives, SampleTest, random_subsets};
pub use shape::{CELLS_AT_MOST, Shape};
