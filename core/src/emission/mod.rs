//! Emission families: how a hidden state produces an observation.
//!
//! | family | observation | file |
//! |---|---|---|
//! | [`Categorical`] | a symbol, `usize` | `categorical.rs` |
//! | [`Gaussian`] | channels, `[T; D]`, independent given the state | `gaussian.rs` |
//!
//! Each family is one distribution; an HMM holds one a state. An owned family with const sizes is
//! what firmware links; its borrowed view ([`GaussianView`], [`CategoricalView`]) has sizes known at
//! run time and is where the arithmetic stands, once.
//!
//! # For contributors: adding a family
//! 1. One file here: the owned type, its view if sizes vary, `new` that validates and names the
//!    culprit, and [`Emission`]: [`log_likelihood`](Emission::log_likelihood) with its tangent,
//!    [`check`](Emission::check) and [`validate`](Emission::validate).
//! 2. Where likelihoods need no `exp`, override [`row`](Emission::row) and set
//!    [`SCALED`](Emission::SCALED) to `false`.
//! 3. Add a sample model to `tests/src/sample.rs`: the laws then test the family.

mod categorical;
mod gaussian;
mod parametrisation;
mod probability;
mod sample;
mod statistics;

pub(crate) use categorical::attach;
pub use categorical::{Categorical, CategoricalView};
pub use gaussian::{Gaussian, GaussianScore, GaussianStatistics, GaussianView, log_normaliser};
pub use parametrisation::{Parametrisation, Probabilities, Spread};
pub use probability::{
    convert_row_direction, convert_row_score, maximise_row, move_row, score_row,
};
pub use sample::Sample;
pub(crate) use sample::choose;
pub(crate) use statistics::vector_space;
pub use statistics::{Regularisation, SufficientStatistics, VectorSpace};

use crate::error::{ModelError, ObservationError};
use crate::number::{Real, Weight};

/// Likelihoods of one observation, a state each, relative to one log scale:
/// `b_j(x) = likelihood[j] exp(log_scale)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<W: Weight, const N: usize> {
    /// Relative likelihoods, `[state]`.
    pub likelihood: [W; N],
    /// Logarithm of what they are relative to.
    pub log_scale: W::Real,
}

/// One emission distribution.
///
/// Over real weights it is the distribution alone. Over [`Dual`](crate::number::Dual) weights it
/// also knows how its log-likelihood changes along the directions that were attached to it.
pub trait Emission: Sized {
    /// What the distribution's parameters are stored as.
    type Weight: Weight;
    /// What it emits.
    type Observation: ?Sized;

    /// Whether rows carry a log scale. Families that need no `exp` say `false` and pay for none.
    const SCALED: bool = true;

    /// `log b(x)` as the value and its rate of change along each direction as the tangent.
    ///
    /// An observation that cannot be is `-inf`; one that is no observation at all (NaN, a symbol
    /// outside the alphabet) is `-inf` or NaN, and [`check`](Self::check) tells which.
    fn log_likelihood(&self, x: &Self::Observation) -> Self::Weight;

    /// The row of relative likelihoods of one observation: the largest is one, so that an
    /// observation far from every state is improbable, not impossible. `None` where `x` is seen to
    /// be no observation at all.
    ///
    /// Cost: `N` log-likelihoods and `N` exponentials.
    #[inline(always)]
    fn row<const N: usize>(
        states: &[Self; N],
        x: &Self::Observation,
    ) -> Option<Row<Self::Weight, N>> {
        let mut likelihood = [Self::Weight::constant(Real::NEG_INFINITY); N];
        let mut log_scale = <Self::Weight as Weight>::Real::NEG_INFINITY;
        for (log, state) in likelihood.iter_mut().zip(states) {
            *log = state.log_likelihood(x);
            log_scale = Real::max(log_scale, log.value());
        }
        for log in &mut likelihood {
            *log = log.exp_relative_to(log_scale);
        }
        Some(Row { likelihood, log_scale })
    }

    /// Whether `x` is an observation of this family at all.
    ///
    /// # Errors
    /// [`ObservationError::NotFinite`] or [`ObservationError::UnknownSymbol`].
    fn check(&self, x: &Self::Observation) -> Result<(), ObservationError>;

    /// Whether the parameters are those of a distribution.
    ///
    /// # Errors
    /// Names the first parameter that is not, with row 0.
    fn validate(&self) -> Result<(), ModelError>;
}
