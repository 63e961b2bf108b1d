//! `fishweir network gram`.

use std::path::PathBuf;

use fishweir::kernel::{Items, gram_bytes};
use fishweir::report::{Written, counted};

use super::super::gram::Layout;
use super::super::output::{self, Outputs};
use super::Failure;
use super::model::{fisher, network};
use super::table::{records, refused};

const EXAMPLES: &str = "\
Examples:
  fishweir network gram nursery.csv --model nursery.json -o gram.npy --layout npy";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// A table of records
    data: PathBuf,
    /// Network
    #[arg(short, long, value_name = "FILE")]
    model: PathBuf,
    /// Output file of the matrix; - for standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Layout of the matrix
    #[arg(long, value_enum, default_value_t = Layout::Csv)]
    layout: Layout,
    /// Divide by the norms of the items: cosines
    #[arg(long)]
    normalise: bool,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let outputs = Outputs::check(&[&arguments.output], &[&arguments.model, &arguments.data])?;
    let file = network(&arguments.model)?;
    let (table, records) = records(&arguments.data, &file.columns)?;
    let gram = fisher(file.network()).gram(&records).map_err(|error| refused(&table, error))?;
    let gram = if arguments.normalise { gram.normalised() } else { gram };
    gram.check()?;
    let items = Items {
        ids: (0..records.len()).map(|row| table.line(row).to_string()).collect(),
        labels: vec![None; records.len()],
        classes: Vec::new(),
    };
    output::write(&arguments.output, &gram_bytes(arguments.layout.format(), &gram, &items)?)?;
    let what = format!("Fisher kernel of {}, named by their lines", counted(gram.len(), "record"));
    outputs.print(&Written::new(what, arguments.output.display().to_string()), arguments.json)
}
