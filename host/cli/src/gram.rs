//! `fishweir gram`.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use fishweir::kernel::{GramFormat, gram_bytes};
use fishweir::parts::TilePlace;
use fishweir::report::{GramReport, InformationSummary, Written};

use super::Failure;
use super::help::brief;
use super::kernels::{Compared, OfData, SPECTRUM_UNASKED, help};
use super::output;

const ABOUT: &str = "\
The kernel uses the models of --model, or fits models to DATA: one per class if DATA is labelled, else (or with --one-model) \
one for all series. With several models, kernels on scores and counts are sums over them; --score-model picks one. The TOP \
kernel gives all classes the same prior. Kernels between models (ppk, bhattacharyya, mean-map, symmetric-kl, heat) fit one model \
to each item, and empirical-mean-map fits none.";

const EXAMPLES: &str = "\
Examples:
  fishweir gram gait.csv --window 200 -o gait.npy
  fishweir gram gait.csv --kernel top --normalise
  fishweir gram reads.fa --kernel bhattacharyya --family markov
  fishweir gram gait.csv -m gait.json --tile 1,2/2 -o 12.json    # merge joins 1,1 and 1,2 and 2,2";

/// Options that `-h` shows.
const SHOWN: &[&str] = &[
    "output",
    "layout",
    "kernel",
    "model",
    "kernel_model",
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
    /// Output file of the matrix, - for standard output [default: DATA's name with the ending .gram.csv, in this folder]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Layout of OUT [default: by its ending .npy or .libsvm, else csv]
    #[arg(long = "as", value_name = "csv|npy|libsvm", value_enum, hide_possible_values = true)]
    layout: Option<Layout>,
    /// Report as JSON
    #[arg(long)]
    json: bool,
    /// Compute one tile of the matrix, in N by N blocks of items: rows I and columns J, from 1, I not above J; merge joins them
    ///
    /// OUT is JSON [default: DATA's name with the ending .gram-I-J-of-N.json]. The kernel is computed between all items of both
    /// blocks. Models that are fitted to DATA are fitted anew for each tile: --model saves that.
    #[arg(long, value_name = "I,J/N", value_parser = tile, conflicts_with_all = ["layout", "spectrum"])]
    tile: Option<TilePlace>,
    #[command(flatten)]
    of: OfData,
    /// Compute the extreme eigenvalues at any size [default: of at most 1000 items]
    #[arg(long, help_heading = "Kernel")]
    spectrum: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Layout {
    /// A header and a row per item
    Csv,
    /// NumPy's
    Npy,
    /// LIBSVM's precomputed kernel
    Libsvm,
}

/// The place of a tile, as 1,2/8.
fn tile(text: &str) -> Result<TilePlace, String> {
    let numbers = text.split_once('/').and_then(|(blocks, of)| {
        let (row, column) = blocks.split_once(',')?;
        let number = |text: &str| text.trim().parse().ok();
        Some((number(row)?, number(column)?, number(of)?))
    });
    let place = numbers.and_then(|(row, column, of)| TilePlace::new(row, column, of));
    place.ok_or_else(|| {
        "a tile is I,J/N with I from 1, J from I, and N from J to 1000, as 1,2/8".to_owned()
    })
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(place) = arguments.tile {
        return run_tile(arguments, place);
    }
    let Arguments { data, output, of, .. } = arguments;
    let (output, outputs) = of.output(output.as_ref(), data, ".gram.csv")?;
    let layout = arguments.layout.unwrap_or_else(|| layout_of(&output));
    let Compared { data, items, matrix } = of.compare(data, None)?;
    let gram = matrix.computed.gram;
    output::write(&output, &gram_bytes(layout.format(), &gram, &items)?)?;
    // What takes longest comes last, and the matrix is there if nobody waits for it.
    let asked = arguments.spectrum || gram.len() <= SPECTRUM_UNASKED;
    let spectrum = asked.then(|| gram.spectrum()).transpose()?;
    let report = GramReport {
        data,
        items: gram.len(),
        kernel: matrix.words,
        features: matrix.computed.features,
        information: matrix.computed.information.iter().map(InformationSummary::of).collect(),
        normalised: of.normalise,
        spectrum: spectrum.map(Into::into),
        output: output.display().to_string(),
        format: layout.name().to_owned(),
    };
    let hint = (!asked).then_some("for eigenvalues of this many items use --spectrum");
    outputs.print_with(&report, arguments.json, hint)
}

/// Computes and writes a tile.
fn run_tile(arguments: &Arguments, place: TilePlace) -> Result<(), Failure> {
    let Arguments { data, output, of, .. } = arguments;
    let (output, outputs) = of.output(output.as_ref(), data, &format!(".gram-{place}.json"))?;
    let (data, tile) = of.tile(data, place)?;
    output::write(&output, tile.to_json()?.as_bytes())?;
    let what = format!("{}: tile {place} of the {} kernel", data.data, tile.kernel());
    outputs.print(&Written::new(what, output.display().to_string()), arguments.json)
}

impl Layout {
    pub(super) fn format(self) -> GramFormat {
        match self {
            Self::Csv => GramFormat::Csv,
            Self::Npy => GramFormat::Npy,
            Self::Libsvm => GramFormat::LibSvm,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Npy => "npy",
            Self::Libsvm => "libsvm",
        }
    }
}

pub(super) fn layout_of(output: &Path) -> Layout {
    match output.extension().and_then(|ending| ending.to_str()) {
        Some("npy") => Layout::Npy,
        Some("libsvm") => Layout::Libsvm,
        _ => Layout::Csv,
    }
}
