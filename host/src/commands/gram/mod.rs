//! `fishweir gram`.

mod check;
mod compute;
mod family;
mod marginal;
mod mean_map;
mod models;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use fishweir::data::{Dataset, SamplesView, Window, Windowing, Windows};
use fishweir::kernel::marginal::MarginalError;
use fishweir::kernel::{GramFormat, Items, gram_bytes};
use fishweir::report::{DataSummary, GramReport, InformationSummary};

use super::arguments::{Training, named_after, not_negative, positive, rate};
use super::output::{self, Outputs};
use super::reading::{Cutting, Reading};
use super::{Failure, tell};
use compute::{Refused, compute, on_scores};
use models::{Models, Source};

pub(super) const LONG_ABOUT: &str = "\
Compute the kernel of all pairs of items (series, or their windows) and write the matrix.

The models are those of --model; without it they are fitted to DATA: a model a class where it is
labelled, else (or with --one-model) one to all of it. Kernels on scores and counts of several models
are sums over them; --score-model picks one. The TOP kernel takes the class models as equally likely.

The kernel empirical-map takes no models.

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
    #[arg(long, value_enum, default_value_t = Name::Practical)]
    kernel: Name,
    /// A fitted model (JSON) whose class models are taken
    #[arg(short, long, value_name = "MODEL.json")]
    model: Option<PathBuf>,
    /// The numbers of a kernel by marginalisation (TOML)
    #[arg(long, value_name = "MODEL.toml", conflicts_with_all = ["model", "one_model"])]
    model_file: Option<PathBuf>,
    /// Fit one model to all series, whatever their labels
    #[arg(long, conflicts_with = "model")]
    one_model: bool,
    #[command(flatten)]
    choice: family::Choice,
    /// What scores are gradients with respect to
    /// [default: softmax]
    #[arg(long, value_enum, help_heading = "Kernel")]
    parametrisation: Option<Coordinates>,
    /// By which information scores are whitened; for gaussian and polynomial too
    /// [default: sampled for invariant, else none]
    #[arg(long, value_enum, help_heading = "Kernel")]
    information: Option<Whose>,
    /// Added to the information's diagonal; 0 leaves out what it knows nothing of [default: 0]
    #[arg(long, value_name = "R", help_heading = "Kernel", value_parser = not_negative,
          allow_negative_numbers = true)]
    ridge: Option<f64>,
    /// Length of the sequences enumerated (exact) [default: that of all items]
    #[arg(long, value_name = "SAMPLES", help_heading = "Kernel")]
    length: Option<usize>,
    /// Sequences drawn from the model (sampled) [default: 2000]
    #[arg(long, value_name = "N", help_heading = "Kernel", value_parser = draws)]
    draws: Option<usize>,
    /// Seed of the first sequence drawn (sampled) [default: 1]
    #[arg(long, value_name = "SEED", help_heading = "Kernel")]
    draw_seed: Option<u64>,
    /// Width of the Gaussian kernel, in units of the scores [default: 1]
    #[arg(long, value_name = "S", help_heading = "Kernel", value_parser = positive,
          allow_negative_numbers = true)]
    sigma: Option<f64>,
    /// Degree of the polynomial kernel [default: 2]
    #[arg(long, value_name = "M", help_heading = "Kernel",
          value_parser = clap::value_parser!(u32).range(1..=64))]
    power: Option<u32>,
    /// Symbols of a context (markov), or counted together (count): 1, or 2 that follow each other; samples
    /// that a window has after its first (empirical-map) [default: 1]
    #[arg(long, value_name = "K", help_heading = "Models")]
    order: Option<u8>,
    /// Rate of the mean maps, exp(-L/2 |x - y|^2): symbols, and states, that differ have exp(-L) in
    /// common; inf takes equal ones alone [default: 1]
    #[arg(long, value_name = "L", help_heading = "Kernel", value_parser = rate,
          allow_negative_numbers = true)]
    lambda: Option<f64>,
    /// Exponentiate the mean map K: exp(-NU (K_xx - 2 K_xy + K_yy)) (latent-map)
    #[arg(long, value_name = "NU", help_heading = "Kernel", value_parser = positive,
          allow_negative_numbers = true)]
    nu: Option<f64>,
    /// Counts as they are, not divided by the length (count)
    #[arg(long, help_heading = "Kernel")]
    raw: bool,
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
    reading: Reading,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Name {
    /// Inner products of Fisher scores
    Practical,
    /// The same, whitened by the information
    Invariant,
    /// Gaussian of the distance of scores
    Gaussian,
    /// (1 + inner product of scores) ^ power
    Polynomial,
    /// Tangents of posterior log-odds of the classes
    Top,
    /// Marginalised counts of symbols and states
    Count,
    /// Means over pairs of windows, without a model
    EmpiricalMap,
    /// Means over pairs of samples with their hidden states
    LatentMap,
    /// Shared models of a finite set (--model-file)
    Marginalisation,
    /// Shared hidden states, position by position (--model-file)
    HiddenBinomial,
    /// Shared paths of a hidden Markov model, of sequences of one length (--model-file)
    FixedLength,
    /// Shared trajectories of a pair hidden Markov model (--model-file)
    PairHmm,
    /// Shared states of a tree's inner nodes (--model-file)
    HiddenTree,
    /// The same, summed over all pruned trees (--model-file)
    PrunedTree,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Layout {
    Csv,
    Npy,
    Libsvm,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Coordinates {
    /// Probabilities as ratios, variances
    Ratio,
    /// Logits, log standard deviations
    Softmax,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Whose {
    /// The model's, over all sequences of a length
    Exact,
    /// The model's, over sequences drawn from it
    Sampled,
    /// The data's
    Empirical,
    /// The diagonal of the data's
    Diagonal,
}

/// A sample's standard error falls with the root of its size: more are not worth the wait.
fn draws(text: &str) -> Result<usize, String> {
    match text.trim().parse::<usize>() {
        Ok(count @ 2..=1_000_000) => Ok(count),
        _ => Err("is a number from 2 to 1000000".into()),
    }
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

impl Arguments {
    /// By which information scores are whitened, if by any.
    fn whitened(&self) -> Option<Whose> {
        match (self.kernel, self.information) {
            (Name::Invariant, None) => Some(Whose::Sampled),
            (_, given) => given,
        }
    }
}

impl Name {
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let output = match &arguments.output {
        Some(output) => output.clone(),
        None => named_after(&arguments.data, ".gram.csv"),
    };
    let layout = arguments.layout.unwrap_or_else(|| layout_of(&output));
    let models = arguments.model.iter().chain(&arguments.model_file).map(PathBuf::as_path);
    let inputs: Vec<&Path> = models.chain([arguments.data.as_path()]).collect();
    let outputs = Outputs::check(&[&output], &inputs)?;
    check::options(arguments)?;
    let Source { data, models, windowing } = Source::of(arguments)?;
    tell::windows(&data, windowing.as_ref());
    let windows = data.windows(windowing.as_ref());
    let views: Vec<SamplesView<'_>> = windows.all().iter().map(|one| one.samples).collect();
    let computed = match &models {
        Models::Marginal(model) => marginal::compute(model, &views, arguments.normalise),
        Models::Hidden(models) => compute(arguments, models, &views),
        Models::Seen(models) => on_scores(arguments, models, &views),
        Models::None => mean_map::empirical(arguments, &views),
    }
    .map_err(|error| name(error, &data, &windows))?;
    // Kernels by marginalisation are normalised before they underflow.
    let gram = match arguments.normalise && !matches!(models, Models::Marginal(_)) {
        true => computed.gram.normalised(),
        false => computed.gram,
    };
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
        kernel: computed.words,
        features: computed.features,
        information: computed.information.iter().map(InformationSummary::of).collect(),
        normalised: arguments.normalise,
        spectrum: spectrum.map(Into::into),
        output: output.display().to_string(),
        format: layout.to_owned(),
    };
    outputs.print(&report, arguments.json)
}

fn layout_of(output: &Path) -> Layout {
    match output.extension().and_then(|ending| ending.to_str()) {
        Some("npy") => Layout::Npy,
        Some("libsvm") => Layout::Libsvm,
        _ => Layout::Csv,
    }
}

/// Why a kernel by marginalisation has no value, with the place of the item in the file.
pub(super) fn item_refused(error: MarginalError, data: &Dataset, windows: &Windows<'_>) -> Failure {
    name(Refused::Marginal(error), data, windows)
}

/// Puts the place in the file of an item that has no kernel in front of why.
fn name(refused: Refused, data: &Dataset, windows: &Windows<'_>) -> Failure {
    let (index, error, advice) = match refused {
        Refused::Usage(what) => return Failure::Input(what),
        Refused::Marginal(MarginalError::Item { item, error }) => {
            (Some(item), error.to_string(), "")
        }
        Refused::Marginal(error) => return Failure::Input(error.to_string()),
        Refused::Kernel(error) => {
            (error.sequence(), error.to_string(), "; fit the model with it, or leave it out")
        }
    };
    Failure::Input(match index.and_then(|index| windows.all().get(index)) {
        Some(window) => format!("{}: {error}{advice}", place(data, window)),
        None => error,
    })
}

/// Where an item is.
fn place(data: &Dataset, item: &Window<'_>) -> String {
    format!("{}, line {}, item {}", data.source(), item.source.line, id(item))
}

fn items(data: &Dataset, windows: &Windows<'_>) -> Items {
    Items {
        ids: windows.all().iter().map(id).collect(),
        labels: windows.all().iter().map(Window::label).collect(),
        classes: data.classes().to_vec(),
    }
}

/// An item's name: its series', and where it begins if that is not at the start.
fn id(window: &Window<'_>) -> String {
    match window.start {
        0 => window.source.id.clone(),
        start => format!("{}@{start}", window.source.id),
    }
}
