//! How tables of records are read.

use std::path::Path;

use clap::{Args, ValueEnum};
use fishweir_networks::NetworkError;
use fishweir_networks::records::{Binning, Cutting, Records, Schema, TextTable};

use super::Failure;

/// How the columns of a table become states.
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
    /// Cut numbers where that tells the class apart, by description length
    #[arg(long)]
    mdl: bool,
    /// A column of numbers is cut where it has more different ones than this
    #[arg(long, value_name = "N", default_value_t = 10)]
    most_states: usize,
    /// What a missing field is
    #[arg(long, value_enum, default_value_t = Missing::State)]
    missing: Missing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Missing {
    /// A state of its own, `?`
    State,
    /// Not known: expectation-maximisation, or its mean feature
    Unknown,
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
        Ok(TextTable::read(path)?.without(&self.drop)?)
    }
}

/// Reads a table by a model's columns.
pub(super) fn records(path: &Path, columns: &Schema) -> Result<(TextTable, Records), Failure> {
    let table = TextTable::read(path)?;
    let records = columns.records(&table)?;
    Ok((table, records))
}

/// What is wrong with a table's records, by file and line.
pub(super) fn refused(table: &TextTable, error: NetworkError) -> Failure {
    Failure::input(
        error.kind(),
        match error.record() {
            // The line, and not the record's number beside it.
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
