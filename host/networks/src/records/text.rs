//! A table of records as it is read.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::{LAYOUTS, Layout};
use fishweir::data::{DataError, Found, Place, Source};
use fishweir::internals::shorten;
use fishweir::internals::{TableRows, check_shown_name};
use fishweir::internals::{load, unpacked_as};

/// The number of a missing field.
pub(super) const ABSENT: u32 = u32::MAX;

pub(super) static DELIMITED: Layout =
    Layout { about: "CSV or tab-separated", is_one: |_| true, read: read_delimited };

fn read_delimited(
    name: &str,
    text: &[u8],
    source: &Source,
    table: &mut TextTable,
) -> Result<(), DataError> {
    let mut rows = TableRows::open_as(name, text, source)?;
    for (index, column) in rows.header().iter().enumerate() {
        table.columns.push(TextColumn::new(column.clone(), rows.number(index), rows.line(), None));
    }
    table.findings = rows.found().to_vec();
    let mut numbers = Numbers::new(table.columns.len(), source);
    while rows.next_row()? {
        for (index, column) in table.columns.iter_mut().enumerate() {
            numbers.push(index, column, &rows.in_points(rows.name(index)?));
        }
        table.lines.push(rows.line());
    }
    Ok(())
}

/// A table of text: names of columns and, row by row, their fields, of which some may be missing (empty,
/// or `?`). Of any of [`LAYOUTS`], gzipped or not.
///
/// RAM: 4 B per field, and each different field of a column once.
#[derive(Clone, Debug, PartialEq)]
pub struct TextTable {
    source: String,
    pub(super) columns: Vec<TextColumn>,
    /// The line of each row.
    lines: Vec<u64>,
    findings: Vec<Found>,
    /// Columns of categories, even if they hold numbers.
    categories: Vec<String>,
}

/// A column of text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TextColumn {
    pub(super) name: String,
    /// The column of the file, from 1.
    pub(super) number: usize,
    /// The line of its name.
    pub(super) line: u64,
    /// States, where the file declares them.
    pub(super) declared: Option<Vec<String>>,
    /// `true` if the file declares numbers.
    pub(super) declared_numbers: bool,
    /// The different fields, in the order in which they come.
    pub(super) fields: Vec<String>,
    /// The field of each row by its number, or [`ABSENT`].
    pub(super) rows: Vec<u32>,
}

