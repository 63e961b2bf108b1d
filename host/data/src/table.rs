//! Delimited text with a header line, row by row, with exact places for messages.

use std::borrow::Cow;
use std::collections::HashMap;

use super::dialect::{Commas, Dialect, are_thousands};
use super::error::DataError;
use super::place::Place;
use super::quantity::{TimeUnit, is_unit, split_unit};
use super::records::Records;
use super::sniff::no_table;
use super::source::{Finding, Findings, Found, Source};
use super::values::{Values, finite};
use crate::words::{is_hidden, shorten};

mod rows;

/// The names in a text's first line.
pub(super) fn header_names(text: &[u8]) -> Vec<String> {
    let dialect = Dialect::of(text, &Source::default());
    if !dialect.names.is_empty() {
        return dialect.names;
    }
    dialect.first_row(text).into_iter().map(str::to_owned).collect()
}

/// Returns whether a text's first line names a column.
pub(super) fn has_column(text: &[u8], name: &str) -> bool {
    header_names(text).iter().any(|field| field == name)
}

/// Returns whether a text's first line names a column of times: `t`, or `t [ms]`.
pub(super) fn has_time(text: &[u8]) -> bool {
    header_names(text).iter().any(|field| TimeUnit::of(field).is_some())
}

/// A table being read.
pub struct Table<'a> {
    name: &'a str,
    bytes: &'a [u8],
    records: Records<'a>,
    dialect: Dialect,
    header: Vec<String>,
    /// The line of the header, from 1.
    header_line: u64,
    /// Fields in front that belong to no column: numbers or names of the rows.
    skipped: usize,
    /// Fields behind that have neither name nor content.
    behind: usize,
    /// The first row was read, where a header was looked for.
    pending: bool,
}

impl<'a> Table<'a> {
    /// Reads the header. Commas part the fields if the header has some and no tab, and fields may
    /// then be quoted; without both, semicolons, bars or blanks do where they part every line alike; otherwise tabs do.
    ///
    /// # Errors
    /// [`DataError`] of a header that names no columns, or two alike.
    pub fn open(name: &'a str, bytes: &'a [u8]) -> Result<Self, DataError> {
        Self::open_as(name, bytes, &Source::default())
    }

