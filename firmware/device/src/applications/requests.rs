//! Requests about samples in frames: bytes in, one step of the stream after another out.

use core::mem;

use fishweir_core::wire::{Gap, Head, LONGEST_GAP, Request as Tag, SampleIndex, SampleRequest};
use zerocopy::{FromBytes, IntoBytes, Unaligned};

use crate::link::Link;

/// Next thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request<W> {
    /// A new stream begins; earlier samples belong to another.
    NewStream,
    /// A sample is missing: the host declares it so, or the line lost it.
    Missing { lost: bool },
    /// Number of samples lost beyond a gap of [`LONGEST_GAP`] samples, which were given as missing ones.
    Skipped(u16),
    /// A sample.
    Sample(W),
    /// Asks for a description of the program.
    Info,
    /// Asks for the statistics.
    Reading,
    /// Asks for the counts.
    Report,
    /// The stream has ended.
    End,
    /// A request that is not served, or of another length than its tag has.
    Unknown(u8),
    /// The conversation has ended.
    Stop,
}

/// The receiving end of such requests, `W` being a sample on the wire. A sample that the line loses is
/// [missing](Request::Missing) in its place.
pub(super) struct Requests<W> {
    link: Link<SampleRequest<W>>,
    /// Position of the next sample expected.
    next: SampleIndex,
    /// The stream before was ended by its own request, and nothing has come since.
    ended: bool,
    new_stream: bool,
    /// Lost samples not yet given.
    missing: u16,
    skipped: u16,
    request: Option<Request<W>>,
    lost: u64,
    repeated: u64,
}

impl<W: FromBytes + IntoBytes + Unaligned> Requests<W> {
    pub(super) fn new() -> Self {
        Self {
            link: Link::new(),
            next: SampleIndex::default(),
            ended: false,
            new_stream: false,
            missing: 0,
            skipped: 0,
            request: None,
            lost: 0,
            repeated: 0,
        }
    }

    /// Takes in the result of reading a byte, `None` at the end of the transport.
    pub(super) fn on_byte<E>(&mut self, heard: Result<Option<u8>, E>) -> Result<(), E> {
        let heard = match heard {
            Ok(None) => {
                self.request = Some(Request::Stop);
                return Ok(());
            }
            Ok(Some(byte)) => Ok(byte),
            Err(error) => Err(error),
        };
        let Some(record) = self.link.on_byte(heard)? else { return Ok(()) };
        let Some((head, payload)) = Head::split(record) else {
            self.request = Some(Request::Unknown(0));
            return Ok(());
        };
        let place = head.sample_index();
        let tag = Tag::from_tag(head.tag);
        let request = match tag {
            Some(Tag::Sample) => match W::read_from_bytes(payload) {
                Ok(sample) => Request::Sample(sample),
                Err(_) => Request::Unknown(head.tag),
            },
            Some(_) if !payload.is_empty() => Request::Unknown(head.tag),
            Some(Tag::Missing) => Request::Missing { lost: false },
            Some(Tag::Info) => Request::Info,
            Some(Tag::Reading) => Request::Reading,
            Some(Tag::Report) => Request::Report,
            Some(Tag::End) => Request::End,
            Some(Tag::Stop) => Request::Stop,
            _ => Request::Unknown(head.tag),
        };
        self.request = match request {
            Request::Sample(_) | Request::Missing { .. } | Request::End => {
                let sample = request_is_sample(tag);
                if self.reach(place, sample) { Some(request) } else { None }
            }
            // Of the stream in hand: it says how many samples came before.
            Request::Reading | Request::Report | Request::Stop => {
                if place.stream == self.next.stream {
                    self.reach(place, false);
                }
                Some(request)
            }
            other => Some(other),
        };
        if let Some(request) = &self.request {
            match request {
                Request::Sample(_) | Request::Missing { .. } => self.next = self.next.next(),
                Request::End => {
                    self.next = self.next.next_stream();
                    self.ended = true;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Moves on to a place, and makes up for samples lost on the way; `false` if it is in the past.
    fn reach(&mut self, place: SampleIndex, sample: bool) -> bool {
        let before = self.next.stream.wrapping_sub(1);
        if self.ended && place.stream == before {
            self.repeated += u64::from(sample);
            return false;
        }
        let Some(Gap { new_stream, lost }) = self.next.reach(place) else {
            self.repeated += u64::from(sample);
            return false;
        };
        self.ended = false;
        self.new_stream = new_stream;
        self.lost += u64::from(lost);
        self.missing = lost.min(LONGEST_GAP);
        self.skipped = lost - self.missing;
        true
    }

    /// The next step; `None` if more bytes are needed first.
    pub(super) fn next(&mut self) -> Option<Request<W>> {
        if mem::take(&mut self.new_stream) {
            return Some(Request::NewStream);
        }
        if self.missing > 0 {
            self.missing -= 1;
            return Some(Request::Missing { lost: true });
        }
        match mem::take(&mut self.skipped) {
            0 => self.request.take(),
            skipped => Some(Request::Skipped(skipped)),
        }
    }

    /// Returns the position of the next sample expected.
    pub(super) fn place(&self) -> SampleIndex {
        self.next
    }

    /// Returns the losses of the line so far.
    pub(super) fn losses(&self) -> Losses {
        Losses { lost: self.lost, repeated: self.repeated, corrupt: self.link.corrupt() }
    }
}

fn request_is_sample(tag: Option<Tag>) -> bool {
    matches!(tag, Some(Tag::Sample | Tag::Missing))
}

/// Losses of a line during a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Losses {
    /// Samples that never arrived, by their numbers. They are missing samples.
    pub lost: u64,
    /// Samples that came again and were not pushed.
    pub repeated: u64,
    /// Frames that arrived damaged.
    pub corrupt: u64,
}
