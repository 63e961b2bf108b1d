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
use zerocopy::{FromZeros, IntoBytes};

use super::lines::write_line;
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
    write_line(serial, format_args!("ready {C}"))?;
    let mut report = Report::default();
    loop {
        let mut tag = 0;
        if serial.read(core::slice::from_mut(&mut tag))? == 0 {
            break;
        }
        match tag {
            b'S' => {
                let mut wire = <E::Observation as WireSample>::Wire::new_zeroed();
                serial.read_exact(wire.as_mut_bytes())?;
                report.samples = report.samples.wrapping_add(1);
                let pushed = E::Observation::from_wire(wire).and_then(|x| detector.push(&x));
                if pushed.is_err() {
                    detector.push_missing();
                    report.refused += 1;
                    write_line(serial, format_args!("refused {}", report.samples))?;
                }
            }
            b'M' => {
                report.samples = report.samples.wrapping_add(1);
                report.missing += 1;
                detector.push_missing();
            }
            b'?' => {
                let reading = Reading { sample: report.samples, reading: detector.read() };
                write_line(serial, format_args!("{reading}"))?;
                continue;
            }
            b'Q' => {
                write_line(serial, format_args!("{report}"))?;
                break;
            }
            _ => {
                write_line(serial, format_args!("unknown {tag:02x}"))?;
                continue;
            }
        }
        let reading = detector.read();
        if let Some(statistic) = reading.alarm {
            report.alarms += 1;
            let value = reading.value(statistic).unwrap_or_default().to_bits();
            let sample = report.samples;
            match statistic {
                Statistic::Fit => {
                    write_line(serial, format_args!("alarm {sample} fit {value:08x}"))?;
                }
                Statistic::Drift(direction) => {
                    let line = format_args!("alarm {sample} drift {direction} {value:08x}");
                    write_line(serial, line)?;
                }
            }
            detector.reset();
        }
    }
    log!(info, "{=u32} samples, {=u32} alarms", report.samples, report.alarms);
    Ok(report)
}

struct Reading<const C: usize> {
    sample: u32,
    reading: ChangeReading<f32, C>,
}

impl<const C: usize> fmt::Display for Reading<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "reading {} {:08x}", self.sample, self.reading.fit.to_bits())?;
        self.reading.drift.iter().try_for_each(|drift| write!(f, " {:08x}", drift.to_bits()))
    }
}

#[cfg(test)]
mod tests {
    use std::format;
    use std::string::String;
    use std::vec::Vec;

    use embedded_io::ErrorKind;

    use super::super::wire::Wire;
    use super::*;

    #[allow(unreachable_pub, dead_code)]
    mod heads {
        include!("../../../models/detector.rs");
    }

    fn serve(wire: &mut Wire) -> Result<Report, ReadExactError<ErrorKind>> {
        detect_change(wire, &mut Running::new(&heads::MODEL))
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
