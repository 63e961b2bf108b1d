use core::fmt;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::{F32, SampleIndex, U16, U32, U64};
use crate::error::ObservationError;
use crate::profile::Profile;

/// Version of this format: [`Info::version`].
pub const VERSION: u8 = 4;

/// First bytes of every record.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Head {
    /// Tag that identifies the record.
    pub tag: u8,
    /// [`SampleIndex::stream`].
    pub stream: u8,
    /// [`SampleIndex::time`].
    pub time: U16,
}

impl Head {
    /// Splits a record's bytes into the head and the rest.
    #[must_use]
    pub fn split(record: &[u8]) -> Option<(Self, &[u8])> {
        Self::read_from_prefix(record).ok()
    }

    /// In a sample and its answer, where the sample stands. In a request that is no sample, where the
    /// next one would. In what the device says of itself, where it expects the next one.
    #[must_use]
    pub const fn sample_index(self) -> SampleIndex {
        SampleIndex { stream: self.stream, time: self.time.get() }
    }
}

impl SampleIndex {
    /// A record's head at this index.
    #[must_use]
    pub const fn head(self, tag: u8) -> Head {
        Head { tag, stream: self.stream, time: U16::new(self.time) }
    }
}

/// Request of the host, by its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum Request {
    /// Push the sample that follows: [`SampleRequest`].
    Sample = b'S',
    /// A sample is missing.
    Missing = b'M',
    /// Send an [`Info`].
    Info = b'I',
    /// Send a [`Report`].
    Report = b'Q',
    /// Asks to save the adapted model, and to answer with a [`Saved`].
    Save = b'K',
    /// Stop.
    Stop = b'X',
    /// Take an update of the model: [`UpdateOffer`](super::UpdateOffer).
    Offer = b'U',
    /// A piece of it: [`UpdateChunk`](super::UpdateChunk).
    Chunk = b'C',
    /// Asks for the progress of the update.
    UpdateState = b'V',
    /// Send a section of the model's contract: [`ContractRequest`].
    Contract = b'T',
    /// Send the statistics after the last sample.
    Reading = b'R',
    /// Ends the stream, and asks for the undecided rest.
    End = b'E',
    /// Send a piece of the expected counts of the stream so far: [`CountsRequest`].
    Counts = b'N',
    /// Show windows to a [taught class](crate::classify::teach), stop, or forget one: [`TeachRequest`](super::TeachRequest).
    Teach = b'W',
}

impl Request {
    /// The request of a tag; `None` where there is no such request.
    #[must_use]
    pub const fn from_tag(tag: u8) -> Option<Self> {
        Some(match tag {
            b'S' => Self::Sample,
            b'M' => Self::Missing,
            b'I' => Self::Info,
            b'Q' => Self::Report,
            b'K' => Self::Save,
            b'X' => Self::Stop,
            b'U' => Self::Offer,
            b'C' => Self::Chunk,
            b'V' => Self::UpdateState,
            b'T' => Self::Contract,
            b'R' => Self::Reading,
            b'E' => Self::End,
            b'N' => Self::Counts,
            b'W' => Self::Teach,
            _ => return None,
        })
    }

    /// The tag.
    #[must_use]
    pub const fn tag(self) -> u8 {
        self as u8
    }
}

/// A request with its sample, `W` being `[F32; D]` or [`U16`].
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct SampleRequest<W> {
    /// Tag and index.
    pub head: Head,
    /// The sample in raw sensor units, or the index of a symbol.
    pub sample: W,
}

/// A request for a section of the model's [contract](crate::contract).
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct ContractRequest {
    /// Tag and index.
    pub head: Head,
    /// Index of the section, from 0.
    pub section: U16,
}

/// The part of the answer to a [`ContractRequest`] whose length is fixed. The bytes of the
/// [section](crate::contract::Section) follow; none where there is no such section.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct ContractHead {
    /// [`ContractHead::TAG`], and the index where the device expects the next sample.
    pub head: Head,
    /// Index of the section, from 0.
    pub section: U16,
    /// Number of sections.
    pub sections: U16,
}

impl ContractHead {
    /// Tag.
    pub const TAG: u8 = b'T';

    /// Bytes of a section at most: a longer one has a tag that is not [critical](crate::contract::CRITICAL), and is
    /// answered by none.
    pub const SECTION_LONGEST: usize = 48;
}

/// A request for a piece of the expected counts of the stream so far.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct CountsRequest {
    /// Tag, and the index after the stream's last sample.
    pub head: Head,
    /// Index of the piece, from 0.
    pub piece: U16,
}

