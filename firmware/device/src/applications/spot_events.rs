//! Spots events in a stream that nobody cuts: their class, where they begin and end, and how sure that is.
//!
//! Host to device, a byte and what belongs to it:
//!
//! | byte | payload | meaning |
//! |---|---|---|
//! | `S` | a sample: `D` x `f32` in the sensor's units, or one `u16` symbol, little-endian | push it |
//! | `M` | | a sample is missing |
//! | `E` | | the stream has ended: tell what is undecided, and begin anew |
//! | `Q` | | stop |
//!
//! Device to host, lines of text; after the first, nothing as long as no event is decided:
//!
//! ```text
//! ready <classes> <ticks a second>                      it listens; what is sent before may be lost
//! event <sample> <start> <end> <log-odds> <class>       an event was decided, or at `E` was not yet
//! open <sample> <start> <end> <log-odds> <class>        at `E`: the event that the last sample is in
//! refused <sample>                                      impossible under the model, or no number
//! unknown <byte>                                        a byte that is none of the above; it was skipped
//! done <samples> <missing> <refused> <events> <ticks of pushes> <stack>      to `Q`
//! ```
//!
//! `<sample>` is how many samples the stream had, missing and refused ones included; those refused are pushed
//! as missing. `<start>` counts them from 0, `<end>` is the sample after the last. The log-odds of all samples of the
//! event, in nats, are the eight hexadecimal digits of an `f32`. `Q` alone tells nothing of what is undecided.

use core::fmt;

use embedded_io::{Read, ReadExactError, Write};
use fishweir_core::emission::Emission;
use fishweir_core::filter::Recursion;
use fishweir_core::spot::{Event, SpotState, Spotter};

#[cfg(any(feature = "async", test))]
use super::lines::converse_async;
use super::lines::{Class, Conversation, Request, Requests, converse};
use crate::classifier::WireSample;
use crate::log::log;
use crate::meter::Meter;

/// What a run has seen, and what it cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Report {
    /// Samples, missing and refused ones included.
    pub samples: u32,
    /// Missing ones.
    pub missing: u32,
    /// Refused ones.
    pub refused: u32,
    /// Events, those that a stream's end left undecided included.
    pub events: u32,
    /// Ticks of the meter that pushes took.
    pub push_ticks: u64,
}

/// Takes samples until the host sends `Q` or the transport ends, and tells every event. `names` are those of
/// the classes.
///
/// # Errors
/// When the transport fails, or ends inside a sample.
pub fn spot_events<P, M, E, const S: usize, const B: usize, const PENDING: usize>(
    serial: &mut P,
    meter: &M,
    spotter: &Spotter<E, S, B, PENDING>,
    names: &[&str],
) -> Result<Report, ReadExactError<P::Error>>
where
    P: Read + Write,
    M: Meter,
    E: Emission<Weight = f32, Observation: WireSample + Sized>,
{
    let mut session = Session::new(meter, spotter, names);
    converse(serial, &mut session)?;
    Ok(session.end())
}

/// [`spot_events`] over a line that others run beside: the same bytes out.
///
/// # Errors
/// As [`spot_events`].
#[cfg(any(feature = "async", test))]
#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
pub async fn spot_events_async<P, M, E, const S: usize, const B: usize, const PENDING: usize>(
    serial: &mut P,
    meter: &M,
    spotter: &Spotter<E, S, B, PENDING>,
    names: &[&str],
) -> Result<Report, ReadExactError<P::Error>>
where
    P: embedded_io_async::Read + embedded_io_async::Write,
    M: Meter,
    E: Emission<Weight = f32, Observation: WireSample + Sized>,
{
    let mut session = Session::new(meter, spotter, names);
    converse_async(serial, &mut session).await?;
    Ok(session.end())
}

/// The conversation.
struct Session<'a, M, E, const S: usize, const B: usize, const PENDING: usize>
where
    E: Emission<Weight = f32, Observation: WireSample + Sized>,
{
    meter: &'a M,
    spotter: &'a Spotter<E, S, B, PENDING>,
    names: &'a [&'a str],
    state: SpotState<f32, S, B, PENDING>,
    requests: Requests<<E::Observation as WireSample>::Wire>,
    /// Said before any event.
    due: Option<Line<'a>>,
    telling: Telling,
    is_over: bool,
    report: Report,
}

/// Which events are being told, and how many have been.
#[derive(Clone, Copy)]
enum Telling {
    Nothing,
    /// Those that the last sample decided.
    Decided(usize),
    /// Those that a stream's end leaves undecided.
    Undecided(usize),
}

