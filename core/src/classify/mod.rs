//! Classifiers of streams: any kernel machine that compiles to directions and biases.

mod decision;
mod stream;

pub use decision::{Decision, Normalisation, decide, decision_value};
pub use stream::{StreamClassifier, StreamState};
