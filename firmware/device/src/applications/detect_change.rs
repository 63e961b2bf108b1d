//! Watches an unlabelled stream and reports when it has changed.
//!
//! Speaks the frames of [`fishweir_core::wire`]. Host to device:
//!
//! | tag | payload | meaning |
//! |---|---|---|
//! | `S` | a sample: `D` x `f32` in the sensor's units, or one `u16` symbol, little-endian | push it |
//! | `M` | none | a sample is missing |
//! | `I` | none | answer `ready` again |
//! | `R` | none | answer with the statistics |
//! | `E` | none | the stream has ended: the next begins anew |
//! | `Q` | none | answer with the counts |
//! | `X` | none | stop |
//!
//! Device to host, lines of text in frames; after the first, nothing as long as nothing has changed:
//!
//! ```text
//! ready <directions>                          it listens; what is sent before may be lost
//! alarm <sample> fit <value>                  the model no longer explains the stream
//! alarm <sample> drift <direction> <value>    the stream moves along a direction (or against it)
//! refused <sample>                            impossible under the model, or no number
//! reading <sample> <fit> <drift> ...          to `R`
//! unknown <tag>                               any other request, or of another length
//! counts <samples> <missing> <refused> <alarms> <lost> <repeated> <corrupt>    to `Q`
//! ```
//!
//! Samples of a stream are counted from 1, missing, refused and lost ones included; those refused or lost are missing. Behind
//! a gap of more than [`LONGEST_GAP`](fishweir_core::wire::LONGEST_GAP) samples the rest is counted and not pushed.
//! Values are the eight hexadecimal digits of an `f32`. After an alarm the detector begins
//! anew: a change that lasts is reported again and again, as often as the model takes to see it. A new stream begins anew too.

use core::fmt;

use embedded_hal::digital::OutputPin;
use embedded_io::{Read, Write};
use fishweir_core::classify::{ChangeDetector, ChangeReading, Statistic};
use fishweir_core::emission::Emission;
use fishweir_core::filter::Stream;
use fishweir_core::number::RealParameter;
use fishweir_core::wire::SampleIndex;

#[cfg(any(feature = "async", test))]
use super::conversation::converse_async;
use super::conversation::{Conversation, converse};
pub use super::requests::Losses;
use super::requests::{Request, Requests};
use crate::alarm::{Alarm, SHOWN};
use crate::classifier::WireSample;
use crate::log::log;

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Report {
    /// Samples, missing and refused ones included.
    pub samples: u32,
    /// Missing ones.
    pub missing: u32,
    /// Refused ones.
    pub refused: u32,
    /// Alarms.
    pub alarms: u32,
    /// Losses of the line; samples that it lost are missing ones.
    pub losses: Losses,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { samples, missing, refused, alarms, losses } = self;
        let Losses { lost, repeated, corrupt } = losses;
        write!(f, "counts {samples} {missing} {refused} {alarms} {lost} {repeated} {corrupt}")
    }
}

/// Takes samples until the host sends `X` or the transport ends, and reports every change. The alarm is raised for [`SHOWN`] samples after
/// each.
///
/// # Errors
/// When the transport fails for good: [`link`](crate::link) has the rule.
pub fn detect_change<S, P, E, const N: usize, const C: usize>(
    serial: &mut S,
    detector: &mut Stream<&ChangeDetector<E, N, C>>,
    alarm: &mut Alarm<P>,
) -> Result<Report, S::Error>
where
    S: Read + Write,
    P: OutputPin,
    E: Emission<Weight: RealParameter<Real = f32>, Observation: WireSample + Sized>,
{
    let mut session = Session::new(detector, alarm);
    converse(serial, &mut session)?;
    Ok(session.end())
}

/// [`detect_change`] over a line that others run beside: the same bytes out.
///
/// # Errors
/// As [`detect_change`].
#[cfg(any(feature = "async", test))]
#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
pub async fn detect_change_async<S, P, E, const N: usize, const C: usize>(
    serial: &mut S,
    detector: &mut Stream<&ChangeDetector<E, N, C>>,
    alarm: &mut Alarm<P>,
) -> Result<Report, S::Error>
where
    S: embedded_io_async::Read + embedded_io_async::Write,
    P: OutputPin,
    E: Emission<Weight: RealParameter<Real = f32>, Observation: WireSample + Sized>,
{
    let mut session = Session::new(detector, alarm);
    converse_async(serial, &mut session).await?;
    Ok(session.end())
}

