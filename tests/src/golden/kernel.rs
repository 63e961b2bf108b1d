//! What the kernels' files have in common.

use crate::checks::try_after;
use fishweir_core::filter::Streaming;
use std::borrow::Borrow;

use super::compare::Comparison;
use super::schema::Row;
use crate::rounding::Tolerance;

/// What rounding may add to a kernel of sums and products of non-negative numbers, none of which
/// cancel: relative errors add, `steps` roundings along any hidden model, and a logarithm is rounded
/// by its size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slack {
    unit: f64,
    steps: f64,
    log: f64,
}

impl Slack {
    /// For a kernel whose logarithm is near `log`.
    pub(super) fn new(unit: f64, steps: f64, log: f64) -> Self {
        Self { unit, steps, log: if log.is_finite() { log.abs() } else { 0.0 } }
    }

    /// Of the logarithm.
    pub(super) fn log(self) -> Tolerance {
        Tolerance::absolute(self.unit * (self.steps + 4.0 * self.log + 4.0))
    }

    /// Of the kernel, read as the exponential of its logarithm.
    pub(super) fn value(self) -> Tolerance {
        Tolerance::relative(self.log().absolute)
    }
}

/// The reading after a block of samples, `None` where one is missing.
pub(super) fn after<R: Streaming, X: Borrow<R::Observation>>(
    recursion: R,
    samples: impl IntoIterator<Item = Option<X>>,
) -> Result<R::Reading, String> {
    try_after(recursion, samples).map(|stream| stream.read()).map_err(|error| error.to_string())
}

/// Symbols as a stream brings them.
pub(super) fn all(symbols: &[usize]) -> impl Iterator<Item = Option<&usize>> {
    symbols.iter().map(Some)
}

/// Compares one kernel with what a file expects of its logarithm and of itself.
pub(super) fn compare_kernel(comparison: &mut Comparison, log: f64, slack: Slack) {
    comparison.field("log_kernel", log, slack.log());
    comparison.field("kernel", log.exp(), slack.value());
}

/// Compares kernels of all pairs with what a file expects of their logarithms and of themselves;
/// `slack` is that of a kernel whose logarithm is so large.
pub(super) fn compare_gram(
    comparison: &mut Comparison,
    logs: Vec<Row>,
    slack: impl FnOnce(f64) -> Slack,
) {
    let finite = logs.iter().flatten().filter(|log| log.is_finite());
    let slack = slack(finite.fold(0.0, |most: f64, log| most.max(log.abs())));
    let kernels: Vec<Row> =
        logs.iter().map(|row| row.iter().map(|log| log.exp()).collect()).collect();
    comparison.field("log_gram", logs, slack.log());
    comparison.field("gram", kernels, slack.value());
}
