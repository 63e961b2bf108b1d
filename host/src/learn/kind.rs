//! The kinds of classifier.

use std::fmt;

use serde::{Deserialize, Serialize};

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
    /// A kernel machine with a Gaussian kernel on Fisher scores, `exp(-|z - z'|^2 / (2 sigma^2))`;
    /// does not compile: support vectors in flash.
    Gaussian,
    /// A kernel machine with a polynomial kernel on Fisher scores, `(1 + z . z')^power`; does not
    /// compile: support vectors in flash.
    Polynomial,
    /// A kernel machine with the cosine of Fisher scores, `z . z' / (|z| |z'|)`; does not compile:
    /// support vectors in flash.
    Cosine,
    /// A kernel machine with the cosine of signed roots of Fisher scores, `sign(z_i) sqrt(|z_i|)`, which is
    /// how Fisher vectors are compared: of power and length normalised (F. Perronnin, J. Sanchez and
    /// T. Mensink, Improving the Fisher kernel for large-scale image classification, ECCV 2010); does not
    /// compile: support vectors in flash.
    RootCosine,
}

impl ClassifierKind {
    /// Returns whether it is linear in its models' outputs, so that it compiles to directions (or needs none).
    #[must_use]
    pub fn compiles(self) -> bool {
        !matches!(self, Self::Gaussian | Self::Polynomial | Self::Cosine | Self::RootCosine)
    }
}

impl fmt::Display for ClassifierKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bayes => "bayes",
            Self::Fisher => "fisher",
            Self::Top => "top",
            Self::Count => "count",
            Self::LatentMap => "latent-mean-map",
            Self::EmpiricalMap => "empirical-mean-map",
            Self::Gaussian => "gaussian",
            Self::Polynomial => "polynomial",
            Self::Cosine => "cosine",
            Self::RootCosine => "root-cosine",
        })
    }
}