/// The conversation.
struct Session<'a, 'm, P, E, const N: usize, const C: usize>
where
    E: Emission<Weight: RealParameter<Real = f32>, Observation: WireSample + Sized>,
{
    detector: &'a mut Stream<&'m ChangeDetector<E, N, C>>,
    alarm: &'a mut Alarm<P>,
    requests: Requests<<E::Observation as WireSample>::Wire>,
    /// Report of a refused sample, which is sent first.
    refused: Option<Line<C>>,
    due: Option<Line<C>>,
    is_over: bool,
    /// Samples of the stream so far.
    sample: u32,
    report: Report,
}

impl<'a, 'm, P, E, const N: usize, const C: usize> Session<'a, 'm, P, E, N, C>
where
    P: OutputPin,
    E: Emission<Weight: RealParameter<Real = f32>, Observation: WireSample + Sized>,
{
    fn new(detector: &'a mut Stream<&'m ChangeDetector<E, N, C>>, alarm: &'a mut Alarm<P>) -> Self {
        Self {
            detector,
            alarm,
            requests: Requests::new(),
            refused: None,
            due: Some(Line::Ready),
            is_over: false,
            sample: 0,
            report: Report::default(),
        }
    }

    fn report(&self) -> Report {
        Report { losses: self.requests.losses(), ..self.report }
    }

    fn end(&self) -> Report {
        let report = self.report();
        let Report { samples, alarms, losses, .. } = report;
        log!(
            info,
            "{=u32} samples, {=u32} alarms; the line lost {=u64}",
            samples,
            alarms,
            losses.lost
        );
        report
    }

    /// Counts samples that have passed.
    fn count(&mut self, samples: u32) {
        self.sample = self.sample.wrapping_add(samples);
        self.report.samples = self.report.samples.wrapping_add(samples);
        self.alarm.pass_all(samples);
    }

    fn count_missing(&mut self, samples: u32) {
        self.count(samples);
        self.report.missing = self.report.missing.wrapping_add(samples);
    }

    /// Checks after a sample whether the stream has changed.
    fn watch(&mut self) {
        let reading = self.detector.read();
        let Some(statistic) = reading.alarm else { return };
        self.report.alarms = self.report.alarms.wrapping_add(1);
        // A pin that fails is tried again at the next alarm.
        let _ = self.alarm.raise(SHOWN);
        let value = reading.value(statistic).unwrap_or_default().to_bits();
        self.due = Some(Line::Alarm { sample: self.sample, statistic, value });
        self.detector.reset();
    }

    /// Does one step.
    fn serve(&mut self, request: Request<<E::Observation as WireSample>::Wire>) {
        match request {
            Request::NewStream | Request::End => {
                self.detector.reset();
                self.sample = 0;
            }
            Request::Sample(wire) => {
                self.count(1);
                let x = E::Observation::from_wire(wire);
                // A refused sample is missing.
                let pushed = self.detector.push(x.as_ref().ok());
                if pushed.is_err() || x.is_err() {
                    self.report.refused = self.report.refused.wrapping_add(1);
                    self.refused = Some(Line::Refused(self.sample));
                }
                self.watch();
            }
            Request::Missing { .. } => {
                self.count_missing(1);
                let _ = self.detector.push(None);
                self.watch();
            }
            Request::Skipped(samples) => self.count_missing(samples.into()),
            Request::Info => self.due = Some(Line::Ready),
            Request::Reading => {
                let reading = self.detector.read();
                self.due = Some(Line::Reading { sample: self.sample, reading });
            }
            Request::Report => self.due = Some(Line::Counts(self.report())),
            Request::Unknown(tag) => self.due = Some(Line::Unknown(tag)),
            Request::Stop => self.is_over = true,
        }
    }
}

