//! Classifies a stream: raw samples in, after each a decision with everything needed to check it.
//!
//! Speaks the format of [`fishweir_core::wire`]. Samples that the line lost are pushed as missing ones, so
//! that time stays right. Only the push itself is measured: not the transport, and not the answer, which
//! asks for every log-likelihood and a decision at every sample.

use embedded_io::{Read, Write};
use fishweir_core::classify::Decision;
use fishweir_core::wire::{
    Answer, AnswerHead, Fault, FaultKind, Gap, Head, Info, Report, Request, SampleIndex,
    SampleRequest, Saved, Status, U64, VERSION,
};
use fishweir_core::{ObservationError, Profile};
use zerocopy::{FromBytes, IntoBytes, Unaligned};

use crate::classifier::{Classifier, WireSample};
use crate::link::Link;
use crate::log::log;
use crate::meter::Meter;

#[cfg(test)]
mod tests;

/// Answers requests until the host sends `X` or the stream ends, and reports what the pushes cost.
///
/// # Errors
/// When the transport fails for good, after telling the host with a [`Fault`].
pub fn classify_stream<S, C, M, const MODELS: usize>(
    serial: &mut S,
    classifier: &mut C,
    meter: &M,
) -> Result<Report, S::Error>
where
    S: Read + Write,
    C: Classifier<MODELS>,
    M: Meter,
{
    let info = info_of(classifier, meter);
    log!(
        info,
        "model {=u32} B, state {=u32} B, {=u16} models, {=u16} classes",
        info.model_bytes.get(),
        info.state_bytes.get(),
        info.models.get(),
        info.classes.get()
    );
    let mut session = Session {
        link: Link::new(serial),
        classifier,
        meter,
        next: SampleIndex::default(),
        lost: 0,
        report: Report::EMPTY,
    };
    if let Err(error) = session.serve(&info) {
        // The host hears of it if it still can; what failed first is what counts.
        let _ = session.fault(FaultKind::Transport, 0);
        let _ = session.link.flush();
        return Err(error);
    }
    let report = session.report();
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
    Ok(report)
}

type Wire<C, const MODELS: usize> = <<C as Classifier<MODELS>>::Sample as WireSample>::Wire;

/// Room for either of the requests that may be the longest.
#[derive(FromBytes, IntoBytes, Unaligned)]
#[repr(C)]
struct Longest<W, U> {
    sample: SampleRequest<W>,
    update: U,
}

struct Session<'a, S, C: Classifier<MODELS>, M, const MODELS: usize> {
    link: Link<'a, S, Longest<Wire<C, MODELS>, C::Update>>,
    classifier: &'a mut C,
    meter: &'a M,
    /// Where the next sample is expected.
    next: SampleIndex,
    /// Samples of this stream that never arrived.
    lost: u16,
    report: Report,
}

