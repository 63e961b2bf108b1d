//! Models from files.

use std::path::Path;

use fishweir_networks::{
    Network, NetworkClassifier, NetworkFile, NetworkFisher, NetworkModel, Width,
};

use super::Failure;
use crate::Topic;

/// Seed of the records that a network too wide for exact probabilities is sampled by.
const SEED: u64 = 1;

/// Reads a file that must have a network over all its columns.
pub(super) fn network(path: &Path) -> Result<NetworkFile, Failure> {
    let file = NetworkFile::read(path)?;
    match &file.model {
        NetworkModel::Classifier(classifier) if !classifier.outputs().is_empty() => {
            Err(Failure::input(
                Topic::WrongModel,
                format!(
                    "{}: is a linear machine, whose network is over the attributes alone; fit a network \
                 without --class",
                    path.display()
                ),
            ))
        }
        _ => Ok(file),
    }
}

/// The classifier of a file that must have one.
pub(super) fn classifier<'a>(
    path: &Path,
    file: &'a NetworkFile,
) -> Result<&'a NetworkClassifier, Failure> {
    match &file.model {
        NetworkModel::Classifier(classifier) => Ok(classifier),
        NetworkModel::Network(_) => Err(Failure::input(
            Topic::NeedsClassifier,
            format!("{}: is a network, not a classifier; fit one with --class", path.display()),
        )),
    }
}

/// The Fisher kernel of a network.
pub(super) fn fisher(network: &Network) -> NetworkFisher {
    NetworkFisher::new(network.clone(), Width::default(), SEED)
}

/// A name without folders and ending: a title.
pub(super) fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}
