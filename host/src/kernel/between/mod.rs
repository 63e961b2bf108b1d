//! Kernels between fitted models: how alike are two recordings, two machines, two days, whatever their
//! lengths?
//!
//! ```text
//! probability product   k(p, q) = integral p(x)^rho q(x)^rho dx
//! mean map              k(p, q) = E exp(-lambda/2 |x - y|^2),   x from p, y from q
//! ```
//!
//! | kernel | between | file |
//! |---|---|---|
//! | [`DistributionKernel`] | single distributions, mixtures, kernel density estimates | `distribution.rs` |
//! | [`GammaProduct`] | gamma and exponential distributions | `gamma.rs` |
//! | [`MultinomialProduct`], [`MultinomialSeries`], [`HeatKernel`] | multinomials; their distances | `multinomial.rs` |
//! | [`Bhattacharyya`] | members of an [`ExponentialFamily`], by their cumulant | `exponential.rs` |
//! | [`SymmetricKl`] | what has a [`Divergence`] | `divergence.rs` |
//! | [`HmmKernel`] | hidden Markov models, over sequences of one length | `hmm.rs` |
//! | [`FactorialKernel`] | factorial hidden Markov models, exact | `factorial.rs` |
//! | [`MeanField`] | the same, a lower bound for many chains | `mean_field.rs` |
//!
//! Every kernel here is a [`ModelKernel`], which gives `log k` of two models; matrices of all pairs are
//! normalised from the logarithms, so that no length underflows.

mod check;
mod compared;
mod distribution;
mod divergence;
mod error;
mod exponential;
mod factorial;
mod gamma;
mod hmm;
mod mean_field;
mod multinomial;

pub use distribution::DistributionKernel;
pub use divergence::{Divergence, SymmetricKl};
pub use error::{BetweenError, PairError};
pub use exponential::{Bhattacharyya, ExponentialFamily, NaturalFamily};
pub use factorial::{FactorialHmm, FactorialKernel};
pub use fishweir_core::kernel::Measure;
pub use gamma::{Gamma, GammaProduct};
pub use hmm::HmmKernel;
pub use mean_field::MeanField;
pub use multinomial::{HeatForm, HeatKernel, Multinomial, MultinomialProduct, MultinomialSeries};

use super::LogGram;

/// A kernel between models of one kind.
pub trait ModelKernel: Sync {
    /// What it compares.
    type Model: Sync;

    /// `log k(a, b)`; minus infinity where the kernel is zero. Of `(b, a)` it is the same but for
    /// rounding.
    ///
    /// # Errors
    /// [`BetweenError`] where the kernel is undefined: it diverges, the models differ in shape, a
    /// parameter of the kernel is out of range.
    fn log_value(&self, a: &Self::Model, b: &Self::Model) -> Result<f64, BetweenError>;

    /// Whether every matrix of all pairs is positive semi-definite, rounding aside. Where it is not
    /// promised, reports say so and show the spectrum.
    fn is_positive_semidefinite(&self) -> bool {
        true
    }

    /// `log k` of all pairs, in parallel; each pair is computed once.
    ///
    /// # Errors
    /// [`PairError`] naming a pair whose kernel is undefined.
    fn log_gram(&self, models: &[Self::Model]) -> Result<LogGram, PairError>
    where
        Self: Sized,
    {
        LogGram::try_from_fn(models.len(), |row, column| {
            let value = self.log_value(&models[row], &models[column]);
            value.map_err(|why| PairError { row, column, why })
        })
    }
}
