//! The command `fishweir`: one file per subcommand. The library computes; the files here say what a command accepts, the
//! order of its steps, and where the results go.
//!
//! As WebAssembly it has the commands that the page runs, and the exports of `fishweir-scorer`.

#![cfg_attr(target_family = "wasm", allow(dead_code, unused_imports))]

mod absent;
mod arguments;
mod at_port;
mod believing;
mod board;
mod c;
mod c_source;
mod card;
mod clean;
#[cfg(not(target_family = "wasm"))]
mod compare;
mod completions;
mod convert;
mod coreset;
mod demo;
mod detect;
mod document;
mod emitting;
mod evaluate;
mod expect;
mod export;
mod failure;
mod features;
mod findings;
mod fit;
mod fixed;
mod gram;
mod help;
mod info;
mod kernels;
mod keygen;
mod man;
mod marking;
mod merge;
mod micropython;
mod model;
mod names;
mod network;
mod new;
mod next;
mod numbers;
mod options;
mod out_of_core;
mod output;
#[cfg(not(target_family = "wasm"))]
mod page;
mod pca;
mod predict;
mod profile;
mod progress;
mod project_files;
mod rate;
mod read;
mod reading;
mod recipe;
mod recognise;
mod record;
mod record_project;
mod refusals;
mod regression;
mod remedy;
mod room;
mod run;
mod send;
mod settings;
mod spot;
mod spotted;
mod teach;
mod teach_port;
mod tell;
mod timeline;
mod training;
mod usual;
mod values;
mod watch_project;
mod watcher;

#[cfg(target_family = "wasm")]
use fishweir_scorer as _;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::{Failure, Message, Topic, note, note_once};
use recipe::Recipe;
use settings::Settings;

const AFTER: &str = "\
A model is --model FILE and the data are arguments; info and export, which take a model alone, also take it as an argument.

Exit codes: 0 done, 1 a check failed (bits differ, samples were refused), 2 usage or bad input.

Examples:
  fishweir demo                                   # all steps on bundled recordings; writes ./out
  fishweir fit gait.csv --window 200 -o gait.json
  fishweir evaluate other.csv --model gait.json
  fishweir predict --stream --model gait.json < samples.csv";

/// Kernels from generative models for microcontrollers: fit, evaluate, export, run.
#[derive(Debug, Parser)]
#[command(name = "fishweir", version, about, after_help = AFTER)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Fit class models and a classifier to labelled data
    Fit(Box<fit::Arguments>),
    /// Cross-validate classifiers on labelled data, or evaluate fitted models
    #[command(visible_alias = "eval")]
    Evaluate(Box<evaluate::Arguments>),
    /// Decide on the windows of a file, or on a live stream from standard input
    #[command(visible_alias = "score", long_about = predict::LONG_ABOUT)]
    Predict(predict::Arguments),
    /// Write a model as Rust or C source, a C library, a MicroPython module or a binary artefact
    Export(export::Arguments),
    /// Write series of any layout as a tidy table
    Convert(convert::Arguments),
    #[cfg(not(target_family = "wasm"))]
    /// Write the kernel of all pairs of series: CSV, NumPy or LIBSVM's precomputed format
    Gram(gram::Arguments),
    #[cfg(not(target_family = "wasm"))]
    /// Compare models with each other: fitted ones, networks, and those written by hand
    #[command(long_about = compare::LONG_ABOUT)]
    Compare(compare::Arguments),
    #[cfg(not(target_family = "wasm"))]
    /// Write the scores of series, or other features of a kernel, as a table: CSV, NumPy or Parquet
    Features(features::Arguments),
    #[cfg(not(target_family = "wasm"))]
    /// Keep a few windows of a stream that stand for all: what to send home, or to label
    #[command(long_about = coreset::LONG_ABOUT)]
    Coreset(coreset::Arguments),
    #[cfg(not(target_family = "wasm"))]
    /// Draw the first principal components of a kernel
    Pca(pca::Arguments),
    #[cfg(not(target_family = "wasm"))]
    /// Compute a part of a pass of Baum-Welch: sums over a share of the series, for merge
    #[command(long_about = expect::LONG_ABOUT)]
    Expect(expect::Arguments),
    #[cfg(not(target_family = "wasm"))]
    /// Put parts together: sums into the next models, tiles into a matrix
    #[command(long_about = merge::LONG_ABOUT)]
    Merge(merge::Arguments),
    #[cfg(not(target_family = "wasm"))]
    /// Bayesian networks over records of categories: fit, evaluate, query, sample, compare, export, draw
    #[command(long_about = network::long_about())]
    Network(network::Arguments),
    #[cfg(not(target_family = "wasm"))]
    /// Profiles of sequence families, in HMMER3's files: make one from an alignment, search sequences
    #[command(long_about = profile::LONG_ABOUT)]
    Profile(profile::Arguments),
    /// Report a model and its cost on a device
    Info(info::Arguments),
    #[cfg(not(target_family = "wasm"))]
    /// Teach a model classes by showing windows of them, as a device is taught
    #[command(long_about = teach::LONG_ABOUT)]
    Teach(teach::Arguments),
    /// Write a model's card in Markdown
    #[command(long_about = card::LONG_ABOUT)]
    Card(card::Arguments),
    /// Run a model on a microcontroller, emulated or at a port, and compare every bit with the host
    #[command(long_about = run::LONG_ABOUT)]
    Run(run::Arguments),
    /// Record labelled samples from a board at a serial port
    #[command(long_about = record::LONG_ABOUT)]
    Record(record::Arguments),
    /// Send an update of its model to a device in the field, over a serial port
    #[command(long_about = send::LONG_ABOUT)]
    Send(send::Arguments),
    #[cfg(not(target_family = "wasm"))]
    /// Make a pair of keys that sign updates of a device's model
    #[command(long_about = keygen::LONG_ABOUT)]
    Keygen(keygen::Arguments),
    /// Write a firmware project for one of many boards: around a model, or to record the data for one
    #[command(long_about = new::LONG_ABOUT)]
    New(new::Arguments),
    #[cfg(not(target_family = "wasm"))]
    /// Fit a detector of change to normal series, or find changes with it
    #[command(long_about = detect::LONG_ABOUT)]
    Detect(detect::Arguments),
    #[cfg(not(target_family = "wasm"))]
    /// Spot events in continuous series: class, beginning and end
    #[command(long_about = spot::LONG_ABOUT)]
    Spot(spot::Arguments),
    #[cfg(not(target_family = "wasm"))]
    /// Run all steps on the bundled recordings
    Demo(demo::Arguments),
    #[cfg(not(target_family = "wasm"))]
    /// Write a page that trains and judges in a browser, in one file
    #[command(long_about = page::LONG_ABOUT)]
    Page(page::Arguments),
    #[cfg(not(target_family = "wasm"))]
    /// Remove the program's caches
    #[command(long_about = clean::LONG_ABOUT)]
    Clean(clean::Arguments),
    #[cfg(not(target_family = "wasm"))]
    /// Print a script that completes commands and options in a shell
    Completions(completions::Arguments),
    #[cfg(not(target_family = "wasm"))]
    /// Write manual pages
    Man(man::Arguments),
}

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let color = failure::look(&words);
    let done = recipe::parse(words, color).and_then(|parsed| match parsed {
        Some((line, recipe)) => run(line, recipe),
        None => Ok(()),
    });
    let (code, message) = match done {
        Ok(()) | Err(Failure::HungUp) => return ExitCode::SUCCESS,
        Err(Failure::Check(message)) => (1, message),
        Err(Failure::Input(message)) => (2, message),
    };
    failure::error(&message);
    ExitCode::from(code)
}