    /// Opens a table with options for the source.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_as(name: &'a str, bytes: &'a [u8], source: &Source) -> Result<Self, DataError> {
        if let Some(error) = no_table(name, bytes) {
            return Err(error);
        }
        let dialect = Dialect::of(bytes, source);
        let records = Records::new(bytes, dialect.separator, dialect.comments);
        let (header, skipped, behind, pending) = (Vec::new(), 0, 0, false);
        let header_line = 1;
        let mut table =
            Self { name, bytes, records, dialect, header, header_line, skipped, behind, pending };
        if !table.advance()? {
            return Err(DataError::Empty { file: name.to_owned() });
        }
        table.header_line = table.line();
        if !table.dialect.header {
            // Nothing behind a last separator is no column.
            table.header = match table.dialect.names.len() == table.records.len() {
                true => table.dialect.names.clone(),
                false => {
                    (1..=table.records.len()).map(|number| format!("column{number}")).collect()
                }
            };
            table.pending = true;
            check_distinct(&table.header).map_err(|what| table.bad_header(what))?;
            return Ok(table);
        }
        table.header = (0..table.records.len())
            .map(|column| table.heading(column))
            .collect::<Result<_, _>>()?;
        table.leave_out_nameless();
        table.check_header()?;
        table.take_units()?;
        Ok(table)
    }

    /// The name of a column; lines of a spreadsheet's cell are joined.
    fn heading(&self, column: usize) -> Result<String, DataError> {
        let text = self.field(column)?;
        if !text.contains(['\n', '\r']) {
            return self.name(column).map(str::to_owned);
        }
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        check_name(&text, |_| self.place(column))?;
        Ok(text)
    }

    /// Leaves out a nameless first column of row numbers or names, and empty fields after a last separator.
    fn leave_out_nameless(&mut self) {
        let rows = self.dialect.rows(self.bytes);
        let named =
            self.header.iter().rposition(|name| !name.is_empty()).map_or(1, |last| last + 1);
        let behind = |row: &Vec<&str>| row.iter().skip(named).all(|field| field.is_empty());
        if named < self.header.len() && rows.iter().all(behind) {
            self.behind = self.header.len() - named;
            self.header.truncate(named);
            let what = "each line ends with separators and no value after them";
            self.dialect.findings.add(Finding::Separator, what);
        }
        let names = self.header.len();
        // R names no row names at all.
        let unnamed = rows.len() > 1
            && rows.iter().all(|row| row.len() == names + 1 && row.last() != Some(&""));
        let nameless = names > 1 && self.header[0].is_empty();
        let mut seen = HashMap::new();
        let all_differ =
            rows.iter().all(|row| seen.insert(*row.first().unwrap_or(&""), ()).is_none());
        if (nameless || unnamed) && all_differ && !self.header[1..].contains(&String::new()) {
            self.skipped = 1;
            if nameless {
                self.header.remove(0);
            }
            self.dialect.findings.add(
                Finding::Rows,
                "the first column has no name and is left out: it numbers the rows",
            );
        }
    }

    /// Adds the units of a second line that has them alone to the names.
    fn take_units(&mut self) -> Result<(), DataError> {
        let rows = self.dialect.rows(self.bytes);
        let [units, first, ..] = rows.as_slice() else { return Ok(()) };
        let units = units.get(self.skipped..).unwrap_or_default();
        let unit = |text: &str| match split_unit(&format!("x{text}")).1 {
            "" if is_unit(text) => text.to_owned(),
            unit => unit.to_owned(),
        };
        let found: Vec<String> = units.iter().map(|text| unit(text)).collect();
        let is_number = |place: usize| {
            let field = first.get(place + self.skipped).copied().unwrap_or_default();
            self.dialect.commas.number(field).is_some()
        };
        let alone = (0..units.len()).all(|place| match (units[place], found[place].as_str()) {
            ("" | "-", _) => true,
            (_, "") => !is_number(place) && self.dialect.commas.number(units[place]).is_none(),
            _ => is_number(place),
        });
        let count = found.iter().filter(|unit| !unit.is_empty()).count();
        if units.len() != self.header.len() || !alone || count < 2 {
            return Ok(());
        }
        for (name, unit) in self.header.iter_mut().zip(found) {
            if !unit.is_empty() && split_unit(name).1.is_empty() {
                *name = format!("{name} [{unit}]");
            }
        }
        self.dialect.findings.add(Finding::Header, "the second line has the units of the columns");
        self.advance().map(drop)
    }

    fn check_header(&self) -> Result<(), DataError> {
        if self.header.iter().all(|name| name.parse::<f64>().is_ok()) {
            return Err(self
                .bad_header("has numbers only; add a line with the names of the columns".into()));
        }
        for (index, name) in self.header.iter().enumerate() {
            if name.is_empty() {
                return Err(self.bad_header(format!(
                    "column {} has no name; give it one",
                    index + 1 + self.skipped
                )));
            }
        }
        check_distinct(&self.header).map_err(|what| self.bad_header(what))
    }

    /// Facts that were inferred about the dialect of the text.
    pub(super) fn findings(&self) -> &Findings {
        &self.dialect.findings
    }

    /// Meaning of commas in numbers.
    pub(super) fn commas(&self) -> Commas {
        self.dialect.commas
    }

    /// A number with a decimal comma, where the table has such, with a point; another field as it is.
    pub fn in_points<'f>(&self, field: &'f str) -> Cow<'f, str> {
        let commas = self.commas();
        match commas == Commas::Decimal && field.contains(',') {
            true => commas.number(field).map_or(Cow::Borrowed(field), |x| x.to_string().into()),
            false => Cow::Borrowed(field),
        }
    }

    /// Returns whether the first line names the columns.
    pub(super) fn has_header(&self) -> bool {
        self.dialect.header || !self.dialect.names.is_empty()
    }

    /// Facts that were inferred, for other packages.
    pub fn found(&self) -> &[Found] {
        &self.dialect.findings.0
    }

    /// The column of the file, from 1.
    pub fn number(&self, column: usize) -> usize {
        column + 1 + self.skipped
    }

    pub(super) fn bad_header(&self, what: String) -> DataError {
        DataError::Header { line: self.header_line, file: self.name.to_owned(), what }
    }

    /// The line of the header, from 1.
    pub(super) fn header_line(&self) -> u64 {
        self.header_line
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
        loop {
            if !std::mem::take(&mut self.pending) && !self.advance()? {
                return Ok(false);
            }
            let (found, expected) = (self.records.len(), self.header.len() + self.skipped);
            // Nothing behind a last separator is no field.
            let most = expected + self.behind.max(1);
            let ended = (expected + 1..=most).contains(&found)
                && (expected..found).all(|place| self.records.bytes(place).is_empty());
            if found != expected && !ended {
                // A comment far from the beginning.
                let first = self.records.bytes(0);
                if first.starts_with(b"#") && !first.starts_with(b"#N/A") {
                    continue;
                }
                let place = self.place(found.min(expected).saturating_sub(self.skipped));
                return Err(DataError::Ragged { place, found, expected });
            }
            return Ok(true);
        }
    }

    /// Returns whether the current row is the header, which comes back where files were joined.
    #[inline]
    pub(super) fn is_header(&self) -> bool {
        self.dialect.header
            && self.bytes(0) == self.header[0].as_bytes()
            && (0..self.header.len())
                .all(|column| self.field(column).is_ok_and(|field| field == self.header[column]))
    }

    /// Returns whether all fields of the current row are empty.
    pub(super) fn is_blank(&self) -> bool {
        (0..self.header.len()).all(|column| self.bytes(column).trim_ascii().is_empty())
    }

    fn advance(&mut self) -> Result<bool, DataError> {
        let failed = |source| DataError::Io { file: self.name.to_owned(), source };
        let more = self.records.advance().map_err(failed)?;
        if more && self.records.is_unclosed() {
            let place = Place::line(self.name, self.line()).into();
            let what = "a quotation mark in this record is never closed; close it, or remove it";
            return Err(DataError::Layout { place, what: what.to_owned() });
        }
        Ok(more)
    }

    /// Line of the current row, from 1.
    pub fn line(&self) -> u64 {
        self.records.line()
    }

    /// A field of the current row, without blanks around it.
    #[inline]
    pub(super) fn field(&self, column: usize) -> Result<&str, DataError> {
        match self.records.field(column + self.skipped) {
            Ok(text) => Ok(trimmed(text)),
            Err(_) => Err(DataError::NotUtf8 { place: self.place(column) }),
        }
    }

    /// The bytes of a field of the current row.
    #[inline]
    pub(super) fn bytes(&self, column: usize) -> &[u8] {
        self.records.bytes(column + self.skipped)
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
            line: self.line(),
            column: Some((column + 1 + self.skipped, name)),
            character: None,
        })
    }
}

