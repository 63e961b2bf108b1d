use core::fmt;

use crate::error::ObservationError;

/// Reason why a sequence was refused, and the observation at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum SequenceError {
    /// The observation at `time` (from 0) was refused.
    Observation {
        /// Index of the sample in the sequence.
        time: usize,
        /// Reason.
        error: ObservationError,
    },
    /// The lent buffers hold fewer rows than the sequence needs.
    BufferTooShort,
}

impl SequenceError {
    /// Returns the stable name of the fault, in kebab-case; that of the innermost error.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Observation { error, .. } => error.kind(),
            Self::BufferTooShort => "buffer-too-short",
        }
    }
}

impl fmt::Display for SequenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Observation { time, error } => write!(f, "observation {time}: {error}"),
            Self::BufferTooShort => f.write_str("lent buffer too short for the sequence"),
        }
    }
}

impl core::error::Error for SequenceError {}
