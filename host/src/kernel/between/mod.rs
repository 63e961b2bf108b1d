//! Kernels between fitted models: how alike are two recordings, two machines, two days, whatever their
//! lengths?
//!
//! ```text
//! probability product   k(p, q) = integral p(x)^rho q(x)^rho dx
//! mean map              k(p, q) = E exp(-lambda/2 |x - y|^2),   x from p, y from q
//! ```
//!
//! Every kernel here is a [`ModelKernel`], which gives `log k` of two models; matrices of all pairs are
//! normalised from the logarithms, so that no length underflows.
//!
//! | kernel | of | file |
//! |---|---|---|
//! | [`DistributionKernel`] | single distributions, mixtures, kernel density estimates | `distribution.rs` |
//! | [`GammaProduct`] | gamma and exponential distributions | `gamma.rs` |
//! | [`MultinomialProduct`], [`MultinomialSeries`], [`HeatKernel`] | multinomials; their distances | `multinomial.rs` |
//! | [`Bhattacharyya`] | members of an [`ExponentialFamily`], by their cumulant | `exponential.rs` |
//! | [`SymmetricKl`] | what has a [`Divergence`] | `divergence.rs` |
//! | [`HmmKernel`] | hidden Markov models, over sequences of one length | `hmm.rs` |
//! | [`MarkovKernel`] | Markov chains of any order, over strings of one length | `markov.rs` |
//! | [`FactorialKernel`], exact; [`MeanField`], a lower bound for many chains | factorial hidden Markov models | `factorial.rs`, `mean_field.rs` |
//! | [`NetworkKernel`] | linear-Gaussian networks | `linear.rs` |
//! | [`DynamicsKernel`], exact; [`PerStepKernel`], of their marginals | linear dynamical systems | `dynamics.rs` |
//! | [`SwitchingKernel`], [`SampledSwitchingKernel`], by all paths or some | systems that switch | `switching.rs` |
//! | [`SampledProduct`]: the product kernel by draws | whatever is [`Sampled`] | `sampled.rs` |
//! | the kernel of whatever a [`FittedModel`](crate::model::FittedModel) is | models of one kind | `fitted.rs` |

mod check;
mod compared;
mod distribution;
mod divergence;
mod dynamics;
mod error;
mod exponential;
mod factorial;
mod fitted;
mod gamma;
mod hmm;
mod linear;
mod markov;
mod mean_field;
mod multinomial;
mod sampled;
mod switching;

pub use distribution::DistributionKernel;
pub use divergence::{Divergence, SymmetricKl};
pub use dynamics::{DynamicsKernel, PerStepKernel};
pub use error::{BetweenError, PairError};
pub use exponential::{Bhattacharyya, ExponentialFamily, NaturalFamily};
pub use factorial::{FactorialHmm, FactorialKernel};
pub use fishweir_core::kernel::Affinity;
pub use fitted::{PATHS, divergence_of_fitted, heat_of_fitted, log_gram_of_fitted};
pub use gamma::{Gamma, GammaProduct};
pub use hmm::HmmKernel;
pub use linear::NetworkKernel;
pub use markov::MarkovKernel;
pub use mean_field::MeanField;
pub use multinomial::{HeatForm, HeatKernel, Multinomial, MultinomialProduct, MultinomialSeries};
pub use sampled::{OfLength, Sampled, SampledProduct, Space};
pub use switching::{
    MOST_PATHS, PathWeights, SampledPaths, SampledSwitchingKernel, SwitchingKernel,
};

use super::LogGram;

/// A kernel between models of one kind.
pub trait ModelKernel: Sync {
    /// Type of the models.
    type Model: Sync;

    /// `log k(a, b)`; minus infinity where the kernel is zero. Of `(b, a)` it is the same but for
    /// rounding.
    ///
    /// # Errors
    /// [`BetweenError`] where the kernel is undefined: it diverges, the models differ in shape, a
    /// parameter of the kernel is out of range.
    fn log_value(&self, a: &Self::Model, b: &Self::Model) -> Result<f64, BetweenError>;

    /// Returns whether every matrix of all pairs is positive semi-definite, rounding aside.
    ///
    /// If that is not guaranteed, the spectrum of a matrix ([`Gram::spectrum`](crate::kernel::Gram::spectrum)) decides.
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
