//! `fishweir features`.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use fishweir::kernel::{FeatureFormat, feature_bytes};
use fishweir::parts::Share;
use fishweir::report::{FeaturesReport, InformationSummary, Written};

use super::Failure;
use super::expect::{ending, leaves, share};
use super::help::brief;
use super::kernels::{Described, OfData, help};
use super::output;

const ABOUT: &str = "\
Each row is an item: its name, its class and its features. The kernel is the inner product of the features. Columns have the \
names of the models' parameters: walk.mean[0][1] is the derivative of log p by the mean of channel 1 in state 0 of the model of \
class walk. After whitening by a full matrix the columns are axis[0], axis[1] and so on; --information diagonal keeps the names. \
The models are those of --model, or are fitted to DATA: one per class if DATA is labelled, else (or with --one-model) one for all \
series.";

const EXAMPLES: &str = "\
Examples:
  fishweir features gait.csv --window 200 -o gait.parquet
  fishweir features gait.csv --kernel practical --one-model -o gait.npy
  fishweir features new.csv --model gait.model.json --information diagonal -o new.csv";

/// Options that `-h` shows.
const SHOWN: &[&str] = &[
    "output",
    "layout",
    "kernel",
    "information",
    "model",
    "family",
    "states",
    "normalise",
    "window",
    "hop",
    "label",
    "json",
];

#[derive(Debug, clap::Args)]
#[command(mut_args(|option| brief(help::shown(option), SHOWN)), after_help = EXAMPLES,
    after_long_help = format!("{}\n{ABOUT}\n\n{EXAMPLES}", help::names()))]
pub(super) struct Arguments {
    /// Series, labelled or not
    #[arg(required = true)]
    data: Vec<PathBuf>,
    /// Output file of the features, - for standard output [default: DATA's name with the ending .features.csv, in this
    /// folder]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Layout of OUT; npy has no names [default: by its ending .npy or .parquet, else csv]
    #[arg(long = "as", value_name = "LAYOUT", value_enum)]
    layout: Option<Layout>,
    /// Report as JSON, with the names of the columns
    #[arg(long)]
    json: bool,
    /// Only the features of part I of N of the items, counted from 1; OUT is by default .features-I-of-N.csv
    #[arg(long, value_name = "I/N", value_parser = share)]
    part: Option<Share>,
    /// Write sums of products of the features in their place, which merge adds up: the information matrices of
    /// --information-from; OUT is JSON, by default .products.json
    #[arg(long, conflicts_with = "layout")]
    products: bool,
    #[command(flatten)]
    of: OfData,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Layout {
    /// A header and a row per item
    Csv,
    /// NumPy's: the numbers alone
    Npy,
    /// Apache Parquet, in a build with the feature parquet
    Parquet,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { data, output, of, .. } = arguments;
    if arguments.products {
        return run_products(arguments);
    }
    let ending = ending("features", arguments.part, "csv");
    let (output, outputs) = of.output(output.as_ref(), data, &ending)?;
    let layout = arguments.layout.unwrap_or_else(|| layout_of(&output));
    layout.format().check()?;
    let Described { data, items, featured, words } = of.describe(data, arguments.part)?;
    output::write(&output, &feature_bytes(layout.format(), &featured, &items)?)?;
    let report = FeaturesReport {
        data,
        items: featured.rows.len(),
        kernel: words,
        information: featured.information.iter().map(InformationSummary::of).collect(),
        normalised: of.normalise,
        names: featured.names,
        output: output.display().to_string(),
        format: layout.name().to_owned(),
    };
    outputs.print(&report, arguments.json)
}

/// Adds up and writes products.
fn run_products(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { data, output, of, .. } = arguments;
    let ending = ending("products", arguments.part, "json");
    let (output, outputs) = of.output(output.as_ref(), data, &ending)?;
    let (data, sums) = of.products(data, arguments.part.unwrap_or(Share::WHOLE))?;
    output::write(&output, sums.to_json()?.as_bytes())?;
    let what = format!("{}: {}", data.data, leaves(&sums));
    outputs.print(&Written::new(what, output.display().to_string()), arguments.json)
}

impl Layout {
    fn format(self) -> FeatureFormat {
        match self {
            Self::Csv => FeatureFormat::Csv,
            Self::Npy => FeatureFormat::Npy,
            Self::Parquet => FeatureFormat::Parquet,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Npy => "npy",
            Self::Parquet => "parquet",
        }
    }
}

fn layout_of(output: &Path) -> Layout {
    match output.extension().and_then(|ending| ending.to_str()) {
        Some("npy") => Layout::Npy,
        Some("parquet") => Layout::Parquet,
        _ => Layout::Csv,
    }
}
