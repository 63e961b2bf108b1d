//! `fishweir network draw`.

use std::path::PathBuf;

use fishweir::report::{Written, counted};
use fishweir_networks::plot::NetworkPlot;
use fishweir_networks::{NetworkFile, NetworkModel};

use super::super::output::{self, Outputs};
use super::Failure;
use super::model::stem;
use crate::model::ModelArgument;

const EXAMPLES: &str = "\
Examples:
  fishweir network draw nursery.json -o nursery.svg";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    model: ModelArgument,
    /// Output file of the figure; - for standard output
    #[arg(short, long, value_name = "FILE.svg")]
    output: PathBuf,
    /// Title of the figure [default: the model's file]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let outputs = Outputs::check(&[&arguments.output], &[arguments.model.path()])?;
    let file = NetworkFile::read(arguments.model.path())?;
    let marked = match &file.model {
        NetworkModel::Classifier(classifier) if classifier.outputs().is_empty() => {
            Some(classifier.column())
        }
        _ => None,
    };
    let title = arguments.title.clone().unwrap_or_else(|| stem(arguments.model.path()));
    let network = file.network();
    let svg = NetworkPlot { title: &title, network, marked }.to_svg();
    output::write(&arguments.output, svg.as_bytes())?;
    let what = format!("graph of {}", counted(network.shape().nodes(), "node"));
    outputs.print(&Written::new(what, arguments.output.display().to_string()), arguments.json)
}
