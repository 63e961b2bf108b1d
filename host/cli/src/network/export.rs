//! `fishweir network export`.

use std::path::{Path, PathBuf};

use fishweir::report::Written;
use fishweir_networks::{DeployedEvents, NetworkFile};

use super::super::output::{self, Outputs};
use super::Failure;
use super::deployment::Deployment;
use crate::model::ModelArgument;

const EXAMPLES: &str = "\
Examples:
  fishweir network export vote.json --rust vote.rs
  fishweir network export nursery.json --rust alarm.rs --mean-time 10000";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    model: ModelArgument,
    /// Rust source with a static; - for standard output
    #[arg(long, value_name = "FILE.rs")]
    rust: PathBuf,
    #[command(flatten)]
    deployment: Deployment,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let normal = arguments.deployment.normal.iter();
    let inputs: Vec<&Path> = normal.map(PathBuf::as_path).chain([arguments.model.path()]).collect();
    let outputs = Outputs::check(&[&arguments.rust], &inputs)?;
    let file = NetworkFile::read(arguments.model.path())?;
    let (deployed, what) = arguments.deployment.of(arguments.model.path(), &file)?;
    let cost = deployed.cost();
    let threshold = match &deployed {
        DeployedEvents::Alarm(alarm) => Some(alarm.threshold),
        DeployedEvents::Sum(_) => None,
    };
    output::write(&arguments.rust, deployed.to_source().as_bytes())?;
    let report = Written {
        flash: Some(cost.model_bytes),
        ram: Some(cost.state_bytes),
        threshold,
        ..Written::new(what, arguments.rust.display().to_string())
    };
    outputs.print(&report, arguments.json)
}
