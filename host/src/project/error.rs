//! Errors of projects that are not written.

use super::RATES;

/// Reason why a project is not written.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum ProjectError {
    /// No such board.
    #[error("there is no board `{name}`; there are {known}")]
    #[strum(serialize = "unknown-board")]
    NoBoard {
        /// Requested name.
        name: String,
        /// Names that there are.
        known: String,
    },
    /// A name that no package can have.
    #[error(
        "`{name}` is no name for a package: letters, digits, - and _, a letter first, and none that cargo or the crates with it have; give another"
    )]
    #[strum(serialize = "bad-name")]
    Name {
        /// Requested name.
        name: String,
    },
    /// A rate that no timer has.
    #[error(
        "{rate} samples per second: give from one a day ({:.7}) to 100 000", RATES[0]
    )]
    #[strum(serialize = "bad-rate")]
    Rate {
        /// Samples per second.
        rate: f64,
    },
    /// An emulated board has no driver of time.
    #[error("{board} is emulated without a clock: tasks want a real board, one loop runs here too")]
    NoClock {
        /// The board.
        board: &'static str,
    },
}

crate::kinds!(ProjectError);
