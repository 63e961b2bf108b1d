//! The arithmetic of a decision, over slices: device and host both end here.

use zerocopy::{FromBytes, Immutable, KnownLayout};

use crate::number::{Compensated, Real};

/// Normalisation of a decision value by the length of the stream: the evidence is divided by `1`, `t` or
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

    /// The normalisation of a code; `None` if the code is unknown.
    pub const fn from_code(code: u32) -> Option<Self> {
        if code <= 2 { Some(Self(code)) } else { None }
    }

    /// Factor on the evidence after `t` samples; one before the first.
    pub fn factor<T: Real>(self, t: u64) -> T {
        match self {
            _ if t == 0 => T::ONE,
            Self::PER_SAMPLE => T::ONE / T::from_count(t),
            Self::PER_ROOT_SAMPLE => T::ONE / T::from_count(t).sqrt(),
            _ => T::ONE,
        }
    }
}

/// A class and its margin over the runner-up.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Decision<T = f32> {
    /// The class decided for.
    pub class: usize,
    /// Decision value less that of the runner-up: not negative, and infinite if no other class is possible.
    pub margin: T,
}

impl<T: Real> Decision<T> {
    /// The value of a single output, whose sign decides: the estimate of a regression.
    ///
    /// It has the bits of the output, except that zero is positive.
    pub fn value(&self) -> T {
        if self.class == 0 { T::ZERO - self.margin } else { self.margin }
    }
}

/// An output's value in the making: exact enough that two outputs are subtracted before they are
/// rounded, however large both are.
///
/// ```text
/// bias + factor ( sum_m weight_m log p_m(x) + sum_m w_m . score_m(x) )
/// ```
///
/// in double-word arithmetic: after `10^8` samples of a nat each, some `10^-5` in `f32`.
///
/// A model that is [ruled out](crate::kernel::BankState) has log-likelihood minus infinity and no score.
/// Its score counts as zero, its expectation under the model. Its log-likelihood decides as that of a
/// model under which the stream were ever less likely would in the end: what `weight_m` adds up to over
/// the models ruled out comes first, the less the better, and the rest decides between equals. So a
/// Bayes classifier's class is gone, one of two classes wins for good where its rival's model is out,
/// and a classifier on scores alone goes on with those that are left.
///
/// The order of operations is part of the promise that host and device agree bit for bit. RAM: 3 reals.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Output<T> {
    /// The weight on log-likelihoods of minus infinity.
    ruled_out: T,
    sum: Compensated<T>,
}

impl<T: Real> Output<T> {
    /// No evidence.
    pub const NONE: Self = Self { ruled_out: T::ZERO, sum: Compensated::ZERO };

    /// Adds a model's evidence, `[high part, low part]` of each: its log-likelihood, and the directional
    /// derivative for this output where there is one.
    #[inline]
    pub fn add(&mut self, weight: T, log_likelihood: [T; 2], derivative: Option<[T; 2]>) {
        if weight != T::ZERO {
            let [high, low] = log_likelihood;
            self.sum.add_sum(Compensated::from_parts(high, low).times(weight));
        }
        if let Some(derivative) = derivative {
            self.add_evidence(derivative);
        }
    }

    /// Adds evidence that no model gives, `[high part, low part]`.
    #[inline]
    pub fn add_evidence(&mut self, [high, low]: [T; 2]) {
        self.sum.add_sum(Compensated::from_parts(high, low));
    }

    /// Adds the weight on the log-likelihood of a model that is ruled out.
    #[inline]
    pub fn rule_out(&mut self, weight: T) {
        self.ruled_out = self.ruled_out + weight;
    }

    /// All evidence times a factor, and the bias.
    #[inline]
    pub fn finish(&mut self, factor: T, bias: T) {
        if factor != T::ONE {
            self.sum = self.sum.times(factor);
        }
        self.sum.add(bias);
    }

    /// The value, rounded: infinite where models that are ruled out decide.
    #[inline]
    pub fn value(&self) -> T {
        infinite(self.ruled_out).unwrap_or_else(|| self.sum.total())
    }

    /// Difference between this value and another, subtracted in double-word arithmetic.
    #[inline]
    pub fn difference(&self, other: &Self) -> T {
        let difference = self.ruled_out - other.ruled_out;
        infinite(difference).unwrap_or_else(|| self.sum.difference(&other.sum))
    }
}

/// Returns infinity with the sign opposite to that of the weight; `None` for weight zero.
#[inline]
fn infinite<T: Real>(weight: T) -> Option<T> {
    if weight > T::ZERO {
        Some(T::NEG_INFINITY)
    } else if weight < T::ZERO {
        Some(-T::NEG_INFINITY)
    } else {
        None
    }
}

/// The decision from the outputs' values: the largest of several, or the sign of a single one
/// (class 1 where positive, margin its magnitude).
///
/// No value, no decision: class 0 with margin zero.
pub fn decide<T: Real>(values: &[T]) -> Decision<T> {
    decide_by(values, |&value| value, |&a, &b| a - b)
}

/// Decides from outputs that are not rounded yet.
///
/// The margin is their difference in double-word arithmetic, correct where the values themselves are too large to differ. It is
/// zero only in a tie, and infinite where models that are [ruled out](Output) decide.
pub fn decide_exactly<T: Real>(outputs: &[Output<T>]) -> Decision<T> {
    decide_by(outputs, Output::value, Output::difference)
}

#[inline(always)]
fn decide_by<V, T: Real>(
    values: &[V],
    rounded: impl Fn(&V) -> T,
    less: impl Fn(&V, &V) -> T,
) -> Decision<T> {
    let [first, rest @ ..] = values else { return Decision { class: 0, margin: T::ZERO } };
    if rest.is_empty() {
        let value = rounded(first);
        return Decision { class: usize::from(value > T::ZERO), margin: value.abs() };
    }
    let (mut class, mut best, mut second) = (0, first, None);
    for (index, value) in rest.iter().enumerate() {
        if less(value, best) > T::ZERO {
            second = Some(best);
            best = value;
            class = index + 1;
        } else if second.is_none_or(|second| less(value, second) > T::ZERO) {
            second = Some(value);
        }
    }
    Decision { class, margin: second.map_or(T::ZERO, |second| less(best, second)) }
}
