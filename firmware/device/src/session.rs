//! A conversation about a stream, without a serial line: bytes in, frames out.
//!
//! Speaks the format of [`fishweir_core::wire`]. Samples that the line lost are pushed as missing ones, so
//! that time stays right. Only the push itself is measured: not the transport, and not the answer, which
//! asks for every log-likelihood and a decision at every sample.
//!
//! [`classify_stream`](crate::applications::classify_stream) is this and a loop over a serial line. On what is no byte
//! stream, packets of a radio or of USB for instance, or in an interrupt, write that loop:
//!
//! ```
//! use fishweir_core::wire::{Frame, Request, SampleIndex};
//! use fishweir_device::meter::NoMeter;
//! use fishweir_device::session::{Session, Action};
//!
//! # use core::convert::Infallible;
//! # use fishweir_core::classify::{Normalisation, StreamClassifier, WindowClassifier};
//! # use fishweir_core::contract::Contract;
//! # use fishweir_core::emission::Categorical;
//! # use fishweir_core::filter::Stream;
//! # use fishweir_core::hmm::{Chain, Hmm};
//! # fn main() -> Result<(), Box<dyn core::error::Error>> {
//! # let coin = Hmm::new(Chain::<f32, 1>::new([1.0], [[1.0]])?, [Categorical::<2>::new([0.5, 0.5])?]);
//! # let classifier = StreamClassifier::from_parts([coin], [[1.0]], [0.0], Normalisation::NONE);
//! # let packet = Frame::new(&SampleIndex::default().head(Request::Info.tag()));
//! # let mut sent = 0;
//! # let mut send = |frame: &[u8]| sent += frame.len();
//! # const CONTRACT: Contract = Contract::NONE;
//! // On the windows that the model was trained on.
//! let mut running = Stream::new(WindowClassifier::<_, { CONTRACT.states() }>::new(&classifier, &CONTRACT)?);
//! let mut session = Session::new(&mut running, &NoMeter);
//! for &byte in packet.as_bytes() {
//!     match session.on_byte(Ok::<_, Infallible>(byte))? {
//!         Action::Read => {}
//!         Action::Write(frame) => send(frame),
//!         Action::Close => break,
//!     }
//! }
//! # assert!(sent > 0);
//! # Ok(()) }
//! ```

use fishweir_core::classify::{Decision, ScoreOutOfRange};
use fishweir_core::wire::{
    Answer, AnswerHead, COUNTS_PIECE, ContractHead, CountsHead, F32, Fault, FaultKind, Gap, Head,
    Info, Report, Request, SampleIndex, SampleRequest, Saved, Status, TeachState, TeachStep, U16,
    U64, UpdateProgress, VERSION, encode, longest,
};
use fishweir_core::{ObservationError, Profile};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, Unaligned};

use crate::classifier::{ClassifierStream, Due, WireSample};
use crate::link::Link;
use crate::log::log;
use crate::meter::Meter;

type Wire<C, const MODELS: usize> = <<C as ClassifierStream<MODELS>>::Sample as WireSample>::Wire;

/// Room for either of the requests that may be the longest.
#[derive(FromBytes, IntoBytes, Unaligned)]
#[repr(C)]
struct Longest<W, U> {
    sample: SampleRequest<W>,
    update: U,
}

/// Buffer for the frame of any answer: of the two records that may be the longest, one after the other, with the
/// checksum, two delimiters, and a byte for each 254.
#[derive(FromBytes, IntoBytes, Immutable, Unaligned)]
#[repr(C)]
struct Reply<const MODELS: usize> {
    answer: Answer<MODELS>,
    report: Report,
    overhead: [u8; 14],
}

/// Next action after a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action<'s> {
    /// Hear the next byte.
    Read,
    /// Send these bytes, a frame; then read the next byte.
    Write(&'s [u8]),
    /// Nothing: the host has ended the conversation.
    Close,
}

/// A conversation: the bytes of the current request, and the position in the stream.
///
/// RAM: the longest request, an [`Answer`], and 190 bytes on a 32-bit part.
pub struct Session<'a, C: ClassifierStream<MODELS>, M, const MODELS: usize> {
    link: Link<Longest<Wire<C, MODELS>, C::Update>>,
    classifier: &'a mut C,
    meter: &'a M,
    /// Position of the next sample expected.
    next: SampleIndex,
    /// Samples of this stream that never arrived.
    lost: u16,
    /// `true` if the classifier was lent since the last sample over the line.
    is_lent: bool,
    report: Report,
    reply: Reply<MODELS>,
}

