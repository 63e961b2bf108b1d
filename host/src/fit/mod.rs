//! Fitting: expected statistics, Baum-Welch, and where it starts from; expectation maximisation of linear
//! dynamical systems, and of those that switch.

mod baum_welch;
mod criteria;
mod decode;
mod dynamics;
mod expectations;
mod initialise;
mod simulate;
mod switching;
mod topology;

pub use baum_welch::{BaumWelch, Fit, FitError, Restart, fit};
pub use decode::{DecodeError, ViterbiPath};
pub use dynamics::{SystemEm, SystemFit};
pub(crate) use expectations::Accumulate;
pub use expectations::{Expectations, expectations};
pub use switching::{SwitchingEm, SwitchingFit};
pub use topology::Topology;
