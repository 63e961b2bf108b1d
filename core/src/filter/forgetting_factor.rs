use core::fmt;

use crate::number::Real;

/// Forgetting factor `lambda` of a recursion: each sample multiplies the weight of all earlier ones by `lambda`.
///
/// The weight of a sample `n` samples ago is `lambda^n`; all weights together are
/// `1 / (1 - lambda)`, the *length* of the memory in samples.
///
/// ```
/// use fishweir_core::filter::ForgettingFactor;
///
/// # fn main() -> Result<(), fishweir_core::filter::SettingError> {
/// assert_eq!(ForgettingFactor::<f32>::factor(0.75)?, ForgettingFactor::samples(4.0)?);
/// assert_eq!(ForgettingFactor::<f32>::factor(1.0)?, ForgettingFactor::ENDLESS);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ForgettingFactor<T = f32> {
    /// `1 - lambda`: near `lambda = 1` it is this that needs the digits.
    lost: T,
}

impl<T: Real> ForgettingFactor<T> {
    /// All of the past: `lambda = 1`.
    pub const ENDLESS: Self = Self { lost: T::ZERO };

    /// A factor by `1 - lambda`, which must be between 0 and 1: for statics, which cannot be
    /// checked.
    pub const fn from_one_minus_lambda(lost: T) -> Self {
        Self { lost }
    }

    /// A memory by its factor `lambda`.
    ///
    /// # Errors
    /// [`SettingError::Forgetting`] unless `0 <= lambda <= 1`.
    pub fn factor(lambda: T) -> Result<Self, SettingError> {
        if lambda >= T::ZERO && lambda <= T::ONE {
            Ok(Self { lost: T::ONE - lambda })
        } else {
            Err(SettingError::Forgetting)
        }
    }

    /// A memory by its length in samples: `lambda = 1 - 1 / length`.
    ///
    /// # Errors
    /// [`SettingError::Forgetting`] unless `length >= 1`.
    pub fn samples(length: T) -> Result<Self, SettingError> {
        if length >= T::ONE {
            Ok(Self { lost: T::ONE / length })
        } else {
            Err(SettingError::Forgetting)
        }
    }

    /// `lambda`: what a sample leaves of the past.
    pub fn lambda(self) -> T {
        T::ONE - self.lost
    }

    /// `1 - lambda`: what a sample takes from the past.
    pub fn one_minus_lambda(self) -> T {
        self.lost
    }
}

/// A setting outside its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum SettingError {
    /// A forgetting factor outside `[0, 1]`, or a memory shorter than one sample.
    Forgetting,
    /// Interval between the starts of a window's filters, in samples: at least one.
    Interval,
    /// A step size outside `(0, 1]`, or an exponent outside `(1/2, 1]`.
    StepSize,
    /// A variance floor that is not positive, or a pseudo-count below zero.
    Regularisation,
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Forgetting => "forgetting factor outside 0 to 1, or memory below one sample",
            Self::Interval => "interval of zero samples",
            Self::StepSize => "step size outside (0, 1], or its exponent outside (1/2, 1]",
            Self::Regularisation => "variance floor not positive, or pseudo-count negative",
        })
    }
}

impl core::error::Error for SettingError {}
