//! Observations of which some channels are missing.
//!
//! | family | what a missing channel does |
//! |---|---|
//! | [`Gaussian`](super::Gaussian), [`Poisson`](super::Poisson), [`Bernoulli`](super::Bernoulli), [`GaussianQ15`](super::GaussianQ15) | its term is left out |
//! | [`FullGaussian`](super::FullGaussian) | the marginal over the channels that are there |
//! | [`Mixture`](super::Mixture) of marginals | each component's marginal |
//! | [`Autoregressive`](super::Autoregressive) | its term is left out; so is that of a channel of which the past is missing |

mod statistics;

pub use statistics::{MarginalStatistics, PartialStatistics};
pub(super) use statistics::{along, there};

use core::fmt::Debug;

use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::{Emission, Family, Row, Stored};
use crate::error::{ModelError, ObservationError};
use crate::number::{Number, Parameter, array_of};

/// A family whose marginal distributions over some of its channels are known.
pub trait Marginalise: Emission<Observation: Sized> {
    /// An observation of which channels may be missing: of channels an [`Option`] each.
    type Partial: Copy + Debug + PartialEq + 'static;

    /// The observation, where every channel is there.
    fn complete(x: &Self::Partial) -> Option<Self::Observation>;

    /// An observation with every channel there.
    fn partial(x: Self::Observation) -> Self::Partial;

    /// Returns whether no channel is present.
    fn is_empty(x: &Self::Partial) -> bool;

    /// The log-likelihood of the channels that are there, and its tangent. With every channel that is
    /// [`log_likelihood`](Emission::log_likelihood), bit for bit; without any it is zero.
    ///
    /// The tangent is that of the marginal. Along a direction of expected statistics a missing channel
    /// counts as what is expected of it, given the state and the other channels.
    fn log_marginal(&self, x: &Self::Partial) -> <Self::Weight as Parameter>::Log;

    /// The row of relative likelihoods of some states: see [`Emission::row`].
    #[inline(always)]
    fn marginal_row<const N: usize>(
        states: [&Self; N],
        x: &Self::Partial,
    ) -> Option<Row<Self::Weight, N>> {
        let (likelihood, log_scale) = Self::Weight::likelihoods(|j| states[j].log_marginal(x))?;
        Some(Row { likelihood, log_scale })
    }

    /// Checks whether the channels that are present are an observation of this family.
    ///
    /// # Errors
    /// As [`Emission::check`].
    fn check_partial(&self, x: &Self::Partial) -> Result<(), ObservationError>;

    /// A reading in the model's own units: see [`Emission::in_units`].
    #[inline(always)]
    fn marginal_in_units<const N: usize>(
        _states: [&Self; N],
        reading: <<Self::Weight as Parameter>::Number as Number>::Reading,
    ) -> <<Self::Weight as Parameter>::Number as Number>::Reading {
        reading
    }
}

/// A distribution whose observations may lack channels: `[Option<f32>; D]` where those of the family are
/// `[f32; D]`.
///
/// ```text
/// log b(x) = log of the integral of the family's b over the channels that are missing
/// ```
///
/// It is a type of its own, so that models whose channels are always there do not pay. A sample with every
/// channel has the family's bits. A sample without any is a missing sample, bit for bit.
///
/// Memory: that of the distribution. An observation takes twice the bytes of one that is complete.
/// Work: that of the family, and a branch per channel; of a Gaussian, a logarithm per missing channel and
/// state, too. A full covariance matrix takes `2 M^2 D` multiply-adds and `M` logarithms per state for `M`
/// missing channels of `D`.
///
/// ```
/// use fishweir_core::emission::{Emission, Gaussian, Marginal};
///
/// # fn main() -> Result<(), fishweir_core::ModelError> {
/// let state = Marginal::new(Gaussian::<2, f64>::new([1.0, -3.0], [4.0, 0.25])?);
/// let first = Gaussian::<1, f64>::new([1.0], [4.0])?;
/// let difference = state.log_likelihood(&[Some(2.0), None]) - first.log_likelihood(&[2.0]);
/// assert!(difference.abs() < 1e-12);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(transparent)]
pub struct Marginal<E>(E);

impl<E> Marginal<E> {
    /// A distribution whose channels may be missing.
    pub const fn new(distribution: E) -> Self {
        Self(distribution)
    }

    /// The distribution over all channels.
    pub const fn distribution(&self) -> &E {
        &self.0
    }
}

impl<E: Marginalise> Emission for Marginal<E> {
    type Weight = E::Weight;
    type Observation = E::Partial;
    const SCALED: bool = E::SCALED;

