use core::fmt;

use super::machine::relative_to_largest;
use crate::error::{ErrorKind, ModelError, Part};
use crate::number::{Real, inner_product, squared_distance};

/// A kernel on whitened scores `z` that is not linear in them.
///
/// Sources: Jaakkola and Haussler, "Exploiting generative models in discriminative classifiers",
/// 1998, sections 2 and 5, whose quadratic kernel `(1 + K)^2` is [`Polynomial`](Self::Polynomial)
/// of degree 2; F. Perronnin, J. Sanchez and T. Mensink, "Improving the Fisher kernel for large-scale
/// image classification", ECCV 2010, sections 3.1, whose normalisation by length is
/// [`Cosine`](Self::Cosine), and 3.2, whose normalisation by a power of a half comes before it in
/// [`RootCosine`](Self::RootCosine).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ScoreKernel<T> {
    /// `exp(-gamma |z - z'|^2)`.
    Gaussian {
        /// Positive.
        gamma: T,
    },
    /// `(1 + z . z')^degree`.
    Polynomial {
        /// Degree of the polynomial, at least 1.
        degree: u32,
    },
    /// `z . z' / (|z| |z'|)`; stored scores have length one. Zero where `z` is.
    Cosine,
    /// The cosine of signed roots, `r_i = sign(z_i) sqrt(|z_i|)`: a few large entries outweigh the
    /// others less. An error `e` of an entry is at most one of `sqrt(2 e)` of its root. Stored scores are
    /// roots, and of length one.
    RootCosine,
}

/// The largest degree of a polynomial: a larger one adds nothing.
const MOST_DEGREE: u32 = 64;

/// Bases of powers from this power of two on are scaled before they are raised.
const LARGE_BASE: i32 = 16;

impl<T: Real> ScoreKernel<T> {
    /// Transforms whitened scores `z` in place before they are compared with any item.
    ///
    /// [`RootCosine`](Self::RootCosine) takes square roots and keeps the signs; the other kernels leave the scores unchanged.
    ///
    /// `F` square roots, which are correctly rounded: the same bits on every machine. Once a reading,
    /// before [`evaluate`](Self::evaluate).
    #[inline]
    pub fn prepare(&self, z: &mut [T]) {
        if matches!(self, Self::RootCosine) {
            for entry in z {
                let root = entry.abs().sqrt();
                *entry = if *entry < T::ZERO { -root } else { root };
            }
        }
    }

    /// Kernel values of whitened scores, [prepared](Self::prepare), with stored ones, over slices:
    /// writes `values[item]` and returns their log scale, as [`KernelValues`](super::KernelValues) has
    /// them.
    ///
    /// `F` multiply-adds per item; one more exponential per item for a Gaussian, `degree` products for a
    /// polynomial, a division for a cosine, and `F` more and a square root in all. Slices are at most
    /// `2^16` long.
    #[inline]
    pub fn evaluate<'s>(
        &self,
        z: &[T],
        stored: impl IntoIterator<Item = &'s [T]>,
        values: &mut [T],
    ) -> T {
        let items = values.iter_mut().zip(stored);
        match *self {
            Self::Gaussian { gamma } => {
                for (value, stored) in items {
                    *value = -(gamma * squared_distance(z, stored));
                }
                relative_to_largest(values)
            }
            Self::Polynomial { degree } => {
                let mut largest = T::ZERO;
                for (value, stored) in items {
                    *value = T::ONE + inner_product(z, stored);
                    largest = Real::max(largest, value.abs());
                }
                let exponent = if largest.is_at_least(LARGE_BASE) { largest.exponent() } else { 0 };
                let factor = T::power_of_two(-exponent);
                for value in values {
                    let base = *value * factor;
                    *value = base;
                    for _ in 1..degree {
                        *value = *value * base;
                    }
                }
                T::times_ln_2(i64::from(exponent) * i64::from(degree))
            }
            Self::Cosine | Self::RootCosine => {
                let length = inner_product(z, z).sqrt();
                let positive = length > T::ZERO;
                for (value, stored) in items {
                    *value = if positive { inner_product(z, stored) / length } else { T::ZERO };
                }
                T::ZERO
            }
        }
    }

    /// Exponentials and square roots per decision, for `items` stored scores of `entries` entries.
    #[must_use]
    pub const fn exponentials_and_roots(&self, items: usize, entries: usize) -> (usize, usize) {
        match self {
            Self::Gaussian { .. } => (items, 0),
            Self::Polynomial { .. } => (0, 0),
            Self::Cosine => (0, 1),
            Self::RootCosine => (0, entries + 1),
        }
    }

    /// Checks the parameter.
    ///
    /// # Errors
    /// A width that is not finite and positive, or a degree outside 1 to 64.
    pub fn validate(&self) -> Result<(), ModelError> {
        let kind = match *self {
            Self::Gaussian { gamma } if !gamma.is_finite() => ErrorKind::NotFinite,
            Self::Gaussian { gamma } if gamma <= T::ZERO => ErrorKind::NotPositive,
            Self::Polynomial { degree } if !(1..=MOST_DEGREE).contains(&degree) => {
                ErrorKind::NotInRange
            }
            Self::Gaussian { .. } | Self::Polynomial { .. } | Self::Cosine | Self::RootCosine => {
                return Ok(());
            }
        };
        Err(ModelError::new(Part::Kernel, kind, 0, 0))
    }
}

/// Name and parameter.
impl<T: fmt::Display> fmt::Display for ScoreKernel<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gaussian { gamma } => write!(f, "Gaussian (gamma {gamma})"),
            Self::Polynomial { degree } => write!(f, "polynomial (degree {degree})"),
            Self::Cosine => f.write_str("cosine"),
            Self::RootCosine => f.write_str("cosine of signed roots"),
        }
    }
}
