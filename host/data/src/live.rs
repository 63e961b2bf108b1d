//! Samples from a pipe, one line after another.

use std::io::{BufRead, ErrorKind, Read};

use super::Values;
use super::dataset::Kind;
use super::dialect::Commas;
use super::error::DataError;
use super::marks::Marks;
use super::place::Place;
use super::quantity::{Conversion, TimeUnit, find_channels, split_unit};
use super::role_names::{LABELS, base};
use super::samples::Sample;
use super::source::Column;
use super::stamps::{Times, rank};
use super::table::{check_distinct, number};
use super::unit_match::UnitMatch;

/// The longest line, in bytes: a stream without line ends must not fill the memory.
const LONGEST_LINE: u64 = 1 << 24;

/// The first byte of gzip: a control character, which begins no text.
const GZIP: u8 = 0x1F;

/// Reads a stream of samples as they arrive: it never waits for more than the sample it returns.
///
/// - **Channels**: a line is one sample, its numbers parted by commas, by semicolons (then a comma is a decimal one) or, in a line
///   without either, by blanks. `NA` or a field left empty between commas makes the sample missing. The first line
///   may be a header that names the channels among other columns, in any order, as in a series
///   table; the channels are then picked by name, a column `series` says where
///   [another series begins](Self::begins_series), and a column `t`, or of another name that [tables](crate::Dataset) have for times, gives the [time](Self::time). A header may also part its columns by tabs or bars. Fields may be quoted; a line
///   that begins with `#` is a comment. Blank lines
///   are passed over.
/// - **Symbols**: each character is one sample as soon as it is there, be it alone on a line or one
///   of many. Blanks and line ends are passed over where they are no symbols.
/// - **Words**: each word is one sample as soon as what ends it is there: a blank, a comma, a semicolon, a bar, or the end of its
///   line.
///
/// A stream is not unpacked: one that begins like gzip is an error, which [ends](DataError::ends_stream)
/// it.
#[derive(Debug)]
pub struct LiveReader<R> {
    reader: R,
    name: String,
    kind: Kind,
    values: Values,
    marks: Marks,
    /// Column of the time, where one is named.
    time_column: Option<Column>,
    header: Option<Header>,
    begun: bool,
    /// `true` once the beginning of the stream was inspected: only once, so that a caller who continues reaches its end.
    looked: bool,
    /// Line, and character of it, of the last sample, from 1; of a line that has ended, no more.
    line: u64,
    character: usize,
    line_ended: bool,
    /// `true` if the rest of the line is too long, and skipped.
    overlong: bool,
    buffer: Vec<u8>,
    row: Vec<f64>,
    symbol: Option<u16>,
    series: Option<String>,
    begins_series: bool,
    /// The label of the last row.
    label: Option<String>,
    time: Option<f64>,
    units: Vec<UnitMatch>,
    /// The line of the last number of each channel, 0 without one, `[channel]`.
    seen: Vec<u64>,
    /// Number of rows with a number in which each channel has none.
    absent: Vec<usize>,
}

/// The columns of a stream that begins with their names.
#[derive(Debug)]
struct Header {
    names: Vec<String>,
    delimiter: char,
    /// Column of each channel, and how its numbers are converted.
    channels: Vec<(usize, Conversion)>,
    /// Column of the series' name.
    series: Option<usize>,
    /// Column of the label.
    label: Option<usize>,
    /// Column of the time, and how it is read; `None` before that is known.
    time: Option<(usize, Option<Times>)>,
    /// The first field of the time.
    first_time: Option<String>,
}

impl<R: BufRead> LiveReader<R> {
    /// A reader of samples of a kind; `name` is for messages.
    pub fn new(reader: R, name: impl Into<String>, kind: Kind) -> Self {
        let seen = vec![0; kind.dimension().unwrap_or_default()];
        Self {
            reader,
            name: name.into(),
            kind,
            values: Values::Reals,
            marks: Marks::default(),
            time_column: None,
            header: None,
            begun: false,
            looked: false,
            line: 0,
            character: 0,
            line_ended: true,
            overlong: false,
            buffer: Vec::new(),
            row: Vec::new(),
            symbol: None,
            series: None,
            begins_series: false,
            label: None,
            time: None,
            units: Vec::new(),
            seen,
            absent: Vec::new(),
        }
    }