    #[inline]
    fn log_likelihood(&self, x: &E::Partial) -> <E::Weight as Parameter>::Log {
        self.0.log_marginal(x)
    }

    #[inline]
    fn row<const N: usize>(states: &[Self; N], x: &E::Partial) -> Option<Row<E::Weight, N>> {
        let first = states.first()?;
        // A missing sample is no row of ones: rescaling would leave other bits.
        if E::is_empty(x) {
            return None;
        }
        E::marginal_row(array_of::<&E, N>(&first.0, |j| &states[j].0), x)
    }

    fn check(&self, x: &E::Partial) -> Result<(), ObservationError> {
        self.0.check_partial(x)
    }

    #[inline(always)]
    fn is_missing(x: &E::Partial) -> bool {
        E::is_empty(x)
    }

    fn width(&self) -> usize {
        self.0.width()
    }

    #[inline(always)]
    fn in_units<const N: usize>(
        states: &[Self; N],
        reading: <<E::Weight as Parameter>::Number as Number>::Reading,
    ) -> <<E::Weight as Parameter>::Number as Number>::Reading {
        match states.first() {
            Some(first) => {
                E::marginal_in_units(array_of::<&E, N>(&first.0, |j| &states[j].0), reading)
            }
            None => reading,
        }
    }

    fn validate(&self) -> Result<(), ModelError> {
        self.0.validate()
    }
}

/// A draw with every channel.
#[cfg(feature = "sample")]
impl<E: Marginalise + super::Sample> super::Sample for Marginal<E> {
    fn sample<R: rand_core::Rng + ?Sized>(&self, rng: &mut R) -> E::Partial {
        E::partial(self.0.sample(rng))
    }
}

/// The bytes are those of the distribution; the artefact's shape says that channels may be missing.
impl<E: Marginalise + Stored> Stored for Marginal<E> {
    const FAMILY: Family = E::FAMILY;
    const SIZE: usize = E::SIZE;
    const IN_PART: bool = true;

    fn for_each_real(&self, take: &mut impl FnMut(<E::Weight as Parameter>::Real)) {
        self.0.for_each_real(take);
    }
}

/// All channels, where every one is there.
#[inline(always)]
pub(super) fn complete<X: Copy + Default, const D: usize>(x: &[Option<X>; D]) -> Option<[X; D]> {
    let mut all = [X::default(); D];
    for d in 0..D {
        all[d] = x[d]?;
    }
    Some(all)
}

/// Channels with every one there.
#[inline(always)]
pub(super) fn partial<X: Copy, const D: usize>(x: [X; D]) -> [Option<X>; D] {
    let mut all = [None; D];
    for d in 0..D {
        all[d] = Some(x[d]);
    }
    all
}

/// Returns whether no channel is present.
#[inline(always)]
pub(super) fn is_empty<X, const D: usize>(x: &[Option<X>; D]) -> bool {
    for d in 0..D {
        if x[d].is_some() {
            return false;
        }
    }
    true
}

/// A channel; `None` past the last.
#[inline(always)]
pub(super) fn channel<X: Copy, const D: usize>(x: &[Option<X>; D], d: usize) -> Option<X> {
    x.get(d).copied().flatten()
}

/// Common items of channels of `X`, for [`Marginalise`] in a family's own file.
macro_rules! channels {
    ($x:ty, $size:ident) => {
        type Partial = [Option<$x>; $size];

        #[inline(always)]
        fn complete(x: &[Option<$x>; $size]) -> Option<[$x; $size]> {
            $crate::emission::marginal::complete(x)
        }
        #[inline(always)]
        fn partial(x: [$x; $size]) -> [Option<$x>; $size] {
            $crate::emission::marginal::partial(x)
        }
        #[inline(always)]
        fn is_empty(x: &[Option<$x>; $size]) -> bool {
            $crate::emission::marginal::is_empty(x)
        }
    };
    (finite $x:ty, $size:ident) => {
        $crate::emission::marginal::channels!($x, $size);

        fn check_partial(
            &self,
            x: &[Option<$x>; $size],
        ) -> Result<(), $crate::error::ObservationError> {
            for x in x.iter().flatten() {
                if !x.is_finite() {
                    return Err($crate::error::ObservationError::NotFinite);
                }
            }
            Ok(())
        }
    };
    (any $x:ty, $size:ident) => {
        $crate::emission::marginal::channels!($x, $size);

        fn check_partial(
            &self,
            _: &[Option<$x>; $size],
        ) -> Result<(), $crate::error::ObservationError> {
            Ok(())
        }
    };
}
pub(super) use channels;
