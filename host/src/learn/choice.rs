//! What inner cross-validation chose, and from what.

use serde::Serialize;

use super::features::Scaling;

/// The choice of scaling and C by inner cross-validation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Choice {
    /// The scaling chosen.
    pub scaling: Scaling,
    /// The C chosen.
    pub c: f64,
    /// Inner accuracy of every candidate.
    pub candidates: Vec<Candidate>,
}

impl Choice {
    /// Inner accuracy of what was chosen; zero where nothing was judged.
    pub(super) fn accuracy(&self) -> f64 {
        self.candidates.iter().map(|candidate| candidate.accuracy).fold(0.0, f64::max)
    }
}

/// A candidate of the inner cross-validation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// Its scaling.
    pub scaling: Scaling,
    /// Its C.
    pub c: f64,
    /// Its accuracy over the inner folds.
    pub accuracy: f64,
}