impl<S, C, M, const MODELS: usize> Session<'_, S, C, M, MODELS>
where
    S: Read + Write,
    C: Classifier<MODELS>,
    M: Meter,
{
    fn serve(&mut self, info: &Info) -> Result<(), S::Error> {
        while let Some(record) = self.link.receive()? {
            let Some((head, payload)) = Head::split(record) else {
                self.fault(FaultKind::Length, 0)?;
                continue;
            };
            match Request::from_tag(head.tag) {
                None => {
                    log!(warn, "unknown request {=u8:#x}", head.tag);
                    self.fault(FaultKind::UnknownRequest, head.tag)?;
                }
                Some(Request::Sample) => match Wire::<C, MODELS>::read_from_bytes(payload).ok() {
                    Some(wire) => self.sample(head.sample_index(), wire)?,
                    None => self.fault(FaultKind::Length, head.tag)?,
                },
                Some(Request::Offer | Request::Chunk | Request::UpdateState) => {
                    match self.classifier.update(self.next, head.tag, payload) {
                        Ok(progress) => self.link.send(&progress)?,
                        Err(kind) => self.fault(kind, head.tag)?,
                    }
                }
                Some(_) if !payload.is_empty() => self.fault(FaultKind::Length, head.tag)?,
                Some(Request::Missing) => {
                    if self.reach(head.sample_index(), true) {
                        self.push_missing(1);
                        self.answer(Ok(()))?;
                    }
                }
                Some(Request::Info) => {
                    self.link.send(&Info { head: self.next.head(Info::TAG), ..*info })?;
                }
                Some(Request::Save) => {
                    self.reach(head.sample_index(), false);
                    match self.classifier.save() {
                        Some(number) => {
                            let head = self.next.head(Saved::TAG);
                            self.link.send(&Saved { head, number: number.into() })?;
                        }
                        None => self.fault(FaultKind::UnknownRequest, head.tag)?,
                    }
                }
                Some(Request::Report) => {
                    self.reach(head.sample_index(), false);
                    let report = self.report();
                    self.link.send(&report)?;
                }
                Some(Request::Stop) => return self.link.flush(),
            }
        }
        Ok(())
    }

    fn sample(&mut self, place: SampleIndex, wire: Wire<C, MODELS>) -> Result<(), S::Error> {
        if !self.reach(place, true) {
            return Ok(());
        }
        let outcome = C::Sample::from_wire(wire).and_then(|sample| {
            let classifier = &mut *self.classifier;
            let (outcome, ticks) = self.meter.measure(|| classifier.push(&sample));
            add(&mut self.report.samples, 1);
            add(&mut self.report.sample_ticks, ticks.into());
            self.classifier.between_samples();
            outcome
        });
        self.answer(outcome)
    }

    /// Moves on to a place, making up for what was lost on the way; `false` where it is the past.
    fn reach(&mut self, place: SampleIndex, sample: bool) -> bool {
        let Some(gap) = self.next.reach(place) else {
            add(&mut self.report.repeated, u64::from(sample));
            return false;
        };
        let Gap { new_stream, lost } = gap;
        if new_stream {
            self.classifier.reset();
            self.lost = 0;
        }
        if lost > 0 {
            log!(debug, "{=u16} samples lost before {=u16}", lost, place.time);
            self.lost = self.lost.wrapping_add(lost);
            add(&mut self.report.lost, lost.into());
            self.push_missing(gap.filled());
        }
        true
    }

    fn push_missing(&mut self, count: u16) {
        for _ in 0..count {
            let classifier = &mut *self.classifier;
            let ((), ticks) = self.meter.measure(|| classifier.push_missing());
            add(&mut self.report.missing, 1);
            add(&mut self.report.missing_ticks, ticks.into());
            self.classifier.between_samples();
        }
    }

    /// Answers the sample at the place reached, and steps past it.
    fn answer(&mut self, outcome: Result<(), ObservationError>) -> Result<(), S::Error> {
        if let Err(error) = outcome {
            log!(debug, "sample refused: {}", error);
        }
        let decided = self.classifier.decision();
        let decided =
            decided.and_then(|decision| Ok((decision, self.classifier.log_likelihoods()?)));
        let (status, (decision, log_likelihoods)) = match decided {
            Ok(decided) => (Status::of(outcome), decided),
            Err(error) => {
                log!(debug, "no decision: {}", error);
                let status = if outcome.is_ok() { Status::Undecided } else { Status::of(outcome) };
                (status, (Decision { class: 0, margin: 0.0 }, [0.0; MODELS]))
            }
        };
        let answer = Answer::<MODELS> {
            head: AnswerHead {
                head: self.next.head(AnswerHead::TAG),
                status: status as u8,
                lost: self.lost.into(),
                class: (decision.class as u16).into(),
                margin: decision.margin.into(),
            },
            log_likelihoods: log_likelihoods.map(Into::into),
        };
        self.next = self.next.next();
        self.link.send(&answer)
    }

    fn fault(&mut self, kind: FaultKind, tag: u8) -> Result<(), S::Error> {
        self.link.send(&Fault::new(self.next, kind, tag))
    }

    fn report(&self) -> Report {
        Report {
            head: self.next.head(Report::TAG),
            corrupt: self.link.corrupt().into(),
            stack_bytes: self.meter.stack_bytes().into(),
            ..self.report
        }
    }
}

fn add(count: &mut U64, more: u64) {
    *count = (count.get() + more).into();
}

fn info_of<C: Classifier<MODELS>, M: Meter, const MODELS: usize>(classifier: &C, _: &M) -> Info {
    // Counts on the wire are 16 bits wide; a model with more would not fit any part.
    const {
        assert!(C::Sample::LENGTH <= u16::MAX as usize, "too many channels for the wire format");
        assert!(MODELS <= u16::MAX as usize, "too many models for the wire format");
    }
    Info {
        head: SampleIndex::default().head(Info::TAG),
        version: VERSION,
        sample_kind: C::Sample::KIND as u8,
        sample_length: (C::Sample::LENGTH as u16).into(),
        models: (MODELS as u16).into(),
        classes: (classifier.classes() as u16).into(),
        model_bytes: (classifier.model_bytes() as u32).into(),
        state_bytes: (classifier.state_bytes() as u32).into(),
        ticks_per_second: M::TICKS_PER_SECOND.into(),
        profile: Profile::of(C::FORMAT).to_bytes(),
    }
}
