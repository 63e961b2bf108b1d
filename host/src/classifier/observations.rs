use std::fmt;

use serde::{Deserialize, Serialize};

use crate::data::internals::{in_one_line, size_of};
use crate::data::{Alphabet, DataError, Kind};
use crate::words::counted;

/// Kind of observation, by names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Observations {
    /// A row of named channels.
    Channels(Vec<String>),
    /// One of these symbols, in order.
    Symbols(String),
}

impl Observations {
    /// Channels or symbols.
    pub fn size(&self) -> usize {
        match self {
            Self::Channels(names) => names.len(),
            Self::Symbols(symbols) => size_of(symbols),
        }
    }

    /// Kind of observation, for the readers of data.
    ///
    /// # Errors
    /// If the symbols are no alphabet.
    pub fn kind(&self) -> Result<Kind, DataError> {
        Ok(match self {
            Self::Channels(names) => Kind::Channels(names.clone()),
            Self::Symbols(symbols) => Kind::Symbols(Alphabet::new(symbols)?),
        })
    }
}

impl From<&Kind> for Observations {
    fn from(kind: &Kind) -> Self {
        match kind {
            Kind::Channels(names) => Self::Channels(names.clone()),
            Kind::Symbols(alphabet) => Self::Symbols(alphabet.text()),
        }
    }
}

impl fmt::Display for Observations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Channels(names) => {
                write!(f, "{} ({})", counted(names.len(), "channel"), names.join(", "))
            }
            Self::Symbols(symbols) => {
                write!(f, "{} ({})", counted(self.size(), "symbol"), in_one_line(symbols))
            }
        }
    }
}