    /// Restricts the channels to such numbers.
    #[must_use]
    pub fn of_values(self, values: Values) -> Self {
        Self { values, ..self }
    }

    /// Takes these marks of missing values.
    #[must_use]
    pub fn with_marks(self, marks: Marks) -> Self {
        Self { marks, ..self }
    }

    /// Looks for the time in this column first, or in none; a header that lacks it is read as without this.
    #[must_use]
    pub fn with_time(self, time_column: Option<Column>) -> Self {
        Self { time_column, ..self }
    }

    /// The next sample, `None` at the end of the stream.
    ///
    /// # Errors
    /// As [`advance`](Self::advance).
    pub fn read(&mut self) -> Result<Option<Sample<'_>>, DataError> {
        Ok(if self.advance()? { Some(self.sample()) } else { None })
    }

    /// Goes to the next [`sample`](Self::sample); false at the end of the stream.
    ///
    /// # Errors
    /// [`DataError`] naming line and column of a bad sample. It is consumed: unless the error
    /// [ends the stream](DataError::ends_stream), the next call goes on behind it.
    pub fn advance(&mut self) -> Result<bool, DataError> {
        self.begins_series = false;
        if !std::mem::replace(&mut self.looked, true) && self.peek()? == Some(GZIP) {
            return Err(DataError::Packed { file: self.name.clone() });
        }
        match &self.kind {
            Kind::Symbols(alphabet) if alphabet.words().is_empty() => self.next_symbol(),
            Kind::Symbols(_) => self.next_word(),
            Kind::Channels(_) => self.next_row(),
        }
    }

    /// The sample last gone to; a missing one before the first.
    pub fn sample(&self) -> Sample<'_> {
        match (&self.kind, self.symbol) {
            (Kind::Symbols(_), Some(symbol)) => Sample::Symbol(symbol),
            (Kind::Channels(names), _) if self.row.len() == names.len() => Sample::Row(&self.row),
            _ => Sample::Missing,
        }
    }

    /// Kind of a sample.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The line of the last sample, from 1; 0 before the first.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Returns whether the column `series` had another value before the last sample, which may be invalid.
    pub fn begins_series(&self) -> bool {
        self.begins_series
    }

    /// The label of the last sample, from the column `label`; `None` without one, or without a mark there.
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// Time of the last sample in seconds, from the [column of times](Self::time_column); `None` without one, without a time there, or
    /// before the first step tells the unit.
    pub fn time(&self) -> Option<f64> {
        self.time
    }

    /// Returns whether there is a column of times whose reading is known; `false` before that.
    pub fn has_times(&self) -> bool {
        self.time_is_named().is_some()
    }

    /// Name of the column of the time; `None` without one.
    pub fn time_column(&self) -> Option<&str> {
        let header = self.header.as_ref()?;
        header.names.get(header.time?.0).map(String::as_str)
    }

    /// Returns whether the header names the unit of the time: `t [ms]`.
    pub fn names_unit_of_time(&self) -> bool {
        self.time_is_named().unwrap_or_default()
    }

    fn time_is_named(&self) -> Option<bool> {
        let time = self.header.as_ref()?.time?.1;
        time.map(Times::named)
    }

    /// The channels that the stream names otherwise than they were wanted; empty before the first line was read.
    pub fn unit_matches(&self) -> &[UnitMatch] {
        &self.units
    }

    /// The channels without a number since a line; empty after line 0.
    pub fn unobserved_channels(&self, line: u64) -> Vec<&str> {
        let Kind::Channels(names) = &self.kind else { return Vec::new() };
        let never = names.iter().zip(&self.seen).filter(|(_, seen)| **seen <= line);
        never.map(|(name, _)| name.as_str()).collect()
    }

    /// Number of samples in which each channel is missing while another is present, `[channel]`; empty if nothing is missing.
    pub fn absent(&self) -> &[usize] {
        &self.absent
    }

    /// The next byte, which stays; waits until it is there. `None` at the end.
    fn peek(&mut self) -> Result<Option<u8>, DataError> {
        loop {
            match self.reader.fill_buf() {
                Ok(arrived) => return Ok(arrived.first().copied()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => return Err(DataError::Io { file: self.name.clone(), source }),
            }
        }
    }

    fn next_row(&mut self) -> Result<bool, DataError> {
        loop {
            if !self.fetch()? {
                return Ok(false);
            }
            if self.take_line()? {
                return Ok(true);
            }
        }
    }

    /// Gets a line into the buffer; false at the end.
    fn fetch(&mut self) -> Result<bool, DataError> {
        let failed = |source| DataError::Io { file: self.name.clone(), source };
        if std::mem::take(&mut self.overlong) {
            self.reader.skip_until(b'\n').map_err(failed)?;
        }
        self.buffer.clear();
        let result = (&mut self.reader).take(LONGEST_LINE).read_until(b'\n', &mut self.buffer);
        let length = result.map_err(failed)?;
        if length == 0 {
            return Ok(false);
        }
        self.line += 1;
        if length as u64 == LONGEST_LINE && self.buffer.last() != Some(&b'\n') {
            self.overlong = true;
            return Err(DataError::LineTooLong { place: self.place(None), limit: LONGEST_LINE });
        }
        Ok(true)
    }

    /// Reads the sample of the line in the buffer; `false` if it has no sample.
    fn take_line(&mut self) -> Result<bool, DataError> {
        // Out of the way of the borrow checker, and back for its memory.
        let buffer = std::mem::take(&mut self.buffer);
        let result = match std::str::from_utf8(&buffer) {
            Err(_) => Err(DataError::NotUtf8 { place: self.place(None) }),
            Ok(text) => {
                let text = if self.line == 1 { text.trim_start_matches('\u{FEFF}') } else { text };
                self.take_text(text.trim_end_matches(['\r', '\n']))
            }
        };
        self.buffer = buffer;
        result
    }

    fn take_text(&mut self, text: &str) -> Result<bool, DataError> {
        // As in a file, a comment is no line of the table; a word of a string may begin like one.
        let is_comment = matches!(self.kind, Kind::Channels(_)) && text.starts_with('#');
        if text.trim().is_empty() || is_comment {
            return Ok(false);
        }
        let first = !std::mem::replace(&mut self.begun, true);
        match &self.kind {
            Kind::Channels(names) if first && is_header(text, &self.marks) => {
                if is_noise(text, names) {
                    self.begun = false;
                    let what = "names no channel; lines before the header are ignored".into();
                    return Err(DataError::Layout { place: self.place(None), what });
                }
                let (header, units) =
                    Header::of((&self.name, self.line), text, names, self.time_column.as_ref())?;
                self.header = Some(header);
                self.units = units;
                Ok(false)
            }
            Kind::Channels(names) if first => {
                self.units = UnitMatch::unnamed(names);
                self.take_row(text).map(|()| true)
            }
            _ => self.take_row(text).map(|()| true),
        }
    }

    /// Reads a row, which stays short where a channel is missing.
    fn take_row(&mut self, text: &str) -> Result<(), DataError> {
        self.row.clear();
        let fields = split(text, self.header.as_ref().map(|header| header.delimiter));
        let commas = commas_of(match &self.header {
            Some(header) => header.delimiter == ';',
            None => text.contains(';'),
        });
        let width = self.width();
        if fields.len() != width {
            let column = Some(fields.len().min(width));
            return Err(DataError::Ragged {
                place: self.place(column),
                found: fields.len(),
                expected: width,
            });
        }
        if let Some(column) = self.header.as_ref().and_then(|header| header.series) {
            self.begins_series = self.series.as_ref().is_some_and(|last| last != fields[column]);
            if self.begins_series || self.series.is_none() {
                self.series = Some(fields[column].to_owned());
            }
        }
        let label =
            self.header.as_ref().and_then(|header| header.label).map(|column| fields[column]);
        self.label = label.filter(|label| !self.marks.has(label)).map(str::to_owned);
        self.time = None;
        if let Some(header) = &mut self.header
            && let Some((column, times)) = &mut header.time
            && !self.marks.has(fields[*column])
        {
            let (field, name) = (commas.in_points(fields[*column]), &header.names[*column]);
            let field = &*field;
            if times.is_none() {
                // What neither name nor number says, the first step says: as in a file.
                let (first, is_first) = match &header.first_time {
                    Some(first) => (first.as_str(), false),
                    None => (field, true),
                };
                let by_numbers = Times::of(name, &[first, field]).ok().map(|one| one.times);
                *times = by_numbers.filter(|times| !is_first || times.named());
                if is_first {
                    header.first_time = Some(field.to_owned());
                }
            }
            self.time = times.and_then(|times| times.seconds(field));
        }
        for channel in 0..self.kind.dimension().unwrap_or_default() {
            let (column, conversion) = match &self.header {
                Some(header) => header.channels[channel],
                None => (channel, Conversion::NONE),
            };
            if !self.marks.has(fields[column]) {
                let (text, place) = (fields[column], || self.place(Some(column)));
                let value = number(text, self.values, commas, place)?;
                let value = self.values.check(conversion.of(value), text, place)?;
                self.row.push(value);
                self.seen[channel] = self.line;
            } else {
                self.row.push(f64::NAN);
            }
        }
        match self.row.iter().filter(|x| x.is_nan()).count() {
            0 => {}
            missing if missing == self.row.len() => self.row.clear(),
            _ => {
                self.absent.resize(self.row.len(), 0);
                let each = self.absent.iter_mut().zip(&self.row);
                each.for_each(|(count, x)| *count += usize::from(x.is_nan()));
            }
        }
        Ok(())
    }

    /// Fields in a line.
    fn width(&self) -> usize {
        match &self.header {
            Some(header) => header.names.len(),
            None => self.kind.dimension().unwrap_or_default(),
        }
    }

    fn place(&self, column: Option<usize>) -> Box<Place> {
        let names = match (&self.header, &self.kind) {
            (Some(header), _) => header.names.as_slice(),
            (None, Kind::Channels(names)) => names,
            (None, Kind::Symbols(_)) => &[],
        };
        let named = |column| (column + 1, names.get(column).cloned().unwrap_or_default());
        let (file, line) = (self.name.clone(), self.line);
        let character = matches!(self.kind, Kind::Symbols(_)).then_some(self.character);
        Box::new(Place { file, line, column: column.map(named), character })
    }
}

