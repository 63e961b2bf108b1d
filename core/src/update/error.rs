use core::fmt;

use crate::artefact::ArtefactError;

/// Reason why bytes were refused as an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum UpdateError {
    /// Fewer bytes than the header says, or than a header has.
    Truncated,
    /// More bytes than the header says.
    TrailingBytes,
    /// The first eight bytes are not `WEIRUPDT`.
    NotAnUpdate,
    /// A format version that this code does not know.
    UnknownVersion(u16),
    /// A header field with an unknown value.
    BadHeader,
    /// The checksum differs: the bytes were damaged.
    Checksum,
    /// The artefact inside is damaged, or is not that which the header describes.
    Artefact(ArtefactError),
    /// The self-test's length is not that of its entries, or it has none.
    SelfTest,
}

impl UpdateError {
    /// Returns the stable name of the fault, in kebab-case; that of the innermost error.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Truncated => "truncated",
            Self::TrailingBytes => "trailing-bytes",
            Self::NotAnUpdate => "not-an-update",
            Self::UnknownVersion(_) => "unknown-version",
            Self::BadHeader => "bad-header",
            Self::Checksum => "checksum",
            Self::Artefact(error) => error.kind(),
            Self::SelfTest => "bad-self-test",
        }
    }
}

impl fmt::Display for UpdateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("truncated: fewer bytes than the header says"),
            Self::TrailingBytes => f.write_str("more bytes than the header says"),
            Self::NotAnUpdate => f.write_str("not a fishweir update (no WEIRUPDT at its start)"),
            Self::UnknownVersion(version) => {
                write!(f, "update format version {version}, this code reads {}", super::VERSION)
            }
            Self::BadHeader => f.write_str("a header field has a value that stands for nothing"),
            Self::Checksum => f.write_str("checksum differs: the update is damaged"),
            Self::Artefact(error) => write!(f, "the artefact inside: {error}"),
            Self::SelfTest => {
                f.write_str("the self-test is empty or of another length than it says")
            }
        }
    }
}

impl core::error::Error for UpdateError {}