impl TextTable {
    /// Reads a file.
    ///
    /// # Errors
    /// [`DataError`] naming file, line and column.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, DataError> {
        Self::read_as(path, &Source::default())
    }

    /// Reads a file with options for the source.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_as(path: impl AsRef<Path>, source: &Source) -> Result<Self, DataError> {
        let (name, bytes) = load(path.as_ref())?;
        Self::parse_as(&name, &bytes, source)
    }

    /// Reads from memory; `name` is for messages.
    ///
    /// # Errors
    /// [`DataError`] naming `name`, line and column.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Self, DataError> {
        Self::parse_as(name, bytes, &Source::default())
    }

    /// Parses a text with options for the source.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_as(name: &str, bytes: &[u8], source: &Source) -> Result<Self, DataError> {
        let text = unpacked_as(name, bytes, source.encoding)?;
        let mut table = Self {
            source: name.to_owned(),
            columns: Vec::new(),
            lines: Vec::new(),
            findings: Vec::new(),
            categories: Vec::new(),
        };
        if let Some(layout) = LAYOUTS.iter().find(|layout| (layout.is_one)(&text)) {
            (layout.read)(name, &text, source, &mut table)?;
        }
        if table.lines.is_empty() {
            return Err(DataError::HeaderOnly { file: name.to_owned() });
        }
        Ok(table)
    }

    /// Declares columns of categories, even if they hold numbers.
    ///
    /// # Errors
    /// No such column.
    pub fn with_categories(mut self, names: &[String]) -> Result<Self, DataError> {
        names.iter().try_for_each(|name| self.column(name).map(|_| ()))?;
        self.categories = names.to_vec();
        Ok(self)
    }

    /// Facts that were inferred, and that options can override.
    pub fn findings(&self) -> &[Found] {
        &self.findings
    }

    /// Returns whether a column is numeric: it has more than `most_states` different numbers, and nothing else.
    ///
    /// # Errors
    /// [`DataError::MixedColumn`] of the first field that is no number, where most are.
    pub(super) fn is_numeric(
        &self,
        column: &TextColumn,
        most_states: usize,
    ) -> Result<bool, DataError> {
        if column.declared.is_some() || self.categories.contains(&column.name) {
            return Ok(false);
        }
        let mut different: HashSet<u64> = HashSet::new();
        let is_number: Vec<bool> = (column.fields.iter())
            .map(|field| match number(field) {
                Some(value) => {
                    different.insert(value.to_bits());
                    true
                }
                None => false,
            })
            .collect();
        let Some(first) = is_number.iter().position(|&is_number| !is_number) else {
            return Ok(true);
        };
        let there = column.rows.iter().filter(|&&field| field != ABSENT);
        let (mut numbers, mut words) = (0, 0);
        for &field in there {
            if is_number[field as usize] { numbers += 1 } else { words += 1 }
        }
        let declared = column.declared_numbers;
        if !declared && (different.len() <= most_states || words > numbers) {
            return Ok(false);
        }
        let row = column.rows.iter().position(|&field| field as usize == first).unwrap_or_default();
        let (place, text) = (self.place(row, column), shorten(&column.fields[first]));
        Err(match declared {
            true => DataError::NotANumber { place, text },
            false => DataError::MixedColumn { place, text, numbers },
        })
    }

    /// Adds a row's line; its fields are in the columns.
    pub(super) fn end_row(&mut self, line: u64) {
        self.lines.push(line);
    }

    /// The file.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The line of a row, from 1; 0 where there is no such row.
    pub fn line(&self, row: usize) -> u64 {
        self.lines.get(row).copied().unwrap_or(0)
    }

    /// Names of the columns.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// The place of a column among them.
    ///
    /// # Errors
    /// No such column.
    pub fn column(&self, name: &str) -> Result<usize, DataError> {
        self.names().position(|column| column == name).ok_or_else(|| DataError::Header {
            line: 1,
            file: self.source.clone(),
            what: format!(
                "there is no column `{}`, only {}",
                shorten(name),
                self.names().collect::<Vec<_>>().join(", ")
            ),
        })
    }

    /// The table without some columns.
    ///
    /// # Errors
    /// No such column.
    pub fn without(mut self, names: &[String]) -> Result<Self, DataError> {
        for name in names {
            let column = self.column(name)?;
            self.columns.remove(column);
        }
        Ok(self)
    }

    /// The place of a field.
    pub(super) fn place(&self, row: usize, column: &TextColumn) -> Box<Place> {
        column.place(&self.source, self.line(row))
    }
}

impl TextColumn {
    pub(super) fn new(
        name: String,
        number: usize,
        line: u64,
        declared: Option<Vec<String>>,
    ) -> Self {
        let declared_numbers = false;
        Self {
            name,
            number,
            line,
            declared,
            declared_numbers,
            fields: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// The place of its field in a line.
    pub(super) fn place(&self, file: &str, line: u64) -> Box<Place> {
        Box::new(Place {
            file: file.to_owned(),
            line,
            column: Some((self.number, self.name.clone())),
            character: None,
        })
    }

    /// Returns whether every field is a finite number.
    pub(super) fn has_numbers_alone(&self) -> bool {
        self.declared.is_none() && self.fields.iter().all(|field| number(field).is_some())
    }
}

/// A finite number.
pub(super) fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|value| value.is_finite())
}

/// Numbers of the different fields of each column.
pub(super) struct Numbers<'s> {
    known: Vec<HashMap<String, u32>>,
    source: &'s Source,
}

impl<'s> Numbers<'s> {
    pub(super) fn new(columns: usize, source: &'s Source) -> Self {
        Self { known: vec![HashMap::new(); columns], source }
    }

    /// Returns whether a field is missing: a state that the file declares is not.
    pub(super) fn is_missing(&self, column: &TextColumn, field: &str) -> bool {
        let declared = column.declared.as_ref();
        self.source.missing.has(field)
            && !declared.is_some_and(|states| states.iter().any(|state| state == field))
    }

    /// Adds a field to a column; a mark of a missing value adds none.
    pub(super) fn push(&mut self, index: usize, column: &mut TextColumn, field: &str) {
        let number = match self.known[index].get(field) {
            _ if self.is_missing(column, field) => ABSENT,
            Some(&known) => known,
            None => {
                let new = column.fields.len() as u32;
                self.known[index].insert(field.to_owned(), new);
                column.fields.push(field.to_owned());
                new
            }
        };
        column.rows.push(number);
    }
}

/// Refuses a name with a character that does not show.
pub(super) fn check_shown(text: &str, place: &Place) -> Result<(), DataError> {
    check_shown_name(text, |character| {
        Box::new(Place { character: Some(character), ..place.clone() })
    })
}