impl Header {
    /// Parses a first line, and compares the names of its channels with those wanted.
    fn of(
        (file, line): (&str, u64),
        text: &str,
        wanted: &[String],
        said: Option<&Column>,
    ) -> Result<(Self, Vec<UnitMatch>), DataError> {
        let failed = |what| DataError::Header { line, file: file.to_owned(), what };
        let delimiter = delimiter_of(text, wanted);
        let names: Vec<String> =
            split(text, Some(delimiter)).into_iter().map(str::to_owned).collect();
        let all: Vec<(usize, &str)> = names.iter().map(String::as_str).enumerate().collect();
        let channels = find_channels(wanted, &all).map_err(|none| none.error(file, line, &all))?;
        let units = UnitMatch::all(wanted, &channels, &all);
        check_distinct(&names).map_err(failed)?;
        let series = names.iter().position(|name| name == "series");
        let label = names
            .iter()
            .position(|name| name == "label")
            .or_else(|| names.iter().position(|name| LABELS.contains(&base(name).as_str())));
        // A channel of the model is one, whatever its name.
        let label = label.filter(|column| channels.iter().all(|(channel, _)| channel != column));
        let taken = |column: usize| channels.iter().any(|&(channel, _)| channel == column);
        // A unit may stand in the name that is given alone.
        let said_at =
            said.and_then(|said| Some((said.place(&names)?, said))).and_then(|(column, said)| {
                match said {
                    Column::Name(text) if !split_unit(text).1.is_empty() => {
                        Some((column, text.as_str()))
                    }
                    _ => all.get(column).copied(),
                }
            });
        let free: Vec<(usize, &str)> = match said_at.filter(|&(column, _)| !taken(column)) {
            Some(said) => vec![said],
            None => all.iter().copied().filter(|&(column, _)| !taken(column)).collect(),
        };
        let time = free.iter().find_map(|&(column, name)| Some((column, TimeUnit::of(name)?)));
        let time = time.map(|(column, unit)| unit.map(|unit| (column, Some(Times::Numbers(unit)))));
        // Other names say what they count, or their numbers do.
        let named = || {
            let timely = |(_, name): &&(usize, &str)| said_at.is_some() || rank(name).is_some();
            let &(column, name) = free.iter().filter(timely).min_by_key(|(_, name)| rank(name))?;
            let by_name = Times::of(name, &[]).ok().map(|one| one.times);
            Some((column, by_name.filter(|times| times.named())))
        };
        let time = match said {
            Some(Column::None) => None,
            _ => time.transpose().map_err(failed)?.or_else(named),
        };
        Ok((Self { delimiter, channels, series, label, time, first_time: None, names }, units))
    }
}

