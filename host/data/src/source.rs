//! Structure of a source of data: inferred from its content, or given by options.

use std::path::PathBuf;

use super::dataset::Dataset;
use super::encoding::Encoding;
use super::error::DataError;
use super::marks::Marks;
use super::name_pattern::NamePattern;
use super::quantity::split_unit;

/// Options for a source. All others are inferred, and each inference is a [`Finding`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// The column of the label.
    pub label: Option<Column>,
    /// The column that names the series; [`Column::None`] where all rows are one series.
    pub series: Option<Column>,
    /// The column of the times, with its unit in brackets where the file does not name it: `timestamp [ms]`.
    pub time: Option<Column>,
    /// Columns of whole series: subjects, devices.
    pub columns: Vec<Column>,
    /// The channels, in this order; if empty, all columns without another role.
    pub channels: Vec<Column>,
    /// The column that marks samples, which has no other role.
    pub marks: Option<Column>,
    /// The column of the numbers that a regression estimates, which is read as a channel.
    pub target: Option<Column>,
    /// The column of the events, of a table with an event per line.
    pub events: Option<Column>,
    /// `true` if the symbols of strings are words, though they do not look so.
    pub words: bool,
    /// Separator of the fields of a line.
    pub separator: Option<Separator>,
    /// The decimal mark, `.` or `,`; commas in numbers are thousands' where it is a point.
    pub decimal: Option<char>,
    /// Marks of missing values.
    pub missing: Marks,
    /// `true` if the first line names the columns.
    pub header: Option<bool>,
    /// The encoding of texts.
    pub encoding: Option<Encoding>,
    /// `true` if a series ends where its label changes, and labels by time are series.
    pub segments: bool,
    /// A table of labels by time, `start,end,label`, of all files.
    pub annotations: Option<PathBuf>,
    /// Pattern of the label in names of files.
    pub names: Option<NamePattern>,
}

/// A column as it is named by a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// Name of the column.
    Name(String),
    /// No column.
    None,
}

impl Column {
    /// Parses a name, or a number from 1; `none` is no column.
    pub fn of(text: &str) -> Self {
        match text {
            "none" => Self::None,
            name => Self::Name(name.to_owned()),
        }
    }

    /// Index among names: a name in the file has priority over a number.
    pub(super) fn place(&self, names: &[String]) -> Option<usize> {
        let Self::Name(wanted) = self else { return None };
        let alike = |one: &String| one.eq_ignore_ascii_case(wanted);
        let exact = names.iter().position(|one| one == wanted);
        // A unit may stand on either side alone.
        let base = split_unit(wanted).0;
        let same = |one: &String| one == base || split_unit(one).0 == wanted;
        let named = exact.or_else(|| names.iter().position(alike));
        named.or_else(|| names.iter().position(same)).or_else(|| {
            let number: usize = base.parse().ok()?;
            (1..=names.len()).contains(&number).then(|| number - 1)
        })
    }
}

impl Source {
    /// Checks that data have the [`columns`](Self::columns) of whole series that were named. A number is not checked where there
    /// are some: a table may name that column otherwise.
    ///
    /// # Errors
    /// [`DataError::NoColumn`] for the first that is missing, [`DataError::EmptyColumn`] for one without any value.
    pub fn check_columns(&self, data: &Dataset) -> Result<(), DataError> {
        for column in &self.columns {
            let Column::Name(name) = column else { continue };
            let numbered = name.parse::<usize>().is_ok() && !data.columns().is_empty();
            match column.place(data.columns()) {
                Some(place) => drop(data.groups(&data.columns()[place])?),
                None if numbered => {}
                None => drop(data.groups(name)?),
            }
        }
        Ok(())
    }

    /// Returns whether columns are named.
    pub(super) fn names_columns(&self) -> bool {
        let named = |column: &Option<Column>| matches!(column, Some(Column::Name(_)));
        named(&self.label) || named(&self.series) || named(&self.time) || !self.channels.is_empty()
    }
}

/// Separator of the fields of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// One character.
    Byte(u8),
    /// Any number of blanks.
    Blanks,
}

