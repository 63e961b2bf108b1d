//! Takes records of categories as lines of text: each is classified, or compared with the recent ones.
//!
//! Host to device, a record per line: the names of states, in the order of the columns, separated by commas;
//! nothing or `?` where a field is missing. Spaces around a name are dropped, inside quotes too. In
//! double quotes a comma is a letter, and two quotes are one. Ctrl-D ends the conversation.
//!
//! Device to host, a line a record and two more:
//!
//! ```text
//! ready <columns> <ticks per second>           it listens; what is sent before may be lost
//! decision <line> <margin> <class>             on this record alone
//! normal <line> <statistic> <share> <column>   distance of recent records from the network, and the
//! alarm <line> <statistic> <share> <column>    column with the largest share of it
//! refused <line> state <field> <column>        the column has no such state
//! refused <line> fields <found>                as many, not one per column
//! refused <line> impossible                    the network gives the record no probability
//! refused <line> damaged                       the line lost bytes of it
//! done <lines> <refused> <alarms> <ticks of pushes> <ticks of readings> <stack>
//! ```
//!
//! Lines and fields are counted from 1. Reals are the eight hexadecimal digits of an `f32`. A record that is
//! refused is one that was not observed: what was before it fades. After an alarm all begins anew.

mod line;

use core::{fmt, mem};

use embedded_io::{Read, Write};
use fishweir_core::classify::Decision;
use fishweir_core::filter::{Stream, Streaming};
use fishweir_core::network::DiscrepancyReading;
use fishweir_core::wire::SampleIndex;

pub use line::{Line, Names, Refusal, longest};

#[cfg(any(feature = "async", test))]
use super::conversation::converse_async;
use super::conversation::{Conversation, converse};
use super::lines::{Class, Form, Heard, Receiver};
use crate::log::log;
use crate::meter::Meter;

/// Verdict of a model on records.
pub trait Verdict {
    /// `true` if each record is judged alone.
    const RESET_AFTER_RECORD: bool;

    /// Returns whether the verdict is an alarm.
    fn is_alarm(&self) -> bool;

    /// The answer to a line.
    ///
    /// # Errors
    /// Those of the formatter.
    fn write(&self, f: &mut fmt::Formatter<'_>, line: u32, names: &Names<'_>) -> fmt::Result;
}

impl Verdict for Decision {
    const RESET_AFTER_RECORD: bool = true;

    fn is_alarm(&self) -> bool {
        false
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, line: u32, names: &Names<'_>) -> fmt::Result {
        let (margin, class) = (self.margin.to_bits(), Class::of(self.class, names.classes));
        write!(f, "decision {line} {margin:08x} {class}")
    }
}

impl Verdict for DiscrepancyReading {
    const RESET_AFTER_RECORD: bool = false;

    fn is_alarm(&self) -> bool {
        self.alarm
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, line: u32, names: &Names<'_>) -> fmt::Result {
        let name = if self.alarm { "alarm" } else { "normal" };
        let [statistic, share] = [self.statistic, self.share].map(f32::to_bits);
        let column = Class::of(self.node, names.columns);
        write!(f, "{name} {line} {statistic:08x} {share:08x} {column}")
    }
}

struct Answer<'n, V> {
    line: u32,
    outcome: Result<V, Refusal>,
    names: Names<'n>,
}

impl<V: Verdict> fmt::Display for Answer<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let refusal = match &self.outcome {
            Ok(verdict) => return verdict.write(f, self.line, &self.names),
            Err(refusal) => refusal,
        };
        write!(f, "refused {} ", self.line)?;
        match *refusal {
            Refusal::State(field) => {
                write!(f, "state {} {}", field + 1, Class::of(field, self.names.columns))
            }
            Refusal::Fields(found) => write!(f, "fields {found}"),
            Refusal::Impossible => f.write_str("impossible"),
            Refusal::Damaged => f.write_str("damaged"),
        }
    }
}

/// Counts and costs of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Report {
    /// Lines, those refused included.
    pub lines: u32,
    /// Number of refused records.
    pub refused: u32,
    /// Alarms.
    pub alarms: u32,
    /// Frames that arrived damaged.
    pub corrupt: u64,
    /// Ticks of the meter that pushes took,
    pub push_ticks: u64,
    /// and readings.
    pub reading_ticks: u64,
}

