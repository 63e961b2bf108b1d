//! `fishweir fit`.

mod kernel;

use std::path::PathBuf;

use fishweir::data::{DataError, Dataset, Kind};
use fishweir::deploy::{DeployedKind, ModelKind};
use fishweir::learn::{ClassifierKind, TrainOptions, Trained, train};
use fishweir::report::{ClassFit, DataSummary, FitReport, Stored};
use fishweir::runtime::Hmm;

use super::arguments::{Cutting, Reading, ScoreKernels, Training, check_output, named_after};
use super::{Failure, print, progress};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Labelled series: a table (series,<columns>,label,t,<channels>), strings (TSV) or FASTA,
    /// gzipped or not
    data: PathBuf,
    /// Where the model goes [default: DATA's name with the ending .model.json, in this folder]
    #[arg(short, long, value_name = "MODEL.json")]
    output: Option<PathBuf>,
    /// Which classifier
    #[arg(long, value_enum, default_value_t = ClassifierKind::Fisher)]
    classifier: ClassifierKind,
    /// Train a machine on a kernel by marginalisation instead, whose numbers are in this file: the
    /// fixed-length kernel of a hidden Markov model over symbols, which deploys
    #[arg(long, value_name = "MODEL.toml", conflicts_with = "classifier")]
    kernel_model: Option<PathBuf>,
    #[command(flatten)]
    cutting: Cutting,
    #[command(flatten)]
    training: Training,
    #[command(flatten)]
    kernels: ScoreKernels,
    #[command(flatten)]
    reading: Reading,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let output = match &arguments.output {
        Some(output) => output.clone(),
        None => named_after(&arguments.data, ".model.json"),
    };
    check_output(&output, &arguments.data)?;
    let (data, options, trained) = match &arguments.kernel_model {
        Some(path) => kernel::trained(arguments, path)?,
        None => {
            let training = arguments.training.with(&arguments.kernels);
            let options = training.options(arguments.classifier, &arguments.cutting)?;
            let data = Dataset::read(&arguments.data, &arguments.reading.options())?;
            check_group(&data, &options)?;
            let trained = fit(&data, &series_of(&data), &options)?;
            (data, options, trained)
        }
    };
    let deployed = trained.classifier.deploy()?;
    trained.classifier.save(&output)?;
    let model = output.display().to_string();
    let report = report(&data, &series_of(&data), &options, &trained, &deployed, model);
    print(&report, arguments.json)
}

/// All series of a data set.
fn series_of(data: &Dataset) -> Vec<usize> {
    (0..data.series().len()).collect()
}

/// Refuses a group column that is not there before an hour's work, not after.
pub(super) fn check_group(data: &Dataset, options: &TrainOptions) -> Result<(), DataError> {
    options.group.as_deref().map_or(Ok(()), |column| data.groups(column).map(drop))
}

/// Trains on some series, with a bar.
pub(super) fn fit(
    data: &Dataset,
    series: &[usize],
    options: &TrainOptions,
) -> Result<Trained, Failure> {
    let bar = progress::passes(
        format!("fitting {}", options.kind),
        data.classes().len() * fits_of_a_training(options),
        &options.baum_welch,
    );
    let trained = train(data, series, options, &|| bar.inc(1));
    bar.finish_and_clear();
    Ok(trained?)
}

/// How often class models are fitted in a training: once, and once an inner fold.
pub(super) fn fits_of_a_training(options: &TrainOptions) -> usize {
    match options.kind {
        ClassifierKind::Bayes => 1,
        _ => 1 + options.inner_folds,
    }
}

/// What to say of a training.
pub(super) fn report(
    data: &Dataset,
    series: &[usize],
    options: &TrainOptions,
    trained: &Trained,
    deployed: &DeployedKind,
    model: String,
) -> FitReport {
    let classifier = &trained.classifier;
    let stored = match (deployed, classifier) {
        (DeployedKind::Machine(machine), ModelKind::Machine(expansion)) => {
            Some(Stored::of(machine, expansion.items()))
        }
        _ => None,
    };
    FitReport {
        data: DataSummary::of(data, Some(series), options.windowing.as_ref()),
        group: options.group.clone(),
        classifier: classifier.method().to_owned(),
        classes: data.classes().to_vec(),
        windows: classifier.provenance().windows,
        observes: match data.kind() {
            Kind::Channels(names) => format!("channels {}", names.join(", ")),
            Kind::Symbols(alphabet) => format!("symbols {alphabet}"),
        },
        states: classifier.models().iter().map(Hmm::states).max().unwrap_or(0),
        fits: data
            .classes()
            .iter()
            .zip(&trained.fits)
            .map(|(class, fit)| ClassFit::of(class, fit))
            .collect(),
        choice: trained.choice.clone(),
        stored,
        model,
        cost: deployed.cost(),
    }
}
