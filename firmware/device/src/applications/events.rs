//! Takes records of categories as lines of text: each is decided on, or watched beside those of late.
//!
//! Host to device, a record a line: the names of states, in the order of the columns, separated by commas;
//! nothing or `?` where a field is missing. Spaces around a name are none of it, nor those in quotes. In
//! double quotes a comma is a letter, and two quotes are one. Ctrl-D ends the conversation.
//!
//! Device to host, a line a record and two more:
//!
//! ```text
//! ready <columns> <ticks a second>             it listens; what is sent before may be lost
//! decision <line> <margin> <class>             on this record alone
//! normal <line> <statistic> <share> <column>   how far records of late are from the network, and the
//! alarm <line> <statistic> <share> <column>    column with the largest share of it
//! refused <line> state <field> <column>        the column has no such state
//! refused <line> fields <found>                as many, not one a column
//! refused <line> impossible                    the network gives the record no probability
//! refused <line> damaged                       the receiver lost bytes of it
//! done <lines> <refused> <alarms> <ticks of pushes> <ticks of readings> <stack>
//! ```
//!
//! Lines and fields are counted from 1. Reals are the eight hexadecimal digits of an `f32`. A record that is
//! refused is one that was not observed: what was before it fades. After an alarm all begins anew.

use core::fmt;

use embedded_io::{Read, Write};
use fishweir_core::classify::Decision;
use fishweir_core::filter::{Recursion, Running};
use fishweir_core::network::{DiscrepancyReading, MISSING};

use super::lines::{Class, End, Receiver, write_line};
use crate::log::log;
use crate::meter::Meter;

/// What a model calls things.
#[derive(Clone, Copy, Debug)]
pub struct Names<'n> {
    /// The columns of a record.
    pub columns: &'n [&'n str],
    /// The states of each.
    pub states: &'n [&'n [&'n str]],
    /// The classes; none of an alarm.
    pub classes: &'n [&'n str],
}

/// Bytes of the longest name of a state, one at least: the room that a [`Line`] needs.
pub const fn longest(states: &[&[&str]]) -> usize {
    let (mut longest, mut column) = (1, 0);
    while column < states.len() {
        let mut state = 0;
        while state < states[column].len() {
            let length = states[column][state].len();
            longest = if length > longest { length } else { longest };
            state += 1;
        }
        column += 1;
    }
    longest
}

/// Why a record was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Refusal {
    /// The column, from 0, has no state of the name in its field.
    State(usize),
    /// So many fields, not one a column.
    Fields(usize),
    /// The network gives it no probability.
    Impossible,
    /// Bytes of it were lost.
    Damaged,
}

/// A record that comes byte by byte, and the room for it.
#[derive(Debug)]
pub struct Line<'b> {
    names: Names<'b>,
    /// A state a column.
    event: &'b mut [u16],
    /// The name in hand.
    field: &'b mut [u8],
    progress: Progress,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Progress {
    begun: bool,
    /// Fields that have ended.
    fields: usize,
    /// The first of them that names no state.
    wrong: Option<usize>,
    damaged: bool,
    /// Bytes of the name in hand.
    length: usize,
    /// It is longer than any.
    long: bool,
    quoted: bool,
    /// The byte before was a quote that may have ended the name.
    closed: bool,
}

impl<'b> Line<'b> {
    /// An empty line: `event` with an entry a column, `field` with [`longest`] bytes.
    pub const fn new(names: Names<'b>, event: &'b mut [u16], field: &'b mut [u8]) -> Self {
        let progress = Progress {
            begun: false,
            fields: 0,
            wrong: None,
            damaged: false,
            length: 0,
            long: false,
            quoted: false,
            closed: false,
        };
        Self { names, event, field, progress }
    }

    /// The next byte.
    pub fn take(&mut self, byte: u8) {
        self.progress.begun = true;
        let Progress { quoted, closed, .. } = self.progress;
        self.progress.closed = false;
        match byte {
            b'"' => {
                if closed {
                    self.append(byte);
                }
                self.progress.quoted = !quoted;
                self.progress.closed = quoted;
            }
            b',' if !quoted => self.end_field(),
            byte => self.append(byte),
        }
    }

    /// Bytes of it were lost.
    pub fn damage(&mut self) {
        self.progress.damaged = true;
    }

    /// Whether nothing has come.
    pub fn is_empty(&self) -> bool {
        !self.progress.begun && !self.progress.damaged
    }

    /// The record: a state a column. The next byte begins another.
    ///
    /// # Errors
    /// [`Refusal`]: what is wrong with it first.
    pub fn end(&mut self) -> Result<&[u16], Refusal> {
        self.end_field();
        let Progress { fields, wrong, damaged, .. } = core::mem::take(&mut self.progress);
        match wrong {
            _ if damaged => Err(Refusal::Damaged),
            _ if fields != self.event.len() => Err(Refusal::Fields(fields)),
            Some(field) => Err(Refusal::State(field)),
            None => Ok(self.event),
        }
    }

    fn append(&mut self, byte: u8) {
        let length = self.progress.length;
        match self.field.get_mut(length) {
            _ if length == 0 && byte == b' ' => {}
            Some(slot) => {
                *slot = byte;
                self.progress.length = length + 1;
            }
            None => self.progress.long |= byte != b' ',
        }
    }