/// Answers records until the host ends the conversation or the stream ends.
///
/// # Errors
/// When the transport fails for good: [`link`](crate::link) has the rule.
pub fn events<S, M, R>(
    serial: &mut S,
    meter: &M,
    stream: &mut Stream<&R>,
    line: &mut Line<'_>,
    form: Form,
) -> Result<Report, S::Error>
where
    S: Read + Write,
    M: Meter,
    R: Streaming<Observation = [u16], Reading: Verdict>,
{
    let mut session = Session::new(meter, stream, line, form);
    converse(serial, &mut session)?;
    Ok(session.end())
}

/// [`events`] over a line that others run beside: the same bytes out.
///
/// # Errors
/// As [`events`].
#[cfg(any(feature = "async", test))]
#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
pub async fn events_async<S, M, R>(
    serial: &mut S,
    meter: &M,
    stream: &mut Stream<&R>,
    line: &mut Line<'_>,
    form: Form,
) -> Result<Report, S::Error>
where
    S: embedded_io_async::Read + embedded_io_async::Write,
    M: Meter,
    R: Streaming<Observation = [u16], Reading: Verdict>,
{
    let mut session = Session::new(meter, stream, line, form);
    converse_async(serial, &mut session).await?;
    Ok(session.end())
}

/// The conversation.
struct Session<'a, 'r, 'b, M, R: Streaming> {
    meter: &'a M,
    stream: &'a mut Stream<&'r R>,
    line: &'a mut Line<'b>,
    receiver: Receiver,
    due: Due<'b, R::Reading>,
    report: Report,
}

/// Position in the conversation: the next answer.
enum Due<'n, V> {
    Ready,
    Nothing,
    Answer(Answer<'n, V>),
    /// An answer or none, and the last line.
    Last(Option<Answer<'n, V>>),
    Over,
}

impl<'a, 'r, 'b, M, R> Session<'a, 'r, 'b, M, R>
where
    M: Meter,
    R: Streaming<Observation = [u16], Reading: Verdict>,
{
    fn new(
        meter: &'a M,
        stream: &'a mut Stream<&'r R>,
        line: &'a mut Line<'b>,
        form: Form,
    ) -> Self {
        let (receiver, report) = (Receiver::new(form), Report::default());
        Self { meter, stream, line, receiver, due: Due::Ready, report }
    }

    fn end(&self) -> Report {
        let Report { lines, refused, alarms, .. } = self.report;
        log!(info, "{=u32} records, {=u32} refused, {=u32} alarms", lines, refused, alarms);
        self.report()
    }

    fn report(&self) -> Report {
        Report { corrupt: self.receiver.corrupt(), ..self.report }
    }

    /// Does one step.
    fn serve(&mut self, heard: Heard) {
        match heard {
            Heard::Byte(byte) => self.line.take(byte),
            Heard::Lost(_) => self.line.damage(),
            Heard::LineFeed => self.due = Due::Answer(self.answer()),
            Heard::Info => self.due = Due::Ready,
            Heard::Ended => {
                let answer = if self.line.is_empty() { None } else { Some(self.answer()) };
                self.due = Due::Last(answer);
            }
        }
    }

    /// Returns the model's answer to the current record.
    fn answer(&mut self) -> Answer<'b, R::Reading> {
        let Self { meter, stream, report, .. } = self;
        report.lines = report.lines.wrapping_add(1);
        let record = self.line.end();
        // A refused record is missing.
        let (pushed, ticks) = meter.measure(|| stream.push(record.as_ref().ok().copied()));
        let outcome = record.and_then(|_| {
            pushed.map_err(|_| Refusal::Impossible)?;
            report.push_ticks = report.push_ticks.wrapping_add(ticks.into());
            let (reading, ticks) = meter.measure(|| stream.read());
            report.reading_ticks = report.reading_ticks.wrapping_add(ticks.into());
            Ok(reading)
        });
        match &outcome {
            Ok(reading) => {
                report.alarms = report.alarms.wrapping_add(reading.is_alarm().into());
                if R::Reading::RESET_AFTER_RECORD || reading.is_alarm() {
                    stream.reset();
                }
            }
            Err(_) => report.refused = report.refused.wrapping_add(1),
        }
        Answer { line: report.lines, outcome, names: self.line.names }
    }
}

