//! Spots events in an uncut stream: their class, start and end, and confidence.
//!
//! Speaks the frames of [`fishweir_core::wire`]. Host to device:
//!
//! | tag | payload | meaning |
//! |---|---|---|
//! | `S` | a sample: `D` x `f32` in the sensor's units, or one `u16` symbol, little-endian | push it |
//! | `M` | none | a sample is missing |
//! | `I` | none | answer `ready` again |
//! | `E` | none | the stream has ended: report what is undecided; the next stream begins anew |
//! | `Q` | none | answer with the counts |
//! | `X` | none | stop |
//!
//! Device to host, lines of text in frames; after the first, nothing as long as no event is decided:
//!
//! ```text
//! ready <classes> <ticks per second>                    it listens; what is sent before may be lost
//! event <sample> <start> <end> <log-odds> <class>       an event was decided, or at a stream's end was not yet
//! open <sample> <start> <end> <log-odds> <class>        at a stream's end: the event that the last sample is in
//! refused <sample>                                      impossible under the model, or no number
//! unknown <tag>                                         any other request, or of another length
//! counts <samples> <missing> <refused> <events> <lost> <repeated> <corrupt> <ticks of pushes> <stack>      to `Q`
//! ```
//!
//! `<sample>` is the number of samples of the stream, missing, refused and lost ones included; those refused or lost are
//! missing. `<start>` counts them from 0, `<end>` is the sample after the last. The log-odds of all samples of the
//! event, in nats, are the eight hexadecimal digits of an `f32`. A sample of a new stream ends the one before, as `E` does. So
//! does a gap of more than [`LONGEST_GAP`](fishweir_core::wire::LONGEST_GAP) samples, behind which the stream is spotted anew
//! with the same count of samples. `X` reports nothing of what is undecided.

use core::fmt;

use embedded_hal::digital::OutputPin;
use embedded_io::{Read, Write};
use fishweir_core::emission::Emission;
use fishweir_core::filter::Streaming;
use fishweir_core::spot::{Event, SpotState, Spotter};
use fishweir_core::wire::SampleIndex;

#[cfg(any(feature = "async", test))]
use super::conversation::converse_async;
use super::conversation::{Conversation, converse};
use super::lines::Class;
pub use super::requests::Losses;
use super::requests::{Request, Requests};
use crate::alarm::{Alarm, SHOWN};
use crate::classifier::WireSample;
use crate::log::log;
use crate::meter::Meter;

/// Counts and costs of a run.
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
    /// Losses of the line; samples that it lost are missing ones.
    pub losses: Losses,
    /// Ticks of the meter that pushes took.
    pub push_ticks: u64,
}

/// Takes samples until the host sends `X` or the transport ends, and reports every event. `names` are those of
/// the classes. The alarm is raised for [`SHOWN`] samples after each event.
///
/// # Errors
/// When the transport fails for good: [`link`](crate::link) has the rule.
pub fn spot_events<P, M, O, E, const S: usize, const B: usize, const PENDING: usize>(
    serial: &mut P,
    meter: &M,
    spotter: &Spotter<E, S, B, PENDING>,
    names: &[&str],
    alarm: &mut Alarm<O>,
) -> Result<Report, P::Error>
where
    P: Read + Write,
    M: Meter,
    O: OutputPin,
    E: Emission<Weight = f32, Observation: WireSample + Sized>,
{
    let mut session = Session::new(meter, spotter, names, alarm);
    converse(serial, &mut session)?;
    Ok(session.end())
}

/// [`spot_events`] over a line that others run beside: the same bytes out.
///
/// # Errors
/// As [`spot_events`].
#[cfg(any(feature = "async", test))]
#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
pub async fn spot_events_async<P, M, O, E, const S: usize, const B: usize, const PENDING: usize>(
    serial: &mut P,
    meter: &M,
    spotter: &Spotter<E, S, B, PENDING>,
    names: &[&str],
    alarm: &mut Alarm<O>,
) -> Result<Report, P::Error>
where
    P: embedded_io_async::Read + embedded_io_async::Write,
    M: Meter,
    O: OutputPin,
    E: Emission<Weight = f32, Observation: WireSample + Sized>,
{
    let mut session = Session::new(meter, spotter, names, alarm);
    converse_async(serial, &mut session).await?;
    Ok(session.end())
}