/// Returns whether a first line without numbers is no header: it has fewer fields than there are channels, and names none.
fn is_noise(text: &str, wanted: &[String]) -> bool {
    let fields = split(text, Some(delimiter_of(text, wanted)));
    fields.len() < wanted.len() && names_in(&fields, wanted) == 0
}

/// Number of fields that name a wanted channel, whatever the unit.
fn names_in(fields: &[&str], wanted: &[String]) -> usize {
    let is_one =
        |field: &&&str| wanted.iter().any(|name| split_unit(name).0 == split_unit(field).0);
    fields.iter().filter(is_one).count()
}

/// The delimiter of a header: that by which most wanted channels are named; of equals a comma before a tab, a semicolon and a bar.
fn delimiter_of(text: &str, wanted: &[String]) -> char {
    let mut best = (' ', 0);
    for one in [',', '\t', ';', '|'].into_iter().filter(|&one| text.contains(one)) {
        let found = names_in(&split(text, Some(one)), wanted);
        if best.0 == ' ' || found > best.1 {
            best = (one, found);
        }
    }
    best.0
}

/// Meaning of commas in numbers: decimals, where semicolons part the fields.
fn commas_of(by_semicolons: bool) -> Commas {
    if by_semicolons { Commas::Decimal } else { Commas::Unknown }
}