impl<M, R> Conversation for Session<'_, '_, '_, M, R>
where
    M: Meter,
    R: Streaming<Observation = [u16], Reading: Verdict>,
{
    fn due(&mut self) -> Option<impl fmt::Display> {
        loop {
            match mem::replace(&mut self.due, Due::Nothing) {
                Due::Ready => {
                    let columns = self.line.names.columns.len();
                    return Some(Reply::Ready { columns, ticks: M::TICKS_PER_SECOND });
                }
                Due::Nothing => {}
                Due::Answer(answer) => return Some(Reply::Answer(answer)),
                Due::Last(Some(answer)) => {
                    self.due = Due::Last(None);
                    return Some(Reply::Answer(answer));
                }
                Due::Last(None) => {
                    self.due = Due::Over;
                    return Some(Reply::Done {
                        report: self.report(),
                        stack: self.meter.stack_bytes(),
                    });
                }
                Due::Over => {
                    self.due = Due::Over;
                    return None;
                }
            }
            let heard = self.receiver.next()?;
            self.serve(heard);
        }
    }

    fn is_over(&self) -> bool {
        matches!(self.due, Due::Over)
    }

    fn place(&self) -> Option<SampleIndex> {
        self.receiver.place()
    }

    fn on_byte<E>(&mut self, heard: Result<Option<u8>, E>) -> Result<(), E> {
        self.receiver.on_byte(heard)
    }
}

/// Answer to the host.
enum Reply<'n, V> {
    Ready { columns: usize, ticks: u32 },
    Answer(Answer<'n, V>),
    Done { report: Report, stack: u32 },
}

