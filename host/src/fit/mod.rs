//! Fitting: Baum-Welch, and where it starts from; expectation maximisation of linear dynamical systems, and
//! of those that switch.

mod baum_welch;
mod criteria;
mod dynamics;
mod initialise;
mod switching;
mod topology;

pub use baum_welch::{BaumWelch, Fit, FitError, Restart, fit};
pub use dynamics::{SystemEm, SystemFit};
pub use switching::{SwitchingEm, SwitchingFit};
pub use topology::Topology;
