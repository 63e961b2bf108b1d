//! Classifies a stream: raw samples in, after each a decision with everything needed to check it.
//!
//! Speaks the format of [`protocol`](crate::protocol). Only the push itself is measured: not the
//! transport, and not the answer, which asks for every log-likelihood and a decision at every sample.

use core::fmt;

use embedded_io::{Read, ReadExactError, Write};
use fishweir_core::ObservationError;
use zerocopy::{FromZeros, IntoBytes};

use crate::classifier::{Classifier, WireSample};
use crate::log::log;
use crate::meter::Meter;
use crate::protocol::{
    Answer, AnswerHead, Fault, FaultKind, Info, Report, Request, Status, VERSION,
};

/// Why the application stopped before the host asked it to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum StreamError<E> {
    /// The transport failed.
    Transport(E),
    /// The stream ended inside a record.
    Truncated,
}

impl<E> From<ReadExactError<E>> for StreamError<E> {
    fn from(error: ReadExactError<E>) -> Self {
        match error {
            ReadExactError::UnexpectedEof => Self::Truncated,
            ReadExactError::Other(error) => Self::Transport(error),
        }
    }
}

impl<E: fmt::Display> fmt::Display for StreamError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transport(error) => write!(f, "transport: {error}"),
            Self::Truncated => f.write_str("the stream ended inside a record"),
        }
    }
}

impl<E: core::error::Error> core::error::Error for StreamError<E> {}

/// Answers requests until the host sends `Q` or the stream ends, and reports what the pushes cost.
///
/// # Errors
/// When the transport fails, after telling the host with a [`Fault`], or when the stream ends inside a
/// record.
pub fn classify_stream<S, C, M, const MODELS: usize>(
    serial: &mut S,
    classifier: &mut C,
    meter: &M,
) -> Result<Report, StreamError<S::Error>>
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
    let mut report = Report::EMPTY;
    let outcome = serve(serial, classifier, meter, &info, &mut report);
    report.stack_bytes = meter.stack_bytes().into();
    match outcome {
        Ok(Ending::Asked) => {
            serial.write_all(report.as_bytes()).map_err(StreamError::Transport)?;
            serial.flush().map_err(StreamError::Transport)?;
        }
        Ok(Ending::EndOfStream) => {}
        Err(error) => {
            // The host hears of it if it still can; what failed first is what counts.
            let _ = serial.write_all(Fault::new(FaultKind::Receiver, 0).as_bytes());
            let _ = serial.flush();
            return Err(error);
        }
    }
    log!(
        info,
        "{=u64} samples in {=u64} ticks, {=u64} missing, stack {=u32} B",
        report.samples.get(),
        report.sample_ticks.get(),
        report.missing.get(),
        report.stack_bytes.get()
    );
    Ok(report)
}

/// How a stream ended well.
enum Ending {
    Asked,
    EndOfStream,
}

fn serve<S, C, M, const MODELS: usize>(
    serial: &mut S,
    classifier: &mut C,
    meter: &M,
    info: &Info,
    report: &mut Report,
) -> Result<Ending, StreamError<S::Error>>
where
    S: Read + Write,
    C: Classifier<MODELS>,
    M: Meter,
{
    loop {
        let mut tag = 0;
        if serial.read(tag.as_mut_bytes()).map_err(StreamError::Transport)? == 0 {
            return Ok(Ending::EndOfStream);
        }
        match Request::from_tag(tag) {
            Some(Request::Sample) => {
                let mut wire = <C::Sample as WireSample>::Wire::new_zeroed();
                serial.read_exact(wire.as_mut_bytes())?;
                let sample = C::Sample::from_wire(wire);
                let (outcome, ticks) = meter.measure(|| classifier.push(&sample));
                report.samples += 1;
                report.sample_ticks += u64::from(ticks);
                answer(serial, classifier, outcome)?;
            }
            Some(Request::Missing) => {
                let ((), ticks) = meter.measure(|| classifier.push_missing());
                report.missing += 1;
                report.missing_ticks += u64::from(ticks);
                answer(serial, classifier, Ok(()))?;
            }
            Some(Request::Reset) => classifier.reset(),
            Some(Request::Info) => {
                serial.write_all(info.as_bytes()).map_err(StreamError::Transport)?;
            }
            Some(Request::Quit) => return Ok(Ending::Asked),
            None => {
                log!(warn, "unknown request {=u8:#x}", tag);
                let fault = Fault::new(FaultKind::UnknownRequest, tag);
                serial.write_all(fault.as_bytes()).map_err(StreamError::Transport)?;
            }
        }
    }
}

