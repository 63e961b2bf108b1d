//! The host's run of a stored kernel, with the device's arithmetic and its bits.

use fishweir_core::classify::ScoreOutOfRange;

use super::block::Observation;
use super::error::PushError;

/// A kernel against the stored items, of any size.
pub(super) trait KernelStream<T> {
    fn push(&mut self, x: &Observation<'_, T>) -> Result<(), PushError>;
    fn push_missing(&mut self);
    fn reset(&mut self);
    /// Values `[item]` relative to a common scale, and its logarithm, after `samples` samples.
    fn kernels(&self, samples: u64) -> Result<(Vec<T>, T), ScoreOutOfRange>;
}
