//! `fishweir network expect`.

use std::path::PathBuf;

use fishweir::parts::Share;
use fishweir::report::Written;
use fishweir_networks::learn::ExpectationMaximisation;

use super::super::expect::{ending, share};
use super::super::output::{self, Outputs, named_after};
use super::Failure;
use super::model::network;
use super::table::records;

const EXAMPLES: &str = "\
Examples:
  fishweir network expect doors.csv --model doors.json --part 1/2 -o one.json
  fishweir network expect doors.csv --model doors.json --part 2/2 -o two.json
  fishweir merge one.json two.json --model doors.json -o next.json";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// A table of records
    data: PathBuf,
    /// Network
    #[arg(short, long, value_name = "FILE")]
    model: PathBuf,
    /// Count in part I of N of the records, from 1 [default: all]
    #[arg(long, value_name = "I/N", value_parser = share)]
    part: Option<Share>,
    /// File for the counts, - for standard output [default: DATA's name with the ending .counts.json or .counts-I-of-N.json, in this
    /// folder]
    #[arg(short, long, value_name = "FILE.json")]
    output: Option<PathBuf>,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let ending = ending("counts", arguments.part, "json");
    let output = arguments.output.clone();
    let output = output.unwrap_or_else(|| named_after(&arguments.data, &ending));
    let outputs = Outputs::check(&[&output], &[&arguments.model, &arguments.data])?;
    let file = network(&arguments.model)?;
    let (_, records) = records(&arguments.data, &file.columns)?;
    let (em, share) = (ExpectationMaximisation::default(), arguments.part);
    let sums = em.expect(file.network(), &records, share.unwrap_or(Share::WHOLE))?;
    output::write(&output, sums.to_json()?.as_bytes())?;
    let what = format!("expected counts of {} of {} leaves", sums.summed(), sums.leaves());
    outputs.print(&Written::new(what, output.display().to_string()), arguments.json)
}
