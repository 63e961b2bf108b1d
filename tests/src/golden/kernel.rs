//! What the kernels' files have in common.

use fishweir_core::filter::{Recursion, Running};

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
pub(super) fn after<'x, R: Recursion>(
    recursion: R,
    samples: impl IntoIterator<Item = Option<&'x R::Observation>>,
) -> Result<R::Reading, String>
where
    R::Observation: 'x,
{
    let mut stream = Running::new(recursion);
    for x in samples {
        match x {
            Some(x) => stream.push(x).map_err(|error| error.to_string())?,
            None => stream.push_missing(),
        }
    }
    Ok(stream.read())
}

/// Symbols as a stream brings them.
pub(super) fn all(symbols: &[usize]) -> impl Iterator<Item = Option<&usize>> {
    symbols.iter().map(Some)
}