    fn end_field(&mut self) {
        let Progress { fields, length, long, .. } = self.progress;
        let text = self.field.get(..length).unwrap_or_default().trim_ascii_end();
        let text = if text.is_empty() { b"?" } else { text };
        let states = self.names.states.get(fields).copied().unwrap_or_default();
        // Missing may be a state of its own.
        let state = match states.iter().position(|name| name.as_bytes() == text) {
            _ if long => None,
            Some(state) => u16::try_from(state).ok(),
            None => (text == b"?").then_some(MISSING),
        };
        match (self.event.get_mut(fields), state) {
            (Some(slot), Some(state)) => *slot = state,
            (Some(_), None) => _ = self.progress.wrong.get_or_insert(fields),
            (None, _) => {}
        }
        let Progress { begun, wrong, damaged, .. } = self.progress;
        let fields = fields.saturating_add(1);
        self.progress = Progress { begun, fields, wrong, damaged, ..Progress::default() };
    }
}

/// What a model says of records.
pub trait Verdict {
    /// Whether each record is judged alone.
    const ALONE: bool;

    /// Whether it is an alarm.
    fn is_alarm(&self) -> bool;

    /// The answer to a line.
    ///
    /// # Errors
    /// Those of the formatter.
    fn write(&self, f: &mut fmt::Formatter<'_>, line: u32, names: &Names<'_>) -> fmt::Result;
}

impl Verdict for Decision {
    const ALONE: bool = true;

    fn is_alarm(&self) -> bool {
        false
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, line: u32, names: &Names<'_>) -> fmt::Result {
        let (margin, class) = (self.margin.to_bits(), Class::of(self.class, names.classes));
        write!(f, "decision {line} {margin:08x} {class}")
    }
}

impl Verdict for DiscrepancyReading {
    const ALONE: bool = false;

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

struct Answer<'a, V> {
    line: u32,
    outcome: Result<V, Refusal>,
    names: &'a Names<'a>,
}

impl<V: Verdict> fmt::Display for Answer<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let refusal = match &self.outcome {
            Ok(verdict) => return verdict.write(f, self.line, self.names),
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

/// What a run has seen, and what it cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Report {
    /// Lines, those refused included.
    pub lines: u32,
    /// Those refused.
    pub refused: u32,
    /// Alarms.
    pub alarms: u32,
    /// Ticks of the meter that pushes took,
    pub push_ticks: u64,
    /// and readings.
    pub reading_ticks: u64,
}

/// Answers records until the host ends the conversation or the stream ends.
///
/// # Errors
/// When the transport fails: to write, or to read twice without a byte between.
pub fn events<S, M, R>(
    serial: &mut S,
    meter: &M,
    stream: &mut Running<&R>,
    line: &mut Line<'_>,
) -> Result<Report, S::Error>
where
    S: Read + Write,
    M: Meter,
    R: Recursion<Observation = [u16], Reading: Verdict>,
{
    let names = line.names;
    write_line(serial, format_args!("ready {} {}", names.columns.len(), M::TICKS_PER_SECOND))?;
    let mut report = Report::default();
    let mut receiver = Receiver::default();
    loop {
        let end = receiver.line(serial, |byte| match byte {
            Some(byte) => line.take(byte),
            None => line.damage(),
        })?;
        if end == End::Ended && line.is_empty() {
            break;
        }
        report.lines = report.lines.wrapping_add(1);
        let outcome = line.end().and_then(|record| {
            let (pushed, ticks) = meter.measure(|| stream.push(record));
            pushed.map_err(|_| Refusal::Impossible)?;
            report.push_ticks = report.push_ticks.wrapping_add(ticks.into());
            let (reading, ticks) = meter.measure(|| stream.read());
            report.reading_ticks = report.reading_ticks.wrapping_add(ticks.into());
            Ok(reading)
        });
        match &outcome {
            Ok(reading) => {
                report.alarms = report.alarms.wrapping_add(reading.is_alarm().into());
                if R::Reading::ALONE || reading.is_alarm() {
                    stream.reset();
                }
            }
            Err(_) => {
                report.refused = report.refused.wrapping_add(1);
                stream.push_missing();
            }
        }
        let answer = Answer { line: report.lines, outcome, names: &names };
        write_line(serial, format_args!("{answer}"))?;
        if end == End::Ended {
            break;
        }
    }
    let Report { lines, refused, alarms, push_ticks, reading_ticks } = report;
    let stack = meter.stack_bytes();
    let ticks = format_args!("{push_ticks} {reading_ticks}");
    write_line(serial, format_args!("done {lines} {refused} {alarms} {ticks} {stack}"))?;
    log!(info, "{=u32} records, {=u32} refused, {=u32} alarms", lines, refused, alarms);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use std::format;
    use std::string::String;
    use std::vec::Vec;

    use fishweir_core::filter::ForgettingFactor;
    use fishweir_core::network::{Discrepancy, DiscrepancyTables, Terms};

    use super::super::wire::Wire;
    use super::*;
    use crate::meter::NoMeter;

    #[allow(unreachable_pub)]
    mod house {
        include!("../../../models/events.rs");
    }
    use house::{CLASSES, COLUMNS, MODEL, STATES};

    fn serve<R>(wire: &mut Wire, model: &R, names: Names<'_>) -> Vec<String>
    where
        R: Recursion<Observation = [u16], Reading: Verdict>,
    {
        let (mut event, mut field) = ([0; 2], [0; longest(&STATES)]);
        let (columns, field) = (names.columns.len(), &mut field);
        let mut line = Line::new(names, &mut event[..columns], field);
        events(wire, &NoMeter, &mut Running::new(model), &mut line).expect("the stream ends");
        let mut lines = wire.lines();
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
    fn a_door_that_stays_open_is_an_alarm_again_and_again() {
        // Open in a quarter of the records; one state that cannot be.
        let terms = Terms::new(&[3], &[1], &[0]).expect("terms");
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
