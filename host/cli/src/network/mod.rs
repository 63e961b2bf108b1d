//! `fishweir network`: one file a subcommand.

mod compare;
mod deployment;
mod draw;
mod evaluate;
mod expect;
mod export;
mod fit;
mod gram;
mod info;
mod model;
mod predict;
mod query;
mod representatives;
mod run;
mod sample;
mod table;

use std::path::{Path, PathBuf};

use fishweir_networks::records::LAYOUTS;
use fishweir_networks::report::NetworkEvaluationReport;
use fishweir_networks::{NetworkEvaluation, NetworkFile, NetworkModel};

use super::reading::TextOptions;
pub(super) use deployment::Deployment;
pub(super) use info::card;
pub(super) use run::events_of;

use super::{Failure, Recipe, recognise};

pub(super) fn long_about() -> String {
    let layouts: Vec<&str> = LAYOUTS.iter().map(|layout| layout.about).collect();
    format!(
        "\
Bayesian networks over records of categories: tables whose columns each have a few states, such as logs, machine states, \
survey rows, door sensors.

DATA is {}, gzipped or not; a missing field is empty, `NA`, `N/A`, `NaN`, `?`, `null` or `None`. Columns of many numbers are cut \
into bins, and a model keeps the cuts. A model is what `network fit` writes, or a network in the Bayesian Interchange \
Format.",
        layouts.join(" or ")
    )
}

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Fit a network to records, or a classifier of one of their columns
    Fit(fit::Arguments),
    /// Compute a part of a pass of expectation-maximisation, for merge
    Expect(expect::Arguments),
    /// Cross-validate classifiers of a column, or judge a fitted one
    #[command(visible_alias = "eval")]
    Evaluate(evaluate::Arguments),
    /// Decide on the class of each record of a table
    #[command(visible_alias = "score")]
    Predict(predict::Arguments),
    /// Posteriors of nodes given others, and the most probable record
    Query(query::Arguments),
    /// Draw records from a network
    Sample(sample::Arguments),
    /// Write the network's Fisher kernel of all pairs of records
    Gram(gram::Arguments),
    /// Choose a few records that stand for all
    Representatives(representatives::Arguments),
    /// Test whether records are drawn from the network, or two sets from one distribution
    Compare(compare::Arguments),
    /// Write Rust source for a device: a classifier of events, or an alarm on them
    Export(export::Arguments),
    /// Report a model's cost on a device
    Info(info::Arguments),
    /// Run a model on an emulated device, and compare every answer with the host's
    Run(run::Arguments),
    /// Draw the graph as SVG
    Draw(draw::Arguments),
}

/// Returns whether a file has a classifier of records.
pub(super) fn is_classifier(model: &Path) -> bool {
    let file = model.display().to_string();
    let parsed =
        recognise::read(model).ok().and_then(|bytes| NetworkFile::parse(&file, &bytes).ok());
    parsed.is_some_and(|found| matches!(found.model, NetworkModel::Classifier(_)))
}

/// Judges fitted classifiers on a table of records; the others are compared with the first. Returns the report and the
/// figures behind it.
pub(super) fn judge(
    data: &Path,
    models: &[PathBuf],
    text: &TextOptions,
) -> Result<(NetworkEvaluationReport, Vec<NetworkEvaluation>), Failure> {
    evaluate::judge(data, models, &table::Written::from(text.clone()).into())
}

/// Writes a decision per record of a table to standard output.
pub(super) fn predict(
    data: &Path,
    model: &Path,
    text: &TextOptions,
    json: bool,
) -> Result<(), Failure> {
    predict::decide_on(data, model, &text.clone().into(), (Path::new("-"), json))
}

/// Prints the summary of a network's file.
pub(super) fn inspect(model: &Path, json: bool) -> Result<(), Failure> {
    info::inspect(model, json)
}

pub(super) fn run(arguments: &Arguments, recipe: Recipe) -> Result<(), Failure> {
    match &arguments.command {
        Command::Fit(arguments) => fit::run(arguments, recipe),
        Command::Expect(arguments) => expect::run(arguments),
        Command::Evaluate(arguments) => evaluate::run(arguments),
        Command::Predict(arguments) => predict::run(arguments),
        Command::Query(arguments) => query::run(arguments),
        Command::Sample(arguments) => sample::run(arguments),
        Command::Gram(arguments) => gram::run(arguments),
        Command::Representatives(arguments) => representatives::run(arguments),
        Command::Compare(arguments) => compare::run(arguments),
        Command::Export(arguments) => export::run(arguments),
        Command::Info(arguments) => info::run(arguments),
        Command::Run(arguments) => run::run(arguments),
        Command::Draw(arguments) => draw::run(arguments),
    }
}
