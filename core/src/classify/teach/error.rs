use core::fmt;

/// Reason why a class was not taught, or taught classes were not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum TeachError {
    /// The bytes are no basis or no record: too few, too many, or with an unknown mark.
    Malformed,
    /// A format version that this code does not know.
    UnknownVersion(u8),
    /// The checksum differs: the bytes were damaged.
    Checksum,
    /// The taught classes belong to another model.
    OtherModel,
    /// A number that is not finite, or a factor that is not positive, at this place of the basis or record.
    Number(u16),
    /// The evidence of a window is not finite: a model is ruled out, or there was no sample.
    Evidence,
    /// More classes, or more numbers of evidence, than there is room for.
    NoRoom,
    /// A name that is empty, longer than 16 bytes, or has a control character.
    Name,
    /// No class of this name was taught.
    UnknownName,
    /// The class has as many windows as it can count.
    TooManyWindows,
}

impl TeachError {
    /// Returns the stable name of the fault, in kebab-case.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::UnknownVersion(_) => "unknown-version",
            Self::Checksum => "checksum",
            Self::OtherModel => "other-model",
            Self::Number(_) => "bad-number",
            Self::Evidence => "no-evidence",
            Self::NoRoom => "no-room",
            Self::Name => "bad-name",
            Self::UnknownName => "unknown-name",
            Self::TooManyWindows => "too-many-windows",
        }
    }
}

impl fmt::Display for TeachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => f.write_str("the bytes hold no taught classes"),
            Self::UnknownVersion(version) => {
                write!(f, "format version {version}, this code reads {}", super::record::VERSION)
            }
            Self::Checksum => f.write_str("checksum differs: the taught classes are damaged"),
            Self::OtherModel => f.write_str("the classes were taught to another model"),
            Self::Number(place) => write!(f, "number {place} is not finite or not positive"),
            Self::Evidence => f.write_str(
                "the window says nothing: it is empty, or impossible under one of the models",
            ),
            Self::NoRoom => f.write_str("there is no room for more: forget a taught class"),
            Self::Name => f.write_str("a name has 1 to 16 bytes and no control character"),
            Self::UnknownName => f.write_str("no class of this name was taught"),
            Self::TooManyWindows => f.write_str("the class has 65535 windows, and takes no more"),
        }
    }
}

impl core::error::Error for TeachError {}
