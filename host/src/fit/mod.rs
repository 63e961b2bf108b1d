//! Fitting: expected statistics, Baum-Welch, and where it starts from.

mod baum_welch;
mod criteria;
mod decode;
mod expectations;
mod initialise;
mod simulate;
mod topology;

pub use baum_welch::{BaumWelch, Fit, FitError, Restart, fit};
pub use decode::{DecodeError, ViterbiPath};
pub(crate) use expectations::Accumulate;
pub use expectations::{Expectations, expectations};
pub use topology::Topology;
