//! `fishweir profile fit`.

use std::path::PathBuf;

use fishweir::profile::{Alignment, Build, Effective, ProfilePrior};
use fishweir::report::{Written, counted};

use super::super::output::{self, Outputs};
use super::{Failure, text};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Stockholm, or FASTA with gaps
    alignment: PathBuf,
    /// Where the profile goes, as HMMER3/f text; - for standard output
    #[arg(short, long, value_name = "FILE.hmm", default_value = "-")]
    output: PathBuf,
    /// Share of the weight that has residues in a match column, at least
    #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
    match_fraction: f64,
    /// One pseudo-count everywhere, instead of the alphabet's Dirichlet mixture
    #[arg(long)]
    laplace: bool,
    /// Relative entropy of match states, in bits, to which sequences are counted
    #[arg(long, value_name = "BITS", default_value_t = 0.59)]
    entropy: f64,
    /// Count the alignment for so many sequences
    #[arg(long, value_name = "N", conflicts_with = "entropy")]
    effective: Option<f64>,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let outputs = Outputs::check(&[&arguments.output], &[&arguments.alignment])?;
    let (name, read) = text(&arguments.alignment)?;
    let alignment = Alignment::parse(&name, &read)?;
    let build = Build {
        match_fraction: arguments.match_fraction,
        prior: arguments.laplace.then(|| ProfilePrior::laplace(alignment.residues())),
        effective: arguments
            .effective
            .map_or(Effective::Entropy(arguments.entropy), Effective::Count),
    };
    let profile = build.profile(&alignment)?;
    output::write(&arguments.output, profile.to_hmmer().as_bytes())?;
    let what = format!(
        "a profile of {} from {}",
        counted(profile.len(), "position"),
        counted(alignment.rows.len(), "sequence")
    );
    outputs.print(&Written::new(what, arguments.output.display().to_string()), arguments.json)
}
