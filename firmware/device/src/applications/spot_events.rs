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
use fishweir_core::spot::{Event, Spotter};
use zerocopy::{FromZeros, IntoBytes};

use super::lines::{Class, write_line};
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
    let mut state = spotter.start();
    let mut report = Report::default();
    write_line(serial, format_args!("ready {} {}", names.len(), M::TICKS_PER_SECOND))?;
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
                let (pushed, ticks) = meter.measure(|| {
                    E::Observation::from_wire(wire).and_then(|x| spotter.push(&mut state, &x))
                });
                report.push_ticks = report.push_ticks.wrapping_add(ticks.into());
                if pushed.is_err() {
                    spotter.push_missing(&mut state);
                    report.refused = report.refused.wrapping_add(1);
                    write_line(serial, format_args!("refused {}", state.samples()))?;
                }
            }
            b'M' => {
                report.samples = report.samples.wrapping_add(1);
                report.missing = report.missing.wrapping_add(1);
                spotter.push_missing(&mut state);
            }
            b'E' => {
                let undecided = spotter.undecided(&state);
                let told = |what, event| Told { what, sample: state.samples(), event, names };
                for event in &undecided.events {
                    report.events = report.events.wrapping_add(1);
                    write_line(serial, format_args!("{}", told("event", event)))?;
                }
                if let Some(event) = &undecided.open {
                    report.events = report.events.wrapping_add(1);
                    write_line(serial, format_args!("{}", told("open", event)))?;
                }
                state = spotter.start();
                continue;
            }
            b'Q' => {
                let Report { samples, missing, refused, events, push_ticks } = report;
                let stack = meter.stack_bytes();
                let costs = format_args!("{push_ticks} {stack}");
                let done = format_args!("done {samples} {missing} {refused} {events} {costs}");
                write_line(serial, done)?;
                break;
            }
            _ => {
                write_line(serial, format_args!("unknown {tag:02x}"))?;
                continue;
            }
        }
        for event in &state.spotted().events {
            report.events = report.events.wrapping_add(1);
            let told = Told { what: "event", sample: state.samples(), event, names };
            write_line(serial, format_args!("{told}"))?;
        }
    }
    log!(info, "{=u32} samples, {=u32} events", report.samples, report.events);
    Ok(report)
}

/// An event, in a line.
struct Told<'e> {
    what: &'static str,
    sample: u64,
    event: &'e Event,
    names: &'e [&'e str],
}

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, sample, event, names } = self;
        let Event { class, start, end, log_odds } = event;
        let class = Class::of(usize::from(*class), names);
        write!(f, "{what} {sample} {start} {end} {:08x} {class}", log_odds.to_bits())
    }
}

#[cfg(test)]
mod tests {
    use std::string::String;
    use std::vec::Vec;

    use embedded_io::ErrorKind;

    use super::super::wire::Wire;
    use super::*;
    use crate::meter::NoMeter;

    #[allow(unreachable_pub, dead_code)]
    mod coins {
        include!("../../../models/spotter.rs");
    }

    fn serve(wire: &mut Wire) -> Result<Report, ReadExactError<ErrorKind>> {
        spot_events(wire, &NoMeter, &coins::MODEL, &coins::CLASSES)
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