impl<'a, C, M, const MODELS: usize> Session<'a, C, M, MODELS>
where
    C: ClassifierStream<MODELS>,
    M: Meter,
{
    /// A session before any byte, and before the first sample of a stream: earlier samples of the classifier are
    /// forgotten.
    pub fn new(classifier: &'a mut C, meter: &'a M) -> Self {
        // Counts on the wire are 16 bits wide; a model with more would not fit any part.
        const {
            assert!(
                C::Sample::LENGTH <= u16::MAX as usize,
                "too many channels for the wire format"
            );
            assert!(MODELS <= u16::MAX as usize, "too many models for the wire format");
            let room = size_of::<Reply<MODELS>>();
            assert!(longest(size_of::<Answer<MODELS>>()) <= room, "answer over 2 kB");
            assert!(
                longest(size_of::<Info>()) <= room
                    && longest(size_of::<UpdateProgress>()) <= room
                    && longest(size_of::<ContractHead>() + ContractHead::SECTION_LONGEST) <= room
                    && longest(size_of::<CountsHead>() + size_of::<F32>() * COUNTS_PIECE) <= room
            );
        }
        classifier.reset();
        let session = Self {
            link: Link::new(),
            classifier,
            meter,
            next: SampleIndex::default(),
            lost: 0,
            is_lent: false,
            report: Report::EMPTY,
            reply: Reply::new_zeroed(),
        };
        session.begin();
        session
    }

    // Out of line, as all that holds a long record: it would lie on the stack beside the pushes.
    #[inline(never)]
    fn begin(&self) {
        let info = self.info();
        log!(
            info,
            "model {=u32} B, state {=u32} B, {=u16} models, {=u16} classes",
            info.model_bytes.get(),
            info.state_bytes.get(),
            info.models.get(),
            info.classes.get()
        );
    }

    /// Takes in the result of reading a byte. If it completes a request, the request is answered: a push, or as
    /// many as [`Gap::filled`] says, or a step of an update.
    ///
    /// # Errors
    /// When the transport failed again and again, the last of its errors. [`failed`](Self::failed) is the last to say.
    pub fn on_byte<E>(&mut self, byte: Result<u8, E>) -> Result<Action<'_>, E> {
        let Some(record) = self.link.on_byte(byte)? else { return Ok(Action::Read) };
        let Some((head, payload)) = Head::split(record) else {
            return Ok(self.fault(FaultKind::Length, 0));
        };
        Ok(match Request::from_tag(head.tag) {
            None | Some(Request::Reading | Request::End) => {
                log!(warn, "unknown request {=u8:#x}", head.tag);
                self.fault(FaultKind::UnknownRequest, head.tag)
            }
            Some(Request::Sample) => match Wire::<C, MODELS>::read_from_bytes(payload).ok() {
                Some(wire) => self.sample(head.sample_index(), wire),
                None => self.fault(FaultKind::Length, head.tag),
            },
            Some(Request::Offer | Request::Chunk | Request::UpdateState) => {
                match self.classifier.update(self.next, head.tag, payload) {
                    Ok(progress) => self.say(&progress),
                    Err(kind) => self.fault(kind, head.tag),
                }
            }
            Some(Request::Teach) => match TeachStep::read_from_bytes(payload) {
                Ok(step) => {
                    self.reach(head.sample_index(), false);
                    self.teach_reply(&step)
                }
                Err(_) => self.fault(FaultKind::Length, head.tag),
            },
            Some(Request::Contract) => match U16::read_from_bytes(payload) {
                Ok(section) => self.contract_reply(section),
                Err(_) => self.fault(FaultKind::Length, head.tag),
            },
            Some(Request::Counts) => match U16::read_from_bytes(payload) {
                Ok(piece) => {
                    self.reach(head.sample_index(), false);
                    self.counts_reply(piece)
                }
                Err(_) => self.fault(FaultKind::Length, head.tag),
            },
            Some(_) if !payload.is_empty() => self.fault(FaultKind::Length, head.tag),
            Some(Request::Missing) => {
                if !self.reach(head.sample_index(), true) {
                    return Ok(Action::Read);
                }
                self.push_missing(1);
                self.answer(Ok(()))
            }
            Some(Request::Info) => self.info_reply(),
            Some(Request::Save) => {
                self.reach(head.sample_index(), false);
                match self.classifier.save() {
                    Some(number) => {
                        let head = self.next.head(Saved::TAG);
                        self.say(&Saved { head, number: number.into() })
                    }
                    None => self.fault(FaultKind::UnknownRequest, head.tag),
                }
            }
            Some(Request::Report) => {
                self.reach(head.sample_index(), false);
                self.report_reply()
            }
            Some(Request::Stop) => Action::Close,
        })
    }

    fn sample(&mut self, place: SampleIndex, wire: Wire<C, MODELS>) -> Action<'_> {
        if !self.reach(place, true) {
            return Action::Read;
        }
        let sample = match C::Sample::from_wire(wire) {
            Ok(sample) => sample,
            Err(error) => {
                self.push_missing(1);
                return self.answer(Err(error));
            }
        };
        let classifier = &mut *self.classifier;
        let (outcome, ticks) = self.meter.measure(|| classifier.push(Some(&sample)));
        add(&mut self.report.samples, 1);
        add(&mut self.report.sample_ticks, ticks.into());
        self.classifier.between_samples();
        self.answer(outcome)
    }

    /// Moves on to a place, and makes up for samples lost on the way; `false` if it is in the past.
    fn reach(&mut self, place: SampleIndex, sample: bool) -> bool {
        let Some(gap) = self.next.reach(place) else {
            add(&mut self.report.repeated, u64::from(sample));
            return false;
        };
        let Gap { new_stream, lost } = gap;
        // Samples from elsewhere are of another stream.
        if new_stream || (sample && self.is_lent) {
            self.is_lent = false;
            self.classifier.reset();
            self.lost = 0;
        }
        if lost > 0 {
            log!(debug, "{=u16} samples lost before {=u16}", lost, place.time);
            self.lost = self.lost.wrapping_add(lost);
            add(&mut self.report.lost, lost.into());
            let filled = gap.filled(self.classifier.contract().windows.as_ref());
            self.push_missing(filled);
        }
        true
    }

    fn push_missing(&mut self, count: u16) {
        for _ in 0..count {
            let classifier = &mut *self.classifier;
            // A missing sample is never refused.
            let (_, ticks) = self.meter.measure(|| classifier.push(None));
            add(&mut self.report.missing, 1);
            add(&mut self.report.missing_ticks, ticks.into());
            self.classifier.between_samples();
        }
    }

    /// Answers the sample at the place reached, and steps past it.
    fn answer(&mut self, outcome: Result<(), ObservationError>) -> Action<'_> {
        if let Err(error) = outcome {
            log!(debug, "sample refused: {}", error);
        }
        let due = self.classifier.due();
        let none = (Decision { class: 0, margin: 0.0 }, [0.0; MODELS]);
        let read = || Ok((self.classifier.decision()?, self.classifier.log_likelihoods()?));
        let without = |status| if outcome.is_ok() { status } else { Status::of(outcome) };
        let (status, (decision, log_likelihoods)) = if due == Due::NoWindow {
            (without(Status::NoWindow), none)
        } else {
            match read() {
                Ok(decided) => (Status::of(outcome), decided),
                Err(error @ ScoreOutOfRange) => {
                    log!(debug, "no decision: {}", error);
                    (without(Status::Undecided), none)
                }
            }
        };
        let answer = Answer::<MODELS> {
            head: AnswerHead {
                head: self.next.head(AnswerHead::TAG),
                status: status as u8,
                decided: u8::from(due == Due::Decided),
                lost: self.lost.into(),
                class: (decision.class as u16).into(),
                margin: decision.margin.into(),
            },
            log_likelihoods: log_likelihoods.map(Into::into),
        };
        self.next = self.next.next();
        self.say(&answer)
    }

    #[inline(never)]
    fn info_reply(&mut self) -> Action<'_> {
        self.say(&self.info())
    }

    /// Sends a section of the contract; only its index if there is no such section, or if it is too long for a record.
    #[inline(never)]
    fn contract_reply(&mut self, section: U16) -> Action<'_> {
        let contract = self.classifier.contract();
        let head = ContractHead {
            head: self.next.head(ContractHead::TAG),
            section,
            sections: (contract.sections() as u16).into(),
        };
        let mut record = [0; size_of::<ContractHead>() + ContractHead::SECTION_LONGEST];
        let mut length = size_of::<ContractHead>();
        let mut fits = true;
        contract.write_section(section.get().into(), &mut |part| {
            match record.get_mut(length..length + part.len()) {
                Some(room) => room.copy_from_slice(part),
                None => fits = false,
            }
            length += part.len();
        });
        let length = if fits { length } else { size_of::<ContractHead>() };
        let _ = head.write_to_prefix(&mut record);
        self.frame(record.get(..length).unwrap_or(&record))
    }

    /// Sends a piece of the expected counts; only its index if there is no such piece.
    #[inline(never)]
    fn counts_reply(&mut self, piece: U16) -> Action<'_> {
        let mut record = [0; size_of::<CountsHead>() + size_of::<F32>() * COUNTS_PIECE];
        let (mut length, mut number) = (size_of::<CountsHead>(), 0_usize);
        let wanted = usize::from(piece.get());
        let model = self.classifier.counts(&mut |count| {
            if number / COUNTS_PIECE == wanted
                && let Some(room) = record.get_mut(length..length + size_of::<F32>())
            {
                room.copy_from_slice(&count.to_le_bytes());
                length += size_of::<F32>();
            }
            number += 1;
        });
        let Some(model) = model else {
            return self.fault(FaultKind::UnknownRequest, Request::Counts.tag());
        };
        let head = CountsHead {
            head: self.next.head(CountsHead::TAG),
            piece,
            pieces: (number.div_ceil(COUNTS_PIECE) as u16).into(),
            lost: self.lost.into(),
            model: model.into(),
        };
        let _ = head.write_to_prefix(&mut record);
        self.frame(record.get(..length).unwrap_or(&record))
    }

    #[inline(never)]
    fn teach_reply(&mut self, step: &TeachStep) -> Action<'_> {
        match self.classifier.teach(step) {
            Ok(state) => self.say(&TeachState { head: self.next.head(TeachState::TAG), ..state }),
            Err(kind) => self.fault(kind, Request::Teach.tag()),
        }
    }

    #[inline(never)]
    fn report_reply(&mut self) -> Action<'_> {
        self.say(&self.report())
    }

    fn fault(&mut self, kind: FaultKind, tag: u8) -> Action<'_> {
        self.say(&Fault::new(self.next, kind, tag))
    }

    fn say<R: IntoBytes + Immutable>(&mut self, record: &R) -> Action<'_> {
        self.frame(record.as_bytes())
    }

    // Out of line: every request ends in it.
    #[inline(never)]
    fn frame(&mut self, record: &[u8]) -> Action<'_> {
        let room = self.reply.as_mut_bytes();
        let length = encode(record, room).unwrap_or(0);
        Action::Write(room.get(..length).unwrap_or(&[]))
    }

    /// The classifier, for samples that do not come over the line. They are in no report; after each
    /// [`between_samples`](ClassifierStream::between_samples) is called. The next sample over the line begins a new stream.
    pub fn classifier(&mut self) -> &mut C {
        self.is_lent = true;
        self.classifier
    }

    /// Message to the host, if it still can be sent, after the transport has failed.
    pub fn failed(&mut self) -> &[u8] {
        match self.fault(FaultKind::Transport, 0) {
            Action::Write(frame) => frame,
            Action::Read | Action::Close => &[],
        }
    }

    /// Returns the description of the program.
    #[must_use]
    pub fn info(&self) -> Info {
        Info {
            head: self.next.head(Info::TAG),
            version: VERSION,
            sample_kind: C::Sample::KIND as u8,
            sample_length: (C::Sample::LENGTH as u16).into(),
            models: (MODELS as u16).into(),
            classes: (self.classifier.classes() as u16).into(),
            model_bytes: (self.classifier.model_bytes() as u32).into(),
            state_bytes: (self.classifier.state_bytes() as u32).into(),
            ticks_per_second: M::TICKS_PER_SECOND.into(),
            profile: Profile::of(C::FORMAT).to_bytes(),
        }
    }

    /// Returns the cost of the pushes so far.
    #[must_use]
    pub fn report(&self) -> Report {
        Report {
            head: self.next.head(Report::TAG),
            corrupt: self.link.corrupt().into(),
            stack_bytes: self.meter.stack_bytes().into(),
            ..self.report
        }
    }

    /// Returns the cost of the pushes, and writes it to the log.
    #[inline(never)]
    pub fn end(&self) -> Report {
        let report = self.report();
        log!(
            info,
            "{=u64} samples in {=u64} ticks, {=u64} missing, stack {=u32} B",
            report.samples.get(),
            report.sample_ticks.get(),
            report.missing.get(),
            report.stack_bytes.get()
        );
        if (report.lost, report.corrupt) != (Report::EMPTY.lost, Report::EMPTY.corrupt) {
            log!(
                warn,
                "the line lost {=u64} samples and damaged {=u64} frames",
                report.lost.get(),
                report.corrupt.get()
            );
        }
        report
    }
}

fn add(count: &mut U64, more: u64) {
    *count = (count.get() + more).into();
}
