//! Watches an unlabelled stream and says when it has changed.
//!
//! Host to device, a byte and what belongs to it:
//!
//! | byte | payload | meaning |
//! |---|---|---|
//! | `S` | a sample: `D` x `f32` in the sensor's units, or one `u16` symbol, little-endian | push it |
//! | `M` | | a sample is missing |
//! | `?` | | answer with the statistics |
//! | `Q` | | stop |
//!
//! Device to host, lines of text; after the first, nothing as long as nothing has changed:
//!
//! ```text
//! ready <directions>                          it listens; what is sent before may be lost
//! alarm <sample> fit <value>                  the model no longer explains the stream
//! alarm <sample> drift <direction> <value>    the stream moves along a direction (or against it)
//! refused <sample>                            impossible under the model, or no number
//! reading <sample> <fit> <drift> ...          to `?`
//! unknown <byte>                              a byte that is none of the above; it was skipped
//! done <samples> <missing> <refused> <alarms> to `Q`
//! ```
//!
//! Samples are counted from 1, missing and refused ones included; those refused are pushed as
//! missing. Values are the eight hexadecimal digits of an `f32`. After an alarm the detector begins
//! anew: a change that lasts is reported again and again, as often as the model takes to see it.

use core::fmt;

use embedded_io::{Read, ReadExactError, Write};
use fishweir_core::classify::{ChangeDetector, ChangeReading, Statistic};
use fishweir_core::emission::Emission;
use fishweir_core::filter::Running;
use fishweir_core::number::RealParameter;

#[cfg(any(feature = "async", test))]
use super::lines::converse_async;
use super::lines::{Conversation, Request, Requests, converse};
use crate::classifier::WireSample;
use crate::log::log;

/// What a run has seen.
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
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { samples, missing, refused, alarms } = self;
        write!(f, "done {samples} {missing} {refused} {alarms}")
    }
}

/// Takes samples until the host sends `Q` or the stream ends, and reports every change.
///
/// # Errors
/// When the transport fails, or the stream ends inside a sample.
pub fn detect_change<S, E, const N: usize, const C: usize>(
    serial: &mut S,
    detector: &mut Running<&ChangeDetector<E, N, C>>,
) -> Result<Report, ReadExactError<S::Error>>
where
    S: Read + Write,
    E: Emission<Weight: RealParameter<Real = f32>, Observation: WireSample + Sized>,
{
    let mut session = Session::new(detector);
    converse(serial, &mut session)?;
    Ok(session.end())
}

/// [`detect_change`] over a line that others run beside: the same bytes out.
///
/// # Errors
/// As [`detect_change`].
#[cfg(any(feature = "async", test))]
#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
pub async fn detect_change_async<S, E, const N: usize, const C: usize>(
    serial: &mut S,
    detector: &mut Running<&ChangeDetector<E, N, C>>,
) -> Result<Report, ReadExactError<S::Error>>
where
    S: embedded_io_async::Read + embedded_io_async::Write,
    E: Emission<Weight: RealParameter<Real = f32>, Observation: WireSample + Sized>,
{
    let mut session = Session::new(detector);
    converse_async(serial, &mut session).await?;
    Ok(session.end())
}

/// The conversation.
struct Session<'a, 'm, E, const N: usize, const C: usize>
where
    E: Emission<Weight: RealParameter<Real = f32>, Observation: WireSample + Sized>,
{
    detector: &'a mut Running<&'m ChangeDetector<E, N, C>>,
    requests: Requests<<E::Observation as WireSample>::Wire>,
    /// A sample was refused: this is said first.
    refused: Option<Line<C>>,
    due: Option<Line<C>>,
    is_over: bool,
    report: Report,
}

impl<'a, 'm, E, const N: usize, const C: usize> Session<'a, 'm, E, N, C>
where
    E: Emission<Weight: RealParameter<Real = f32>, Observation: WireSample + Sized>,
{
    fn new(detector: &'a mut Running<&'m ChangeDetector<E, N, C>>) -> Self {
        Self {
            detector,
            requests: Requests::new(),
            refused: None,
            due: Some(Line::Ready),
            is_over: false,
            report: Report::default(),
        }
    }

    fn end(&self) -> Report {
        let Report { samples, alarms, .. } = self.report;
        log!(info, "{=u32} samples, {=u32} alarms", samples, alarms);
        self.report
    }

    /// After a sample: whether the stream has changed.
    fn watch(&mut self) {
        let reading = self.detector.read();
        let Some(statistic) = reading.alarm else { return };
        self.report.alarms = self.report.alarms.wrapping_add(1);
        let value = reading.value(statistic).unwrap_or_default().to_bits();
        self.due = Some(Line::Alarm { sample: self.report.samples, statistic, value });
        self.detector.reset();
    }
}

