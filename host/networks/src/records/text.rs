//! A table of records as it is read.

use std::collections::HashMap;
use std::path::Path;

use super::{LAYOUTS, Layout};
use fishweir::data::DataError;
use fishweir::data::Place;
use fishweir::internals::shorten;
use fishweir::internals::{TableRows, check_shown_name};
use fishweir::internals::{load, unpacked};

/// The number of what is missing.
pub(super) const ABSENT: u32 = u32::MAX;

pub(super) static DELIMITED: Layout =
    Layout { about: "CSV or tab-separated", is_one: |_| true, read: read_delimited };

fn read_delimited(name: &str, text: &[u8], table: &mut TextTable) -> Result<(), DataError> {
    let mut rows = TableRows::open(name, text)?;
    for (index, column) in rows.header().iter().enumerate() {
        table.columns.push(TextColumn::new(column.clone(), index + 1, rows.line(), None));
    }
    let mut numbers = Numbers::new(table.columns.len());
    while rows.next_row()? {
        for (index, column) in table.columns.iter_mut().enumerate() {
            numbers.push(index, column, rows.name(index)?);
        }
        table.lines.push(rows.line());
    }
    Ok(())
}

/// A table of text: names of columns and, row by row, their fields, of which some may be missing (empty,
/// or `?`). Of any of [`LAYOUTS`], gzipped or not.
///
/// RAM: 4 B a field, and each different field of a column once.
#[derive(Clone, Debug, PartialEq)]
pub struct TextTable {
    source: String,
    pub(super) columns: Vec<TextColumn>,
    /// The line of each row.
    lines: Vec<u64>,
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
        let (name, bytes) = load(path.as_ref())?;
        Self::parse(&name, &bytes)
    }

    /// Reads from memory; `name` is for messages.
    ///
    /// # Errors
    /// [`DataError`] naming `name`, line and column.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Self, DataError> {
        let text = unpacked(name, bytes)?;
        let mut table = Self { source: name.to_owned(), columns: Vec::new(), lines: Vec::new() };
        if let Some(layout) = LAYOUTS.iter().find(|layout| (layout.is_one)(&text)) {
            (layout.read)(name, &text, &mut table)?;
        }
        if table.lines.is_empty() {
            return Err(DataError::HeaderOnly { file: name.to_owned() });
        }
        Ok(table)
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

    /// Whether there is no row.
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
        Self { name, number, line, declared, fields: Vec::new(), rows: Vec::new() }
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

    /// Whether every field is a finite number.
    pub(super) fn is_numeric(&self) -> bool {
        self.declared.is_none() && self.fields.iter().all(|field| number(field).is_some())
    }
}

/// A finite number.
pub(super) fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|value| value.is_finite())
}

/// Numbers of the different fields of each column.
pub(super) struct Numbers(Vec<HashMap<String, u32>>);

impl Numbers {
    pub(super) fn new(columns: usize) -> Self {
        Self(vec![HashMap::new(); columns])
    }

    /// Adds a field to a column; `?` and nothing are missing.
    pub(super) fn push(&mut self, index: usize, column: &mut TextColumn, field: &str) {
        let number = match self.0[index].get(field) {
            _ if field.is_empty() || field == "?" => ABSENT,
            Some(&known) => known,
            None => {
                let new = column.fields.len() as u32;
                self.0[index].insert(field.to_owned(), new);
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
