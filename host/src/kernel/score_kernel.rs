use fishweir_core::ModelError;
use fishweir_core::classify;
use fishweir_core::number::Real;
use serde::{Deserialize, Serialize};

use super::Gram;

/// A kernel on features of sequences, `z`: whitened scores or scores themselves. The core's
/// [`ScoreKernel`](classify::ScoreKernel), as files have it; inner products need none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScoreKernel {
    /// `exp(-gamma |z - z'|^2)`, which gives typical sequences, whose scores are small, a norm too
    /// (Shawe-Taylor and Cristianini, "Kernel Methods for Pattern Analysis", 2004, remarks 12.28 and
    /// 12.29).
    Gaussian {
        /// Positive.
        gamma: f64,
    },
    /// `(1 + z . z')^degree` (Jaakkola and Haussler, "Exploiting generative models in discriminative
    /// classifiers", 1998, section 4).
    Polynomial {
        /// 1 to 64.
        degree: u32,
    },
    /// `z . z' / (|z| |z'|)`.
    Cosine,
}

impl ScoreKernel {
    /// The Gaussian of a width in units of the features, `exp(-|z - z'|^2 / (2 sigma^2))`.
    pub const fn gaussian(sigma: f64) -> Self {
        Self::Gaussian { gamma: 0.5 / (sigma * sigma) }
    }

    /// The kernel of features: the core's, in `f64`. Of a cosine the stored one has length one.
    #[must_use]
    pub fn value(self, features: &[f64], stored: &[f64]) -> f64 {
        let mut value = [0.0];
        let log_scale = self.of_reals(|x| x).evaluate(features, [stored], &mut value);
        value[0] * Real::exp(log_scale)
    }

    /// The matrix of features, `[sequence][feature]`.
    ///
    /// # Panics
    /// If rows differ in length: a mistake of the caller, not of a file.
    #[must_use]
    pub fn gram(self, features: &[Vec<f64>]) -> Gram {
        match self {
            // Differences first: norms and products would cancel.
            Self::Gaussian { .. } => {
                Gram::from_fn(features.len(), |i, j| self.value(&features[i], &features[j]))
            }
            // Inner products of many rows come in tiles.
            Self::Polynomial { degree } => {
                let power = i32::try_from(degree).unwrap_or(i32::MAX);
                Gram::of_features(features).map(|k| (1.0 + k).powi(power))
            }
            Self::Cosine => Gram::of_features(features).normalised(),
        }
    }

    /// Checks the parameter, as a device rounds it.
    ///
    /// # Errors
    /// The core's.
    pub fn validate(self) -> Result<(), ModelError> {
        self.of_reals(|x| x as f32).validate()
    }

    /// The core's kernel over some real numbers.
    pub(crate) fn of_reals<T: Real>(self, round: impl Fn(f64) -> T) -> classify::ScoreKernel<T> {
        match self {
            Self::Gaussian { gamma } => classify::ScoreKernel::Gaussian { gamma: round(gamma) },
            Self::Polynomial { degree } => classify::ScoreKernel::Polynomial { degree },
            Self::Cosine => classify::ScoreKernel::Cosine,
        }
    }
}

/// The matrix of features under a kernel, or of their inner products.
///
/// # Panics
/// As [`ScoreKernel::gram`].
pub fn gram_of_features(features: &[Vec<f64>], kernel: Option<ScoreKernel>) -> Gram {
    kernel.map_or_else(|| Gram::of_features(features), |kernel| kernel.gram(features))
}