fn answer<S: Write, C: Classifier<MODELS>, const MODELS: usize>(
    serial: &mut S,
    classifier: &C,
    outcome: Result<(), ObservationError>,
) -> Result<(), StreamError<S::Error>> {
    let status = match outcome {
        Ok(()) => Status::Accepted,
        Err(error) => {
            log!(debug, "sample refused: {}", error);
            match error {
                ObservationError::Impossible => Status::Impossible,
                _ => Status::Invalid,
            }
        }
    };
    let decision = classifier.decision();
    let answer = Answer::<MODELS> {
        head: AnswerHead {
            status: status as u8,
            class: (decision.class as u16).into(),
            margin_bits: decision.margin.to_bits().into(),
        },
        log_likelihood_bits: classifier.log_likelihoods().map(|log| log.to_bits().into()),
    };
    serial.write_all(answer.as_bytes()).map_err(StreamError::Transport)
}

fn info_of<C: Classifier<MODELS>, M: Meter, const MODELS: usize>(classifier: &C, _: &M) -> Info {
    // Counts on the wire are 16 bits wide; a model with more would not fit any part.
    const {
        assert!(C::Sample::LENGTH <= u16::MAX as usize, "too many channels for the wire format");
        assert!(MODELS <= u16::MAX as usize, "too many models for the wire format");
    }
    Info {
        tag: Info::TAG,
        version: VERSION,
        sample_kind: C::Sample::KIND as u8,
        sample_length: (C::Sample::LENGTH as u16).into(),
        models: (MODELS as u16).into(),
        classes: (classifier.classes() as u16).into(),
        model_bytes: (classifier.model_bytes() as u32).into(),
        state_bytes: (classifier.state_bytes() as u32).into(),
        ticks_per_second: M::TICKS_PER_SECOND.into(),
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use embedded_io::{ErrorKind, ErrorType};
    use fishweir_core::filter::Running;
    use zerocopy::FromBytes;

    use super::*;
    use crate::meter::NoMeter;

    // Named here, so that the tests do not depend on which model a build was given.
    #[allow(unreachable_pub, dead_code)]
    mod coins {
        include!("../../models/default.rs");
    }

    /// What the host sends and what it gets. After the last byte the stream ends, or fails.
    #[derive(Default)]
    struct Wire<'a> {
        sent: &'a [u8],
        received: Vec<u8>,
        fails: bool,
    }

    impl ErrorType for Wire<'_> {
        type Error = ErrorKind;
    }

    impl Read for Wire<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ErrorKind> {
            if self.sent.is_empty() && self.fails {
                return Err(ErrorKind::Other);
            }
            self.sent.read(buffer).map_err(|never| match never {})
        }
    }

    impl Write for Wire<'_> {
        fn write(&mut self, buffer: &[u8]) -> Result<usize, ErrorKind> {
            self.received.extend(buffer);
            Ok(buffer.len())
        }

        fn flush(&mut self) -> Result<(), ErrorKind> {
            Ok(())
        }
    }

    fn serve_coins(wire: &mut Wire<'_>) -> Result<Report, StreamError<ErrorKind>> {
        classify_stream(wire, &mut Running::new(&coins::MODEL), &NoMeter)
    }

    fn answers(sent: &[u8]) -> Vec<Answer<2>> {
        let mut wire = Wire { sent, ..Wire::default() };
        serve_coins(&mut wire).expect("the stream ends between records");
        let (answers, rest) = <[Answer<2>]>::ref_from_prefix_with_elems(
            &wire.received,
            wire.received.len() / size_of::<Answer<2>>(),
        )
        .expect("answers have no alignment");
        assert!(rest.is_empty());
        answers.to_vec()
    }

    const HEADS: &[u8] = b"S\0\0";
    const TAILS: &[u8] = b"S\x01\0";

    #[test]
    fn heads_then_tails_is_the_alternating_coin_by_log_five_quarters() {
        let answers = answers(&[HEADS, TAILS].concat());
        assert_eq!(answers.len(), 2);
        let last = answers[1];
        assert_eq!(last.head.status, Status::Accepted as u8);
        assert_eq!(last.head.class.get(), 1);
        let near = |bits: u32, value: f32| (f32::from_bits(bits) - value).abs() < 1e-6;
        assert!(near(last.head.margin_bits.get(), 0.223_143_55));
        assert!(near(last.log_likelihood_bits[0].get(), -1.386_294_4));
        assert!(near(last.log_likelihood_bits[1].get(), -1.163_150_8));
    }

    #[test]
    fn a_reset_stream_is_a_new_stream() {
        let fresh = answers(&[HEADS, b"M", TAILS].concat());
        let again = answers(&[TAILS, HEADS, b"R", HEADS, b"M", TAILS].concat());
        assert_eq!(fresh, again[2..]);
    }

    #[test]
    fn a_missing_sample_is_answered_and_earns_nothing() {
        let answers = answers(&[HEADS, b"M"].concat());
        assert_eq!(answers[0].log_likelihood_bits, answers[1].log_likelihood_bits);
    }

    #[test]
    fn an_unknown_symbol_is_invalid_and_leaves_everything_as_it_was() {
        let answers = answers(&[HEADS, TAILS, b"S\x02\0", b"S\xFF\xFF", HEADS].concat());
        assert_eq!(answers[2].head.status, Status::Invalid as u8);
        for refused in &answers[2..4] {
            assert_eq!(refused.log_likelihood_bits, answers[1].log_likelihood_bits);
            assert_eq!(refused.head.margin_bits, answers[1].head.margin_bits);
        }
        assert_eq!(answers[4].head.status, Status::Accepted as u8);
    }

    #[test]
    fn info_and_report_say_what_runs_and_what_it_did() {
        let sent = [b"I", HEADS, b"M", TAILS, b"Q", b"S"].concat();
        let mut wire = Wire { sent: &sent, ..Wire::default() };
        let report = serve_coins(&mut wire).expect("asked to stop");
        assert_eq!((report.samples.get(), report.missing.get()), (2, 1));
        assert_eq!(wire.sent, b"S", "nothing is read after Q");
        let (info, rest) = Info::ref_from_prefix(&wire.received).expect("no alignment");
        assert_eq!((info.tag, info.version), (Info::TAG, VERSION));
        assert_eq!(info.sample_kind, crate::protocol::SampleKind::Symbol as u8);
        assert_eq!(info.sample_length.get(), 1);
        assert_eq!((info.models.get(), info.classes.get()), (2, 2));
        assert_eq!(info.model_bytes.get() as usize, size_of::<coins::Model>());
        assert_eq!(rest.len(), 3 * size_of::<Answer<2>>() + size_of::<Report>());
        assert!(rest.ends_with(report.as_bytes()));
    }

    #[test]
    fn an_unknown_request_is_a_fault_and_the_next_is_served() {
        let mut wire = Wire { sent: b"?I", ..Wire::default() };
        serve_coins(&mut wire).expect("the stream ends between records");
        assert!(wire.received.starts_with(b"E\x01?I"));
    }

    #[test]
    fn a_stream_that_breaks_off_is_an_error_that_the_host_hears_of() {
        let mut wire = Wire { sent: b"S\0", ..Wire::default() };
        assert_eq!(serve_coins(&mut wire), Err(StreamError::Truncated));
        assert_eq!(wire.received, b"E\x02\0");
        let mut wire = Wire { sent: b"S", fails: true, ..Wire::default() };
        assert_eq!(serve_coins(&mut wire), Err(StreamError::Transport(ErrorKind::Other)));
        assert_eq!(wire.received, b"E\x02\0");
    }
}
