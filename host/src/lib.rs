//! fishweir: fit hidden Markov models and kernel classifiers, evaluate them honestly, and compile
//! them to streams that a microcontroller scores sample by sample.

pub mod batch;
pub mod classifier;
pub mod context;
pub mod data;
pub mod deploy;
pub mod device;
pub mod evaluate;
pub mod files;
pub mod fit;
pub mod kernel;
pub mod learn;
pub mod parity;
pub mod plot;
pub mod report;
pub mod runtime;
