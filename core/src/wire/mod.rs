//! Samples and decisions on a serial line that may lose, double and damage bytes.
//!
//! A *record* is a value of fixed layout, little-endian, without padding. It travels in a *frame* that
//! shows where it begins and whether it arrived whole:
//!
//! ```text
//! 0  COBS( record  CRC-32 of the record )  0
//! ```
//!
//! COBS (consistent overhead byte stuffing, Cheshire and Baker 1999) removes all zeros from between the
//! delimiters for one byte in 254, so that a receiver is in step again at the next zero, whatever came
//! before. A damaged frame is dropped and counted ([`Receiver`]). Nothing is sent twice: a stream has
//! no time for that. Instead every sample carries its [`SampleIndex`], the number of its stream and its own
//! number in it, so that the receiver knows how many it missed, puts as many missing samples in their
//! places ([`SampleIndex::reach`], [`Gap::filled`]) and keeps time. A new stream number is the reset: it cannot
//! get lost.
//!
//! Host to device, one request after another, each a [`Head`] (tag and sample index) and a payload:
//!
//! | tag | payload | meaning | answered by |
//! |---|---|---|---|
//! | `S` | a sample: `D` x [`F32`] in raw sensor units, or one [`U16`] symbol; or 1 to [`TEXT_PIECE`] bytes of text | push the sample | [`Answer`] |
//! | `M` | none | a sample is missing: predict only | [`Answer`] |
//! | `I` | none | what runs here, and where is it? | [`Info`] |
//! | `K` | none | save the adapted model | [`Saved`] |
//! | `Q` | none | what was it like? | [`Report`] |
//! | `X` | none | stop | nothing |
//! | `R` | none | what are the statistics now? | text |
//! | `E` | none | the stream has ended: what is undecided? | text |
//! | `N` | which piece, [`U16`] | send that piece of the stream's expected counts | [`CountsHead`] and the counts |
//! | `T` | which section, [`U16`] | send that section of the model's [contract](crate::contract) | [`ContractHead`] and the section |
//! | `U` | the header of an [update](crate::update) | take this model | [`UpdateProgress`] |
//! | `C` | which update, offset, [`UPDATE_CHUNK`] bytes | a piece of it | [`UpdateProgress`] |
//! | `V` | none | how far is the update? | [`UpdateProgress`] |
//! | `W` | action and name, [`TeachStep`] | show windows to a class, stop, or forget one | [`TeachState`] |
//!
//! An update goes piece by piece, each answered by the offset that the device wants next: what is lost, doubled
//! or out of order changes nothing, and an offer made again, after a reset too, goes on where it broke off.
//!
//! An application that reports only what is rare, or that classifies text, answers in lines of text. A line travels in pieces
//! ([`TextHead`]), each in a frame, with the number of the line and the offset of the piece, so that the host knows which
//! lines it lost. In text from the host, [`SampleIndex::stream`] is the number of the line and [`SampleIndex::time`] the offset
//! of the piece: lost bytes are counted and belong to a known line.
//!
//! A device whose samples are recorded sends them as they come, and is asked nothing:
//!
//! | tag | record | when |
//! |---|---|---|
//! | `D` | [`MeasuredSample`]: number, `D` x [`F32`] | for each sample |
//! | `H` | [`ChannelDescription`]: name of one channel, sample period | again and again, one channel after another |
//!
//! `I`, `K`, `Q` and `X` may be repeated until they are heard. An undamaged frame that is no request is
//! answered by a [`Fault`]. An answer carries the index of its sample, so that the host knows which
//! answers were lost on the way back.
//!
//! The host may write ahead of the answers as far as the transport's flow control lets it. On a bare
//! UART without flow control bytes are lost if it does not wait for each answer: that costs samples, and
//! is counted, but does not break the stream.

mod exit;
mod frame;
mod integer;
mod record;
mod recording;
mod sample_index;
mod teach;
mod update;

pub use exit::Exit;
pub use frame::{CHECKSUM_LENGTH, DELIMITER, Frame, Receiver, RecordBuffer, encode, longest};
pub use integer::{F32, U16, U32, U64};
pub use record::{
    Answer, AnswerHead, COUNTS_PIECE, ContractHead, ContractRequest, CountsHead, CountsRequest,
    Fault, FaultKind, Head, Info, Report, Request, SampleKind, SampleRequest, Saved, Status,
    TEXT_PIECE, TextHead, VERSION,
};
pub use recording::{ChannelDescription, MeasuredSample};
pub use sample_index::{Gap, LONGEST_GAP, SampleIndex};
pub use teach::{TeachAction, TeachRequest, TeachState, TeachStatus, TeachStep};
pub use update::{
    UPDATE_CHUNK, UPDATE_HEADER, UpdateChunk, UpdateOffer, UpdatePiece, UpdateProgress,
    UpdateStatus,
};

#[cfg(test)]
mod tests;
