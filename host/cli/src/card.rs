//! `fishweir card`.

use std::path::{Path, PathBuf};

use super::model::ModelArgument;
use super::output::{self, Outputs};
use super::{Failure, document, recognise};

pub(super) const LONG_ABOUT: &str = "\
Write a model's card in Markdown: what the model is, what it is for, its limits, its training, its figures and its cost.

The sections are those of Hugging Face's model cards, with a head that search engines read. The card takes from the model's file the \
data with their checksum, the recipe and the version of fishweir. An artefact does not keep them. Figures come from the JSON of \
`evaluate`.";

const EXAMPLES: &str = "\
Examples:
  fishweir card gait.json -o README.md
  fishweir evaluate gait.csv --group subject --json > figures.json
  fishweir card gait.json --evaluation figures.json -o README.md";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    model: ModelArgument,
    /// Figures of the model: what `evaluate --json` printed
    #[arg(long, value_name = "FILE.json")]
    evaluation: Option<PathBuf>,
    /// File to write, - for standard output
    #[arg(short, long, value_name = "FILE.md", default_value = "-")]
    output: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let path = arguments.model.path();
    let inputs: Vec<&Path> =
        arguments.evaluation.iter().map(PathBuf::as_path).chain([path]).collect();
    Outputs::check(&[&arguments.output], &inputs)?;
    let bytes = recognise::read(path)?;
    let evaluation = arguments.evaluation.as_deref().map(document::evaluation).transpose()?;
    let card = document::card(path, &bytes, evaluation.as_ref())?;
    output::write(&arguments.output, card.to_markdown().as_bytes())
}
