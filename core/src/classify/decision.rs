//! The arithmetic of a decision, over slices: device and host both end here.

use zerocopy::{FromBytes, Immutable, KnownLayout};

use crate::number::Real;

/// How a decision value grows with the length of the stream: the evidence is divided by `1`, `t` or
/// `sqrt(t)`, where `t` counts the samples, missing ones included.
///
/// A plain number underneath, so that it can be read in place from an artefact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(transparent)]
pub struct Normalisation(u32);

impl Normalisation {
    /// The evidence as it is: Bayes classifiers.
    pub const NONE: Self = Self(0);
    /// Evidence a sample: decisions comparable at every length.
    pub const PER_SAMPLE: Self = Self(1);
    /// Evidence a root sample: constant variance where the score has zero mean.
    pub const PER_ROOT_SAMPLE: Self = Self(2);

    /// The number that stands for it in an artefact.
    pub const fn code(self) -> u32 {
        self.0
    }

    /// The normalisation of a code; `None` if it stands for nothing.
    pub const fn from_code(code: u32) -> Option<Self> {
        if code <= 2 { Some(Self(code)) } else { None }
    }

    /// What evidence is multiplied by after `t` samples; one before the first.
    pub fn factor<T: Real>(self, t: u64) -> T {
        match self {
            _ if t == 0 => T::ONE,
            Self::PER_SAMPLE => T::ONE / T::from_count(t),
            Self::PER_ROOT_SAMPLE => T::ONE / T::from_count(t).sqrt(),
            _ => T::ONE,
        }
    }
}

/// A class and by how much it leads.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Decision<T = f32> {
    /// The class decided for.
    pub class: usize,
    /// Its decision value less the next best one's; not negative.
    pub margin: T,
}

/// `bias + factor (sum_m weight_m log p_m(x) + sum_m w_m . score_m(x))`: one output's value.
///
/// `evidence` yields, a model each, the weight on its log-likelihood, its log-likelihood, and the
/// directional derivative for this output. The order of operations is part of the promise that host
/// and device agree bit for bit.
#[inline]
pub fn decision_value<T: Real>(
    bias: T,
    factor: T,
    evidence: impl IntoIterator<Item = (T, T, T)>,
) -> T {
    let mut sum = T::ZERO;
    for (weight, log_likelihood, derivative) in evidence {
        sum = sum + (weight * log_likelihood + derivative);
    }
    bias + factor * sum
}

/// The decision from the outputs' values: the largest of several, or the sign of a single one
/// (class 1 where positive, margin its magnitude).
///
/// No value, no decision: class 0 with margin zero.
pub fn decide<T: Real>(values: &[T]) -> Decision<T> {
    let [first, rest @ ..] = values else { return Decision { class: 0, margin: T::ZERO } };
    if rest.is_empty() {
        return Decision { class: usize::from(*first > T::ZERO), margin: first.abs() };
    }
    let (mut class, mut best, mut second) = (0, *first, T::NEG_INFINITY);
    for (index, &value) in rest.iter().enumerate() {
        if value > best {
            second = best;
            best = value;
            class = index + 1;
        } else {
            second = Real::max(second, value);
        }
    }
    Decision { class, margin: best - second }
}