/// The part of the answer to a [`CountsRequest`] whose length is fixed. At most [`COUNTS_PIECE`] counts follow, as [`F32`];
/// none where there is no such piece.
///
/// The counts of a stream are its log-likelihood and the entries of
/// [`ExpectedStatistics`](crate::filter::ExpectedStatistics) in order. Each piece names the stream, its length and the model, so
/// that pieces of others are known.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct CountsHead {
    /// [`CountsHead::TAG`], and the index where the device expects the next sample: the number of those that it counted.
    pub head: Head,
    /// Index of the piece, from 0.
    pub piece: U16,
    /// Number of pieces.
    pub pieces: U16,
    /// Samples of this stream that never arrived (modulo `2^16`): missing ones to the counts.
    pub lost: U16,
    /// [Checksum](crate::artefact::model_checksum) of the model that the counts are expected under.
    pub model: U32,
}

impl CountsHead {
    /// Tag.
    pub const TAG: u8 = b'N';
}

/// Largest number of counts in one record.
pub const COUNTS_PIECE: usize = 8;

/// The part of a [`TEXT_PIECE`] from the device whose length is fixed. Bytes of a line follow, and a line feed after its
/// last.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct TextHead {
    /// [`TextHead::TAG`], and the index where the device expects the next sample or the next byte of text.
    pub head: Head,
    /// Number of the line in the conversation, from 0, modulo `2^16`.
    pub line: U16,
    /// Bytes of the line before this piece.
    pub offset: U16,
}

impl TextHead {
    /// Tag.
    pub const TAG: u8 = b'L';
}

/// Largest number of bytes of text in one record.
pub const TEXT_PIECE: usize = 32;

/// Format of a sample on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum SampleKind {
    /// A vector of [`F32`], one per channel.
    Vector = b'f',
    /// One [`U16`], the index of a symbol.
    Symbol = b'u',
}

impl SampleKind {
    /// The kind of a byte; `None` where there is no such kind.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            b'f' => Some(Self::Vector),
            b'u' => Some(Self::Symbol),
            _ => None,
        }
    }
}

/// Outcome of a sample. A refused one is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum Status {
    /// Pushed.
    Accepted = 0,
    /// Impossible under all models left.
    Impossible = 1,
    /// NaN, infinite, not a count, neither yes nor no, or an unknown symbol.
    Invalid = 2,
    /// One sample more than the stored sequences have: all are refused until a new stream begins.
    PastEnd = 3,
    /// A channel outside the range of the model's integers.
    OutOfRange = 4,
    /// Pushed, but the scores have left the range in which they can be compared with those stored: class,
    /// margin and decision values are zero and say nothing. Lasts until a new stream begins, or until
    /// the scores are back, where they are means over the stream.
    Undecided = 5,
    /// Outside windows: between two of them, or in a gap that is too long. Class, margin and log-likelihoods are zero and
    /// say nothing.
    NoWindow = 6,
}

impl Status {
    /// The status of a byte; `None` where there is no such status.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            0 => Some(Self::Accepted),
            1 => Some(Self::Impossible),
            2 => Some(Self::Invalid),
            3 => Some(Self::PastEnd),
            4 => Some(Self::OutOfRange),
            5 => Some(Self::Undecided),
            6 => Some(Self::NoWindow),
            _ => None,
        }
    }

    /// Returns the status of a push: device and host share one name for each outcome.
    #[must_use]
    pub const fn of(outcome: Result<(), ObservationError>) -> Self {
        match outcome {
            Ok(()) => Self::Accepted,
            Err(ObservationError::Impossible) => Self::Impossible,
            Err(ObservationError::PastEnd) => Self::PastEnd,
            Err(ObservationError::OutOfRange) => Self::OutOfRange,
            Err(_) => Self::Invalid,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Accepted => "accepted",
            Self::Impossible => "impossible",
            Self::Invalid => "invalid",
            Self::PastEnd => "past the end: a reset is wanted",
            Self::OutOfRange => "out of the integers' range",
            Self::Undecided => "undecided, the scores being out of range: a reset is wanted",
            Self::NoWindow => "in no window",
        })
    }
}

/// The decision after a sample, and all that is needed to compare it bit for bit.
///
/// [`AnswerHead`] followed by the log-likelihood of every model. Where a decision is due ([`AnswerHead::decided`]) it is
/// that of the window which the sample filled; else it is what the oldest open window says so far.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Answer<const MODELS: usize> {
    /// All but the log-likelihoods.
    pub head: AnswerHead,
    /// The log-likelihood of every model, from the start of the window to this sample.
    pub log_likelihoods: [F32; MODELS],
}