impl<'a, M, E, const S: usize, const B: usize, const PENDING: usize>
    Session<'a, M, E, S, B, PENDING>
where
    M: Meter,
    E: Emission<Weight = f32, Observation: WireSample + Sized>,
{
    fn new(meter: &'a M, spotter: &'a Spotter<E, S, B, PENDING>, names: &'a [&'a str]) -> Self {
        Self {
            meter,
            spotter,
            names,
            state: spotter.start(),
            requests: Requests::new(),
            due: Some(Line::Ready { classes: names.len(), ticks: M::TICKS_PER_SECOND }),
            telling: Telling::Nothing,
            is_over: false,
            report: Report::default(),
        }
    }

    fn end(&self) -> Report {
        log!(info, "{=u32} samples, {=u32} events", self.report.samples, self.report.events);
        self.report
    }

    /// The next event to tell; after the last that was undecided a stream begins.
    fn event(&mut self) -> Option<Line<'a>> {
        let told = match &mut self.telling {
            Telling::Nothing => None,
            Telling::Decided(told) => {
                let event = self.state.spotted().events.get(*told);
                *told += 1;
                event.map(|event| ("event", *event))
            }
            Telling::Undecided(told) => {
                let event = undecided(self.spotter, &self.state, *told);
                *told += 1;
                event
            }
        };
        let Some((what, event)) = told else {
            if let Telling::Undecided(_) = self.telling {
                self.state = self.spotter.start();
            }
            self.telling = Telling::Nothing;
            return None;
        };
        self.report.events = self.report.events.wrapping_add(1);
        Some(Line::Event { what, sample: self.state.samples(), event, names: self.names })
    }
}

