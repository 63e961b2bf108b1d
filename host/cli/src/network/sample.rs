//! `fishweir network sample`.

use std::path::{Path, PathBuf};

use fishweir::report::{Written, counted};
use fishweir_networks::records::{Records, Variable, field};

use super::super::output::{self, Outputs};
use super::Failure;
use super::model::network;
use crate::model::ModelArgument;

const EXAMPLES: &str = "\
Examples:
  fishweir network sample nursery.json -n 2000 -o drawn.csv";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    model: ModelArgument,
    /// Records to draw
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1000)]
    records: usize,
    /// Seed of the draws
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// File for the records, as CSV; - for standard output
    #[arg(short, long, value_name = "FILE.csv", default_value = "-")]
    output: PathBuf,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let outputs = Outputs::check(&[&arguments.output], &[arguments.model.path()])?;
    let file = network(arguments.model.path())?;
    let records = file.network().sample(arguments.records, arguments.seed);
    write(&arguments.output, file.network().variables(), &records)?;
    let what = counted(records.len(), "record");
    outputs.print(&Written::new(what, arguments.output.display().to_string()), arguments.json)
}

/// Writes records as CSV: a header, and the names of states.
pub(super) fn write(path: &Path, variables: &[Variable], records: &Records) -> Result<(), Failure> {
    let line = |fields: &mut dyn Iterator<Item = String>| {
        let mut line = fields.collect::<Vec<_>>().join(",");
        line.push('\n');
        line
    };
    let mut text = line(&mut variables.iter().map(|variable| field(&variable.name)));
    for record in records.rows() {
        let state = |(variable, &state): (&Variable, &u16)| variable.field(state);
        text += &line(&mut variables.iter().zip(record).map(state));
    }
    output::write(path, text.as_bytes())
}
