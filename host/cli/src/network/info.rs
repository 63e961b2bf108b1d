//! `fishweir network info`.

use std::path::Path;

use fishweir::report::{CardFacts, ModelCard, counted, grouped};
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
    let report = inspection(model.display().to_string(), &NetworkFile::read(model)?);
    crate::output::print_report(&report, json)
}

/// The card of a network's file; `evaluation` are results as `evaluate --json` prints them.
pub(crate) fn card(
    name: &str,
    bytes: &[u8],
    evaluation: Option<&serde_json::Value>,
) -> Result<ModelCard, Failure> {
    let file = NetworkFile::parse(name, bytes)?;
    let found = inspection(name.to_owned(), &file);
    let (classes, task) = match &file.model {
        NetworkModel::Classifier(one) => {
            (one.class().states.clone(), format!("It decides on {} of a record.", one.class().name))
        }
        NetworkModel::Network(_) => (
            Vec::new(),
            "It gives probabilities of records, and raises an alarm if they change.".into(),
        ),
    };
    let size = |name: &str, count: usize| (name.to_owned(), grouped(count));
    let mut costs = vec![
        size("nodes", found.nodes),
        size("edges", found.edges),
        size("parameters", found.parameters),
    ];
    if let Some(cost) = &found.cost {
        costs.push(("flash, model".to_owned(), format!("{} B", grouped(cost.model_bytes))));
    }
    Ok(ModelCard::new(&CardFacts {
        file: name,
        what: format!("{} over records", found.what),
        task,
        classes,
        observes: file.columns.in_words(),
        provenance: file.provenance.as_ref(),
        costs,
        evaluation,
        ..CardFacts::default()
    }))
}

/// Summary of a network's file, and its cost on a device.
fn inspection(model: String, file: &NetworkFile) -> NetworkInspection {
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
    NetworkInspection {
        model,
        what,
        nodes: shape.nodes(),
        edges: shape.edges().count(),
        parameters: shape.parameters(),
        trained: file.provenance.as_ref().map(|of| {
            format!("{}: {}, by fishweir {}", of.named(), counted(of.series, "record"), of.version)
        }),
        cost,
        refused,
    }
}
