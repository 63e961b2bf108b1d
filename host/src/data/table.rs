//! Delimited text with a header line, row by row, with exact places for messages.

use std::collections::HashMap;

use csv::{ByteRecord, Reader, ReaderBuilder};

use super::Values;
use super::error::DataError;
use super::place::Place;
use super::quantity::{TimeUnit, split_unit};
use crate::words::{is_hidden, shorten};

/// The names in a header whose fields are parted by one of some characters.
pub(super) fn header_fields<'h>(
    header: &'h str,
    parted: &'h [char],
) -> impl Iterator<Item = &'h str> {
    header.split(parted).map(|field| field.trim().trim_matches('"'))
}

/// Whether a text's first line names a column.
pub(super) fn has_column(text: &[u8], name: &str) -> bool {
    let header = std::str::from_utf8(first_line(text)).unwrap_or_default();
    header_fields(header, &[',', '\t']).any(|field| field == name)
}

/// Whether a text's first line names a column of times: `t`, or `t [ms]`.
pub(super) fn has_time(text: &[u8]) -> bool {
    let header = std::str::from_utf8(first_line(text)).unwrap_or_default();
    header_fields(header, &[',', '\t']).any(|field| TimeUnit::of(field).is_some())
}

/// A table being read.
pub struct Table<'a> {
    name: &'a str,
    bytes: &'a [u8],
    reader: Reader<&'a [u8]>,
    header: Vec<String>,
    record: ByteRecord,
    /// Line and byte offset of the record last read.
    line: u64,
    offset: usize,
}

impl<'a> Table<'a> {
    /// Reads the header. Commas part the fields if the header has some and no tab, and fields may
    /// then be quoted; otherwise tabs do.
    ///
    /// # Errors
    /// [`DataError`] of a header that names no columns, or two alike.
    pub fn open(name: &'a str, bytes: &'a [u8]) -> Result<Self, DataError> {
        let header = first_line(bytes);
        let commas = header.contains(&b',') && !header.contains(&b'\t');
        let delimiter = if commas { b',' } else { b'\t' };
        let reader = ReaderBuilder::new()
            .delimiter(delimiter)
            .quoting(commas)
            .has_headers(false)
            // Ragged rows are ours to report: csv would not name the column.
            .flexible(true)
            .from_reader(bytes);
        let record = ByteRecord::new();
        let mut table =
            Self { name, bytes, reader, header: Vec::new(), record, line: 1, offset: 0 };
        if !table.advance()? {
            return Err(DataError::Empty { file: name.to_owned() });
        }
        table.header = (0..table.record.len())
            .map(|column| table.name(column).map(str::to_owned))
            .collect::<Result<_, _>>()?;
        table.check_header()?;
        Ok(table)
    }

    fn check_header(&self) -> Result<(), DataError> {
        if self.header.iter().all(|name| name.parse::<f64>().is_ok()) {
            return Err(self
                .bad_header("has numbers only; add a line with the names of the columns".into()));
        }
        for (index, name) in self.header.iter().enumerate() {
            if name.is_empty() {
                return Err(
                    self.bad_header(format!("column {} has no name; give it one", index + 1))
                );
            }
        }
        check_distinct(&self.header).map_err(|what| self.bad_header(what))
    }

    pub(super) fn bad_header(&self, what: String) -> DataError {
        DataError::Header { file: self.name.to_owned(), what }
    }

    /// The file's name.
    pub(super) fn file(&self) -> &str {
        self.name
    }

    /// Names of the columns.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// Refuses a header that has one of the layout's names in another case only.
    pub(super) fn check_case(&self, names: &[&str]) -> Result<(), DataError> {
        // A unit may follow: `t [ms]`.
        let is_there = |name: &str| self.header.iter().any(|one| split_unit(one).0 == name);
        let missing = names.iter().filter(|name| !is_there(name));
        for wanted in missing {
            if let Some(found) = self.header.iter().find(|one| one.eq_ignore_ascii_case(wanted)) {
                return Err(self.bad_header(format!(
                    "the column `{found}` is written in small letters in this layout: rename it \
                     `{wanted}`"
                )));
            }
        }
        Ok(())
    }