/// The conversation.
struct Session<'a, M, O, E, const S: usize, const B: usize, const PENDING: usize>
where
    E: Emission<Weight = f32, Observation: WireSample + Sized>,
{
    meter: &'a M,
    spotter: &'a Spotter<E, S, B, PENDING>,
    names: &'a [&'a str],
    alarm: &'a mut Alarm<O>,
    state: SpotState<f32, S, B, PENDING>,
    requests: Requests<<E::Observation as WireSample>::Wire>,
    /// Said before any event.
    due: Option<Line<'a>>,
    telling: Telling,
    /// Samples of the stream before the first that the state knows.
    before: u64,
    /// Value of `before` once all undecided events have been reported.
    then_before: u64,
    is_over: bool,
    report: Report,
}

/// Events being reported, and the number reported so far.
#[derive(Clone, Copy)]
enum Telling {
    Nothing,
    /// Events that the last sample decided.
    Decided(usize),
    /// Events that a stream's end leaves undecided.
    Undecided(usize),
}

impl<'a, M, O, E, const S: usize, const B: usize, const PENDING: usize>
    Session<'a, M, O, E, S, B, PENDING>
where
    M: Meter,
    O: OutputPin,
    E: Emission<Weight = f32, Observation: WireSample + Sized>,
{
    fn new(
        meter: &'a M,
        spotter: &'a Spotter<E, S, B, PENDING>,
        names: &'a [&'a str],
        alarm: &'a mut Alarm<O>,
    ) -> Self {
        Self {
            meter,
            spotter,
            names,
            alarm,
            state: spotter.initial_state(),
            requests: Requests::new(),
            due: Some(Line::Ready { classes: names.len(), ticks: M::TICKS_PER_SECOND }),
            telling: Telling::Nothing,
            before: 0,
            then_before: 0,
            is_over: false,
            report: Report::default(),
        }
    }

    fn report(&self) -> Report {
        Report { losses: self.requests.losses(), ..self.report }
    }

    fn end(&self) -> Report {
        let report = self.report();
        let Report { samples, events, losses, .. } = report;
        log!(
            info,
            "{=u32} samples, {=u32} events; the line lost {=u64}",
            samples,
            events,
            losses.lost
        );
        report
    }

    /// Samples of the stream so far.
    fn samples(&self) -> u64 {
        self.before + self.state.samples()
    }

    /// Ends the stream, or the part of it before a gap: the state then begins `then_before` samples into it.
    fn end_stream(&mut self, then_before: u64) {
        self.telling = Telling::Undecided(0);
        self.then_before = then_before;
    }

    /// Does one step.
    fn serve(&mut self, request: Request<<E::Observation as WireSample>::Wire>) {
        let Self { spotter, state, report, alarm, .. } = self;
        match request {
            Request::NewStream | Request::End => self.end_stream(0),
            Request::Sample(wire) => {
                alarm.pass_all(1);
                report.samples = report.samples.wrapping_add(1);
                let x = E::Observation::from_wire(wire);
                // A refused sample is missing.
                let (pushed, ticks) = self.meter.measure(|| spotter.push(state, x.as_ref().ok()));
                report.push_ticks = report.push_ticks.wrapping_add(ticks.into());
                if pushed.is_err() || x.is_err() {
                    report.refused = report.refused.wrapping_add(1);
                    self.due = Some(Line::Refused(self.samples()));
                }
                self.telling = Telling::Decided(0);
            }
            Request::Missing { .. } => {
                alarm.pass_all(1);
                report.samples = report.samples.wrapping_add(1);
                report.missing = report.missing.wrapping_add(1);
                spotter.step_missing(state);
                self.telling = Telling::Decided(0);
            }
            Request::Skipped(samples) => {
                let samples = u32::from(samples);
                alarm.pass_all(samples);
                report.samples = report.samples.wrapping_add(samples);
                report.missing = report.missing.wrapping_add(samples);
                self.end_stream(self.samples() + u64::from(samples));
            }
            Request::Info => {
                let classes = self.names.len();
                self.due = Some(Line::Ready { classes, ticks: M::TICKS_PER_SECOND });
            }
            Request::Report => {
                let stack = self.meter.stack_bytes();
                self.due = Some(Line::Counts { report: self.report(), stack });
            }
            Request::Reading => {
                self.due = Some(Line::Unknown(fishweir_core::wire::Request::Reading.tag()));
            }
            Request::Unknown(tag) => self.due = Some(Line::Unknown(tag)),
            Request::Stop => self.is_over = true,
        }
    }

    /// The next event to report; after the last undecided one a stream begins.
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
                self.state = self.spotter.initial_state();
                self.before = self.then_before;
            }
            self.telling = Telling::Nothing;
            return None;
        };
        self.report.events = self.report.events.wrapping_add(1);
        // A pin that fails is tried again at the next event.
        let _ = self.alarm.raise(SHOWN);
        let event =
            Event { start: event.start + self.before, end: event.end + self.before, ..event };
        Some(Line::Event { what, sample: self.samples(), event, names: self.names })
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

