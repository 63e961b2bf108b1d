//! `fishweir profile learn`.

use std::path::PathBuf;

use fishweir::classifier::Provenance;
use fishweir::report::{Written, counted};
use fishweir_profiles::{Profile, ProfileLearner};

use super::super::output::{self, Outputs};
use super::super::values::positive;
use super::{Failure, Recipe, SearchArguments, readable, text};

const EXAMPLES: &str = "\
Examples:
  fishweir profile learn members.fa others.fa --model globins4.hmm -o family.json";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// FASTA of sequences of the family, or similar to it
    positives: PathBuf,
    /// FASTA of sequences that do not belong to the family
    negatives: PathBuf,
    /// Profile, in HMMER3/f text
    #[arg(short, long, value_name = "FILE")]
    model: PathBuf,
    /// Output file of the classifier, as JSON
    #[arg(short, long, value_name = "FILE.json")]
    output: PathBuf,
    #[command(flatten)]
    search: SearchArguments,
    /// One feature per residue, instead of one per component of the alphabet's Dirichlet mixture
    #[arg(long)]
    by_residue: bool,
    /// Cost C of an error; of several, separated by commas, inner folds choose the best
    #[arg(long, value_name = "C", value_delimiter = ',', default_values_t = [1.0], value_parser = positive,
        allow_negative_numbers = true)]
    c: Vec<f64>,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, recipe: Recipe) -> Result<(), Failure> {
    let outputs = Outputs::check(
        &[&arguments.output],
        &[&arguments.model, &arguments.positives, &arguments.negatives],
    )?;
    let (name, profile) = text(&arguments.model)?;
    let profile = Profile::parse(&name, &profile)?;
    let (_, positives) = readable(&arguments.positives, profile.residues)?;
    let (_, negatives) = readable(&arguments.negatives, profile.residues)?;
    let mode = arguments.search.mode();
    let learner = ProfileLearner { mode, grouped: !arguments.by_residue, c: sorted(&arguments.c) };
    let classes = ["other".to_owned(), profile.name.clone()];
    let mut classifier = learner.fit(&profile, classes, &negatives, &positives)?;
    let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let data = format!("{} and {}", name(&arguments.positives), name(&arguments.negatives));
    let series = positives.len() + negatives.len();
    classifier.provenance = Provenance {
        version: env!("CARGO_PKG_VERSION").into(),
        data,
        series,
        windows: series,
        recipe,
        ..classifier.provenance
    };
    output::write(&arguments.output, classifier.to_json()?.as_bytes())?;
    let what = format!(
        "a classifier on a profile of {} from {}",
        counted(profile.len(), "position"),
        counted(series, "sequence")
    );
    outputs.print(&Written::new(what, arguments.output.display().to_string()), arguments.json)
}

/// The values of C, rising, each once.
fn sorted(c: &[f64]) -> Vec<f64> {
    let mut c = c.to_vec();
    c.sort_by(f64::total_cmp);
    c.dedup();
    c
}