    /// The place of a column by name.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|column| column == name)
    }

    /// The column of the times, `t` or `t [ms]`, and their unit.
    pub(super) fn time(&self) -> Result<Option<(usize, TimeUnit)>, DataError> {
        let mut times = self.header.iter().enumerate().filter_map(|(column, name)| {
            let unit = TimeUnit::of(name)?;
            Some(unit.map(|unit| (column, unit)).map_err(|what| self.bad_header(what)))
        });
        let first = times.next().transpose()?;
        match times.next() {
            None => Ok(first),
            Some(_) => Err(self.bad_header("has two columns `t`; rename one".into())),
        }
    }

    /// Goes to the next row; false at the end. A row with another number of fields than the header
    /// is an error.
    ///
    /// # Errors
    /// [`DataError::Ragged`], or what the reader reports.
    pub fn next_row(&mut self) -> Result<bool, DataError> {
        if !self.advance()? {
            return Ok(false);
        }
        let (found, expected) = (self.record.len(), self.header.len());
        if found != expected {
            let place = self.place(found.min(expected));
            return Err(DataError::Ragged { place, found, expected });
        }
        Ok(true)
    }

    fn advance(&mut self) -> Result<bool, DataError> {
        let more = self
            .reader
            .read_byte_record(&mut self.record)
            .map_err(|error| DataError::Io { file: self.name.to_owned(), source: error.into() })?;
        if more {
            self.find_line();
        }
        Ok(more)
    }

    /// Counts lines up to the record: csv's own count stops before blank lines and within CRLF.
    fn find_line(&mut self) {
        let begin = self.record.position().map_or(0, |position| position.byte());
        let mut begin = usize::try_from(begin).unwrap_or(usize::MAX).min(self.bytes.len());
        while matches!(self.bytes.get(begin), Some(b'\r' | b'\n')) {
            begin += 1;
        }
        self.line += line_ends(&self.bytes[self.offset..begin]);
        self.offset = begin;
    }

    /// Line of the current row, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// A field of the current row, without blanks around it.
    pub(super) fn field(&self, column: usize) -> Result<&str, DataError> {
        let bytes = self.record.get(column).unwrap_or_default();
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.trim()),
            Err(_) => Err(DataError::NotUtf8 { place: self.place(column) }),
        }
    }

    /// A field that names something, and so is printed and exported.
    ///
    /// # Errors
    /// [`DataError`] of text that is not UTF-8 or has a hidden character.
    pub fn name(&self, column: usize) -> Result<&str, DataError> {
        let text = self.field(column)?;
        check_name(text, |character| {
            Box::new(Place { character: Some(character), ..*self.place(column) })
        })?;
        Ok(text)
    }

    /// A name that may not be empty.
    pub(super) fn needed(&self, column: usize, what: &'static str) -> Result<&str, DataError> {
        let text = self.name(column)?;
        if text.is_empty() {
            return Err(DataError::EmptyField { place: self.place(column), what });
        }
        Ok(text)
    }

    /// The place of a field of the current row.
    pub(super) fn place(&self, column: usize) -> Box<Place> {
        let name = self.header.get(column).cloned().unwrap_or_default();
        Box::new(Place {
            file: self.name.to_owned(),
            line: self.line,
            column: Some((column + 1, name)),
            character: None,
        })
    }
}

/// What is wrong where two columns have one name.
pub(super) fn check_distinct(names: &[String]) -> Result<(), String> {
    let mut columns = HashMap::with_capacity(names.len());
    for (second, name) in (1..).zip(names) {
        if let Some(first) = columns.insert(name, second) {
            return Err(format!(
                "columns {first} and {second} are both named `{name}`; rename one"
            ));
        }
    }
    Ok(())
}

/// The first line, without its end.
pub(super) fn first_line(bytes: &[u8]) -> &[u8] {
    bytes
        .split(|&byte| byte == b'\n' || byte == b'\r')
        .find(|line| !line.is_empty())
        .unwrap_or_default()
}

/// Number of line ends: LF, CRLF, or CR alone.
fn line_ends(bytes: &[u8]) -> u64 {
    let ends = (0..bytes.len()).filter(|&at| {
        bytes[at] == b'\n' || (bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n'))
    });
    ends.count() as u64
}

/// A finite number, or `None`. Rust reads `nan` and `inf` as numbers; data may not hold them.
pub(super) fn finite(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|value| value.is_finite())
}

/// A channel's number, finite in single precision too, or what is wrong with it: of what is to be a count,
/// or yes or no, that it is none.
pub(super) fn number(
    text: &str,
    values: Values,
    place: impl FnOnce() -> Box<Place>,
) -> Result<f64, DataError> {
    let found = finite(text);
    if let Some(value) = found.filter(|value| (*value as f32).is_finite()) {
        return Ok(value);
    }
    let comma = finite(&text.replacen(',', ".", 1)).is_some();
    let (place, text) = (place(), shorten(text));
    Err(match (values, found) {
        (Values::Only(support), _) => support.refuse(&text, place),
        (Values::Reals, Some(_)) => DataError::BeyondSingle { place, text },
        (Values::Reals, None) if comma => DataError::DecimalComma { place, text },
        (Values::Reals, None) => DataError::NotANumber { place, text },
    })
}

/// Refuses a name with a hidden character; `place` is that of a character, from 1.
///
/// # Errors
/// [`DataError::Hidden`].
pub fn check_name(text: &str, place: impl FnOnce(usize) -> Box<Place>) -> Result<(), DataError> {
    match (1..).zip(text.chars()).find(|&(_, one)| is_hidden(one)) {
        None => Ok(()),
        Some((number, one)) => {
            let code = format!("U+{:04X}", u32::from(one));
            Err(DataError::Hidden { place: place(number), code })
        }
    }
}

/// Whether a field of a channel says that there is no value.
pub(super) fn is_missing(text: &str) -> bool {
    text.is_empty() || text == "NA"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<u64> {
        let mut table = Table::open("x", text.as_bytes()).expect("has a header");
        let mut lines = vec![table.line()];
        while table.next_row().expect("is well-formed") {
            lines.push(table.line());
        }
        lines
    }

    #[test]
    fn lines_are_counted_as_an_editor_counts_them() {
        assert_eq!(lines("a,b\n1,2\n\n\n3,4\n"), [1, 2, 5]);
        assert_eq!(lines("a,b\r\n1,2\r\n\r\n3,4\r\n5,6"), [1, 2, 4, 5]);
        assert_eq!(lines("\n\na,b\n1,2\n\"x\ny\",2\n3,4"), [3, 4, 5, 7]);
        assert_eq!(lines("a,b\r1,2\r3,4"), [1, 2, 3]);
    }

    #[test]
    fn headers_are_checked() {
        for (text, expected) in [
            ("1,2\n3,4", "numbers only"),
            ("a,,b\n", "column 2 has no name"),
            ("a,b,a\n", "columns 1 and 3 are both named `a`"),
        ] {
            let Err(error) = Table::open("x.csv", text.as_bytes()) else {
                panic!("{text} accepted")
            };
            assert!(error.to_string().contains(expected), "{error}");
        }
    }

    #[test]
    fn messages_stay_short_and_printable() {
        assert_eq!(shorten("a\u{7}\n"), "a\\u{7}\\n");
        assert_eq!(shorten(&"x".repeat(99)).len(), 43);
    }
}
