//! Emission families: how a hidden state produces an observation.
//!
//! | family | observation | coordinates of its score | file |
//! |---|---|---|---|
//! | [`Categorical`] | a symbol, `usize` | ratio or logit of each probability | `categorical.rs` |
//! | [`Gaussian`] | channels, `[T; D]`, independent given the state | means; variances or log standard deviations | `gaussian/` |
//! | [`FullGaussian`] | channels, `[T; D]` | means; covariances or their logarithm | `full_gaussian/` |
//! | [`Autoregressive`] | channels and their past, `[T; E]`, each predicted from its own | means; variances or log standard deviations; coefficients | `autoregressive/` |
//! | [`Mixture`] of any of these, also of mixtures | its components' | ratio or logit of each weight; its components' | `mixture.rs` |
//! | [`Marginal`] of any but [`Categorical`] and mixtures | channels that may be missing, `[Option<T>; D]` | its distribution's | `marginal/`, and each family's own |
//! | [`Poisson`] | counts, `[u32; D]` | log rates | `poisson/` |
//! | [`Bernoulli`] | yes or no, `[bool; D]` | logits | `bernoulli.rs` |
//! | [`CategoricalQ15`] | a symbol, `usize` | none: in fixed point, for the filter alone | `fixed/` |
//! | [`CategoricalLogQ15`] | a symbol, `usize` | none: for states that are known | `fixed/` |
//! | [`GaussianQ15`] | integers, `[i16; D]`, independent given the state | none | `fixed/` |
//!
//! Each family is one distribution; an HMM holds one per state. An owned family with const sizes is
//! what firmware links; its borrowed view (`GaussianView`, `CategoricalView`, ...) has sizes
//! known at run time, and the two share their arithmetic.
//!
//! A family over real weights is three things: likelihoods ([`Emission`]), expected statistics with
//! their two readers ([`SufficientStatistics`]: training and scores), and draws ([`Sample`]). Over
//! [`Dual`](crate::number::Dual) weights it is its likelihoods with directions attached.
//!
//! An [`Alphabet`] turns the bytes of a text into symbols.
//!
//! # For contributors: adding a family
//! One file or folder here, its module and its names below, and a line in [`for_each_family`](crate::for_each_family):
//! whatever does something for each family then does it for this one.
//! 1. The owned type over a [`RealParameter`](crate::number::RealParameter), its view if sizes vary, and a constructor
//!    that validates and names the culprit ([`Part::Parameter`](crate::Part)). `#[repr(C)]` and zerocopy's
//!    `FromBytes` let it be read where it lies in flash; [`Stored`] lets an artefact hold it, under the code
//!    in its line.
//! 2. [`Emission`]: [`log_likelihood`](Emission::log_likelihood) with its tangent,
//!    [`check`](Emission::check), [`width`](Emission::width) and [`validate`](Emission::validate).
//!    Where likelihoods need no `exp`, also [`row`](Emission::row), with
//!    [`SCALED`](Emission::SCALED) `false`.
//! 3. [`SufficientStatistics`]: a struct each for the statistics and the score, which `vector_space!`
//!    makes a [`VectorSpace`] from the names of their fields;
//!    [`observe`](SufficientStatistics::observe), the two readers, and
//!    [`with_directions`](SufficientStatistics::with_directions), which attaches directions. Mixtures, expected
//!    statistics, online EM, scores and the tangent filter then work with it.
//! 4. [`Sample`], a few lines.
//! 5. If its distributions can be compared, [`ProductKernel`](crate::kernel::ProductKernel), in `kernel/overlap/`:
//!    kernels between models then work with it.
//! 6. [`Marginalise`] and [`MarginalStatistics`], if channels may be missing, in the same place: the macros of `marginal/`
//!    write what is common.
//! 7. A model in `tests/tests/laws/emission/models.rs`: finite differences then check the tangents and the
//!    score, moments the draws, and the likelihood the estimate; and one in `tests/src/sample.rs`,
//!    with which every recursion is tested.

mod alphabet;
mod autoregressive;
mod bernoulli;
mod by_view;
mod categorical;
mod exact;
mod fixed;
mod full_gaussian;
mod gaussian;
mod marginal;
mod mixture;
mod parametrisation;
mod poisson;
mod probability;
#[cfg(feature = "sample")]
mod sample;
mod statistics;
mod stored;

