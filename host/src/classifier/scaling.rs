//! Scaling of features for a machine.

use serde::{Deserialize, Serialize};

/// Scaling of the score's entries for the linear machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scaling {
    /// Unscaled scores: the practical Fisher kernel, `K = U_x . U_y` (Jaakkola and Haussler,
    /// "Exploiting generative models in discriminative classifiers", 1998, section 2).
    Practical,
    /// Divided by the root of the diagonal information: the invariant kernel with the information
    /// matrix's diagonal, estimated on the training sequences.
    Diagonal,
    /// Multiplied by the root of the inverse information matrix of each model, with a thousandth of
    /// its mean diagonal for a ridge: the invariant kernel, `K = U_x' (I + ridge)^-1 U_y`
    /// (equation 9). The information is the empirical one, of the training sequences.
    Whitened,
    /// Whitening by the model's own information, over 2 000 sequences drawn from it, as long as the training sequences.
    Sampled,
    /// Whitening by the model's own information, exactly: over all sequences of symbols as long as the training sequences.
    ///
    /// The training sequences must have one length.
    Exact,
}

impl Scaling {
    /// Name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Practical => "practical",
            Self::Diagonal => "diagonal information",
            Self::Whitened => "whitened",
            Self::Sampled => "whitened, information sampled",
            Self::Exact => "whitened, information exact",
        }
    }
}
