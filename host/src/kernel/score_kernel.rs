use fishweir_core::ModelError;
use fishweir_core::classify;
use fishweir_core::number::Real;
use serde::{Deserialize, Serialize};

use super::Gram;
use super::parameter::{KernelParameter, NumberParameter, POWER, SIGMA};

/// Hands the kernels on scores to a macro: variant, name, a line about it, and the number that it takes, if any.
macro_rules! for_each_score_kernel {
    ($then:ident!) => {
        $then! {
            Gaussian "gaussian" "Gaussian function of the distance between scores" SIGMA;
            Polynomial "polynomial" "(1 + inner product of scores) ^ power" POWER;
            Cosine "cosine" "Cosine of the angle between scores";
            RootCosine "root-cosine" "Cosine of the angle between scores, after the signed square root of each number";
        }
    };
}
pub(crate) use for_each_score_kernel;

macro_rules! kinds {
    ($($kind:ident $name:literal $about:literal $($number:ident)?;)*) => {
        /// The kernels on scores by name, their numbers still open: [`ScoreKernel`] has them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum ScoreKernelKind {
            $(
                #[doc = concat!($about, ".")]
                $kind,
            )*
        }

        impl ScoreKernelKind {
            /// Name of the kernel.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }

            /// A line about its values.
            #[must_use]
            pub const fn about(self) -> &'static str {
                match self { $(Self::$kind => $about,)* }
            }

            /// Number that it takes.
            #[must_use]
            pub const fn number(self) -> Option<&'static NumberParameter> {
                let number: &[&NumberParameter] = match self { $(Self::$kind => &[$(&$number)?],)* };
                number.first().copied()
            }

            /// Parameters of its values for scores: those of scores, and its number.
            #[must_use]
            pub const fn parameters(self) -> &'static [KernelParameter] {
                match self {
                    $(Self::$kind => &[
                        KernelParameter::Parametrisation,
                        KernelParameter::Information,
                        $(KernelParameter::Number(&$number),)?
                    ],)*
                }
            }
        }
    };
}
for_each_score_kernel!(kinds!);

impl ScoreKernelKind {
    /// The kernel with a value of its number, which others ignore. A value outside the number's range makes a kernel that
    /// [`validate`](ScoreKernel::validate) refuses.
    #[must_use]
    pub fn with(self, number: f64) -> ScoreKernel {
        match self {
            Self::Gaussian => ScoreKernel::gaussian(number),
            Self::Polynomial => {
                let degree = if POWER.range.contains(number) { number as u32 } else { 0 };
                ScoreKernel::Polynomial { degree }
            }
            Self::Cosine => ScoreKernel::Cosine,
            Self::RootCosine => ScoreKernel::RootCosine,
        }
    }

    /// Describes the kernel, with its number if it is settled, before `Fisher scores`.
    #[must_use]
    pub fn words(self, number: Option<f64>) -> String {
        match (self, number) {
            (Self::Gaussian, Some(sigma)) => format!("Gaussian of width {sigma} on"),
            (Self::Gaussian, None) => "Gaussian kernel on".into(),
            (Self::Polynomial, Some(power)) => format!("polynomial kernel of degree {power} on"),
            (Self::Polynomial, None) => "polynomial kernel on".into(),
            (Self::Cosine, _) => "cosine of".into(),
            (Self::RootCosine, _) => "cosine of signed roots of".into(),
        }
    }
}

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
    /// The cosine of signed roots, `sign(z_i) sqrt(|z_i|)`, by which Fisher vectors are compared
    /// (F. Perronnin, J. Sanchez and T. Mensink, "Improving the Fisher kernel for large-scale image
    /// classification", ECCV 2010, sections 3.1 and 3.2).
    RootCosine,
}

impl ScoreKernel {
    /// The Gaussian of a width in units of the features, `exp(-|z - z'|^2 / (2 sigma^2))`.
    pub const fn gaussian(sigma: f64) -> Self {
        Self::Gaussian { gamma: 0.5 / (sigma * sigma) }
    }

    /// Transforms features in place before they are compared with any others: the core's
    /// [`prepare`](classify::ScoreKernel::prepare).
    pub fn prepare(self, features: &mut [f64]) {
        self.of_reals(|x| x).prepare(features);
    }

    /// Features as they are stored: [prepared](Self::prepare), and of length one where the kernel is a
    /// cosine; of nothing nothing.
    #[must_use]
    pub fn stored(self, mut features: Vec<f64>) -> Vec<f64> {
        self.prepare(&mut features);
        if matches!(self, Self::Cosine | Self::RootCosine) {
            let length = features.iter().map(|x| x * x).sum::<f64>().sqrt();
            let of_length_one = |x: &mut f64| *x = if length > 0.0 { *x / length } else { 0.0 };
            features.iter_mut().for_each(of_length_one);
        }
        features
    }

    /// Returns whether the values are inner products of [stored](Self::stored) features.
    #[must_use]
    pub const fn is_inner_product(self) -> bool {
        match self {
            Self::Cosine | Self::RootCosine => true,
            Self::Gaussian { .. } | Self::Polynomial { .. } => false,
        }
    }

    /// The kernel of features, [prepared](Self::prepare), with [stored](Self::stored) ones: the core's,
    /// in `f64`.
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
            Self::RootCosine => {
                let mut roots = features.to_vec();
                roots.iter_mut().for_each(|row| self.prepare(row));
                Self::Cosine.gram(&roots)
            }
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
            Self::RootCosine => classify::ScoreKernel::RootCosine,
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
