//! `fishweir network export`.

use std::path::{Path, PathBuf};

use fishweir::report::Written;
use fishweir_networks::{DeployedEvents, NetworkFile};

use super::super::output::{self, Outputs};
use super::Failure;
use super::deployment::Deployment;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// A classifier, or a network for an alarm
    model: PathBuf,
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
    let inputs: Vec<&Path> = normal.chain([&arguments.model]).map(PathBuf::as_path).collect();
    let outputs = Outputs::check(&[&arguments.rust], &inputs)?;
    let file = NetworkFile::read(&arguments.model)?;
    let (deployed, what) = arguments.deployment.of(&arguments.model, &file)?;
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