/// The fields of a line, by a delimiter or by the shape of the line.
fn split(text: &str, delimiter: Option<char>) -> Vec<&str> {
    match delimiter.or_else(|| [';', ','].into_iter().find(|&one| text.contains(one))) {
        None | Some(' ') => text.split_whitespace().collect(),
        Some(delimiter) => split_at(text, delimiter),
    }
}

/// Fields by a delimiter, those in quotes without them. A field that has delimiters in it is quoted.
fn split_at(text: &str, delimiter: char) -> Vec<&str> {
    let mut quoted = false;
    let parts = text.split(|character| {
        quoted ^= character == '"';
        character == delimiter && !quoted
    });
    parts.map(|field| unquoted(field.trim())).collect()
}

fn unquoted(field: &str) -> &str {
    let within = field.strip_prefix('"').and_then(|field| field.strip_suffix('"'));
    within.map_or(field, str::trim)
}

/// Returns whether a first line is one of names: none of its fields is a number, not even a forbidden one.
fn is_header(text: &str, marks: &Marks) -> bool {
    let fields = split(text, None);
    let commas = commas_of(text.contains(';'));
    let is_value = |field: &str| marks.has(field) || commas.in_points(field).parse::<f64>().is_ok();
    !fields.into_iter().any(is_value)
}

mod symbols;
#[cfg(test)]
mod tests;
