//! `fishweir profile`: one file a subcommand.

mod align;
mod fit;
mod learn;
mod score;

use std::path::Path;

use fishweir::files;

use super::Failure;

pub(super) const LONG_ABOUT: &str = "\
Profile hidden Markov models of sequence families, in HMMER3/f text.

ALIGNMENT is Stockholm, or FASTA with gaps. Sequences are FASTA without. Neither is gzipped.

What `learn` writes is a classifier: run, evaluate, info and export read it.";

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make a profile of an alignment
    Fit(fit::Arguments),
    /// Search sequences with profiles: scores and domains
    Score(score::Arguments),
    /// Align sequences to a profile, as Stockholm
    Align(align::Arguments),
    /// Train a classifier on a profile's Fisher scores
    Learn(learn::Arguments),
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.command {
        Command::Fit(arguments) => fit::run(arguments),
        Command::Score(arguments) => score::run(arguments),
        Command::Align(arguments) => align::run(arguments),
        Command::Learn(arguments) => learn::run(arguments),
    }
}

/// A file's name and text.
fn text(path: &Path) -> Result<(String, String), Failure> {
    let name = path.display().to_string();
    match String::from_utf8(files::read(path)?) {
        Ok(text) => Ok((name, text)),
        Err(_) => Err(Failure::Input(format!("{name}: is no text; unpack it if it is gzipped"))),
    }
}
