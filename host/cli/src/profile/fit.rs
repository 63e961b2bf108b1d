//! `fishweir profile fit`.

use std::path::PathBuf;

use fishweir::report::{Written, counted};
use fishweir_profiles::{
    Alignment, Build, Effective, ProfileFit, ProfilePrior, Residues, sequences,
};

use super::super::output::{self, Outputs};
use super::super::values::{positive, share};
use super::{Failure, text};
use crate::{Topic, note};

const EXAMPLES: &str = "\
Examples:
  fishweir profile fit globins4.sto -o globins4.hmm
  fishweir profile fit family.fa --unaligned -o family.hmm";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Stockholm, or FASTA with gaps
    alignment: PathBuf,
    /// FASTA without gaps: align progressively first
    #[arg(long)]
    unaligned: bool,
    /// Align each sequence to the whole profile, not to a part of it
    #[arg(long, requires = "unaligned")]
    glocal: bool,
    /// Passes of Baum-Welch after the alignment
    #[arg(long, value_name = "N", default_value_t = 0, requires = "unaligned")]
    passes: usize,
    /// Output file of the profile, as HMMER3/f text; - for standard output
    #[arg(short, long, value_name = "FILE.hmm", default_value = "-")]
    output: PathBuf,
    /// Smallest share of the weight that must have residues in a match column
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, value_parser = share, allow_negative_numbers = true)]
    match_fraction: f64,
    /// Add one pseudo-count to each count, instead of the Dirichlet mixture of the alphabet
    #[arg(long)]
    laplace: bool,
    /// Mean relative entropy of match states, in bits, that sets the effective number of sequences; for L positions
    /// at least (45 + log2(L (L + 1) / 2)) / L
    #[arg(long, value_name = "BITS", default_value_t = 0.59, value_parser = positive, allow_negative_numbers = true)]
    entropy: f64,
    /// Effective number of sequences of the alignment
    #[arg(long, value_name = "N", conflicts_with = "entropy", value_parser = positive, allow_negative_numbers = true)]
    effective: Option<f64>,
    /// Residues of the sequences [default: by their letters; nucleotides where codes for several of them, N aside, are 5 % at
    /// most]
    #[arg(long, value_name = "dna|rna|protein", value_parser = residues)]
    alphabet: Option<&'static Residues>,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

fn residues(text: &str) -> Result<&'static Residues, String> {
    Residues::named(text).ok_or_else(|| format!("`{text}` is not known; write dna, rna or protein"))
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let outputs = Outputs::check(&[&arguments.output], &[&arguments.alignment])?;
    let (name, read) = text(&arguments.alignment)?;
    let alignment = if arguments.unaligned { None } else { Some(Alignment::parse(&name, &read)?) };
    let named = if arguments.unaligned { sequences(&name, &read)? } else { Vec::new() };
    let (found, is_guess) = match &alignment {
        Some(alignment) => alignment.guess_residues(),
        None => Residues::guess(named.iter().flat_map(|(_, sequence)| sequence.chars())),
    };
    let residues = arguments.alphabet.unwrap_or(found);
    if is_guess && arguments.alphabet.is_none() {
        note(
            Topic::AlphabetGuessed,
            format_args!(
                "{name}: taken as {} by its letters, some of which have two meanings; --alphabet sets the alphabet",
                residues.name
            ),
        );
    }
    let build = Build {
        match_fraction: arguments.match_fraction,
        prior: arguments.laplace.then(|| ProfilePrior::laplace(residues)),
        effective: arguments
            .effective
            .map_or(Effective::Entropy(arguments.entropy), Effective::Count),
    };
    let (profile, rows) = match &alignment {
        Some(alignment) => (build.profile_of(alignment, residues)?, alignment.rows.len()),
        None => {
            let (local, passes) = (!arguments.glocal, arguments.passes);
            let training = ProfileFit { build, local, passes, ..ProfileFit::default() };
            let stem = arguments.alignment.file_stem().unwrap_or_default().to_string_lossy();
            (training.fit(&stem, residues, &named)?.profile, named.len())
        }
    };
    output::write(&arguments.output, profile.to_hmmer().as_bytes())?;
    let what = format!(
        "a profile ({}) of {} from {}",
        residues.name,
        counted(profile.len(), "position"),
        counted(rows, "sequence")
    );
    outputs.print(&Written::new(what, arguments.output.display().to_string()), arguments.json)
}
