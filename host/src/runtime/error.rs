//! Errors of models at run-time sizes.

use super::STATE_SIZES;

/// Reason why a model was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum HmmError {
    /// A number of states that no recursion is compiled for.
    #[error("{0} states: a model needs between 1 and {largest}", largest = STATE_SIZES[STATE_SIZES.len() - 1])]
    #[strum(serialize = "wrong-states")]
    States(usize),
    /// Rows or columns that do not fit the number of states.
    #[error("{part} has {found} entries, and {wanted} are needed")]
    #[strum(serialize = "wrong-shape")]
    Shape {
        /// Name of the part.
        part: String,
        /// Entries found.
        found: usize,
        /// Entries needed.
        wanted: usize,
    },
    /// An invalid probability, or a row that does not sum to one.
    #[error("{part} is no probability distribution")]
    #[strum(serialize = "not-a-distribution")]
    Distribution {
        /// Name of the row.
        part: String,
    },
    /// A number out of its range.
    #[error("{part} must be {wanted}")]
    #[strum(serialize = "out-of-range")]
    Range {
        /// Name of the number.
        part: String,
        /// Condition on the number.
        wanted: &'static str,
    },
    /// A mean or a standard deviation out of range.
    #[error("{part} must be finite{}", if *.positive { " and positive" } else { "" })]
    #[strum(serialize = "not-finite")]
    Parameter {
        /// Name of the number.
        part: String,
        /// `true` if it must be positive as well.
        positive: bool,
    },
}

crate::kinds!(HmmError);