impl<M, O, E, const S: usize, const B: usize, const PENDING: usize> Conversation
    for Session<'_, M, O, E, S, B, PENDING>
where
    M: Meter,
    O: OutputPin,
    E: Emission<Weight = f32, Observation: WireSample + Sized>,
{
    fn due(&mut self) -> Option<impl fmt::Display> {
        loop {
            if let Some(line) = self.due.take().or_else(|| self.event()) {
                return Some(line);
            }
            let request = self.requests.next()?;
            self.serve(request);
        }
    }

    fn is_over(&self) -> bool {
        self.is_over
    }

    fn place(&self) -> Option<SampleIndex> {
        Some(self.requests.place())
    }

    fn on_byte<T>(&mut self, heard: Result<Option<u8>, T>) -> Result<(), T> {
        self.requests.on_byte(heard)
    }
}

/// Answer to the host.
enum Line<'n> {
    Ready { classes: usize, ticks: u32 },
    Refused(u64),
    Event { what: &'static str, sample: u64, event: Event, names: &'n [&'n str] },
    Unknown(u8),
    Counts { report: Report, stack: u32 },
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
            Self::Counts { report, stack } => {
                let Report { samples, missing, refused, events, losses, push_ticks } = report;
                let Losses { lost, repeated, corrupt } = losses;
                write!(
                    f,
                    "counts {samples} {missing} {refused} {events} {lost} {repeated} {corrupt}"
                )?;
                write!(f, " {push_ticks} {stack}")
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
    use fishweir_core::wire::Request as Tag;

    use super::super::wire::{Later, Sent, Wire};
    use super::*;
    use crate::meter::NoMeter;

    #[allow(unreachable_pub, dead_code)]
    mod coins {
        include!("../../../models/spotter.rs");
    }

    /// Asserts that every conversation is the same over a line that lets others run.
    fn serve(wire: &mut Wire) -> Result<Report, ErrorKind> {
        let (spotter, names) = (&coins::MODEL, &coins::CLASSES);
        let mut other = wire.clone();
        let mut pin = Alarm::none();
        let report = spot_events(wire, &NoMeter, spotter, names, &mut pin);
        let mut later = Later(&mut other);
        let waited = block_on(spot_events_async(&mut later, &NoMeter, spotter, names, &mut pin));
        assert_eq!((waited, &other), (report, &*wire));
        report
    }

    fn answers(sent: &Sent) -> Vec<String> {
        let mut wire = Wire::sending(&sent.bytes());
        serve(&mut wire).expect("no read fails");
        let mut lines = wire.framed_lines();
        assert_eq!(lines.remove(0), "ready 2 0");
        lines
    }

    const HEADS: u16 = 0;
    const TAILS: u16 = 1;

    fn fair(sent: Sent) -> Sent {
        sent.symbols(&[HEADS, TAILS].repeat(50))
    }

    /// Parts of a line: its kind, the numbers, the log-odds, the class.
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
        assert!(answers(&fair(Sent::new())).is_empty());
        let runs = fair(fair(Sent::new()).symbols(&[HEADS; 30])).symbols(&[TAILS; 40]);
        let lines = answers(&fair(runs).ask(Tag::Report).ask(Tag::Stop));
        let [heads, tails, counts] = &lines[..] else { panic!("{lines:?}") };
        for (line, name, within) in [(heads, "heads", 98..=132), (tails, "tails", 228..=272)] {
            let (what, [sample, start, end], log_odds, class) = parts(line);
            assert_eq!((what, class), ("event", name));
            assert!(within.contains(&start) && within.contains(&end) && end <= sample, "{line}");
            assert!(log_odds > 5.0, "{line}");
        }
        assert_eq!(counts, "counts 370 0 0 2 0 0 0 0 0");
    }

    #[test]
    fn the_alarm_is_raised_after_an_event() {
        let (mut alarm, heads) = (Alarm::none(), fair(Sent::new()).symbols(&[HEADS; 30]));
        for (sent, is_raised) in [(fair(Sent::new()), false), (heads.end(), true)] {
            let mut wire = Wire::sending(&sent.bytes());
            let report =
                spot_events(&mut wire, &NoMeter, &coins::MODEL, &coins::CLASSES, &mut alarm);
            assert_eq!(report.expect("no read fails").events > 0, is_raised);
            assert_eq!(alarm.is_raised(), is_raised);
        }
    }

    #[test]
    fn what_is_undecided_is_told_at_the_end_of_a_stream_and_the_next_begins_anew() {
        let one = |sent: Sent| fair(sent).symbols(&[TAILS; 40]);
        // Told to end, told again, which is the past, and ended by the next stream.
        let once = one(Sent::new()).end();
        let mut twice = once.clone();
        twice.frames.push(once.frames[once.frames.len() - 1].clone());
        let mut unsaid = one(Sent::new());
        unsaid.next = unsaid.next.next_stream();
        for sent in [once, twice, unsaid] {
            let lines = answers(&one(sent).end());
            let [first, second] = &lines[..] else { panic!("{lines:?}") };
            assert_eq!(first, second);
            let (what, [sample, start, end], _, class) = parts(first);
            assert_eq!((what, sample, end, class), ("open", 140, 140, "tails"));
            assert!((95..=101).contains(&start), "{first}");
        }
    }

    #[test]
    fn lost_samples_are_missing_and_events_stand_where_they_were() {
        let around = |sent: Sent| fair(fair(sent).symbols(&[HEADS; 30])).ask(Tag::Report);
        let told = answers(&around(Sent::new().missing().missing()));
        let lost = answers(&around(Sent::new().skipping(2)));
        assert_eq!(told[..1], lost[..1]);
        let counts = ["counts 232 2 0 1 0 0 0 0 0", "counts 232 2 0 1 2 0 0 0 0"];
        assert_eq!((&*told[1], &*lost[1]), (counts[0], counts[1]));
        // Behind a gap longer than any that is made up for it is spotted anew: the same event, 3100 samples later.
        let plain = answers(&around(Sent::new()));
        let far = answers(&around(fair(Sent::new()).skipping(3000)));
        let (_, [sample, start, end], log_odds, _) = parts(&plain[0]);
        let later = parts(&far[0]);
        assert_eq!((later.1, later.2), ([sample, start, end].map(|at| at + 3100), log_odds));
        assert_eq!(far[1], "counts 3330 3000 0 1 3000 0 0 0 0");
    }

    #[test]
    fn what_is_no_symbol_is_refused_and_what_is_no_request_is_told() {
        let sent = Sent::new().symbols(&[HEADS, 2]).ask(Tag::Reading).missing();
        let lines = answers(&sent.ask(Tag::Report).ask(Tag::Info).ask(Tag::Stop));
        let counts = "counts 3 1 1 0 0 0 0 0 0";
        assert_eq!(lines, ["refused 2", "unknown 52", counts, "ready 2 0"]);
    }
}
