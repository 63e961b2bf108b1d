//! `fishweir pca`.

use std::io;
use std::path::{Path, PathBuf};

use fishweir::kernel::{Gram, Items, KernelPca, read_gram};
use fishweir::plot::ScatterPlot;
use fishweir::report::{PcaReport, counted, grouped};

use super::help::brief;
use super::kernels::{Compared, OfData, help};
use super::options::note_idle;
use super::output::{self, Outputs, named_after};
use super::{Failure, Topic};

const ABOUT: &str = "\
Each point is an item, coloured by its class. The kernel is computed from DATA, with the options of gram; or --gram names \
the file of a matrix.";

const EXAMPLES: &str = "\
Examples:
  fishweir pca gait.csv --window 200 -o gait.svg
  fishweir pca --gram gait.npy --table gait.csv --dimensions 3";

/// Options that `-h` shows.
const SHOWN: &[&str] = &[
    "gram",
    "output",
    "table",
    "dimensions",
    "kernel",
    "model",
    "family",
    "states",
    "normalise",
    "window",
    "hop",
    "json",
];

#[derive(Debug, clap::Args)]
#[command(mut_args(|option| brief(help::shown(option), SHOWN)), after_help = EXAMPLES,
    after_long_help = format!("{}\n{ABOUT}\n\n{EXAMPLES}", help::names()))]
pub(super) struct Arguments {
    /// Series, labelled or not
    #[arg(required_unless_present = "gram", conflicts_with = "gram")]
    data: Option<PathBuf>,
    /// A matrix of all pairs, as gram writes it (csv, npy) or made elsewhere
    #[arg(long, value_name = "FILE")]
    gram: Option<PathBuf>,
    /// Output file of the figure, - for standard output [default: the input's name with the ending .pca.svg, in this folder]
    #[arg(short, long, value_name = "FILE.svg")]
    output: Option<PathBuf>,
    /// Write the coordinates: a row per item, with id and label
    #[arg(long, value_name = "FILE.csv")]
    table: Option<PathBuf>,
    /// Components in the table and in the printed report, two at least
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u16).range(2..))]
    dimensions: u16,
    /// Report as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    of: OfData,
}

/// Data to draw.
struct Source {
    data: String,
    kernel: String,
    gram: Gram,
    items: Items,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let input = arguments.data.as_ref().or(arguments.gram.as_ref());
    let output = match (&arguments.output, input) {
        (Some(output), _) => output.clone(),
        (None, Some(input)) => named_after(input, ".pca.svg"),
        (None, None) => PathBuf::from("-"),
    };
    let inputs: Vec<&Path> = arguments.of.inputs().chain(input.map(PathBuf::as_path)).collect();
    let files: Vec<&Path> =
        [output.as_path()].into_iter().chain(arguments.table.as_deref()).collect();
    let outputs = Outputs::check(&files, &inputs)?;
    let Source { data, kernel, gram, items } = source(arguments)?;
    let pca = KernelPca::of(&gram, arguments.dimensions.into())?;
    if let Some(table) = &arguments.table {
        output::write(table, &coordinates(&pca, &items)?)?;
    }
    output::write(&output, figure(&pca, &kernel, &data, &items).as_bytes())?;
    let report = PcaReport {
        items: gram.len(),
        explained: PcaReport::shares(&pca),
        figure: output.display().to_string(),
        table: arguments.table.as_ref().map(|table| table.display().to_string()),
        data,
        kernel,
    };
    outputs.print(&report, arguments.json)
}

fn source(arguments: &Arguments) -> Result<Source, Failure> {
    let most = KernelPca::ITEMS_AT_MOST;
    if let Some(path) = &arguments.gram {
        note_idle(&arguments.of.given(), "the matrix is there already")?;
        let read = read_gram(path)?;
        let data = path.display().to_string();
        let count = read.gram.len();
        if count > most {
            return Err(Failure::input(
                Topic::TooManyItems,
                format!("{data}: {}; {} at most are drawn", counted(count, "item"), grouped(most)),
            ));
        }
        let ids = read.ids.unwrap_or_else(|| (1..=count).map(|item| item.to_string()).collect());
        let names = read.labels.unwrap_or_else(|| vec![String::new(); count]);
        let mut classes: Vec<String> =
            names.iter().filter(|name| !name.is_empty()).cloned().collect();
        classes.sort();
        classes.dedup();
        let labels = names.iter().map(|name| classes.binary_search(name).ok()).collect();
        let items = Items { ids, labels, classes };
        return Ok(Source { kernel: "as given".into(), data, gram: read.gram, items });
    }
    let path = arguments.data.as_deref().unwrap_or(Path::new("-"));
    let Compared { items, matrix, .. } = arguments.of.compare(&[path.to_owned()], Some(most))?;
    let cosine = if arguments.of.normalise { ", normalised" } else { "" };
    Ok(Source {
        data: path.display().to_string(),
        kernel: format!("{}{cosine}", matrix.words),
        gram: matrix.computed.gram,
        items,
    })
}

/// A table with a row per item.
fn coordinates(pca: &KernelPca, items: &Items) -> Result<Vec<u8>, Failure> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let components = (1..=pca.variance.len()).map(|number| format!("component{number}"));
    writer.write_record(["id".to_owned(), "label".to_owned()].into_iter().chain(components))?;
    for ((id, label), row) in items.ids.iter().zip(&items.labels).zip(&pca.coordinates) {
        let label = label.map_or_else(String::new, |label| items.classes[label].clone());
        let row = row.iter().map(f64::to_string);
        writer.write_record([id.clone(), label].into_iter().chain(row))?;
    }
    Ok(writer.into_inner().map_err(|error| io::Error::other(error.to_string()))?)
}

fn figure(pca: &KernelPca, kernel: &str, data: &str, items: &Items) -> String {
    let shares: Vec<f64> = pca.shares().collect();
    let axis = |component: usize| match shares.get(component) {
        Some(share) => {
            format!("component {}: {:.1} % of the variance", component + 1, 100.0 * share)
        }
        None => "no variance is left".to_owned(),
    };
    let at = |row: &Vec<f64>, component| row.get(component).copied().unwrap_or(0.0);
    let points: Vec<[f64; 2]> =
        pca.coordinates.iter().map(|row| [at(row, 0), at(row, 1)]).collect();
    ScatterPlot {
        title: "Kernel principal components",
        subtitle: &format!("{data}\n{kernel}"),
        axes: [&axis(0), &axis(1)],
        points: &points,
        names: &items.ids,
        labels: &items.labels,
        classes: &items.classes,
    }
    .to_svg()
}
