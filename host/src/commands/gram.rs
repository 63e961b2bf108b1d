//! `fishweir gram`.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use fishweir::data::{Dataset, ReadOptions, Window, Windowing, Windows};
use fishweir::kernel::registry::Entry;
use fishweir::kernel::{GramFormat, Items, gram_bytes};
use fishweir::model::{FittedModel, Hmm};
use fishweir::report::{DataSummary, GramReport, InformationSummary};

use super::arguments::{Emitting, ScoreKernels, Training, named_after, positive};
use super::kernels::{self, Asked, KernelOptions, Matrix, Reads, id};
use super::output::{self, Outputs};
use super::reading::{Cutting, Reading};
use super::{Failure, tell};

pub(super) const LONG_ABOUT: &str = "\
Compute the kernel of all pairs of items (series, or their windows) and write the matrix.

The models are those of --model; without it they are fitted to DATA: a model a class where it is
labelled, else (or with --one-model) one to all of it. Kernels on scores and counts of several models
are sums over them; --score-model picks one. The TOP kernel takes the class models as equally likely.

Kernels on scores (practical, invariant, gaussian, polynomial, top) take models without hidden states
too: --family markov, positions, gaussian or mixture.";

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Series, labelled or not
    data: PathBuf,
    /// Where the matrix goes, - for standard output [default: DATA's name with the ending .gram.csv, in this folder]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Layout of OUT [default: by its ending .npy or .libsvm, else csv]
    #[arg(long = "as", value_name = "LAYOUT", value_enum)]
    layout: Option<Layout>,
    /// Which kernel
    #[arg(long, value_name = "KERNEL", default_value = "practical", value_parser = kernels::names())]
    kernel: &'static Entry,
    /// A fitted model (JSON) whose class models are taken
    #[arg(short, long, value_name = "MODEL.json")]
    model: Option<PathBuf>,
    /// The numbers of a kernel by marginalisation (TOML)
    #[arg(long, value_name = "MODEL.toml", conflicts_with_all = ["model", "one_model"])]
    model_file: Option<PathBuf>,
    #[command(flatten)]
    options: KernelOptions,
    /// Width of the Gaussian kernel, in units of the scores [default: 1]
    #[arg(long, value_name = "S", help_heading = "Kernel", value_parser = positive,
          allow_negative_numbers = true)]
    sigma: Option<f64>,
    /// Degree of the polynomial kernel [default: 2]
    #[arg(long, value_name = "M", help_heading = "Kernel",
          value_parser = clap::value_parser!(u32).range(1..=64))]
    power: Option<u32>,
    /// Compute the extreme eigenvalues whatever that takes [default: of at most 1000 items]
    #[arg(long, help_heading = "Kernel")]
    spectrum: bool,
    /// Divide by the items' lengths: the cosine kernel
    #[arg(long, visible_alias = "normalize", help_heading = "Kernel")]
    normalise: bool,
    #[command(flatten)]
    cutting: Cutting,
    #[command(flatten)]
    training: Training,
    #[command(flatten)]
    emitting: Emitting,
    #[command(flatten)]
    reading: Reading,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Layout {
    Csv,
    Npy,
    Libsvm,
}

/// Items whose matrix is computed: 800 MB, and its text some three times as much.
const ITEMS_AT_MOST: usize = 10_000;
/// Items whose eigenvalues are computed unasked, in a second or two.
const SPECTRUM_UNASKED: usize = 1_000;

