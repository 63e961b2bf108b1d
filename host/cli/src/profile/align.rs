//! `fishweir profile align`.

use std::path::PathBuf;

use fishweir_profiles::{Aligned, Mode, Profile, Residues, SearchProfile, sequences, stockholm};
use rayon::prelude::*;

use super::super::output::{self, Outputs};
use super::{Failure, skip_unreadable, text};

const EXAMPLES: &str = "\
Examples:
  fishweir profile align more.fa --model globins4.hmm -o more.sto";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// FASTA
    sequences: PathBuf,
    /// Profile, in HMMER3/f text
    #[arg(short, long, value_name = "FILE")]
    model: PathBuf,
    /// Align to the whole profile, instead of the part that fits best
    #[arg(long)]
    glocal: bool,
    /// Output file of the alignment, as Stockholm; - for standard output
    #[arg(short, long, value_name = "FILE.sto", default_value = "-")]
    output: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    Outputs::check(&[&arguments.output], &[&arguments.model, &arguments.sequences])?;
    let (name, read) = text(&arguments.model)?;
    let profile = Profile::parse(&name, &read)?;
    let (file, read) = text(&arguments.sequences)?;
    let mut targets = sequences(&file, &read)?;
    skip_unreadable(&file, &[profile.residues], Residues::encode_searched, &mut targets)?;
    let search = SearchProfile::new(&profile, Mode { local: !arguments.glocal, several: false })?;
    let path = |(name, sequence): &(String, String)| {
        let symbols = profile.residues.encode_searched(name, sequence);
        let path = symbols.and_then(|symbols| search.best_path(&symbols, symbols.len()));
        path.map_err(|error| Failure::input(error.kind(), format!("{file}: {name}: {error}")))
    };
    let paths = targets.par_iter().map(path).collect::<Result<Vec<_>, Failure>>()?;
    let rows: Vec<Aligned<'_>> = targets
        .iter()
        .zip(&paths)
        .map(|((name, sequence), path)| Aligned { name, sequence, start: 0, states: &path.states })
        .collect();
    output::write(&arguments.output, stockholm(&profile, &rows).as_bytes())
}
