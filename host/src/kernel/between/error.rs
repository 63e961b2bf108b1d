//! Errors of models that cannot be compared.

/// Reason why there is no kernel value of two models.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum BetweenError {
    /// A parameter of the kernel is out of range.
    #[error("{name} is {value}; it must be {range}")]
    #[strum(serialize = "bad-setting")]
    Parameter {
        /// `rho`, `lambda`, ...
        name: &'static str,
        /// Value of the parameter.
        value: f64,
        /// Description of the valid range.
        range: &'static str,
    },
    /// The models are over different spaces.
    #[error("one model has {first} {what}, the other {second}; compare models of the same {what}")]
    #[strum(serialize = "models-differ")]
    Shapes {
        /// `channels`, `symbols`, `variables`, ...
        what: &'static str,
        /// The first model's.
        first: usize,
        /// The second's.
        second: usize,
    },
    /// The integral does not exist.
    #[error("the kernel is infinite: {0}")]
    #[strum(serialize = "infinite-kernel")]
    Diverges(String),
    /// A covariance that is singular or indefinite.
    #[error(
        "row {row} of {part} depends linearly on earlier rows, so the covariance is singular or not positive; raise \
         its variances, or leave the dimension out"
    )]
    #[strum(serialize = "singular-covariance")]
    Singular {
        /// `covariance`, `R`, ...
        part: String,
        /// Index of the row, from 0.
        row: usize,
    },
    /// A number of a model is out of range.
    #[error("{part}: {why}")]
    #[strum(serialize = "bad-models")]
    Model {
        /// Part of the model, and entry.
        part: String,
        /// Fault and remedy.
        why: String,
    },
}

crate::kinds!(BetweenError);

/// A pair of models without a kernel value.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("models {row} and {column}: {why}")]
pub struct PairError {
    /// One model, from 0.
    pub row: usize,
    /// The other.
    pub column: usize,
    /// Reason.
    pub why: BetweenError,
}

impl crate::StableKind for PairError {
    fn kind(&self) -> &'static str {
        self.why.kind()
    }
}
