//! Classifiers of streams: any kernel machine that compiles to directions and biases; and a detector
//! of change, the classifier of streams that nobody has labelled.

mod change;
mod decision;
mod stream;

pub use change::{ChangeDetector, ChangeReading, ChangeState, Limit, Statistic};
pub use decision::{Decision, Normalisation, decide, decision_value};
pub use stream::{StreamClassifier, StreamState};
