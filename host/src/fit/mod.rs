//! Fitting: expected statistics, Baum-Welch, and where it starts from.

mod baum_welch;
mod expectations;
mod initialise;
mod segment;
mod simulate;
mod spread;
mod topology;

pub use baum_welch::{BaumWelch, Fit, FitError, Restart, fit};
pub(crate) use expectations::Accumulate;
pub use expectations::{EmissionStatistics, Expectations, expectations};
pub(crate) use simulate::{choose, normal};
pub(crate) use spread::centre_and_spread;
pub use topology::Topology;
