//! The command `fishweir`: one file per subcommand. The library computes; the files here say what a command accepts, the
//! order of its steps, and where the results go.

mod absent;
mod arguments;
mod believing;
mod c;
mod convert;
mod demo;
mod emitting;
mod evaluate;
mod export;
mod failure;
mod findings;
mod fit;
mod fixed;
mod gram;
mod info;
mod kernels;
mod keygen;
mod marking;
mod model;
mod names;
mod network;
mod new;
mod options;
mod output;
mod pca;
mod profile;
mod progress;
mod rate;
mod reading;
mod recognise;
mod remedy;
mod room;
mod run;
mod score;
mod send;
mod sources;
mod spot;
mod tell;
mod training;
mod values;
mod watch;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use fishweir::report::{self, Report};

use failure::{Failure, Message, MessageFormat, Topic, note, note_once};

const EXIT_CODES: &str = "\
Exit codes: 0 done, 1 a check failed (bits differ, samples were refused), 2 usage or bad input.
Without a command: demo.";

/// Kernels from generative models for microcontrollers: fit, evaluate, export, run.
#[derive(Debug, Parser)]
#[command(name = "fishweir", version, about, after_help = EXIT_CODES)]
struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,
    /// How errors and notes are written on standard error; --json implies json
    #[arg(long, global = true, value_name = "FORMAT", value_enum, default_value_t)]
    message_format: MessageFormat,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Fit class models and a classifier to a labelled file
    Fit(fit::Arguments),
    /// Cross-validate on a labelled file, or judge a fitted model on one
    #[command(visible_alias = "eval")]
    Evaluate(evaluate::Arguments),
    /// Decide on the windows of a file, or on a live stream from standard input
    #[command(long_about = score::LONG_ABOUT)]
    Score(score::Arguments),
    /// Write a model as Rust source with a static, or as a binary artefact
    Export(export::Arguments),
    /// Write series of any layout as a tidy table
    Convert(convert::Arguments),
    /// Write the kernel of all pairs of series: CSV, NumPy or LIBSVM's precomputed format
    Gram(gram::Arguments),
    /// Draw series where a kernel puts them: its first principal components
    Pca(pca::Arguments),
    /// Bayesian networks over records of categories: fit, evaluate, query, sample, compare, export, draw
    #[command(long_about = network::long_about())]
    Network(network::Arguments),
    /// Profiles of sequence families, in HMMER3's files: make one of an alignment, search sequences
    #[command(long_about = profile::LONG_ABOUT)]
    Profile(profile::Arguments),
    /// Say what a model is and what it costs on a device
    Info(info::Arguments),
    /// Run a model on an emulated microcontroller and compare every bit with the host
    Run(run::Arguments),
    /// Send an update of its model to a device in the field, over a serial port
    #[command(long_about = send::LONG_ABOUT)]
    Send(send::Arguments),
    /// Make a pair of keys to sign updates of a device's model with
    #[command(long_about = keygen::LONG_ABOUT)]
    Keygen(keygen::Arguments),
    /// Write a firmware project of your own around a model, for one of many boards
    New(new::Arguments),
    /// Make a detector of change from series in which all is normal
    #[command(long_about = watch::LONG_ABOUT)]
    Watch(watch::Arguments),
    /// Spot events in continuous series: class, beginning and end
    #[command(long_about = spot::LONG_ABOUT)]
    Spot(spot::Arguments),
    /// All of it on the bundled recordings
    Demo(demo::Arguments),
}

/// Reads the command line and does what it says.
fn main() -> ExitCode {
    MessageFormat::take(std::env::args_os().skip(1));
    let line = CommandLine::try_parse().unwrap_or_else(|said| failure::usage(&said));
    let done = match line.command {
        Some(Command::Fit(arguments)) => fit::run(&arguments),
        Some(Command::Evaluate(arguments)) => evaluate::run(&arguments),
        Some(Command::Score(arguments)) => score::run(&arguments),
        Some(Command::Export(arguments)) => export::run(&arguments),
        Some(Command::Convert(arguments)) => convert::run(&arguments),
        Some(Command::Gram(arguments)) => gram::run(&arguments),
        Some(Command::Pca(arguments)) => pca::run(&arguments),
        Some(Command::Network(arguments)) => network::run(&arguments),
        Some(Command::Profile(arguments)) => profile::run(&arguments),
        Some(Command::Info(arguments)) => info::run(&arguments),
        Some(Command::Run(arguments)) => run::run(&arguments),
        Some(Command::Send(arguments)) => send::run(&arguments),
        Some(Command::Keygen(arguments)) => keygen::run(&arguments),
        Some(Command::New(arguments)) => new::run(&arguments),
        Some(Command::Watch(arguments)) => watch::run(&arguments),
        Some(Command::Spot(arguments)) => spot::run(&arguments),
        Some(Command::Demo(arguments)) => demo::run(&arguments),
        None => demo::run(&demo::Arguments::default()),
    };
    let (code, message) = match done {
        Ok(()) | Err(Failure::HungUp) => return ExitCode::SUCCESS,
        Err(Failure::Check(message)) => (1, message),
        Err(Failure::Input(message)) => (2, message),
    };
    failure::error(&message);
    ExitCode::from(code)
}

/// Prints a report on standard output, for people or as JSON.
fn print(report: &impl Report, json: bool) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    report::write(report, json, &mut out)?;
    Ok(out.flush()?)
}
