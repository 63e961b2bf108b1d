//! Models whose hidden state is a vector: linear dynamical systems, systems that switch between several,
//! and linear-Gaussian networks.
//!
//! ```text
//! s_0 ~ N(mu, Sigma)      s_t = A s_t-1 + N(0, Q)      x_t = C s_t + N(0, R)
//! ```
//!
//! | what | file |
//! |---|---|
//! | [`LinearSystem`]: likelihood, draws, the core's model of it | `system.rs` |
//! | [`SwitchingSystem`]: a chain of modes, each with an `A` and a `Q` of its own | `switching.rs` |
//! | [`LinearNetwork`]: scalars, each a sum of those before it | `network.rs` |
//! | [`Smoothed`] states, and what is expected of them: for fitting and for scores | `smooth.rs` |
//! | filters at run-time sizes, by the core's | `motion.rs` |
//!
//! Systems are fitted by [`crate::fit::SystemEm`] and [`crate::fit::SwitchingEm`]; all are compared by
//! [`crate::kernel::between`].

mod error;
mod motion;
mod network;
mod smooth;
mod switching;
mod system;

pub use error::{MOST_STATES, SystemError};
pub(crate) use motion::{Motion, Move, Start, WhitenedChannels, factors};
pub use network::LinearNetwork;
pub(crate) use smooth::{Expected, SmoothedState, StartMoments, StepMoments, smooth};
pub use smooth::{Smoothed, SystemScore};
pub use switching::SwitchingSystem;
pub use system::{LinearSystem, Moments};
pub(crate) use system::{dense, rows_of};

/// A matrix by its rows.
pub type Matrix = Vec<Vec<f64>>;
