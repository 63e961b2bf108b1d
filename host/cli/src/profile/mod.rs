//! `fishweir profile`: one file a subcommand.

mod align;
mod fit;
mod gram;
mod learn;
mod score;

use std::path::Path;

use fishweir::files;
use fishweir::internals::unpacked;
use fishweir::report::counted;
use fishweir_profiles::{Mode, ProfileError, Residues, sequences};

use super::{Failure, Recipe};
use crate::{Topic, note};

pub(super) const LONG_ABOUT: &str = "\
Profile hidden Markov models of sequence families, in HMMER3/f text.

An alignment is a Stockholm file, or FASTA with gaps. Sequences are FASTA without gaps. All files may be gzipped.

`learn` writes a classifier: predict, run, evaluate, info and export read it. They also read a profile alone: \
its log-odds decide between the profile's name and `other`.";

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

/// Options for the search of a sequence.
#[derive(Debug, clap::Args)]
struct SearchArguments {
    /// Match the whole profile only, not a part of it
    #[arg(long)]
    glocal: bool,
    /// One domain per sequence, instead of several
    #[arg(long)]
    single: bool,
}

impl SearchArguments {
    fn mode(&self) -> Mode {
        Mode { local: !self.glocal, several: !self.single }
    }
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make a profile from an alignment
    Fit(fit::Arguments),
    /// Search sequences with profiles: scores and domains
    Score(score::Arguments),
    /// Align sequences to a profile, as Stockholm
    Align(align::Arguments),
    /// Compute the Fisher kernel of sequences
    Gram(gram::Arguments),
    /// Train a classifier on a profile's Fisher scores
    Learn(learn::Arguments),
}

pub(super) fn run(arguments: &Arguments, recipe: Recipe) -> Result<(), Failure> {
    match &arguments.command {
        Command::Fit(arguments) => fit::run(arguments),
        Command::Score(arguments) => score::run(arguments),
        Command::Align(arguments) => align::run(arguments),
        Command::Gram(arguments) => gram::run(arguments),
        Command::Learn(arguments) => learn::run(arguments, recipe),
    }
}

/// A file's name and text.
fn text(path: &Path) -> Result<(String, String), Failure> {
    let name = path.display().to_string();
    let bytes = unpacked(&name, &files::read(path)?)?.into_owned();
    match String::from_utf8(bytes) {
        Ok(text) => Ok((name, text)),
        Err(_) => Err(Failure::input(Topic::NotUtf8, format!("{name}: is no UTF-8 text"))),
    }
}

/// Names and symbols of the sequences of a FASTA file that can be read; the others are noted and left out.
fn readable(path: &Path, residues: &Residues) -> Result<(Vec<String>, Vec<Vec<usize>>), Failure> {
    let (file, text) = text(path)?;
    let mut named = sequences(&file, &text)?;
    skip_unreadable(&file, &[residues], Residues::encode, &mut named)?;
    encode(&file, &named, residues)
}

/// Names and symbols of sequences.
fn encode(
    file: &str,
    named: &[(String, String)],
    residues: &Residues,
) -> Result<(Vec<String>, Vec<Vec<usize>>), Failure> {
    let one = |(name, sequence): &(String, String)| {
        let symbols = residues.encode(name, sequence);
        let symbols =
            symbols.map_err(|error| Failure::input(error.kind(), format!("{file}: {error}")))?;
        if symbols.is_empty() {
            return Err(Failure::input(
                ProfileError::Impossible.kind(),
                format!("{file}: {name}: {}", ProfileError::Impossible),
            ));
        }
        Ok((name.clone(), symbols))
    };
    named.iter().map(one).collect()
}

/// Leaves out the sequences that an alphabet does not spell, or that are empty, and notes how many and the first; all of
/// them are an error.
fn skip_unreadable(
    file: &str,
    alphabets: &[&Residues],
    encode: impl Fn(&Residues, &str, &str) -> Result<Vec<usize>, ProfileError>,
    targets: &mut Vec<(String, String)>,
) -> Result<(), Failure> {
    let all = targets.len();
    let mut first: Option<(&'static str, String)> = None;
    targets.retain(|(name, sequence)| {
        let wrong = alphabets.iter().find_map(|residues| match encode(residues, name, sequence) {
            Ok(symbols) if symbols.is_empty() => {
                let error = ProfileError::Impossible;
                Some((error.kind(), format!("{file}: {name}: {error}")))
            }
            Ok(_) => None,
            Err(error) => Some((error.kind(), format!("{file}: {error}"))),
        });
        let is_sound = wrong.is_none();
        first = first.take().or(wrong);
        is_sound
    });
    let Some((kind, what)) = first else { return Ok(()) };
    if targets.is_empty() {
        return Err(Failure::input(kind, what));
    }
    let skipped = counted(all - targets.len(), "sequence");
    note(
        Topic::SkippedRecords,
        format_args!("{what}: {skipped} of {all} left out; the others are read"),
    );
    Ok(())
}
