//! Linear dynamical systems: states that are vectors, moved by a matrix, seen through another, with
//! Gaussian noise on both.
//!
//! ```text
//! s_0 ~ N(mu, Sigma)      s_t = A s_t-1 + N(0, Q)      x_t = C s_t + N(0, R)
//! ```
//!
//! What hidden Markov models are to states that can be counted these are to states that move: the
//! [`Kalman`] filter is their [forward recursion](crate::filter::Forward), and [`Dynamics`] a
//! [`StreamModel`](crate::classify::StreamModel), so that a bank of them classifies streams.
//!
//! `N` numbers of a state, `D` channels, `C` directions.
//!
//! | what | reads | state (reals) | multiply-adds per sample |
//! |---|---|---|---|
//! | [`Kalman`] | log-likelihood, filtered and predicted states | `N^2 + N` | `2 N^3 + D (2 N^2 + 3 N)` |
//! | [`Marginal`](crate::emission::Marginal) of [`Kalman`] | the same of samples that may lack channels | `N^2 + N` | the same, and `M D (N + D)` where `M` channels are missing |
//! | [`Kalman`] over [`Dual`](crate::number::Dual) parameters | `C` directional derivatives too | `(1 + C)` times | `(1 + 2C)` times |

mod belief;
mod channels;
mod covariance;
mod kalman;
mod marginal;
mod model;
mod parameters;
mod squared;

pub use belief::{GaussianBelief, Innovation};
pub use channels::Channels;
pub use covariance::Covariance;
pub use kalman::{Kalman, KalmanState};
pub use model::Dynamics;
pub use parameters::Parameters;
pub use squared::SquaredDensity;