impl Separator {
    /// Parses a separator: a character, or `tab`, `space`, `comma`, `semicolon`.
    ///
    /// # Errors
    /// Describes the fault.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "tab" | "\\t" | "\t" => Ok(Self::Byte(b'\t')),
            "space" | "blank" | "blanks" | " " => Ok(Self::Blanks),
            "comma" => Ok(Self::Byte(b',')),
            "semicolon" => Ok(Self::Byte(b';')),
            one if one.len() == 1 && one.is_ascii() && !one.contains(char::is_alphanumeric) => {
                Ok(Self::Byte(one.as_bytes()[0]))
            }
            other => Err(format!("`{other}` is not a separator of fields; write , ; tab or space")),
        }
    }

    /// Describes the separator.
    pub(super) fn words(self) -> String {
        match self {
            Self::Byte(b',') => "commas".into(),
            Self::Byte(b';') => "semicolons".into(),
            Self::Byte(b'\t') => "tabs".into(),
            Self::Byte(b' ') => "blanks".into(),
            Self::Byte(other) => format!("`{}`", char::from(other)),
            Self::Blanks => "blanks".into(),
        }
    }
}

/// Topic of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Finding {
    /// Separator of the fields of a line.
    Separator,
    /// The decimal mark.
    Decimal,
    /// Presence of a header.
    Header,
    /// Marks of missing fields.
    Missing,
    /// Symbols of strings.
    Symbols,
    /// Column of the events.
    Events,
    /// Numbering of the rows.
    Rows,
    /// Place of the label.
    Label,
    /// Boundaries of a series.
    Series,
    /// Column and unit of the times.
    Time,
    /// Columns of a whole series.
    Columns,
    /// Columns that are channels.
    Channels,
    /// Content of the names of files.
    Names,
    /// Labels by time.
    Segments,
    /// Files that are read.
    Files,
    /// Series that are left out, as they cannot be read.
    Skipped,
}

/// Fact that was inferred because no option gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Topic of the finding.
    pub about: Finding,
    /// Finding and reason.
    pub what: String,
}

/// Facts that were inferred.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Findings(pub(super) Vec<Found>);

impl Findings {
    /// Adds a finding.
    pub(super) fn add(&mut self, about: Finding, what: impl Into<String>) {
        let found = Found { about, what: what.into() };
        if !self.0.contains(&found) {
            self.0.push(found);
        }
    }

    /// Adds notes on the source that have no effect on strings.
    pub(super) fn add_idle(&mut self, source: &Source) {
        for (is_said, about, what) in [
            (
                source.time.is_some(),
                Finding::Time,
                "strings have no times, so the column is not used",
            ),
            (
                source.decimal.is_some(),
                Finding::Decimal,
                "strings have no numbers, so the decimal mark has no effect",
            ),
            (
                source.segments,
                Finding::Segments,
                "a string has one label, so segments have no effect",
            ),
            (
                !source.channels.is_empty(),
                Finding::Channels,
                "strings have no channels, so the columns are not used",
            ),
        ] {
            if is_said {
                self.add(about, what);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_named_or_numbered() {
        let names: Vec<String> = ["Activity", "2", "x"].into_iter().map(str::to_owned).collect();
        let place = |text: &str| Column::of(text).place(&names);
        assert_eq!(place("activity"), Some(0));
        assert_eq!(place("2"), Some(1), "a name comes before a number");
        assert_eq!((place("3"), place("1")), (Some(2), Some(0)));
        assert_eq!((place("4"), place("0"), place("none"), place("y")), (None, None, None, None));
    }

    #[test]
    fn separators_are_characters_or_their_names() {
        assert_eq!(Separator::parse("tab"), Ok(Separator::Byte(b'\t')));
        assert_eq!(Separator::parse(";"), Ok(Separator::Byte(b';')));
        assert_eq!(Separator::parse("space"), Ok(Separator::Blanks));
        assert!(Separator::parse("ab").is_err() && Separator::parse("1").is_err());
    }
}
