//! The kinds of classifier.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::kernel::parameter::{NumberParameter, POWER, SIGMA};
use crate::kernel::{ScoreKernelKind, for_each_score_kernel};

/// The classifiers. The first six are linear in log-likelihoods, scores or statistics, and compile to the
/// same stream; the others are kernel machines on the scores that
/// `Fisher` takes, and go on a device with the whole score and their support vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClassifierKind {
    /// Maximum-likelihood Bayes: a model per class, the largest log-likelihood plus log-prior wins.
    Bayes,
    /// A machine on Fisher scores.
    Fisher,
    /// A machine on log-odds of pairs of classes and their tangents: the TOP kernel.
    Top,
    /// A machine on expected counts of symbols and states: the marginalised count kernel of first
    /// order; on channels, expected moments.
    Count,
    /// A machine on expected counts of symbols and states and of transitions, each index mixed: the latent
    /// mean map kernel. Symbols only.
    #[serde(rename = "latent_mean_map")]
    LatentMap,
    /// A machine on counts of words of symbols, each index mixed: the empirical mean map kernel. It has no
    /// models. Symbols only.
    #[serde(rename = "empirical_mean_map")]
    EmpiricalMap,
    /// A kernel machine on Fisher scores; does not compile: support vectors in flash.
    #[serde(untagged)]
    OnScores(ScoreKernelKind),
}

macro_rules! all {
    ($($kind:ident $name:literal $about:literal $($number:ident)?;)*) => {
        impl ClassifierKind {
            /// All of them.
            pub const ALL: &[Self] = &[
                Self::Bayes,
                Self::Fisher,
                Self::Top,
                Self::Count,
                Self::LatentMap,
                Self::EmpiricalMap,
                $(Self::OnScores(ScoreKernelKind::$kind),)*
            ];
        }
    };
}
for_each_score_kernel!(all!);

impl ClassifierKind {
    /// Returns whether it is linear in its models' outputs, so that it compiles to directions (or needs none).
    #[must_use]
    pub fn compiles(self) -> bool {
        !matches!(self, Self::OnScores(_))
    }

    /// Returns whether a kernel on scores takes a number.
    #[must_use]
    pub fn takes(self, number: &NumberParameter) -> bool {
        matches!(self, Self::OnScores(kernel) if kernel.number() == Some(number))
    }

    /// Returns whether its training reads an option, by the name that `fishweir fit` has for it, underscores for hyphens. What
    /// every kind reads, and an unknown name, are read.
    #[must_use]
    pub fn reads(self, option: &str) -> bool {
        use ClassifierKind::{Bayes, EmpiricalMap, Fisher, LatentMap, Top};
        match option {
            // Bayes classifiers are trained on no copies, and choose no mirror image.
            "learner" | "c" | "normalisation" | "scaling" | "copies" | "vectors" | "axial"
            | "rotation" | "gain" => self != Bayes,
            "lags" | "front" => self.compiles() && self != EmpiricalMap,
            "emission" | "components" | "states" | "topology" | "restarts" | "seed"
            | "iterations" | "tolerance" => self != EmpiricalMap,
            "score_model" => ![Bayes, Top, EmpiricalMap].contains(&self),
            "no_likelihood" => self == Fisher || !self.compiles(),
            "landmarks" => !self.compiles(),
            "lambda" => [LatentMap, EmpiricalMap].contains(&self),
            "order" => self == EmpiricalMap,
            "sigma" => self.takes(&SIGMA),
            "power" => self.takes(&POWER),
            _ => true,
        }
    }

    /// Options that only series of channels give an effect, as [`reads`](Self::reads) names them.
    pub const OF_CHANNELS: [&str; 12] = [
        "std_floor",
        "front",
        "lags",
        "codebooks",
        "levels",
        "codebook_weight",
        "copies",
        "vectors",
        "axial",
        "rotation",
        "gain",
        "mirror",
    ];

    /// Name of the kind.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bayes => "bayes",
            Self::Fisher => "fisher",
            Self::Top => "top",
            Self::Count => "count",
            Self::LatentMap => "latent-mean-map",
            Self::EmpiricalMap => "empirical-mean-map",
            Self::OnScores(kernel) => kernel.name(),
        }
    }

    /// Description of the kind, in a line.
    #[must_use]
    pub fn about(self) -> String {
        match self {
            Self::Bayes => "Maximum-likelihood Bayes: one model per class".into(),
            Self::Fisher => "A linear machine on Fisher scores".into(),
            Self::Top => {
                "A linear machine on log-odds of pairs of classes and their derivatives (TOP kernel)".into()
            }
            Self::Count => "A linear machine on expected counts of symbols and states (marginalised count kernel); \
                            on channels, expected moments"
                .into(),
            Self::LatentMap => {
                "A linear machine on expected counts of symbols, states and transitions, smoothed over each index; \
                 symbols only"
                    .into()
            }
            Self::EmpiricalMap => {
                "A linear machine on counts of words of symbols, smoothed over each position; no models, symbols only"
                    .into()
            }
            Self::OnScores(kernel) => {
                format!("A kernel machine: {} Fisher scores", kernel.words(None))
            }
        }
    }
}

impl fmt::Display for ClassifierKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
