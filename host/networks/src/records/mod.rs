//! Records of categories: rows of a table whose columns each have a few states.
//!
//! | what | file |
//! |---|---|
//! | [`Variable`], [`Records`]: columns with named states, rows of their numbers | `mod.rs` |
//! | [`TextTable`]: a table as it is read, of one of [`LAYOUTS`] | `text.rs`, `arff.rs` |
//! | [`Schema`]: what its fields are numbered by, bins of numbers among them | `schema.rs` |
//! | [`Binning`]: where numbers are cut: equal frequencies, or description length | `bins.rs` |
//!
//! ```
//! use fishweir_networks::records::{Binning, Schema, TextTable};
//!
//! let table = TextTable::parse("doors.csv", b"door,warm\nopen,yes\n?,no\nshut,no\n")?;
//! let schema = Schema::learn(&table, &[0, 1, 2], None, &Binning::default())?;
//! let records = schema.records(&table)?;
//! assert_eq!(schema.variables()[0].states, ["open", "shut"]);
//! assert_eq!((records.row(2), records.missing()), (&[1, 0][..], 1));
//! # Ok::<(), fishweir::data::DataError>(())
//! ```

mod arff;
mod bins;
mod schema;
mod text;

pub use bins::{Binning, Cutting};
pub use schema::{Column, Schema, Unseen};
pub use text::TextTable;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use fishweir::data::{DataError, Source};
use fishweir::internals::{is_hidden, shorten};

/// The layouts of tables of records. A file has the first that recognises it; the last takes the rest.
pub static LAYOUTS: &[&Layout] = &[&arff::LAYOUT, &text::DELIMITED];

/// A layout of tables of records.
#[derive(Debug)]
pub struct Layout {
    /// Description of the format.
    pub about: &'static str,
    is_one: fn(&[u8]) -> bool,
    read: fn(&str, &[u8], &Source, &mut TextTable) -> Result<(), DataError>,
}

/// The state of a missing field.
pub const MISSING: u16 = u16::MAX;

/// A column of a table, or a node of a network: its name and its states'.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// Name of the variable.
    pub name: String,
    /// The names of its states, in the order of their numbers.
    pub states: Vec<String>,
}

impl Variable {
    /// A variable with these states.
    pub fn new<S: Into<String>>(
        name: impl Into<String>,
        states: impl IntoIterator<Item = S>,
    ) -> Self {
        Self { name: name.into(), states: states.into_iter().map(Into::into).collect() }
    }

    /// Variables `x0`, `x1` and so on with the given numbers of states, named by their numbers.
    pub fn numbered(cards: &[usize]) -> Vec<Self> {
        let variable = |(i, &card): (usize, &usize)| {
            Self::new(format!("x{i}"), (0..card).map(|k| k.to_string()))
        };
        cards.iter().enumerate().map(variable).collect()
    }

    /// Number of states.
    pub fn card(&self) -> usize {
        self.states.len()
    }

    /// The number of a state by its name.
    pub fn state(&self, name: &str) -> Option<u16> {
        let at = self.states.iter().position(|state| state == name)?;
        u16::try_from(at).ok()
    }

    /// A state as a field of comma-separated text, in quotes where it must be: its name, or `?` where it is
    /// [`MISSING`].
    #[must_use]
    pub fn field(&self, state: u16) -> String {
        match self.states.get(usize::from(state)) {
            Some(name) => field(name),
            None => "?".to_owned(),
        }
    }
}

/// Refuses a name that no table could have: empty, with blanks around it, which readers of tables and devices
/// take off, or with a character that does not show.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() || name.trim() != name {
        return Err(format!("the name `{name}` is empty or has blanks around it; rename it"));
    }
    match name.chars().find(|&one| is_hidden(one)) {
        None => Ok(()),
        Some(one) => {
            let (name, code) = (shorten(name), u32::from(one));
            Err(format!("the name `{name}` has the unprintable character U+{code:04X}; remove it"))
        }
    }
}

/// A text as a field of comma-separated text, in quotes where it must be.
#[must_use]
pub fn field(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r', '\t']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

/// Rows of states by their numbers, [`MISSING`] for a field without one.
///
/// RAM: 2 B per field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Records {
    columns: usize,
    /// `[record][column]`.
    values: Vec<u16>,
}

impl Records {
    /// Records with `columns` columns, still empty.
    pub fn new(columns: usize) -> Self {
        Self { columns, values: Vec::new() }
    }

    /// Records of rows.
    ///
    /// # Panics
    /// If a row has another length than there are columns.
    pub fn of_rows<R: AsRef<[u16]>>(columns: usize, rows: impl IntoIterator<Item = R>) -> Self {
        let mut records = Self::new(columns);
        rows.into_iter().for_each(|row| records.push(row.as_ref()));
        records
    }

    /// Adds a record.
    ///
    /// # Panics
    /// If it has another length than there are columns.
    pub fn push(&mut self, record: &[u16]) {
        assert_eq!(record.len(), self.columns, "a record has one state per column");
        self.values.extend_from_slice(record);
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.values.len() / self.columns.max(1)
    }

    /// Returns whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// A record.
    ///
    /// # Panics
    /// If there is no such record.
    pub fn row(&self, record: usize) -> &[u16] {
        &self.values[record * self.columns..][..self.columns]
    }

    /// The records, in order.
    pub fn rows(&self) -> std::slice::ChunksExact<'_, u16> {
        self.values.chunks_exact(self.columns.max(1))
    }

    /// Some of the records, in the order given; a record may come more than once.
    ///
    /// # Panics
    /// If there is no such record.
    pub fn subset(&self, records: &[usize]) -> Self {
        Self::of_rows(self.columns, records.iter().map(|&record| self.row(record)))
    }

    /// Some of the columns, in the order given.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn select(&self, columns: &[usize]) -> Self {
        let values = self.rows().flat_map(|row| columns.iter().map(|&column| row[column]));
        Self { columns: columns.len(), values: values.collect() }
    }

    /// Makes a column missing in every record.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn forget(&mut self, column: usize) {
        assert!(column < self.columns, "a column must be there to be forgotten");
        self.values
            .iter_mut()
            .skip(column)
            .step_by(self.columns)
            .for_each(|value| *value = MISSING);
    }

    /// Number of fields that are missing.
    pub fn missing(&self) -> usize {
        self.values.iter().filter(|&&value| value == MISSING).count()
    }

    /// The records that differ, in the order in which each comes first, and how often each comes.
    pub fn distinct(&self) -> (Self, Vec<u32>) {
        let mut distinct = Self::new(self.columns);
        let mut counts: Vec<u32> = Vec::new();
        let mut at = HashMap::new();
        for row in self.rows() {
            let index = *at.entry(row).or_insert_with(|| {
                distinct.push(row);
                counts.push(0);
                counts.len() - 1
            });
            counts[index] += 1;
        }
        (distinct, counts)
    }
}
