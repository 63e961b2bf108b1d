//! `fishweir network evaluate`.

use std::path::{Path, PathBuf};

use fishweir_networks::records::Schema;
use fishweir_networks::report::NetworkEvaluationReport;
use fishweir_networks::{NetworkEvaluateError, NetworkEvaluation, NetworkFile};

use super::Failure;
use super::fit::{Classifier, Learning, value};
use super::model::{classifier, stem};
use super::table::{Columns, refused};
use crate::document::{self, PageReport};
use crate::help::brief;
use crate::output::Outputs;
use crate::recognise;

/// Options that `-h` shows.
const SHOWN: &[&str] = &[
    "class",
    "classifier",
    "folds",
    "shuffle",
    "model",
    "drop",
    "bins",
    "categories",
    "report",
    "json",
];

const EXAMPLES: &str = "\
Examples:
  fishweir network evaluate vote.csv --class Class
  fishweir network evaluate new.csv --model vote.json";

#[derive(Debug, clap::Args)]
#[command(mut_args(|option| brief(option, SHOWN)), after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// A table of records
    data: PathBuf,
    /// Column of the class
    #[arg(long, value_name = "COLUMN", required_unless_present = "model")]
    class: Option<String>,
    /// Classifiers to compare, separated by commas; the first is the baseline
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_values_t = [Classifier::NaiveBayes, Classifier::Tan, Classifier::Kdb, Classifier::FisherTree]
    )]
    classifier: Vec<Classifier>,
    /// Folds of cross-validation
    #[arg(long, value_name = "N", default_value_t = 10)]
    folds: usize,
    /// Shuffle records into folds with this seed [default: in order]
    #[arg(long, value_name = "S")]
    shuffle: Option<u64>,
    /// Evaluate this fitted classifier instead; several are compared with the first
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["class", "classifier", "folds",
        "shuffle", "Learning", "bins", "mdl", "most_states", "missing"])]
    model: Vec<PathBuf>,
    #[command(flatten)]
    learning: Learning,
    #[command(flatten)]
    columns: Columns,
    #[command(flatten)]
    page: PageReport,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let models = arguments.model.iter().map(PathBuf::as_path);
    let inputs: Vec<&Path> = models.chain([arguments.data.as_path()]).collect();
    Outputs::check(&arguments.page.output().into_iter().collect::<Vec<_>>(), &inputs)?;
    if !arguments.model.is_empty() {
        let (report, _) = judge(&arguments.data, &arguments.model, &arguments.columns)?;
        arguments.page.write("network evaluate", &report, |page| match &*arguments.model {
            [model] => document::add_model(page, model, &recognise::read(model)?, true),
            _ => Ok(()),
        })?;
        return crate::output::print_report(&report, arguments.json);
    }
    arguments.learning.check_read_by(&arguments.classifier)?;
    let table = arguments.columns.read(&arguments.data)?;
    let names: Vec<&str> = table.names().collect();
    let class = table.column(arguments.class.as_deref().unwrap_or_default())?;
    let binning = arguments.columns.binning();
    let all: Vec<usize> = (0..table.len()).collect();
    let mut report = NetworkEvaluationReport {
        data: table.source().to_owned(),
        columns: Schema::learn(&table, &all, Some(class), &binning)?.in_words(),
        protocol: format!(
            "{} stratified folds; bins, structure and tables are learnt on the other folds",
            arguments.folds
        ),
        classifiers: Vec::new(),
    };
    let mut first = None;
    for &classifier in &arguments.classifier {
        let plan = arguments.learning.plan(classifier, &names, table.source())?;
        let folds = (arguments.folds, arguments.shuffle);
        let found = NetworkEvaluation::cross_validate(&plan, &binning, &table, class, folds);
        let found = found.map_err(|error| match error {
            NetworkEvaluateError::Network(error) => refused(&table, error),
            other => other.into(),
        })?;
        report.push(value(classifier), &found, first.as_ref());
        first.get_or_insert(found);
    }
    arguments.page.write("network evaluate", &report, |_| Ok(()))?;
    crate::output::print_report(&report, arguments.json)
}

/// Judges fitted classifiers on a table; the others are compared with the first, record by record.
pub(super) fn judge(
    data: &Path,
    models: &[PathBuf],
    columns: &Columns,
) -> Result<(NetworkEvaluationReport, Vec<NetworkEvaluation>), Failure> {
    let table = columns.read(data)?;
    let names: Vec<String> = models.iter().map(|path| path.display().to_string()).collect();
    let mut report = NetworkEvaluationReport {
        data: table.source().to_owned(),
        protocol: format!("judged by {}", names.join(", ")),
        columns: String::new(),
        classifiers: Vec::new(),
    };
    let mut all = Vec::new();
    for path in models {
        let file = NetworkFile::read(path)?;
        let records = columns.records(&table, &file.columns)?;
        let found = NetworkEvaluation::of(classifier(path, &file)?, &records);
        let found = found.map_err(|error| refused(&table, error))?;
        report.push(stem(path), &found, all.first());
        all.push(found);
    }
    Ok((report, all))
}
