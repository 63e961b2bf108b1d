//! The wire format between a host and `classify_stream`.
//!
//! A byte stream in each direction, little-endian, no padding, no framing beyond the lengths below.
//! The host's program compiles this very file, so the two ends cannot drift apart.
//!
//! Host to device, one *request* after another:
//!
//! | tag | payload | meaning | answered by |
//! |---|---|---|---|
//! | `S` | a sample: `D` x `f32` in raw sensor units, or one `u16` symbol | push the sample | [`Answer`] |
//! | `M` | none | a sample is missing: predict only | [`Answer`] |
//! | `R` | none | forget the stream, start the next | nothing |
//! | `I` | none | what runs here? | [`Info`] |
//! | `Q` | none | stop | [`Report`] |
//!
//! Device to host, in the order of the requests. The first byte tells the record: below
//! [`Status::COUNT`] it is an [`Answer`], otherwise a letter. A byte that is no tag is answered by a
//! [`Fault`] and skipped, which leaves the two ends out of step: a host gives up then.
//!
//! The host may write ahead of the answers as far as the transport's flow control lets it. On a bare
//! UART without flow control it must wait for each answer before it sends the next sample.

use zerocopy::byteorder::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Version of this format, the first field of [`Info`].
pub const VERSION: u8 = 1;

/// What the host asks, by its tag byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Request {
    /// Push the sample that follows.
    Sample = b'S',
    /// A sample is missing.
    Missing = b'M',
    /// Start a new stream.
    Reset = b'R',
    /// Send an [`Info`].
    Info = b'I',
    /// Send a [`Report`] and stop.
    Quit = b'Q',
}

impl Request {
    /// The request of a tag byte; `None` where there is no such request.
    #[must_use]
    pub const fn from_tag(tag: u8) -> Option<Self> {
        Some(match tag {
            b'S' => Self::Sample,
            b'M' => Self::Missing,
            b'R' => Self::Reset,
            b'I' => Self::Info,
            b'Q' => Self::Quit,
            _ => return None,
        })
    }

    /// The tag byte.
    #[must_use]
    pub const fn tag(self) -> u8 {
        self as u8
    }
}

/// What a sample looks like on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SampleKind {
    /// A vector of `f32`, one a channel.
    Vector = b'f',
    /// One `u16`, the index of a symbol.
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

    /// Bytes of a sample of `length` values.
    #[must_use]
    pub const fn bytes(self, length: usize) -> usize {
        match self {
            Self::Vector => 4 * length,
            Self::Symbol => 2 * length,
        }
    }
}

/// What became of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// Pushed.
    Accepted = 0,
    /// Impossible under a model; the state is as before.
    Impossible = 1,
    /// Not a number, infinite, or an unknown symbol; the state is as before.
    Invalid = 2,
}

impl Status {
    /// How many there are: an answer's first byte is less than this, every other record's is more.
    pub const COUNT: u8 = 3;

    /// The status of a byte; `None` where there is no such status.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            0 => Some(Self::Accepted),
            1 => Some(Self::Impossible),
            2 => Some(Self::Invalid),
            _ => None,
        }
    }
}

/// The decision after a sample, and all that is needed to compare it bit for bit.
///
/// `AnswerHead` followed by one `u32` a model: the bits of its log-likelihood (`f32`).
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[repr(C)]
pub struct Answer<const MODELS: usize> {
    /// Status, class and margin.
    pub head: AnswerHead,
    /// Bits of the log-likelihood of every model, from the start of the stream to this sample.
    pub log_likelihood_bits: [U32; MODELS],
}

/// The part of an [`Answer`] whose length does not depend on the model.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[repr(C)]
pub struct AnswerHead {
    /// A [`Status`].
    pub status: u8,
    /// Index of the class decided for.
    pub class: U16,
    /// Bits of the margin (`f32`): how far the class is ahead of the next.
    pub margin_bits: U32,
}

/// What runs on the device.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[repr(C)]
pub struct Info {
    /// [`Info::TAG`].
    pub tag: u8,
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
    /// Bytes of the model, in flash.
    pub model_bytes: U32,
    /// Bytes of one stream's state, in RAM.
    pub state_bytes: U32,
    /// Ticks of the board's counter in a second; 0 where it has none.
    pub ticks_per_second: U32,
}

impl Info {
    /// First byte.
    pub const TAG: u8 = b'I';
}

/// What a run has cost. A *push* is the classifier's work on one sample, without the transport.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[repr(C)]
pub struct Report {
    /// [`Report::TAG`].
    pub tag: u8,
    /// Samples pushed (`S`), accepted or not.
    pub samples: U64,
    /// Ticks spent pushing them.
    pub sample_ticks: U64,
    /// Missing samples pushed (`M`).
    pub missing: U64,
    /// Ticks spent pushing them.
    pub missing_ticks: U64,
    /// The deepest the stack has been, in bytes, the state included; 0 where not measured.
    pub stack_bytes: U32,
}

