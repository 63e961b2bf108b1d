//! `fishweir fit`.

mod bank;
mod kernel;
mod models;
mod regression;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fishweir::data::{DataError, Dataset, Kind, ReadOptions};
use fishweir::deploy::Deployed;
use fishweir::fit::Fit;
use fishweir::learn::{ClassifierKind, Mirror, RIDGE, Request, ScoreModels, Trained};
use fishweir::report::{ClassFit, DataSummary, EmissionSummary, FitReport, Stored};

use super::arguments::{ScoreKernels, TrainingArguments};
use super::believing::Believing;
use super::document::{self, PageReport};
use super::emitting::Emitting;
use super::kernels::{FamilyName, FamilyOptions, Per};
use super::options::{named, note_idle, refuse_idle};
use super::out_of_core::{OutOfCore, summary};
use super::output::{self, Outputs, named_after};
use super::reading::{self, Cutting, Gathering, Reading};
use super::recipe::Recipe;
use super::regression::TargetOptions;
use super::training::{as_taken, fit, fit_table, requests};
use super::{Failure, Topic, next, note, read, tell};
use crate::help::brief;

/// Options that `-h` shows.
const SHOWN: &[&str] = &[
    "output",
    "classifier",
    "group",
    "window",
    "hop",
    "effort",
    "emission",
    "target",
    "label",
    "dry_run",
    "json",
    "reject",
    "report",
];

const EXAMPLES: &str = "\
Examples:
  fishweir fit gait.csv --group subject --window 200 --hop 100 -o gait.json
  fishweir fit gait.csv --target force --window 200 -o force.json    # a number per window: a soft sensor
  fishweir fit gait.csv --dry-run                  # how the file is read
  fishweir fit gait.csv --effort normal --print-config > gait.toml
  fishweir fit gait.csv --config gait.toml -o gait.json";

#[derive(Debug, clap::Args)]
#[command(mut_args(|option| brief(option, SHOWN)), after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Labelled series: tables, folders of recordings, archives, strings; --help lists the layouts
    #[arg(required = true, long_help = reading::data("Labelled series"))]
    data: Vec<PathBuf>,
    /// File for the model, - for standard output [default: DATA's name with the ending .model.json, in this folder]
    #[arg(short, long, value_name = "MODEL.json")]
    output: Option<PathBuf>,
    /// Classifier
    ///
    /// `count` needs --emission categorical, gaussian or full-gaussian; kernel machines need categorical or gaussian.
    #[arg(long, value_parser = crate::names::classifier(), default_value_t = ClassifierKind::Fisher)]
    classifier: ClassifierKind,
    /// Train a kernel machine on a kernel by marginalisation instead; the file has the parameters of the kernel
    ///
    /// A device evaluates the kernel against its support vectors, and against the stream itself to normalise it.
    #[arg(long, value_name = "MODEL.toml", conflicts_with = "classifier")]
    kernel_model: Option<PathBuf>,
    /// Fit models of this family alone, and no classifier
    ///
    /// The library reads the file. `evaluate`, `predict`, `info` and `export` read files of linear dynamical systems
    /// (lds) and of Markov strings (markov), one per class; the class of the likeliest is the decision. --compare-by makes a
    /// classifier of hidden Markov models (hmm).
    #[arg(long, value_parser = families(), value_name = "FAMILY", conflicts_with_all = ["classifier", "kernel_model"],
        help_heading = "Models")]
    family: Option<FamilyName>,
    /// Items that each model is fitted to, with --family [default: class, or all where nothing is labelled]
    #[arg(long, value_enum, value_name = "WHAT", requires = "family", help_heading = "Models")]
    model_per: Option<Per>,
    #[command(flatten)]
    bank: bank::BankOptions,
    #[command(flatten)]
    told: FamilyOptions,
    /// Number of symbols in a context (--family markov) [default: 1], or in a word, minus one (empirical-mean-map)
    /// [default: 0]
    #[arg(long, value_name = "K", help_heading = "Models")]
    order: Option<u8>,
    #[command(flatten)]
    cutting: Cutting,
    #[command(flatten)]
    training: TrainingArguments,
    #[command(flatten)]
    emitting: Emitting,
    #[command(flatten)]
    kernels: ScoreKernels,
    #[command(flatten)]
    target: TargetOptions,
    /// Keep in the model what a device teaches itself further classes by: see `fishweir teach`
    ///
    /// A whitening of the decision values and log-likelihoods of the training's windows, and the means of its classes.
    #[arg(long, help_heading = "Confidence")]
    teachable: bool,
    #[command(flatten)]
    believing: Believing,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    gathering: Gathering,
    #[command(flatten)]
    out_of_core: OutOfCore,
    #[command(flatten)]
    page: PageReport,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

