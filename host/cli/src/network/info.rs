//! `fishweir network info`.

use std::path::Path;

use fishweir::report::counted;
use fishweir_networks::report::NetworkInspection;
use fishweir_networks::{DeployedAlarm, DeployedEvents, DeployedSum, NetworkFile, NetworkModel};

use super::Failure;
use super::model::fisher;
use crate::model::ModelArgument;

/// Events that an alarm looks back on: no cost depends on it.
const MEMORY: f64 = 200.0;

const EXAMPLES: &str = "\
Examples:
  fishweir network info vote.json";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    model: ModelArgument,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    inspect(arguments.model.path(), arguments.json)
}

/// Prints the summary of a network's file, and its cost on a device.
pub(super) fn inspect(model: &Path, json: bool) -> Result<(), Failure> {
    let file = NetworkFile::read(model)?;
    let (what, deployed) = match &file.model {
        NetworkModel::Classifier(classifier) => (
            format!("classifier of {}", classifier.class().name),
            DeployedSum::of(classifier).map(DeployedEvents::Sum),
        ),
        NetworkModel::Network(network) => {
            let alarm = DeployedAlarm::silent(&fisher(network), MEMORY);
            ("network; its alarm on a device".to_owned(), alarm.map(DeployedEvents::Alarm))
        }
    };
    // What no device holds is a model all the same.
    let (cost, refused) = match deployed {
        Ok(deployed) => (Some(deployed.cost()), None),
        Err(error) => (None, Some(error.to_string())),
    };
    let shape = file.network().shape();
    let report = NetworkInspection {
        model: model.display().to_string(),
        what,
        nodes: shape.nodes(),
        edges: shape.edges().count(),
        parameters: shape.parameters(),
        trained: file.provenance.as_ref().map(|of| {
            format!("{}: {}, by fishweir {}", of.named(), counted(of.series, "record"), of.version)
        }),
        cost,
        refused,
    };
    crate::output::print_report(&report, json)
}
