use core::fmt;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::{Head, U16, U32};
use crate::classify::teach::{NAME_LONGEST, TeachError};

/// A request about taught classes.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct TeachRequest {
    /// Tag and index.
    pub head: Head,
    /// Action to take.
    pub step: TeachStep,
}

/// Content of a [`TeachRequest`].
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct TeachStep {
    /// A [`TeachAction`].
    pub action: u8,
    /// Name of the class, zeros after it; all zeros where the action needs none.
    pub name: [u8; NAME_LONGEST],
}

/// Operation on taught classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum TeachAction {
    /// Nothing: asks for the state.
    Ask = b'?',
    /// Windows that begin with the next sample are shown to the class, until another action.
    Show = b'+',
    /// No more windows are shown, and the taught classes are saved.
    Stop = b'.',
    /// The class is forgotten, and the others are saved.
    Forget = b'-',
}

impl TeachAction {
    /// The action of a byte; `None` where there is no such action.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            b'?' => Some(Self::Ask),
            b'+' => Some(Self::Show),
            b'.' => Some(Self::Stop),
            b'-' => Some(Self::Forget),
            _ => None,
        }
    }
}

/// The answer to a [`TeachRequest`].
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct TeachState {
    /// [`TeachState::TAG`], and the index where the device expects the next sample.
    pub head: Head,
    /// A [`TeachStatus`].
    pub status: u8,
    /// Number of taught classes.
    pub classes: u8,
    /// Windows that the class of the request was shown; 0 of no class.
    pub windows: U16,
    /// Number of records saved, 0 if none was.
    pub saved: U32,
}

impl TeachState {
    /// Tag.
    pub const TAG: u8 = b'W';
}

/// Outcome of an action, or of the last window that was to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum TeachStatus {
    /// Done.
    Done = 0,
    /// No room for another class.
    NoRoom = 1,
    /// The name is empty or has a control character.
    Name = 2,
    /// No class of this name was taught.
    UnknownName = 3,
    /// The model knows a class of this name.
    KnownClass = 4,
    /// A window was not shown: it had no sample, or is impossible under a model.
    Evidence = 5,
    /// The class has as many windows as it can count.
    TooManyWindows = 6,
    /// The flash failed: the classes before are still saved.
    Flash = 7,
}

impl TeachStatus {
    /// The status of a byte; `None` where there is no such status.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            0 => Some(Self::Done),
            1 => Some(Self::NoRoom),
            2 => Some(Self::Name),
            3 => Some(Self::UnknownName),
            4 => Some(Self::KnownClass),
            5 => Some(Self::Evidence),
            6 => Some(Self::TooManyWindows),
            7 => Some(Self::Flash),
            _ => None,
        }
    }
}

impl From<TeachError> for TeachStatus {
    fn from(error: TeachError) -> Self {
        match error {
            TeachError::NoRoom => Self::NoRoom,
            TeachError::Name => Self::Name,
            TeachError::UnknownName => Self::UnknownName,
            TeachError::TooManyWindows => Self::TooManyWindows,
            _ => Self::Evidence,
        }
    }
}

impl fmt::Display for TeachStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Done => "done",
            Self::NoRoom => "no room for another class: one must be forgotten",
            Self::Name => "a name has 1 to 16 bytes and no control character",
            Self::UnknownName => "no class of this name was taught",
            Self::KnownClass => "the model knows a class of this name",
            Self::Evidence => "a window had no sample, or is impossible under a model",
            Self::TooManyWindows => "the class takes no more windows",
            Self::Flash => "the flash failed: the classes before are still saved",
        })
    }
}
