//! `fishweir convert`.

use std::path::{Path, PathBuf};

use fishweir::report::{Written, counted};

use super::help::brief;
use super::output::{self, Outputs};
use super::reading::{self, Gathering, Reading};
use super::{Failure, read};

/// Options that `-h` shows.
const SHOWN: &[&str] = &[
    "output",
    "group",
    "label",
    "time-column",
    "series-column",
    "channel-columns",
    "dry_run",
    "json",
];

const EXAMPLES: &str = "\
Examples:
  fishweir convert recordings/ -o gait.csv
  fishweir convert gait.csv --dry-run";

#[derive(Debug, clap::Args)]
#[command(mut_args(|option| brief(option, SHOWN)), after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Series: tables, folders of recordings, archives, strings; --help lists the layouts
    #[arg(required = true, long_help = reading::data("Series"))]
    data: Vec<PathBuf>,
    /// Output file of the table, - for standard output
    #[arg(short, long, value_name = "FILE.csv", default_value = "-")]
    output: PathBuf,
    /// Column whose values belong to whole series: subjects, devices
    #[arg(long, value_name = "COLUMN")]
    group: Option<String>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    gathering: Gathering,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let inputs: Vec<&Path> = arguments.data.iter().map(PathBuf::as_path).collect();
    let outputs = Outputs::check(&[&arguments.output], &inputs)?;
    let reading =
        arguments.gathering.add_to(arguments.reading.options(), arguments.group.as_deref());
    let data = read::all(&arguments.data, &reading)?;
    if arguments.gathering.shows(&data, arguments.json)? {
        return Ok(());
    }
    output::write(&arguments.output, data.to_table().as_bytes())?;
    let what = format!(
        "a table of {} and {}",
        counted(data.series().len(), "series"),
        counted(data.observations(), "sample")
    );
    outputs.print(&Written::new(what, arguments.output.display().to_string()), arguments.json)
}
