//! `fishweir network query`.

use std::path::PathBuf;

use fishweir_networks::records::MISSING;
use fishweir_networks::report::{NodeReport, QueryReport};
use fishweir_networks::{Inference, Network, Width};

use super::Failure;
use super::model::network;
use crate::Topic;

const EXAMPLES: &str = "\
Examples:
  fishweir network query class --model nursery.json --given housing=critical";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Nodes to query [default: all that are not --given]
    nodes: Vec<String>,
    /// Network
    #[arg(short, long, value_name = "FILE")]
    model: PathBuf,
    /// Evidence, as NODE=STATE, separated by commas
    #[arg(long, value_name = "STATES", value_delimiter = ',')]
    given: Vec<String>,
    /// Find the most probable record as well
    #[arg(long)]
    most_probable: bool,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let file = network(&arguments.model)?;
    let network = file.network();
    let at = |kind: &'static str, what: String| {
        Failure::input(kind, format!("{}: {what}", arguments.model.display()))
    };
    let mut evidence = vec![MISSING; network.shape().nodes()];
    let mut given = Vec::new();
    for text in &arguments.given {
        let Some((node, state)) = text.split_once('=') else {
            return Err(Failure::input(
                Topic::BadSyntax,
                format!("`{text}` gives nothing; write NODE=STATE"),
            ));
        };
        let number =
            network.node(node.trim()).map_err(|error| at(error.kind(), error.to_string()))?;
        let variable = &network.variables()[number];
        let Some(known) = variable.state(state.trim()) else {
            let states = variable.states.join(", ");
            return Err(at(
                Topic::UnknownState.into(),
                format!("node `{node}` has no state `{state}`, only {states}"),
            ));
        };
        if evidence[number] != MISSING {
            return Err(Failure::input(
                Topic::ConflictingOptions,
                format!("node `{node}` is given twice"),
            ));
        }
        evidence[number] = known;
        given.push([variable.name.clone(), state.trim().to_owned()]);
    }
    let inference = Inference::of(network, Width::default())
        .map_err(|error| at(error.kind(), error.to_string()))?;
    let impossible =
        || at(Topic::ImpossibleEvidence.into(), "what is given is impossible together".into());
    let posterior = inference.posterior(&evidence).ok_or_else(impossible)?;
    let asked: Vec<usize> = match arguments.nodes.is_empty() {
        true => (0..evidence.len()).filter(|&node| evidence[node] == MISSING).collect(),
        false => {
            let node = |name: &String| {
                network.node(name).map_err(|error| at(error.kind(), error.to_string()))
            };
            arguments.nodes.iter().map(node).collect::<Result<_, _>>()?
        }
    };
    let node = |&node: &usize| NodeReport {
        node: network.name(node).to_owned(),
        states: network.variables()[node].states.clone(),
        probabilities: posterior.marginal(node),
    };
    let most_probable = arguments.most_probable.then(|| inference.most_probable(&evidence));
    let report = QueryReport {
        given,
        log_probability: posterior.log_evidence(),
        nodes: asked.iter().map(node).collect(),
        most_probable: most_probable.flatten().map(|(record, log)| (named(network, &record), log)),
    };
    crate::output::print_report(&report, arguments.json)
}

/// A record by the names of its nodes and states.
fn named(network: &Network, record: &[u16]) -> Vec<[String; 2]> {
    let pair = |(variable, &state): (&fishweir_networks::records::Variable, &u16)| {
        let state = variable.states.get(usize::from(state)).cloned().unwrap_or_default();
        [variable.name.clone(), state]
    };
    network.variables().iter().zip(record).map(pair).collect()
}