impl<V: Verdict> fmt::Display for Reply<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready { columns, ticks } => write!(f, "ready {columns} {ticks}"),
            Self::Answer(answer) => answer.fmt(f),
            Self::Done { report, stack } => {
                let Report { lines, refused, alarms, push_ticks, reading_ticks, .. } = report;
                write!(f, "done {lines} {refused} {alarms} {push_ticks} {reading_ticks} {stack}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::format;
    use std::string::String;
    use std::vec::Vec;

    use embassy_futures::block_on;
    use fishweir_core::filter::ForgettingFactor;
    use fishweir_core::network::{Discrepancy, DiscrepancyTables, FactorLayout};
    use fishweir_core::wire::Request;

    use super::*;
    use crate::applications::wire::{Later, Sent, Wire};
    use crate::meter::NoMeter;

    #[allow(unreachable_pub)]
    mod house {
        include!("../../../../models/events.rs");
    }
    use house::{CLASSES, COLUMNS, MODEL, STATES};

    fn serve<R>(wire: &mut Wire, model: &R, names: Names<'_>) -> Vec<String>
    where
        R: Streaming<Observation = [u16], Reading: Verdict>,
    {
        serve_in(wire, model, names, Form::Terminal)
    }

    fn serve_in<R>(wire: &mut Wire, model: &R, names: Names<'_>, form: Form) -> Vec<String>
    where
        R: Streaming<Observation = [u16], Reading: Verdict>,
    {
        let (mut event, mut field) = ([0; 2], [0; longest(&STATES)]);
        let (columns, field) = (names.columns.len(), &mut field);
        let mut line = Line::new(names, &mut event[..columns], field);
        let mut other = wire.clone();
        let report = events(wire, &NoMeter, &mut Stream::new(model), &mut line, form);
        // Over a line that lets others run the conversation is the same.
        let (mut later, mut running) = (Later(&mut other), Stream::new(model));
        let waited = events_async(&mut later, &NoMeter, &mut running, &mut line, form);
        assert_eq!((block_on(waited), &other), (report, &*wire));
        report.expect("the stream ends");
        let mut lines = match form {
            Form::Frames => wire.framed_lines(),
            Form::Terminal => wire.lines(),
        };
        assert_eq!(lines.remove(0), format!("ready {columns} 0"));
        lines
    }

    fn answers(text: &str) -> Vec<String> {
        let names = Names { columns: &COLUMNS, states: &STATES, classes: &CLASSES };
        serve(&mut Wire::sending(text.as_bytes()), &MODEL, names)
    }

    fn decision(line: usize, margin: f32) -> String {
        let class = if margin > 0.0 { "somebody" } else { "nobody" };
        format!("decision {line} {:08x} {class}", margin.abs().to_bits())
    }

    #[test]
    fn every_record_is_decided_on_alone() {
        let lines =
            answers("open,bright\nshut,off\r\n open , \"dim, warm\"\n\"open\",?\n,\n?,off\x04");
        let margins = [3.0, -1.5, 1.25, 1.0, 0.0, -0.5];
        let wanted = margins.iter().enumerate().map(|(line, &margin)| decision(line + 1, margin));
        assert_eq!(lines[..6], wanted.collect::<Vec<_>>());
        assert_eq!(lines[6..], ["done 6 0 0 0 0 0"]);
        assert_eq!(answers("\x04open"), ["done 0 0 0 0 0 0"]);
    }

    #[test]
    fn what_is_wrong_is_told_by_line_and_field_and_the_next_is_whole() {
        let wrong = "open\nopen,dim\najar,dim\nopen,off,off\n\nopen,off\nopen,\"off\n\
                     open,a name that is longer than any\nopen,\"\"\"off\"\n";
        let mut lines = answers(wrong);
        assert_eq!(lines.remove(5), decision(6, 0.5));
        // A quote that does not end ends with its line.
        assert_eq!(lines.remove(5), decision(7, 0.5));
        let told = [
            "refused 1 fields 1",
            "refused 2 state 2 lamp",
            "refused 3 state 1 door",
            "refused 4 fields 3",
            "refused 5 fields 1",
            "refused 8 state 2 lamp",
            "refused 9 state 2 lamp",
            "done 9 7 0 0 0 0",
        ];
        assert_eq!(lines, told);
        let mut wire = Wire::sending(b"op").failing().then(b"en,off\nopen,off\n");
        let names = Names { columns: &COLUMNS, states: &STATES, classes: &CLASSES };
        let lines = serve(&mut wire, &MODEL, names);
        assert_eq!(lines, ["refused 1 damaged", &decision(2, 0.5), "done 2 1 0 0 0 0"]);
    }

    #[test]
    fn in_frames_records_are_decided_on_as_on_a_terminal_and_lost_ones_are_told() {
        let text = "open,bright\nshut,off\r\n open , \"dim, warm\"                    \n?,off";
        let names = Names { columns: &COLUMNS, states: &STATES, classes: &CLASSES };
        let sent = Sent::new().text(text);
        let bytes = sent.clone().ask(Request::Stop).bytes();
        let lines = serve_in(&mut Wire::sending(&bytes), &MODEL, names, Form::Frames);
        assert_eq!(lines, answers(text));
        // The second record, and the end of the third.
        let stop = sent.clone().ask(Request::Stop).frames.pop();
        let bytes = [&sent.frames[..1], &sent.frames[2..3], &sent.frames[4..]].concat().concat();
        let bytes = [bytes, stop.expect("a frame")].concat();
        let lines = serve_in(&mut Wire::sending(&bytes), &MODEL, names, Form::Frames);
        let told = ["refused 2 damaged", "refused 3 damaged"];
        assert_eq!(lines[1..3], told);
        assert_eq!(lines[3..], [decision(4, -0.5), "done 4 2 0 0 0 0".into()]);
    }

    #[test]
    fn a_door_that_stays_open_is_an_alarm_again_and_again() {
        // Open in a quarter of the records; one state that cannot be.
        let terms = FactorLayout::new(&[3], &[1], &[0]).expect("terms");
        let (theta, precision) = ([0.75, 0.25, 0.0], [1.0 / 0.75, 4.0, 0.0]);
        let memory = ForgettingFactor::samples(16.0).expect("a memory");
        let tables = DiscrepancyTables::new(terms, &theta, &precision, memory, 10.0_f32, 4.0);
        let alarm = Discrepancy::<f32, 1, 3>::new(tables.expect("tables")).expect("an alarm");
        let names = Names { columns: &["door"], states: &[&["shut", "open", "?"]], classes: &[] };
        let mut wire = Wire::sending("open\n".repeat(30).as_bytes()).then(b"\n");
        let mut lines = serve(&mut wire, &alarm, names);
        assert!(lines.pop().is_some_and(|done| done.starts_with("done 31 1 ")));
        // Missing is a state of its own here, and one that does not happen.
        assert_eq!(lines.pop().as_deref(), Some("refused 31 impossible"));
        let alarms: Vec<usize> = lines
            .iter()
            .enumerate()
            .filter(|(_, line)| line.starts_with("alarm"))
            .map(|x| x.0)
            .collect();
        assert!(alarms.len() > 2, "{lines:?}");
        assert!(alarms.windows(2).all(|pair| pair[1] - pair[0] == alarms[0] + 1), "{alarms:?}");
        // Of the first, (3/4)^2 (4 + 4/3), all of it the door's.
        let parts: Vec<&str> = lines[0].split(' ').collect();
        assert_eq!((&parts[..2], &parts[3..]), (&["normal", "1"][..], &["3f800000", "door"][..]));
        let statistic = u32::from_str_radix(parts[2], 16).map(f32::from_bits);
        assert!(statistic.is_ok_and(|s| (s - 3.0).abs() < 1e-5), "{parts:?}");
    }
}
