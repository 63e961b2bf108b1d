//! `fishweir network compare`.

use std::path::PathBuf;

use fishweir_networks::report::ComparisonReport;

use super::Failure;
use super::model::{fisher, network};
use super::table::{records, refused};

const EXAMPLES: &str = "\
Examples:
  fishweir network compare monday.csv friday.csv --model nursery.json --permutations 999";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// A table of records
    first: PathBuf,
    /// Another table, to compare it with [default: the network itself]
    second: Option<PathBuf>,
    /// Network
    #[arg(short, long, value_name = "FILE")]
    model: PathBuf,
    /// Random divisions of all records into two
    #[arg(long, value_name = "N", default_value_t = 0, requires = "second")]
    permutations: usize,
    /// Seed of the divisions
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let file = network(&arguments.model)?;
    let fisher = fisher(file.network());
    let (table, first) = records(&arguments.first, &file.columns)?;
    let (test, name, count) = match &arguments.second {
        None => {
            let name = arguments.model.display().to_string();
            let of_first = fisher.mean(&first).map_err(|error| refused(&table, error))?;
            (fisher.test_against_network(&of_first), name, None)
        }
        Some(path) => {
            let (other, second) = records(path, &file.columns)?;
            let test =
                fisher.two_sample_test(&first, &second, arguments.permutations, arguments.seed);
            let test = test.map_err(|error| match error.record() {
                Some(record) if record >= first.len() => {
                    refused(&other, error.at_record(|record| record - first.len()))
                }
                _ => refused(&table, error),
            })?;
            (test, other.source().to_owned(), Some(second.len()))
        }
    };
    let report = ComparisonReport {
        first: table.source().to_owned(),
        second: name,
        records: (first.len(), count),
        test,
        nodes: file.network().variables().iter().map(|v| v.name.clone()).collect(),
        exact: fisher.is_exact(),
    };
    crate::output::print_report(&report, arguments.json)
}