pub use alphabet::{Alphabet, Letter};
pub use autoregressive::{
    Autoregressive, AutoregressiveMoments, AutoregressiveScore, AutoregressiveStatistics,
    AutoregressiveView,
};
pub use bernoulli::{Bernoulli, BernoulliView};
use by_view::by_view;
pub(crate) use categorical::attach;
pub use categorical::{Categorical, CategoricalView};
pub use exact::{count, yes_or_no};
pub use fixed::{
    CategoricalLogQ15, CategoricalLogQ15View, CategoricalQ15, CategoricalQ15View, ChannelQ15,
    GaussianQ15, GaussianQ15View,
};
pub use full_gaussian::{
    FullGaussian, FullGaussianScore, FullGaussianStatistics, FullGaussianView,
};
pub(crate) use gaussian::is_log_normaliser;
pub use gaussian::{
    Gaussian, GaussianMoments, GaussianScore, GaussianStatistics, GaussianView, Width,
    log_normaliser,
};
pub use marginal::{Marginal, MarginalStatistics, Marginalise, PartialStatistics};
pub use mixture::{Mixture, MixtureScore, MixtureStatistics};
pub use parametrisation::{Parametrisation, Probabilities, Spread};
pub use poisson::{Poisson, PoissonView};
pub use probability::{
    convert_row_direction, convert_row_score, maximise_row, move_row, score_row,
};
#[cfg(feature = "sample")]
pub use sample::Sample;
#[cfg(feature = "sample")]
pub(crate) use sample::{choose, choose_part};
pub(crate) use statistics::vector_space;
pub use statistics::{
    CountScore, CountStatistics, Regularisation, SufficientStatistics, VectorSpace,
};
pub use stored::{Family, Stored};
pub(crate) use stored::{for_each_rate, for_each_real};

use crate::error::{ModelError, ObservationError};
use crate::number::{Number, Parameter};

/// Hands the families, a line each, to a macro by its name: the module, the type, and where an artefact can
/// hold it, its code there and what its size counts, then `past` for one that predicts from the samples before.
/// Mixtures are made of these.
///
/// The host has a file of the same name for each, in this order.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_family {
    ($then:ident!) => {
        $then! {
            categorical Categorical = 1 "symbols";
            gaussian Gaussian = 2 "channels";
            poisson Poisson = 3 "channels";
            bernoulli Bernoulli = 4 "channels";
            full_gaussian FullGaussian;
            autoregressive Autoregressive = 5 "numbers in a row" past;
        }
    };
}

/// Likelihoods of one observation, a state each, relative to one log scale:
/// `b_j(x) = likelihood[j] exp(log_scale)`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Row<W: Parameter, const N: usize> {
    /// Relative likelihoods, `[state]`.
    pub likelihood: [W; N],
    /// Logarithm of their common scale.
    pub log_scale: W::LogScale,
}

/// One emission distribution.
///
/// Over real weights it is the distribution alone. Over [`Dual`](crate::number::Dual) weights it
/// also knows how its log-likelihood changes along the directions that were attached to it.
pub trait Emission: Sized {
    /// Type in which the distribution's parameters are stored.
    type Weight: Parameter;
    /// Type of one observation.
    type Observation: ?Sized;

    /// `true` if rows carry a log scale. Families that need no `exp` set `false` and save the cost.
    const SCALED: bool = true;

    /// `log b(x)` as the value and its rate of change along each direction as the tangent.
    ///
    /// An observation that cannot be is `-inf`; one that is no observation at all (NaN, a symbol
    /// outside the alphabet) is `-inf` or NaN, and [`check`](Self::check) tells which.
    fn log_likelihood(&self, x: &Self::Observation) -> <Self::Weight as Parameter>::Log;

    /// The row of relative likelihoods of one observation: the largest is one, so that an
    /// observation far from every state is improbable, not impossible. `None` where `x` is seen to
    /// be no observation at all, or one [too far](crate::number::MIN_LOG_DENSITY_EXP) from every state.
    ///
    /// Cost: `N` log-likelihoods and `N` exponentials.
    #[inline(always)]
    fn row<const N: usize>(
        states: &[Self; N],
        x: &Self::Observation,
    ) -> Option<Row<Self::Weight, N>> {
        let (likelihood, log_scale) = Self::Weight::likelihoods(|j| states[j].log_likelihood(x))?;
        Some(Row { likelihood, log_scale })
    }

    /// Checks whether `x` is an observation of this family.
    ///
    /// # Errors
    /// [`ObservationError::NotFinite`] or [`ObservationError::UnknownSymbol`].
    fn check(&self, x: &Self::Observation) -> Result<(), ObservationError>;

    /// Returns whether nothing of `x` was observed: then it is a missing sample. Only [`Marginal`] has such observations.
    #[inline(always)]
    fn is_missing(_: &Self::Observation) -> bool {
        false
    }

    /// Number of entries of the longest part: symbols, channels or components. A mixture names entry `e` of its component `m` as
    /// `m width + e`.
    fn width(&self) -> usize {
        1
    }

    /// A reading of a recursion over these states in the model's own units. Formats whose rates of
    /// change have a unit of their own scale them here; all others leave it as it is.
    #[inline(always)]
    fn in_units<const N: usize>(
        _states: &[Self; N],
        reading: <<Self::Weight as Parameter>::Number as Number>::Reading,
    ) -> <<Self::Weight as Parameter>::Number as Number>::Reading {
        reading
    }

    /// Checks that the parameters are those of a distribution.
    ///
    /// # Errors
    /// Names the first parameter that is not, with row 0.
    fn validate(&self) -> Result<(), ModelError>;
}
