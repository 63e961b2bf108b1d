use core::fmt;

use super::shape::{OLDEST_VERSION, Shape, VERSION};
use crate::contract::ContractError;
use crate::error::ModelError;

/// Reason why bytes were refused as an artefact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ArtefactError {
    /// Fewer bytes than the header says, or than a header has.
    Truncated,
    /// More bytes than the header says.
    TrailingBytes,
    /// The first eight bytes are not `FISHWEIR`.
    NotAnArtefact,
    /// A format version that this code does not know.
    UnknownVersion(u16),
    /// A header field with an unknown value.
    BadHeader,
    /// The checksum differs: the bytes were damaged.
    Checksum,
    /// The artefact holds a classifier of another shape than the one asked for.
    OtherShape {
        /// The artefact's.
        found: Shape,
        /// The one asked for.
        wanted: Shape,
    },
    /// The classifier's size differs from that of its type.
    OtherSize,
    /// The bytes do not start at an address that is a multiple of a real's size.
    Misaligned,
    /// The labels are not UTF-8, have a control character among them, or are not one per class.
    Labels,
    /// A section of the contract is wrong.
    Contract(ContractError),
    /// A number of the classifier is wrong.
    Model(ModelError),
    /// Artefacts are little-endian; this target is not.
    BigEndianTarget,
}

impl ArtefactError {
    /// Returns the stable name of the fault, in kebab-case; that of the innermost error.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Truncated => "truncated",
            Self::TrailingBytes => "trailing-bytes",
            Self::NotAnArtefact => "not-an-artefact",
            Self::UnknownVersion(_) => "unknown-version",
            Self::BadHeader => "bad-header",
            Self::Checksum => "checksum",
            Self::OtherShape { .. } => "other-shape",
            Self::OtherSize => "other-size",
            Self::Misaligned => "misaligned",
            Self::Labels => "bad-labels",
            Self::Contract(error) => error.kind(),
            Self::Model(error) => error.kind.kind(),
            Self::BigEndianTarget => "big-endian-target",
        }
    }
}

impl fmt::Display for ArtefactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("truncated: fewer bytes than the header says"),
            Self::TrailingBytes => f.write_str("more bytes than the header says"),
            Self::NotAnArtefact => {
                f.write_str("not a fishweir artefact (no FISHWEIR at its start)")
            }
            Self::UnknownVersion(version) => {
                let (oldest, newest) = (OLDEST_VERSION, VERSION);
                let advice = if *version < oldest {
                    "export it again from the fitted model"
                } else {
                    "it was written by a later fishweir"
                };
                write!(
                    f,
                    "artefact format version {version}, this code reads {oldest} to {newest}: {advice}"
                )
            }
            Self::BadHeader => f.write_str("a header field has a value that stands for nothing"),
            Self::Checksum => f.write_str("checksum differs: the file is damaged"),
            Self::OtherShape { found, wanted } => {
                write!(f, "holds a classifier with {found}, wanted {wanted}")
            }
            Self::OtherSize => f.write_str("the classifier's size differs from that of its type"),
            Self::Misaligned => f.write_str("bytes not aligned to the size of a real"),
            Self::Labels => f.write_str(
                "labels are not UTF-8, hold a control character, or are not one a class",
            ),
            Self::Contract(error) => error.fmt(f),
            Self::Model(error) => error.fmt(f),
            Self::BigEndianTarget => f.write_str("artefacts are little-endian, this target is not"),
        }
    }
}

impl core::error::Error for ArtefactError {}