/// The event of an index that a stream's end leaves undecided, the open one last, and what it is called. Worked out
/// anew for each: there are few, and this once. Out of line: its list would lie on the stack beside the pushes.
#[inline(never)]
fn undecided<E, const S: usize, const B: usize, const PENDING: usize>(
    spotter: &Spotter<E, S, B, PENDING>,
    state: &SpotState<f32, S, B, PENDING>,
    index: usize,
) -> Option<(&'static str, Event)>
where
    E: Emission<Weight = f32>,
{
    let undecided = spotter.undecided(state);
    match undecided.events.get(index) {
        Some(event) => Some(("event", *event)),
        None if index == undecided.events.len() => undecided.open.map(|event| ("open", event)),
        None => None,
    }
}

impl<M, E, const S: usize, const B: usize, const PENDING: usize> Conversation
    for Session<'_, M, E, S, B, PENDING>
where
    M: Meter,
    E: Emission<Weight = f32, Observation: WireSample + Sized>,
{
    type Error<T> = ReadExactError<T>;

    fn due(&mut self) -> Option<impl fmt::Display> {
        self.due.take().or_else(|| self.event())
    }

    fn is_over(&self) -> bool {
        self.is_over
    }

    fn hear<T>(&mut self, heard: Result<Option<u8>, T>) -> Result<(), ReadExactError<T>> {
        let Some(request) = self.requests.hear(heard)? else { return Ok(()) };
        let Self { spotter, state, report, .. } = self;
        match request {
            Request::Sample(wire) => {
                report.samples = report.samples.wrapping_add(1);
                let (pushed, ticks) = self.meter.measure(|| {
                    E::Observation::from_wire(wire).and_then(|x| spotter.push(state, &x))
                });
                report.push_ticks = report.push_ticks.wrapping_add(ticks.into());
                if pushed.is_err() {
                    spotter.push_missing(state);
                    report.refused = report.refused.wrapping_add(1);
                    self.due = Some(Line::Refused(state.samples()));
                }
                self.telling = Telling::Decided(0);
            }
            Request::Tag(b'M') => {
                report.samples = report.samples.wrapping_add(1);
                report.missing = report.missing.wrapping_add(1);
                spotter.push_missing(state);
                self.telling = Telling::Decided(0);
            }
            Request::Tag(b'E') => self.telling = Telling::Undecided(0),
            Request::Tag(b'Q') => {
                self.due = Some(Line::Done { report: *report, stack: self.meter.stack_bytes() });
                self.is_over = true;
            }
            Request::Tag(tag) => self.due = Some(Line::Unknown(tag)),
            Request::End => self.is_over = true,
        }
        Ok(())
    }
}

/// What is said.
enum Line<'n> {
    Ready { classes: usize, ticks: u32 },
    Refused(u64),
    Event { what: &'static str, sample: u64, event: Event, names: &'n [&'n str] },
    Unknown(u8),
    Done { report: Report, stack: u32 },
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready { classes, ticks } => write!(f, "ready {classes} {ticks}"),
            Self::Refused(sample) => write!(f, "refused {sample}"),
            Self::Event { what, sample, event, names } => {
                let Event { class, start, end, log_odds } = event;
                let class = Class::of(usize::from(*class), names);
                write!(f, "{what} {sample} {start} {end} {:08x} {class}", log_odds.to_bits())
            }
            Self::Unknown(tag) => write!(f, "unknown {tag:02x}"),
            Self::Done { report, stack } => {
                let Report { samples, missing, refused, events, push_ticks } = report;
                write!(f, "done {samples} {missing} {refused} {events} {push_ticks} {stack}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::string::String;
    use std::vec::Vec;

    use embassy_futures::block_on;
    use embedded_io::ErrorKind;

    use super::super::wire::{Later, Wire};
    use super::*;
    use crate::meter::NoMeter;

    #[allow(unreachable_pub, dead_code)]
    mod coins {
        include!("../../../models/spotter.rs");
    }

    /// Over a line that lets others run every conversation is the same.
    fn serve(wire: &mut Wire) -> Result<Report, ReadExactError<ErrorKind>> {
        let (spotter, names) = (&coins::MODEL, &coins::CLASSES);
        let mut other = wire.clone();
        let report = spot_events(wire, &NoMeter, spotter, names);
        let mut later = Later(&mut other);
        let waited = block_on(spot_events_async(&mut later, &NoMeter, spotter, names));
        assert_eq!((waited, &other), (report, &*wire));
        report
    }

    fn answers(sent: &[u8]) -> Vec<String> {
        let mut wire = Wire::sending(sent);
        serve(&mut wire).expect("the stream ends between samples");
        let mut lines = wire.lines();
        assert_eq!(lines.remove(0), "ready 2 0");
        lines
    }

    const HEADS: &[u8] = b"S\0\0";
    const TAILS: &[u8] = b"S\x01\0";

    fn fair() -> Vec<u8> {
        [HEADS, TAILS].concat().repeat(50)
    }

    /// What, the numbers, the class.
    fn parts(line: &str) -> (&str, [u64; 3], f32, &str) {
        let mut words = line.splitn(6, ' ');
        let what = words.next().expect("a word");
        let numbers: Vec<u64> =
            words.by_ref().take(3).map(|word| word.parse().expect("a number")).collect();
        let bits = u32::from_str_radix(words.next().expect("bits"), 16).expect("eight digits");
        let numbers = numbers.try_into().expect("three");
        (what, numbers, f32::from_bits(bits), words.next().expect("a class"))
    }

    #[test]
    fn a_fair_coin_is_no_event_and_runs_are() {
        assert!(answers(&fair()).is_empty());
        let runs = [fair(), HEADS.repeat(30), fair(), TAILS.repeat(40), fair(), b"Q".to_vec()];
        let lines = answers(&runs.concat());
        let [heads, tails, done] = &lines[..] else { panic!("{lines:?}") };
        for (line, name, within) in [(heads, "heads", 98..=132), (tails, "tails", 228..=272)] {
            let (what, [sample, start, end], log_odds, class) = parts(line);
            assert_eq!((what, class), ("event", name));
            assert!(within.contains(&start) && within.contains(&end) && end <= sample, "{line}");
            assert!(log_odds > 5.0, "{line}");
        }
        assert_eq!(done, "done 370 0 0 2 0 0");
    }

    #[test]
    fn what_is_undecided_is_told_at_the_end_of_a_stream_and_the_next_begins_anew() {
        let stream = [fair(), TAILS.repeat(40), b"E".to_vec()].concat();
        let lines = answers(&[stream.clone(), stream].concat());
        let [first, second] = &lines[..] else { panic!("{lines:?}") };
        assert_eq!(first, second);
        let (what, [sample, start, end], _, class) = parts(first);
        assert_eq!((what, sample, end, class), ("open", 140, 140, "tails"));
        assert!((95..=101).contains(&start), "{first}");
    }

    #[test]
    fn what_is_no_symbol_is_refused_and_what_is_no_request_is_told() {
        let lines = answers(&[HEADS, b"S\x02\0", b"xM", b"Q"].concat());
        assert_eq!(lines, ["refused 2", "unknown 78", "done 3 1 1 0 0 0"]);
        assert_eq!(serve(&mut Wire::sending(b"S\0")), Err(ReadExactError::UnexpectedEof));
        let mut failing = Wire::sending(b"S").failing();
        assert_eq!(serve(&mut failing), Err(ReadExactError::Other(ErrorKind::Other)));
    }
}
