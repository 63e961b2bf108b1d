use core::fmt;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::{Head, U32};

/// Bytes of an update's header.
pub const UPDATE_HEADER: usize = 64;

/// Bytes of an update that travel in one record. Offsets are multiples of it.
pub const UPDATE_CHUNK: usize = 64;

/// An update is offered.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct UpdateOffer {
    /// Tag and index.
    pub head: Head,
    /// The first [`UPDATE_HEADER`] bytes of the update.
    pub header: [u8; UPDATE_HEADER],
}

/// A piece of an update.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct UpdateChunk {
    /// Tag and index.
    pub head: Head,
    /// The piece.
    pub piece: UpdatePiece,
}

/// Content of an [`UpdateChunk`].
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct UpdatePiece {
    /// The checksum in the update's header, so that pieces of different updates are not mixed.
    pub transfer: U32,
    /// Offset of the piece in the update.
    pub offset: U32,
    /// The piece; the last one filled up with `0xFF`.
    pub data: [u8; UPDATE_CHUNK],
}

/// Progress of an update.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct UpdateProgress {
    /// [`UpdateProgress::TAG`], and the index where the device expects the next sample.
    pub head: Head,
    /// An [`UpdateStatus`].
    pub status: u8,
    /// The update concerned, by the checksum in its header; 0 if there is no update.
    pub transfer: U32,
    /// The offset that the device wants next.
    pub wanted: U32,
    /// Version of the model that runs; 0 for that which the image was built with.
    pub running: U32,
}

impl UpdateProgress {
    /// Tag.
    pub const TAG: u8 = b'U';
}

/// Outcome of an offer or of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum UpdateStatus {
    /// No update is being received, or not that one: offer it first.
    Idle = 0,
    /// The next piece is due.
    Receiving = 1,
    /// All is there and was found good. It begins with the next stream, on trial.
    Received = 2,
    /// The update runs, and has not been confirmed.
    OnTrial = 3,
    /// The update runs, confirmed.
    Confirmed = 4,
    /// Refused: the header is no update's.
    NotAnUpdate = 16,
    /// Refused: a model of another shape.
    OtherShape = 17,
    /// Refused: written by another numeric profile, whose bits are others.
    OtherProfile = 18,
    /// Refused: not newer than the update on the device.
    NotNewer = 19,
    /// Refused: longer than a slot.
    TooLong = 20,
    /// Refused for now: the running model is on trial, and the one before it is still needed.
    Busy = 21,
    /// Refused: the bytes are not those of the checksum, or not all of them are there.
    Damaged = 22,
    /// Refused: not signed, or not by the key that this image trusts.
    Signature = 23,
    /// Refused: its decisions differ from its self-test.
    SelfTest = 24,
    /// Refused, or given up on, after resets during its trial.
    RolledBack = 25,
    /// The flash failed.
    Flash = 26,
    /// Refused: its windows take another number of states than the image has room for, or one of both has no windows.
    OtherWindows = 27,
}

impl UpdateStatus {
    const ALL: [Self; 17] = [
        Self::Idle,
        Self::Receiving,
        Self::Received,
        Self::OnTrial,
        Self::Confirmed,
        Self::NotAnUpdate,
        Self::OtherShape,
        Self::OtherProfile,
        Self::NotNewer,
        Self::TooLong,
        Self::Busy,
        Self::Damaged,
        Self::Signature,
        Self::SelfTest,
        Self::RolledBack,
        Self::Flash,
        Self::OtherWindows,
    ];

    /// The status of a byte; `None` where there is no such status.
    #[must_use]
    pub fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|status| *status as u8 == byte)
    }

    /// Returns whether the update was refused.
    #[must_use]
    pub const fn is_refusal(self) -> bool {
        self as u8 >= Self::NotAnUpdate as u8
    }
}

impl fmt::Display for UpdateStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Idle => "no update is being received",
            Self::Receiving => "more is wanted",
            Self::Received => "received; it begins with the next stream",
            Self::OnTrial => "it runs on trial",
            Self::Confirmed => "it runs, confirmed",
            Self::NotAnUpdate => "the header is no update's",
            Self::OtherShape => "a model of another shape than the image's",
            Self::OtherProfile => {
                "written by another numeric profile: export it with the fishweir of the image"
            }
            Self::NotNewer => "not newer than what the device has: give it a greater version",
            Self::TooLong => "longer than a slot of the device's flash",
            Self::Busy => "the running model is on trial: wait until it is confirmed",
            Self::Damaged => "its bytes are not those of its checksum",
            Self::Signature => "not signed by the key that the device trusts",
            Self::SelfTest => "it does not decide as its self-test says",
            Self::RolledBack => "it was given up after resets during its trial",
            Self::Flash => "the flash failed",
            Self::OtherWindows => {
                "it decides on other windows than the image has room for: build it into the image"
            }
        })
    }
}