/// Runs a command line, with the recipe that it amounts to.
fn run(line: CommandLine, recipe: Recipe) -> Result<(), Failure> {
    line.settings.apply()?;
    match line.command {
        Command::Fit(arguments) => fit::run(&arguments, recipe),
        Command::Evaluate(arguments) => evaluate::run(&arguments),
        Command::Predict(arguments) => predict::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Convert(arguments) => convert::run(&arguments),
        #[cfg(not(target_family = "wasm"))]
        Command::Gram(arguments) => gram::run(&arguments),
        #[cfg(not(target_family = "wasm"))]
        Command::Compare(arguments) => compare::run(&arguments),
        #[cfg(not(target_family = "wasm"))]
        Command::Features(arguments) => features::run(&arguments),
        #[cfg(not(target_family = "wasm"))]
        Command::Coreset(arguments) => coreset::run(&arguments),
        #[cfg(not(target_family = "wasm"))]
        Command::Pca(arguments) => pca::run(&arguments),
        #[cfg(not(target_family = "wasm"))]
        Command::Expect(arguments) => expect::run(&arguments),
        #[cfg(not(target_family = "wasm"))]
        Command::Merge(arguments) => merge::run(&arguments),
        #[cfg(not(target_family = "wasm"))]
        Command::Network(arguments) => network::run(&arguments, recipe),
        #[cfg(not(target_family = "wasm"))]
        Command::Profile(arguments) => profile::run(&arguments, recipe),
        Command::Info(arguments) => info::run(&arguments),
        #[cfg(not(target_family = "wasm"))]
        Command::Teach(arguments) => teach::run(&arguments),
        Command::Card(arguments) => card::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Record(arguments) => record::run(&arguments),
        Command::Send(arguments) => send::run(&arguments),
        #[cfg(not(target_family = "wasm"))]
        Command::Keygen(arguments) => keygen::run(&arguments),
        Command::New(arguments) => new::run(&arguments),
        #[cfg(not(target_family = "wasm"))]
        Command::Page(arguments) => page::run(&arguments),
        #[cfg(not(target_family = "wasm"))]
        Command::Detect(arguments) => detect::run(&arguments, recipe),
        #[cfg(not(target_family = "wasm"))]
        Command::Spot(arguments) => spot::run(&arguments, recipe),
        #[cfg(not(target_family = "wasm"))]
        Command::Demo(arguments) => demo::run(&arguments),
        #[cfg(not(target_family = "wasm"))]
        Command::Clean(arguments) => clean::run(&arguments),
        #[cfg(not(target_family = "wasm"))]
        Command::Completions(arguments) => completions::run(&arguments),
        #[cfg(not(target_family = "wasm"))]
        Command::Man(arguments) => man::run(&arguments),
    }
}