/// Checks that no two columns have one name; an error describes the fault.
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

/// A text without blanks around it. Most fields have no blanks, which a look at both ends shows.
#[inline]
fn trimmed(text: &str) -> &str {
    let is_plain = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_graphic);
    let bytes = text.as_bytes();
    if is_plain(bytes.first()) && is_plain(bytes.last()) { text } else { text.trim() }
}

/// A channel's number, finite in single precision too, or its fault: a number that should be a count, or yes or no, may be
/// neither.
#[inline]
pub(super) fn number(
    text: &str,
    values: Values,
    commas: Commas,
    place: impl FnOnce() -> Box<Place>,
) -> Result<f64, DataError> {
    let found = commas.number(text);
    if let Some(value) = found.filter(|value| (*value as f32).is_finite()) {
        return Ok(value);
    }
    let comma =
        finite(&text.replacen(',', ".", 1)).is_some() || text.contains(',') && are_thousands(text);
    let (place, text) = (place(), shorten(text));
    Err(match (values, found) {
        (Values::Only(support), _) => support.refuse(&text, place),
        (Values::Reals, Some(_)) => DataError::BeyondSingle { place, text },
        (Values::Reals, None) if comma && are_thousands(&text) => {
            DataError::AmbiguousComma { place, text }
        }
        (Values::Reals, None) if comma => DataError::DecimalComma { place, text },
        (Values::Reals, None) => DataError::NotANumber { place, text },
    })
}

/// Refuses a name with a hidden character; `place` is that of a character, from 1.
///
/// # Errors
/// [`DataError::Hidden`].
pub fn check_name(text: &str, place: impl FnOnce(usize) -> Box<Place>) -> Result<(), DataError> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Ok(());
    }
    match (1..).zip(text.chars()).find(|&(_, one)| is_hidden(one)) {
        None => Ok(()),
        Some((number, one)) => {
            let code = format!("U+{:04X}", u32::from(one));
            Err(DataError::Hidden { place: place(number), code })
        }
    }
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
    fn a_quote_that_is_never_closed_is_refused() {
        let rows = |text: &'static str| {
            let mut table = Table::open("x", text.as_bytes()).expect("has a header");
            loop {
                match table.next_row() {
                    Ok(true) => {}
                    Ok(false) => return Ok(table.line()),
                    Err(error) => return Err(error.to_string()),
                }
            }
        };
        let refused = rows("a,b\n1,2\n\"odd,3\n4,5\n6,7\n").expect_err("is never closed");
        assert!(refused.starts_with("x, line 3: a quotation mark"), "{refused}");
        for sound in ["a,b\n1,\"2\n3\"\n", "a,b\n5\" pipe,1\n2,3\n", "a,b\n\"1\",\"\"\"2\"\n"] {
            rows(sound).unwrap_or_else(|error| panic!("{sound}: {error}"));
        }
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
