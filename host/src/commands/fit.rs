//! `fishweir fit`.

use std::path::PathBuf;

use fishweir::data::{DataError, Dataset, Kind};
use fishweir::deploy::Deployed;
use fishweir::learn::{ClassifierKind, TrainOptions, Trained, train};
use fishweir::report::{ClassFit, DataSummary, FitReport};

use super::arguments::{Cutting, Reading, Training, check_output, named_after};
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

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let output = match &arguments.output {
        Some(output) => output.clone(),
        None => named_after(&arguments.data, ".model.json"),
    };
    let options = arguments.training.options(arguments.classifier, &arguments.cutting)?;
    check_output(&output, &arguments.data)?;
    let data = Dataset::read(&arguments.data, &arguments.reading.options())?;
    check_group(&data, &options)?;
    let all: Vec<usize> = (0..data.series().len()).collect();
    let trained = fit(&data, &all, &options)?;
    let deployed = trained.classifier.compile()?;
    trained.classifier.save(&output)?;
    let model = output.display().to_string();
    let report = report(&data, &all, &options, &trained, &deployed, model);
    print(&report, arguments.json)
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
    deployed: &Deployed,
    model: String,
) -> FitReport {
    FitReport {
        data: DataSummary::of(data, Some(series), options.windowing.as_ref()),
        group: options.group.clone(),
        classifier: options.kind.to_string(),
        classes: data.classes().to_vec(),
        windows: trained.classifier.provenance.windows,
        observes: match data.kind() {
            Kind::Channels(names) => format!("channels {}", names.join(", ")),
            Kind::Symbols(alphabet) => format!("symbols {alphabet}"),
        },
        states: trained.classifier.states(),
        fits: data
            .classes()
            .iter()
            .zip(&trained.fits)
            .map(|(class, fit)| ClassFit::of(class, fit))
            .collect(),
        choice: trained.choice.clone(),
        model,
        cost: deployed.cost(),
    }
}
