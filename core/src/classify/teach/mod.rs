//! Teaching: classes that a user shows to a device, kept beside those that the model was trained on.
//!
//! A window is compared by its *evidence* `e`: the decision values of the model's outputs, and the log-likelihood per
//! sample under each of its models. No score is needed, so the model's directions are as they were:
//!
//! ```text
//! z      = L (e - centre)                        L' L the inverse of the known classes' common covariance
//! q_c    = -|z - mean_c|^2 / 2                   a known class, of mean_c in training
//! q_t    = -(|z - mean_t|^2 / s + E ln s) / 2    a taught class, mean_t over its k windows, s = 1 + 1/k
//! taught where  max_t q_t > q_c                  c the class that the model decides for
//! ```
//!
//! `q_t` is the logarithm of the predictive density of a normal class whose mean is known from `k` windows alone. A decision on a
//! taught class has the margin `(q_t - q_c) / scale`, in the units of decision values by the scale of the
//! [`Calibration`](super::Calibration), and is rejected as others are.
//!
//! | what | where | bytes |
//! |---|---|---|
//! | [`TeachingBasis`]: `L`, centre and means of `C` known classes | flash | `8 + 4 (E (E + 1) / 2 + E + C E)` |
//! | [`TaughtClasses`]: `T` classes of at most `E` numbers | RAM | `T (4 E + 24) + 8` |
//! | its [record](TaughtClasses::write) | flash, a slot | `16 + T (4 E + 24)` at most |
//!
//! Work per decision: `E (E + 1) / 2 + E (T + 1)` multiply-adds. Work per shown window: `E (E + 1) / 2`.
//!
//! Sources: nearest class mean, Mensink, Verbeek, Perronnin and Csurka, *Distance-based image classification: generalizing to new
//! classes at near-zero cost*, 2013, equations 5 and 9; prototypes, Snell, Swersky and Zemel, *Prototypical networks
//! for few-shot learning*, 2017, equation 1; the predictive density, Murphy, *Conjugate Bayesian analysis of the Gaussian
//! distribution*, 2007, section 2.

mod basis;
mod error;
mod name;
mod record;
mod taught;
#[cfg(test)]
mod tests;

pub use basis::{TeachingBasis, whitened_evidence, window_evidence};
pub use error::TeachError;
pub use name::{ClassName, NAME_LONGEST};
pub use record::RECORD_HEAD;
pub use taught::{TaughtClass, TaughtClasses, TaughtDecision};
