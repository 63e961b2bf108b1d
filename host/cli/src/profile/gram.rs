//! `fishweir profile gram`.

use std::path::PathBuf;

use fishweir::kernel::{Gram, Items, gram_bytes};
use fishweir::report::{Written, counted};
use fishweir_profiles::{MatchFeatures, Profile, ProfilePrior, SearchProfile};

use super::super::gram::{Layout, layout_of};
use super::super::output::{self, Outputs};
use super::{Failure, SearchArguments, readable, text};

const EXAMPLES: &str = "\
Examples:
  fishweir profile gram sequences.fa --model globins4.hmm -o gram.csv";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// FASTA
    sequences: PathBuf,
    /// Profile, in HMMER3/f text
    #[arg(short, long, value_name = "FILE")]
    model: PathBuf,
    /// Output file of the matrix; - for standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    output: PathBuf,
    /// Layout of OUT [default: by its ending .npy or .libsvm, else csv]
    #[arg(long = "as", value_name = "csv|npy|libsvm", value_enum, hide_possible_values = true)]
    layout: Option<Layout>,
    #[command(flatten)]
    search: SearchArguments,
    /// One feature per residue, instead of one per component of the alphabet's Dirichlet mixture
    #[arg(long)]
    by_residue: bool,
    /// Do not whiten the inner product by the diagonal of the empirical information
    #[arg(long)]
    plain: bool,
    /// Cosines instead of inner products
    #[arg(long)]
    normalise: bool,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let outputs = Outputs::check(&[&arguments.output], &[&arguments.model, &arguments.sequences])?;
    let (name, read) = text(&arguments.model)?;
    let profile = Profile::parse(&name, &read)?;
    let (ids, symbols) = readable(&arguments.sequences, profile.residues)?;
    let mode = arguments.search.mode();
    let search = SearchProfile::new(&profile, mode)?;
    let mixture = ProfilePrior::of(profile.residues).matched;
    let map = MatchFeatures::new(&profile, (!arguments.by_residue).then_some(&mixture));
    let rows = search.match_counts(&symbols, None, |_, _, counts| map.of(counts))?;
    let scale = match arguments.plain {
        true => vec![1.0; map.len()],
        false => MatchFeatures::whitening(&rows),
    };
    let product = |i: usize, j: usize| {
        let terms = rows[i].iter().zip(&rows[j]).zip(&scale);
        terms.map(|((&a, &b), scale)| f64::from(a) * scale * (f64::from(b) * scale)).sum()
    };
    let gram = Gram::from_fn(rows.len(), product);
    let gram = if arguments.normalise { gram.normalised() } else { gram };
    let items = Items { labels: vec![None; ids.len()], ids, classes: Vec::new() };
    let layout = arguments.layout.unwrap_or_else(|| layout_of(&arguments.output));
    output::write(&arguments.output, &gram_bytes(layout.format(), &gram, &items)?)?;
    let what = format!(
        "the Fisher kernel of {} on {} of a profile",
        counted(rows.len(), "sequence"),
        counted(map.len(), "feature")
    );
    outputs.print(&Written::new(what, arguments.output.display().to_string()), arguments.json)
}
