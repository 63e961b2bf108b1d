//! Constant memory: recursions that stream. A state never grows, and every reading is valid after
//! every sample.
//!
//! `N` states, `C` directions, `P = N + N^2 + N S` statistics of which an emission has `S`.
//!
//! | recursion | reads | state (reals) | multiply-adds per sample |
//! |---|---|---|---|
//! | [`Forward`] | log-likelihood, filtered and predicted states | `N` | `N^2 + N` |
//! | [`Forward`] over [`Dual`](crate::number::Dual) weights: the tangent filter | `C` directional derivatives too | `N (1 + C)` | `(1 + 2C) (N^2 + N)` |
//! | [`Forgetting`] | the same, the past fading | and `2 (1 + C)` | the same, and a logarithm |
//! | [`RollingLogLikelihood`] | the same, of the last samples given those before | and `M (3 + 2C)` for `M` marks | the same |
//! | [`Window`] over any of these | the same, of the last samples alone | `K` times for `K` filters | `K` times |
//! | [`Statistics`] | expected statistics: smoothing without looking back | `P (N + 2)` | `P N^2` |
//! | [`OnlineEm`] | a model that adapts to the stream | `P N` and a model | `P N^2` |
//!
//! What no observation tells is the same to all of them: a missing sample is a step of the chain, a
//! likelihood of one, and no observation of any state.

mod adapter;
mod batch;
mod evidence;
mod expected;
mod forgetting;
mod forgetting_factor;
mod forward;
mod known;
mod moments;
mod online_em;
#[cfg(feature = "heapless")]
mod recent;
mod recursion;
mod statistics;
#[cfg(feature = "heapless")]
mod window;

pub use adapter::Adapter;
pub use batch::Beliefs;
pub use evidence::Evidence;
pub use expected::ExpectedStatistics;
pub use forgetting::{FadingBelief, Forgetting};
pub use forgetting_factor::{ForgettingFactor, SettingError};
pub(crate) use forward::impossible;
pub use forward::{Belief, Forward};
pub use online_em::{Adapting, OnlineEm, StepSize};
#[cfg(feature = "heapless")]
pub use recent::{RecentState, RollingLogLikelihood};
pub use recursion::{BlockError, Stream, Streaming};
pub use statistics::{Statistics, StatisticsState};
#[cfg(feature = "heapless")]
pub use window::{Window, WindowState, Windowed};
