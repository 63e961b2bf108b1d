//! The stream of a stored kernel, by its kind.

use super::stream::KernelStream;
use super::{Deployed, StoredKernel, scores, sequences};

impl StoredKernel {
    /// Before the first sample.
    pub(in crate::deploy) fn stream(&self, of: &Deployed) -> Box<dyn KernelStream<f32> + Send> {
        match self {
            Self::FixedLength(kernel) => sequences::stream(&of.models[0], kernel),
            Self::Scores(kernel) => scores::stream(of, kernel),
        }
    }
}