/// Refuses more items than a matrix is computed of, before any model is fitted.
fn check_items(data: &Dataset, windowing: Option<&Windowing>) -> Result<(), Failure> {
    let items = data.windows(windowing).all().len();
    if items <= ITEMS_AT_MOST {
        return Ok(());
    }
    let gigabytes = 8e-9 * (items as f64).powi(2);
    Err(Failure::Input(format!(
        "{}: {items} items, whose matrix takes {gigabytes:.1} GB; {ITEMS_AT_MOST} are taken: cut fewer \
         with a longer --window and --hop, or give a part of the file",
        data.source()
    )))
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let output = match &arguments.output {
        Some(output) => output.clone(),
        None => named_after(&arguments.data, ".gram.csv"),
    };
    let layout = arguments.layout.unwrap_or_else(|| layout_of(&output));
    let files = arguments.model.iter().chain(&arguments.model_file).map(PathBuf::as_path);
    let inputs: Vec<&Path> = files.chain([arguments.data.as_path()]).collect();
    let outputs = Outputs::check(&[&output], &inputs)?;
    let asked = arguments.asked();
    let reads = asked.read()?;
    asked.check_no_machine()?;
    let (data, windowing) = read(arguments, &asked, &reads)?;
    tell::windows(&data, windowing.as_ref());
    let windows = data.windows(windowing.as_ref());
    let all: Vec<usize> = (0..data.series().len()).collect();
    let Matrix { computed, words } =
        asked.matrix(&reads, &data, &windows, &all, arguments.normalise)?;
    let gram = computed.gram;
    gram.check()?;
    let (format, layout) = match layout {
        Layout::Csv => (GramFormat::Csv, "csv"),
        Layout::Npy => (GramFormat::Npy, "npy"),
        Layout::Libsvm => (GramFormat::LibSvm, "libsvm"),
    };
    output::write(&output, &gram_bytes(format, &gram, &items(&data, &windows))?)?;
    // What takes longest comes last, and the matrix is there if nobody waits for it.
    let asked = arguments.spectrum || gram.len() <= SPECTRUM_UNASKED;
    let spectrum = asked.then(|| gram.spectrum()).transpose()?;
    let report = GramReport {
        data: DataSummary::of(&data, None, windowing.as_ref()),
        items: gram.len(),
        kernel: words,
        features: computed.features,
        information: computed.information.iter().map(InformationSummary::of).collect(),
        normalised: arguments.normalise,
        spectrum: spectrum.map(Into::into),
        output: output.display().to_string(),
        format: layout.to_owned(),
    };
    outputs.print(&report, arguments.json)
}

impl Arguments {
    fn asked(&self) -> Asked<'_> {
        Asked {
            entry: self.kernel,
            options: &self.options,
            training: self.training.with(&ScoreKernels::default(), &self.emitting),
            cutting: &self.cutting,
            model: self.model.as_deref(),
            numbers: self.model_file.as_deref(),
            sigma: self.sigma,
            power: self.power,
        }
    }
}

/// Reads the data as what the kernel reads observes them, and how they are cut.
fn read(
    arguments: &Arguments,
    asked: &Asked<'_>,
    reads: &Reads,
) -> Result<(Dataset, Option<Windowing>), Failure> {
    let (reading, path) = (&arguments.reading, &arguments.data);
    let (data, windowing) = match reads {
        Reads::Numbers(model) => {
            let kind = model.kind().map_err(|error| Failure::Input(error.to_string()))?;
            (tell::read(path, &reading.options_for(kind, None)?)?, arguments.cutting.windowing())
        }
        Reads::Models(model, _) => {
            let data = tell::read(path, &reading.options_of(model, None)?)?;
            (data, model.windowing(arguments.cutting.windowing()))
        }
        Reads::Fitted => {
            let values = arguments.emitting.values();
            let data = tell::read(path, &ReadOptions { values, ..reading.options() })?;
            (data, asked.train_options()?.windowing)
        }
    };
    check_items(&data, windowing.as_ref())?;
    match reads {
        Reads::Numbers(_) => {}
        Reads::Models(_, models) => {
            let states = models.iter().filter_map(FittedModel::hidden_markov).map(Hmm::states);
            tell::room_to_score(&data, windowing.as_ref(), states.max().unwrap_or_default())?;
        }
        Reads::Fitted => asked.check_fitted(&data)?,
    }
    Ok((data, windowing))
}

fn layout_of(output: &Path) -> Layout {
    match output.extension().and_then(|ending| ending.to_str()) {
        Some("npy") => Layout::Npy,
        Some("libsvm") => Layout::Libsvm,
        _ => Layout::Csv,
    }
}

fn items(data: &Dataset, windows: &Windows<'_>) -> Items {
    Items {
        ids: windows.all().iter().map(id).collect(),
        labels: windows.all().iter().map(Window::label).collect(),
        classes: data.classes().to_vec(),
    }
}