/// The families; a parser error names the subcommand of profiles.
fn families() -> impl TypedValueParser<Value = FamilyName> {
    let names = FamilyName::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    let names = names.chain([PossibleValue::new("profile").hide(true)]);
    PossibleValuesParser::new(names).try_map(|name| {
        FamilyName::from_str(&name, false).map_err(
            |_| "`fishweir profile fit` makes profiles, of an alignment or with --unaligned",
        )
    })
}

pub(super) fn run(arguments: &Arguments, recipe: Recipe) -> Result<(), Failure> {
    let output = match &arguments.output {
        Some(output) => output.clone(),
        None if arguments.family.is_some() && !arguments.bank.is_given() => {
            named_after(&arguments.data[0], ".models.json")
        }
        None => named_after(&arguments.data[0], ".model.json"),
    };
    let kernel = arguments.kernel_model.iter().map(PathBuf::as_path);
    let inputs: Vec<&Path> = kernel.chain(arguments.data.iter().map(PathBuf::as_path)).collect();
    let written: Vec<&Path> =
        [output.as_path()].into_iter().chain(arguments.page.output()).collect();
    let outputs = Outputs::check(&written, &inputs)?;
    if let Some(column) = arguments.target.column() {
        return regression::run(arguments, column, (&output, &outputs), recipe);
    }
    note_idle(&arguments.target.of_target(), "there is no --target to estimate")?;
    if let Some(family) = arguments.family {
        note_idle(&arguments.believing.given(), "models alone decide nothing")?;
        refuse_idle(&arguments.out_of_core.given(), "models alone are fitted to whole data")?;
        let page = named([("--report", arguments.page.output().is_some())]);
        refuse_idle(&page, "models alone decide nothing that a page shows")?;
        #[cfg(target_family = "wasm")]
        return Err(Failure::not_in_a_page("--family"));
        #[cfg(not(target_family = "wasm"))]
        return models::run(arguments, family, (&output, &outputs), recipe);
    }
    let mut told = arguments.told.names();
    let words =
        arguments.kernel_model.is_none() && arguments.classifier == ClassifierKind::EmpiricalMap;
    let order = arguments.order.is_some() && !words;
    told.extend(named([("--order", order)]));
    note_idle(&told, "it is for models alone, --family")?;
    arguments.cutting.check()?;
    let mut table = None;
    let (data, request, mut trained) = match &arguments.kernel_model {
        Some(path) => {
            let why = "a kernel machine needs all windows at once";
            refuse_idle(&arguments.out_of_core.given(), why)?;
            note_idle(
                &arguments.believing.given(),
                "a kernel machine has no calibration and no rejection",
            )?;
            kernel::trained(arguments, path)?
        }
        None => {
            let kernels = arguments.kernels.with_order(arguments.order.filter(|_| words));
            let training = arguments.training.with(&kernels, &arguments.emitting);
            let kind = arguments.classifier;
            let training = training.read_by(&[kind], false, false)?;
            let group = arguments.training.group.as_deref();
            let values = arguments.emitting.values();
            let reading = ReadOptions { values, ..arguments.reading.options() };
            let reading = arguments.gathering.add_to(reading, group);
            table = arguments.out_of_core.open(&arguments.data, &reading, None, &[])?;
            let data = match &table {
                Some(table) => table.sample().clone(),
                None => read::all(&arguments.data, &reading)?,
            };
            if arguments.gathering.shows(&data, arguments.json)? {
                return Ok(());
            }
            let (_, mut requests) = requests(&training, &[kind], &arguments.cutting, &data)?;
            let mut request = requests.remove(0);
            if table.is_some() {
                suit_chunks(&mut request, data.kind());
            }
            let data = as_taken(&data, &request)?.into_owned();
            check_group(&data, &request)?;
            tell_cut(&data, &request);
            let confidence = arguments.believing.learn(&data, &request)?;
            let mut trained = match &table {
                Some(table) => fit_table(table, &data, &request)?,
                None => fit(&data, &series_of(&data), &request)?,
            };
            trained.classifier.confidence = confidence;
            (data, request, trained)
        }
    };
    let mut deployed = trained.classifier.deploy().map_err(|error| Failure::of(&data, error))?;
    if arguments.teachable {
        let windows = data.windows(request.windowing.as_ref());
        let teaching = fishweir::teach::learn(&deployed, windows.all());
        let teaching = teaching.map_err(|error| Failure::of(&data, error))?;
        trained.classifier.teaching = Some(teaching);
        deployed = trained.classifier.deploy().map_err(|error| Failure::of(&data, error))?;
    }
    trained.classifier.provenance.recipe = recipe;
    let file = trained.classifier.to_json()?;
    output::write(&output, file.as_bytes())?;
    let model = output.display().to_string();
    let mut report = report(&data, &series_of(&data), &request, &trained, &deployed, model);
    if let Some(table) = &table {
        report.data = report.data.of_table(table.counts());
        report.out_of_core = Some(summary(table, &[]));
    }
    arguments.page.write("fit", &report, |document| {
        document::add_model(document, &output, file.as_bytes(), false)?;
        *document = std::mem::take(document).with_data(&data);
        document::add_decisions(document, &deployed, &data, request.windowing.as_ref());
        Ok(())
    })?;
    let same = next::same("evaluate", &arguments.data, &["output", "model", "report", "json"]);
    let next = format!("{same}, to measure the accuracy on other series");
    outputs.print_with(&report, arguments.json, next::hint(Some(next)).as_deref())
}