impl<E, const N: usize, const C: usize> Conversation for Session<'_, '_, E, N, C>
where
    E: Emission<Weight: RealParameter<Real = f32>, Observation: WireSample + Sized>,
{
    type Error<T> = ReadExactError<T>;

    fn due(&mut self) -> Option<impl fmt::Display> {
        self.refused.take().or_else(|| self.due.take())
    }

    fn is_over(&self) -> bool {
        self.is_over
    }

    fn hear<T>(&mut self, heard: Result<Option<u8>, T>) -> Result<(), ReadExactError<T>> {
        let Some(request) = self.requests.hear(heard)? else { return Ok(()) };
        let report = &mut self.report;
        match request {
            Request::Sample(wire) => {
                report.samples = report.samples.wrapping_add(1);
                let detector = &mut *self.detector;
                if E::Observation::from_wire(wire).and_then(|x| detector.push(&x)).is_err() {
                    detector.push_missing();
                    report.refused = report.refused.wrapping_add(1);
                    self.refused = Some(Line::Refused(report.samples));
                }
                self.watch();
            }
            Request::Tag(b'M') => {
                report.samples = report.samples.wrapping_add(1);
                report.missing = report.missing.wrapping_add(1);
                self.detector.push_missing();
                self.watch();
            }
            Request::Tag(b'?') => {
                let reading = self.detector.read();
                self.due = Some(Line::Reading { sample: report.samples, reading });
            }
            Request::Tag(b'Q') => {
                self.due = Some(Line::Done(*report));
                self.is_over = true;
            }
            Request::Tag(tag) => self.due = Some(Line::Unknown(tag)),
            Request::End => self.is_over = true,
        }
        Ok(())
    }
}

/// What is said.
enum Line<const C: usize> {
    Ready,
    Refused(u32),
    Alarm { sample: u32, statistic: Statistic, value: u32 },
    Reading { sample: u32, reading: ChangeReading<f32, C> },
    Unknown(u8),
    Done(Report),
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
            Self::Done(report) => report.fmt(f),
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

    use super::super::wire::{Later, Wire};
    use super::*;

    #[allow(unreachable_pub, dead_code)]
    mod heads {
        include!("../../../models/detector.rs");
    }

    /// Over a line that lets others run every conversation is the same.
    fn serve(wire: &mut Wire) -> Result<Report, ReadExactError<ErrorKind>> {
        let mut other = wire.clone();
        let report = detect_change(wire, &mut Running::new(&heads::MODEL));
        let (mut later, mut running) = (Later(&mut other), Running::new(&heads::MODEL));
        let waited = block_on(detect_change_async(&mut later, &mut running));
        assert_eq!((waited, &other), (report, &*wire));
        report
    }

    fn answers(sent: &[u8]) -> Vec<String> {
        let mut wire = Wire::sending(sent);
        serve(&mut wire).expect("the stream ends between samples");
        let mut lines = wire.lines();
        assert_eq!(lines.remove(0), "ready 1");
        lines
    }

    const HEADS: &[u8] = b"S\0\0";
    const TAILS: &[u8] = b"S\x01\0";

    #[test]
    fn a_fair_coin_is_no_news_and_one_that_shows_heads_is() {
        let fair = [HEADS, TAILS].concat().repeat(200);
        assert!(answers(&fair).is_empty());
        // From sample 401 on. Each of the last tosses drifts by one half: see the model.
        let lines = answers(&[fair, HEADS.repeat(25)].concat());
        let [alarm] = &lines[..] else { panic!("{lines:?}") };
        let parts: Vec<&str> = alarm.split(' ').collect();
        assert_eq!(parts[0], "alarm");
        assert_eq!(parts[2..4], ["drift", "0"]);
        let sample: u32 = parts[1].parse().expect("a number");
        assert!((416..425).contains(&sample), "{alarm}");
        let value = f32::from_bits(u32::from_str_radix(parts[4], 16).expect("eight digits"));
        assert!((8.0..8.5).contains(&value), "{value}");
    }

    #[test]
    fn a_change_that_lasts_is_reported_again() {
        let lines = answers(&HEADS.repeat(100));
        let sample = |line: &String| line.split(' ').nth(1).and_then(|at| at.parse().ok());
        let at: Vec<u32> = lines.iter().filter_map(sample).collect();
        assert_eq!(at.len(), lines.len(), "{lines:?}");
        assert!(at.len() > 2 && at.windows(2).all(|pair| pair[1] - pair[0] == at[0]), "{at:?}");
    }

    #[test]
    fn the_statistics_are_told_when_asked() {
        let lines = answers(&[b"?", HEADS, b"?", HEADS, b"M?"].concat());
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
        let lines = answers(&[HEADS, b"S\x02\0", b"x", b"Q"].concat());
        assert_eq!(lines, ["refused 2", "unknown 78", "done 2 0 1 0"]);
        let mut cut = Wire::sending(b"S\0");
        assert_eq!(serve(&mut cut), Err(ReadExactError::UnexpectedEof));
        let mut failing = Wire::sending(b"S").failing();
        assert_eq!(serve(&mut failing), Err(ReadExactError::Other(ErrorKind::Other)));
    }
}