/// The part of an [`Answer`] whose length does not depend on the model.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct AnswerHead {
    /// [`AnswerHead::TAG`], and the index of the sample that this answers.
    pub head: Head,
    /// A [`Status`].
    pub status: u8,
    /// 1 where a decision is due: the sample filled a window, or the model decides on streams without windows. Else 0.
    pub decided: u8,
    /// Samples of this stream, up to here, that never arrived (modulo `2^16`). The state has them as missing
    /// samples: see [`LONGEST_GAP`](super::LONGEST_GAP).
    pub lost: U16,
    /// Index of the class decided for.
    pub class: U16,
    /// The margin: how far the class is ahead of the next.
    pub margin: F32,
}

impl AnswerHead {
    /// Tag.
    pub const TAG: u8 = b'A';
}

/// Description of the program on the device.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Info {
    /// [`Info::TAG`], and the index where the device expects the next sample. A host that has just
    /// come begins the stream after that one.
    pub head: Head,
    /// [`VERSION`].
    pub version: u8,
    /// A [`SampleKind`].
    pub sample_kind: u8,
    /// Values in a sample.
    pub sample_length: U16,
    /// Models in the bank: log-likelihoods in an answer.
    pub models: U16,
    /// Classes to decide between.
    pub classes: U16,
    /// Bytes of the model.
    pub model_bytes: U32,
    /// Bytes of one stream's state, in RAM.
    pub state_bytes: U32,
    /// Ticks of the board's counter per second; 0 without a counter.
    pub ticks_per_second: U32,
    /// Profile of the device: [`Profile::to_bytes`].
    pub profile: [u8; Profile::LENGTH],
}

impl Info {
    /// Tag.
    pub const TAG: u8 = b'I';
}

/// Cost of a run, and losses.
///
/// A *push* is the classifier's work on one sample, without the transport.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Report {
    /// [`Report::TAG`], and the index where the device expects the next sample.
    pub head: Head,
    /// Samples pushed, accepted or not.
    pub samples: U64,
    /// Ticks spent pushing them.
    pub sample_ticks: U64,
    /// Missing samples pushed: those announced, and those that stand for lost ones.
    pub missing: U64,
    /// Ticks spent pushing them.
    pub missing_ticks: U64,
    /// Samples that never arrived, by their numbers.
    pub lost: U64,
    /// Samples that came again and were not pushed.
    pub repeated: U64,
    /// Frames that arrived damaged.
    pub corrupt: U64,
    /// The deepest the stack has been, in bytes, the state included; 0 where not measured.
    pub stack_bytes: U32,
}

impl Report {
    /// Tag.
    pub const TAG: u8 = b'Q';

    /// Nothing pushed yet.
    pub const EMPTY: Self = Self {
        head: SampleIndex { stream: 0, time: 0 }.head(Self::TAG),
        samples: U64::new(0),
        sample_ticks: U64::new(0),
        missing: U64::new(0),
        missing_ticks: U64::new(0),
        lost: U64::new(0),
        repeated: U64::new(0),
        corrupt: U64::new(0),
        stack_bytes: U32::new(0),
    };
}

/// The adapted model was saved, or not.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Saved {
    /// [`Saved::TAG`], and the index where the device expects the next sample.
    pub head: Head,
    /// Number of models saved, this one included; 0 if saving failed: the log gives the reason.
    pub number: U32,
}

impl Saved {
    /// Tag.
    pub const TAG: u8 = b'K';
}

/// Bytes that arrived undamaged but made no sense to the device.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Fault {
    /// [`Fault::TAG`], and the index where the device expects the next sample.
    pub head: Head,
    /// A [`FaultKind`].
    pub kind: u8,
    /// The tag at fault, where there is one.
    pub tag: u8,
}

impl Fault {
    /// Tag.
    pub const TAG: u8 = b'E';

    /// A fault record.
    #[must_use]
    pub const fn new(index: SampleIndex, kind: FaultKind, tag: u8) -> Self {
        Self { head: index.head(Self::TAG), kind: kind as u8, tag }
    }
}

/// Kinds of [`Fault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum FaultKind {
    /// A tag that is no request's, or that this application does not serve.
    UnknownRequest = 1,
    /// The transport failed for good; the device stops.
    Transport = 2,
    /// A request of another length than its tag has.
    Length = 3,
}

impl FaultKind {
    /// The kind of a byte; `None` where there is no such kind.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            1 => Some(Self::UnknownRequest),
            2 => Some(Self::Transport),
            3 => Some(Self::Length),
            _ => None,
        }
    }
}