impl<P, E, const N: usize, const C: usize> Conversation for Session<'_, '_, P, E, N, C>
where
    P: OutputPin,
    E: Emission<Weight: RealParameter<Real = f32>, Observation: WireSample + Sized>,
{
    fn due(&mut self) -> Option<impl fmt::Display> {
        loop {
            if let Some(line) = self.refused.take().or_else(|| self.due.take()) {
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
enum Line<const C: usize> {
    Ready,
    Refused(u32),
    Alarm { sample: u32, statistic: Statistic, value: u32 },
    Reading { sample: u32, reading: ChangeReading<f32, C> },
    Unknown(u8),
    Counts(Report),
}

impl<const C: usize> fmt::Display for Line<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready => write!(f, "ready {C}"),
            Self::Refused(sample) => write!(f, "refused {sample}"),
            Self::Alarm { sample, statistic: Statistic::Fit, value } => {
                write!(f, "alarm {sample} fit {value:08x}")
            }
            Self::Alarm { sample, statistic: Statistic::Drift(direction), value } => {
                write!(f, "alarm {sample} drift {direction} {value:08x}")
            }
            Self::Reading { sample, reading: ChangeReading { fit, drift, .. } } => {
                write!(f, "reading {sample} {:08x}", fit.to_bits())?;
                drift.iter().try_for_each(|drift| write!(f, " {:08x}", drift.to_bits()))
            }
            Self::Unknown(tag) => write!(f, "unknown {tag:02x}"),
            Self::Counts(report) => report.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::format;
    use std::string::String;
    use std::vec::Vec;

    use embassy_futures::block_on;
    use embedded_io::ErrorKind;
    use fishweir_core::wire::Request as Tag;

    use super::super::wire::{Later, Sent, Wire};
    use super::*;
    use crate::alarm::NoPin;
    use crate::link::ReadErrors;

    #[allow(unreachable_pub, dead_code)]
    mod heads {
        include!("../../../models/detector.rs");
    }

    /// Asserts that every conversation is the same over a line that lets others run.
    fn serve(wire: &mut Wire) -> Result<Report, ErrorKind> {
        let mut other = wire.clone();
        let mut pin = Alarm::none();
        let report = detect_change(wire, &mut Stream::new(&heads::MODEL), &mut pin);
        let (mut later, mut running) = (Later(&mut other), Stream::new(&heads::MODEL));
        let waited = block_on(detect_change_async(&mut later, &mut running, &mut pin));
        assert_eq!((waited, &other), (report, &*wire));
        report
    }

    fn answers(sent: &Sent) -> Vec<String> {
        let mut wire = Wire::sending(&sent.bytes());
        serve(&mut wire).expect("no read fails");
        let mut lines = wire.framed_lines();
        assert_eq!(lines.remove(0), "ready 1");
        lines
    }

    const HEADS: u16 = 0;
    const TAILS: u16 = 1;

    fn fair() -> Sent {
        Sent::new().symbols(&[HEADS, TAILS].repeat(200))
    }

    fn sample(line: &str) -> u32 {
        line.split(' ').nth(1).and_then(|at| at.parse().ok()).expect("a number")
    }

    #[test]
    fn a_fair_coin_is_no_news_and_one_that_shows_heads_is() {
        assert!(answers(&fair()).is_empty());
        // From sample 401 on. Each of the last tosses drifts by one half: see the model.
        let lines = answers(&fair().symbols(&[HEADS; 25]));
        let [alarm] = &lines[..] else { panic!("{lines:?}") };
        let parts: Vec<&str> = alarm.split(' ').collect();
        assert_eq!(parts[0], "alarm");
        assert_eq!(parts[2..4], ["drift", "0"]);
        assert!((416..425).contains(&sample(alarm)), "{alarm}");
        let value = f32::from_bits(u32::from_str_radix(parts[4], 16).expect("eight digits"));
        assert!((8.0..8.5).contains(&value), "{value}");
    }

    #[test]
    fn the_alarm_is_raised_for_a_while_after_a_change() {
        for (after, is_raised) in [(0, true), (SHOWN as u16 - 1, true), (SHOWN as u16, false)] {
            let heads = answers(&Sent::new().symbols(&[HEADS; 40])).remove(0);
            let sent = Sent::new().symbols(&[HEADS].repeat(sample(&heads) as usize));
            let sent = sent.symbols(&[HEADS, TAILS].repeat(after.into())[..after.into()]);
            let mut alarm = Alarm::new(NoPin).expect("a pin");
            let mut wire = Wire::sending(&sent.bytes());
            let report = detect_change(&mut wire, &mut Stream::new(&heads::MODEL), &mut alarm);
            assert_eq!(report.expect("no read fails").alarms, 1);
            assert_eq!(alarm.is_raised(), is_raised, "{after} samples after it");
        }
    }

    #[test]
    fn a_change_that_lasts_is_reported_again() {
        let lines = answers(&Sent::new().symbols(&[HEADS; 100]));
        let at: Vec<u32> = lines.iter().map(|line| sample(line)).collect();
        assert!(at.len() > 2 && at.windows(2).all(|pair| pair[1] - pair[0] == at[0]), "{at:?}");
    }

    #[test]
    fn the_statistics_are_told_when_asked() {
        let ask = |sent: Sent| sent.ask(Tag::Reading);
        let sent = ask(ask(ask(Sent::new()).symbols(&[HEADS])).symbols(&[HEADS]).missing());
        let lines = answers(&sent);
        assert_eq!(lines[0], "reading 0 00000000 00000000");
        let half = 0.5_f32;
        let numbers: Vec<&str> = lines[1].split(' ').collect();
        assert_eq!(numbers[..2], ["reading", "1"]);
        assert_eq!(numbers[3], format!("{:08x}", half.to_bits()));
        // A sample fades by 1/64, and a missing one adds nothing.
        let faded = (half * (63.0 / 64.0) + half) * (63.0 / 64.0);
        assert_eq!(lines[2].split(' ').nth(3), Some(&*format!("{:08x}", faded.to_bits())));
    }

    #[test]
    fn what_is_no_symbol_is_refused_and_what_is_no_request_is_told() {
        // The sample of another length has a number, and is lost.
        let sent = Sent::new().symbols(&[HEADS, 2]).sample([0_u8; 1]).ask(Tag::Save);
        let lines = answers(&sent.ask(Tag::Report).ask(Tag::Info).ask(Tag::Stop));
        let counts = "counts 3 1 1 0 1 0 0";
        assert_eq!(lines, ["refused 2", "unknown 53", "unknown 4b", counts, "ready 1"]);
    }

    #[test]
    fn lost_samples_are_missing_and_a_new_stream_begins_anew() {
        let sent = Sent::new().symbols(&[HEADS; 3]).skipping(2).symbols(&[TAILS]);
        let lines = answers(&sent.skipping(2).ask(Tag::Reading).ask(Tag::Report));
        let sent = Sent::new().symbols(&[HEADS; 3]).missing().missing().symbols(&[TAILS]);
        let same = answers(&sent.missing().missing().ask(Tag::Reading).ask(Tag::Report));
        assert_eq!(lines[0], same[0]);
        assert_eq!((&*lines[1], &*same[1]), ("counts 8 4 0 0 4 0 0", "counts 8 4 0 0 0 0 0"));
        // A gap that is longer than any that is made up for is counted all the same.
        let lines = answers(&Sent::new().skipping(3000).symbols(&[2]).ask(Tag::Report));
        assert_eq!(lines, ["refused 3001", "counts 3001 3000 1 0 3000 0 0"]);
        let mut sent = Sent::new().symbols(&[HEADS; 14]);
        sent.next = sent.next.next_stream();
        assert!(answers(&sent.symbols(&[HEADS; 14])).is_empty());
        assert!(answers(&Sent::new().symbols(&[HEADS; 14]).end().symbols(&[HEADS; 14])).is_empty());
    }

    #[test]
    fn a_read_that_fails_costs_a_sample_and_a_dead_line_ends() {
        let (before, after) = (Sent::new().symbols(&[HEADS]).bytes(), Sent::new().skipping(1));
        let (cut, rest) = before.split_at(5);
        let after = after.symbols(&[TAILS]).ask(Tag::Report).bytes();
        let mut wire = Wire::sending(cut).failing().then(&rest[1..]).then(&after);
        let report = serve(&mut wire).expect("one byte was lost");
        let losses = Losses { lost: 1, repeated: 0, corrupt: 1 };
        assert_eq!(report, Report { samples: 2, missing: 1, losses, ..Report::default() });
        let dead = (0..=ReadErrors::LIMIT).fold(Wire::sending(cut), |wire, _| wire.failing());
        assert_eq!(serve(&mut dead.clone()), Err(ErrorKind::Other));
    }
}