impl Report {
    /// First byte.
    pub const TAG: u8 = b'Q';

    /// Nothing pushed yet.
    pub const EMPTY: Self = Self {
        tag: Self::TAG,
        samples: U64::ZERO,
        sample_ticks: U64::ZERO,
        missing: U64::ZERO,
        missing_ticks: U64::ZERO,
        stack_bytes: U32::ZERO,
    };
}

/// Something the device could not make sense of.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[repr(C)]
pub struct Fault {
    /// [`Fault::TAG`].
    pub tag: u8,
    /// A [`FaultKind`].
    pub kind: u8,
    /// The byte at fault, where there is one.
    pub byte: u8,
}

impl Fault {
    /// First byte.
    pub const TAG: u8 = b'E';

    /// A fault record.
    #[must_use]
    pub const fn new(kind: FaultKind, byte: u8) -> Self {
        Self { tag: Self::TAG, kind: kind as u8, byte }
    }
}

/// Kinds of [`Fault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FaultKind {
    /// A byte that is no request's tag; it was skipped.
    UnknownRequest = 1,
    /// The receiver lost a byte; the device stops.
    Receiver = 2,
}

impl FaultKind {
    /// The kind of a byte; `None` where there is no such kind.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            1 => Some(Self::UnknownRequest),
            2 => Some(Self::Receiver),
            _ => None,
        }
    }
}

/// How the program on the device ended: the exit code it leaves. An emulator that fails by itself says 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// The host asked it to stop, or the stream ended between records.
    Done = 0,
    /// The model was refused, or the stream broke off. The log says why.
    Failed = 3,
    /// The processor took a hard fault.
    HardFault = 4,
    /// The program panicked.
    Panic = 101,
}

impl Exit {
    /// The meaning of an exit code; `None` where it has none.
    #[must_use]
    pub const fn from_code(code: i32) -> Option<Self> {
        match code {
            0 => Some(Self::Done),
            3 => Some(Self::Failed),
            4 => Some(Self::HardFault),
            101 => Some(Self::Panic),
            _ => None,
        }
    }

    /// The exit code.
    #[must_use]
    pub const fn code(self) -> i32 {
        self as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_lie_on_the_wire_as_documented() {
        let answer = Answer::<2> {
            head: AnswerHead {
                status: Status::Impossible as u8,
                class: 0x0102.into(),
                margin_bits: 1.0f32.to_bits().into(),
            },
            log_likelihood_bits: [0xAABB_CCDD.into(), 7.into()],
        };
        assert_eq!(
            answer.as_bytes(),
            [1, 2, 1, 0, 0, 0x80, 0x3F, 0xDD, 0xCC, 0xBB, 0xAA, 7, 0, 0, 0]
        );
        let info = Info {
            tag: Info::TAG,
            version: VERSION,
            sample_kind: SampleKind::Vector as u8,
            sample_length: 6.into(),
            models: 7.into(),
            classes: 8.into(),
            model_bytes: 9.into(),
            state_bytes: 10.into(),
            ticks_per_second: 25_000_000.into(),
        };
        assert_eq!(
            info.as_bytes(),
            [b'I', 1, b'f', 6, 0, 7, 0, 8, 0, 9, 0, 0, 0, 10, 0, 0, 0, 0x40, 0x78, 0x7D, 0x01]
        );
        assert_eq!(Report::EMPTY.as_bytes().len(), 1 + 4 * 8 + 4);
        assert_eq!(Fault::new(FaultKind::UnknownRequest, b'?').as_bytes(), b"E\x01?");
    }

    #[test]
    fn every_byte_reads_as_what_was_written_or_as_nothing() {
        for byte in 0..=u8::MAX {
            assert!(Request::from_tag(byte).is_none_or(|request| request.tag() == byte));
            assert!(SampleKind::from_byte(byte).is_none_or(|kind| kind as u8 == byte));
            assert!(FaultKind::from_byte(byte).is_none_or(|kind| kind as u8 == byte));
            let code = i32::from(byte);
            assert!(Exit::from_code(code).is_none_or(|exit| exit.code() == code));
            match Status::from_byte(byte) {
                Some(status) => assert_eq!(status as u8, byte),
                None => assert!(byte >= Status::COUNT),
            }
        }
        let requests = b"SMRIQ";
        assert!(requests.iter().all(|&tag| Request::from_tag(tag).is_some()));
        assert_eq!((0..=u8::MAX).filter(|&b| Request::from_tag(b).is_some()).count(), 5);
    }

    #[test]
    fn no_record_can_be_taken_for_an_answer() {
        for tag in [Info::TAG, Report::TAG, Fault::TAG] {
            assert!(Status::from_byte(tag).is_none());
        }
    }
}
