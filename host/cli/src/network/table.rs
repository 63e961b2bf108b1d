//! Reading of tables of records.

use std::path::Path;

use clap::{Args, ValueEnum};
use fishweir::report::counted;
use fishweir_networks::NetworkError;
use fishweir_networks::records::{Binning, Cutting, Records, Schema, TextTable, Unseen};

use super::Failure;
use crate::reading::TextOptions;
use crate::{Topic, note};

/// Options that turn the columns of a table into states.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Columns")]
pub(super) struct Columns {
    /// Columns to leave out, separated by commas
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    drop: Vec<String>,
    /// Bins of equal frequency of a column of numbers
    #[arg(long, value_name = "N", default_value_t = 4, conflicts_with = "mdl",
        value_parser = clap::value_parser!(u16).range(2..=65534))]
    bins: u16,
    /// Cut columns of numbers where that separates the classes, by minimum description length, instead of --bins
    #[arg(long)]
    mdl: bool,
    /// Most different numbers that a column keeps as categories; a column with more is cut into intervals
    #[arg(long, value_name = "N", default_value_t = 10)]
    most_states: usize,
    /// Meaning of a missing field
    #[arg(long, value_enum, default_value_t = Missing::State)]
    missing: Missing,
    /// Columns of categories, even if they hold numbers, separated by commas
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    categories: Vec<String>,
    #[command(flatten)]
    table: Written,
}

/// Format of a table of records.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Reading")]
pub(super) struct Written {
    #[command(flatten)]
    text: TextOptions,
    /// Treatment of a category that the model has not seen: an error, or missing
    #[arg(long, value_enum, default_value_t = UnseenCategory::Refuse)]
    unseen: UnseenCategory,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum UnseenCategory {
    /// An error; network predict leaves the record undecided, and counts it
    #[default]
    Refuse,
    /// A missing field; how many is noted
    Missing,
}

impl From<TextOptions> for Written {
    fn from(text: TextOptions) -> Self {
        Self { text, unseen: UnseenCategory::default() }
    }
}

impl Written {
    /// Reads a table, and notes the inferred facts.
    pub(super) fn read(&self, path: &Path) -> Result<TextTable, Failure> {
        let table = TextTable::read_as(path, &self.text.source())?;
        super::super::findings::tell(table.source(), table.findings());
        Ok(table)
    }

    /// A table's records by a model's columns.
    pub(super) fn records(&self, table: &TextTable, columns: &Schema) -> Result<Records, Failure> {
        let unseen = match self.unseen {
            UnseenCategory::Refuse => Unseen::Refused,
            UnseenCategory::Missing => Unseen::Missing,
        };
        let (records, unknown) = columns.records_with(table, unseen)?;
        if !unknown.is_empty() {
            note(
                Topic::UnseenCategories,
                format_args!(
                    "{}: {} with a category that the model has not seen, taken for missing",
                    table.source(),
                    counted(unknown.len(), "field")
                ),
            );
        }
        Ok(records)
    }

    /// A table's records by a model's columns, and the rows that have a category which the model has not seen, unless these are
    /// missing.
    pub(super) fn decidable(
        &self,
        table: &TextTable,
        columns: &Schema,
    ) -> Result<(Records, Vec<usize>), Failure> {
        match self.unseen {
            UnseenCategory::Missing => Ok((self.records(table, columns)?, Vec::new())),
            UnseenCategory::Refuse => Ok(columns.records_with(table, Unseen::Missing)?),
        }
    }

    /// Reads a table by a model's columns.
    pub(super) fn read_records(
        &self,
        path: &Path,
        columns: &Schema,
    ) -> Result<(TextTable, Records), Failure> {
        let table = self.read(path)?;
        let records = self.records(&table, columns)?;
        Ok((table, records))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Missing {
    /// A state of its own, `?`
    State,
    /// Unknown: filled in by expectation-maximisation, or by the mean feature
    Unknown,
}

impl From<Written> for Columns {
    /// All columns, with the cuts of a model.
    fn from(table: Written) -> Self {
        Self {
            drop: Vec::new(),
            bins: 4,
            mdl: false,
            most_states: 10,
            missing: Missing::State,
            categories: Vec::new(),
            table,
        }
    }
}

impl Columns {
    pub(super) fn binning(&self) -> Binning {
        let cutting = match self.mdl {
            true => Cutting::DescriptionLength,
            false => Cutting::EqualFrequency(self.bins.into()),
        };
        let missing_is_a_state = self.missing == Missing::State;
        Binning { most_states: self.most_states, cutting, missing_is_a_state }
    }

    /// Reads a table without the columns to be left out.
    pub(super) fn read(&self, path: &Path) -> Result<TextTable, Failure> {
        Ok(self.table.read(path)?.without(&self.drop)?.with_categories(&self.categories)?)
    }

    /// A table's records by a model's columns.
    pub(super) fn records(&self, table: &TextTable, columns: &Schema) -> Result<Records, Failure> {
        self.table.records(table, columns)
    }
}

/// Reads a table by a model's columns, as it is found to be written.
pub(super) fn records(path: &Path, columns: &Schema) -> Result<(TextTable, Records), Failure> {
    Written::default().read_records(path, columns)
}

/// Error about a table's records, by file and line.
pub(super) fn refused(table: &TextTable, error: NetworkError) -> Failure {
    Failure::input(
        error.kind(),
        match error.record() {
            // The line is named, not the record's number.
            Some(record) => {
                let (text, number) = (error.to_string(), format!("record {record}"));
                let what = text.strip_prefix(&number).map_or(text.as_str(), |rest| {
                    rest.strip_prefix(':').unwrap_or(rest).trim_start()
                });
                format!("{}, line {}: {what}", table.source(), table.line(record))
            }
            None => format!("{}: {error}", table.source()),
        },
    )
}
