//! Fitting: Baum-Welch, and where it starts from.

mod baum_welch;
mod criteria;
mod initialise;
mod topology;

pub use baum_welch::{BaumWelch, Fit, FitError, Restart, fit};
pub use topology::Topology;
