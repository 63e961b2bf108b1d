//! Fitting: Baum-Welch, and where it starts from; expectation maximisation of linear dynamical systems, and
//! of those that switch; bandwidths of kernel density estimates.

mod bandwidth;
mod baum_welch;
mod criteria;
mod dynamics;
mod initialise;
mod options;
mod passes;
mod settle;
mod switching;
mod topology;

pub(crate) use bandwidth::distance;
pub use bandwidth::{MOST_POINTS, loo_bandwidth};
pub use baum_welch::fit;
pub use dynamics::{SystemEm, SystemFit};
pub(crate) use options::starting_anywhere;
pub use options::{BaumWelch, Fit, FitError, Restart};
pub(crate) use passes::{Climb, LeafSums};
pub use passes::{ExpectationStep, FittedMoments};
pub use switching::{SwitchingEm, SwitchingFit};
pub use topology::Topology;