/// All series of a data set.
fn series_of(data: &Dataset) -> Vec<usize> {
    (0..data.series().len()).collect()
}

/// Leaves out what a training of a whole does by default and one in chunks does not, and notes it.
fn suit_chunks(request: &mut Request, kind: &Kind) {
    let before = request.varied(kind);
    let augment = &mut request.augment;
    augment.copies = augment.copies.or(Some(0));
    if augment.mirror == Mirror::Choose {
        augment.mirror = Mirror::Channels(Vec::new());
    }
    if request.varied(kind) != before {
        let what = "copies and mirror images of series are left out, because --out-of-core reads the series in chunks";
        note(Topic::OutOfCore, format_args!("{what}"));
    }
    if request.kind != ClassifierKind::Bayes && request.learner.is_none() {
        request.learner = Some(&RIDGE);
        let what = "the learner is ridge, because its machine follows from sums over windows; --learner names another";
        note(Topic::OutOfCore, format_args!("{what}"));
    }
}

/// Notes what is odd about windows and groups, before the work.
fn tell_cut(data: &Dataset, request: &Request) {
    tell::windows(data, request.windowing.as_ref());
    tell::groups(data, request.group.as_deref());
}

/// Refuses a group column that is not there before an hour's work, not after.
pub(super) fn check_group(data: &Dataset, request: &Request) -> Result<(), DataError> {
    request.group.as_deref().map_or(Ok(()), |column| data.groups(column).map(drop))
}

/// Builds the report of a training.
pub(super) fn report(
    data: &Dataset,
    series: &[usize],
    request: &Request,
    trained: &Trained,
    deployed: &Deployed,
    model: String,
) -> FitReport {
    let (classifier, (family, shape)) = (&trained.classifier, deployed.emission());
    let models = trained.form.as_ref().map(|form| &form.form.models);
    let of_lag = |lag: &u32| format!("all, lag {lag}");
    let modelled = match models {
        Some(ScoreModels::Universal) if classifier.lags.is_apart() => {
            classifier.lags.as_slice().iter().map(of_lag).collect()
        }
        Some(ScoreModels::Universal) => vec!["all".to_owned()],
        _ => data.classes().to_vec(),
    };
    let fit_of = |(model, (class, fit)): (usize, (&String, &Fit))| {
        // Training refuses a front end that does not fit.
        let seen = classifier.seen_by(model).unwrap_or_else(|_| data.kind().clone());
        ClassFit::of(class, &seen, fit)
    };
    FitReport {
        data: DataSummary::of(data, Some(series), request.windowing.as_ref()),
        group: request.group.clone(),
        classifier: classifier.method.clone(),
        classes: data.classes().to_vec(),
        windows: classifier.provenance.windows,
        observes: match data.kind() {
            Kind::Channels(names) => {
                let front = match &classifier.front {
                    none if none.is_empty() => String::new(),
                    front => format!("; {}", front.words()),
                };
                let lags = match &classifier.lags {
                    none if none.is_empty() => String::new(),
                    lags => format!(", and {}", lags.words()),
                };
                let codebooks = match &classifier.codebooks {
                    None => String::new(),
                    Some(codebooks) => format!("; beside models {}", codebooks.words()),
                };
                format!("channels {}{front}{lags}{codebooks}", names.join(", "))
            }
            Kind::Symbols(alphabet) => format!("symbols {alphabet}"),
        },
        states: classifier.states(),
        emission: EmissionSummary::of(family, shape),
        fits: modelled.iter().zip(&trained.fits).enumerate().map(fit_of).collect(),
        varied: trained.varied.clone(),
        form: trained.form.clone(),
        copies: classifier.provenance.selection.as_ref().and_then(|made| made.copies.clone()),
        choice: trained.choice.clone(),
        stored: Stored::of(deployed, Some(classifier)),
        confidence: classifier.confidence.clone(),
        out_of_core: None,
        model,
        cost: deployed.device_cost(),
    }
}
