//! Expected counts of a network over some leaves of a table's records: parts of a pass of expectation-maximisation.

use fishweir::parts::Share;
use fishweir::sums::{Digest, LEAF, Marked, Sums, SumsError};
use serde::{Deserialize, Serialize};

use super::super::{Network, NetworkError, NetworkFile, NetworkModel};
use super::counts::ExpectedCounts;
use super::em::ExpectationMaximisation;
use super::parameters::check_records;
use crate::records::Records;

/// Reason why parts make no network, or no part is made.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum CountSumsError {
    /// Counts of another network.
    #[error(
        "the part was computed with another network ({found}, not {expected}); compute it again with this one"
    )]
    #[strum(serialize = "other-models")]
    OtherNetwork {
        /// Fingerprint of the part's network.
        found: Digest,
        /// Fingerprint of the network wanted.
        expected: Digest,
    },
    /// Counts of other records.
    #[error(
        "the part was computed from other records ({found}, not {expected}); compute all parts from the same table"
    )]
    #[strum(serialize = "other-data")]
    OtherRecords {
        /// Fingerprint of the part's records.
        found: Digest,
        /// Fingerprint of the records wanted.
        expected: Digest,
    },
    /// Leaves that are there already, or missing.
    #[error(transparent)]
    Leaves(#[from] SumsError),
    /// A network that cannot be estimated, or records that do not fit.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// A value without JSON.
    #[error("no fingerprint: {0}")]
    #[strum(serialize = "not-finite")]
    Json(#[from] serde_json::Error),
}

fishweir::kinds!(CountSumsError,
    Self::Leaves(error) => error,
    Self::Network(error) => error,
);

/// Expected counts of a network over some leaves of the records that differ, 64 to a leaf, in the order in which each comes first.
///
/// Its file is JSON with a checksum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct CountSums {
    network: Digest,
    data: Digest,
    /// Records that differ, in all of the table.
    records: usize,
    sums: Sums<Marked<ExpectedCounts>>,
}

/// The form of [`CountSums`] in a file.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    leaf: usize,
    network: Digest,
    data: Digest,
    records: usize,
    nodes: Vec<StoredNode>,
}

/// A node of the tree.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredNode {
    /// First leaf.
    first: usize,
    /// Logarithm of the number of leaves, base 2.
    level: u32,
    /// Fingerprint of their records.
    data: Digest,
    log_likelihood: f64,
    counts: Vec<f64>,
}

fishweir::has_a_file!(CountSums);

impl CountSums {
    /// Returns whether bytes are the file of such sums, by the names of its fields.
    pub fn is_one(bytes: &[u8]) -> bool {
        #[derive(Deserialize)]
        struct Fields {
            #[serde(rename = "network")]
            _network: Digest,
            #[serde(rename = "records")]
            _records: usize,
        }
        let content = fishweir::internals::unseal("", bytes);
        content.is_ok_and(|content| content.parse::<Fields>().is_ok())
    }

    /// Adds another part.
    ///
    /// # Errors
    /// [`CountSumsError`]: it is of another network or other records, or has leaves that are there already. Nothing is added then.
    pub fn merge(&mut self, other: Self) -> Result<(), CountSumsError> {
        let (found, expected) = (other.network, self.network);
        if found != expected {
            return Err(CountSumsError::OtherNetwork { found, expected });
        }
        let (found, expected) = (other.data, self.data);
        if found != expected || other.records != self.records {
            return Err(CountSumsError::OtherRecords { found, expected });
        }
        Ok(self.sums.merge(other.sums)?)
    }

    /// Number of leaves of all of the table.
    pub fn leaves(&self) -> usize {
        self.records.div_ceil(LEAF)
    }

    /// Number of leaves summed.
    pub fn summed(&self) -> usize {
        self.sums.leaves()
    }

    fn total(&self) -> Result<ExpectedCounts, CountSumsError> {
        let total = self.sums.clone().total(self.leaves())?;
        let total = total.ok_or(NetworkError::NoRecords("tables are learnt from some"))?;
        match total.digest == self.data {
            true => Ok(total.sum),
            false => {
                let (found, expected) = (total.digest, self.data);
                Err(CountSumsError::OtherRecords { found, expected })
            }
        }
    }

    /// The log-likelihood of all records under the network; `None` while leaves are missing.
    pub fn log_likelihood(&self) -> Option<f64> {
        Some(self.total().ok()?.log_likelihood)
    }

    fn check(&self) -> Result<(), String> {
        let last = self.sums.nodes().last();
        match last.is_none_or(|(first, level, _)| first + (1 << level) <= self.leaves()) {
            true => Ok(()),
            false => Err("it has leaves beyond the end of its records".to_owned()),
        }
    }
}

impl ExpectationMaximisation {
    /// A share of the expected counts of a network over records. Every share reads all records for their fingerprint.
    ///
    /// # Errors
    /// [`CountSumsError`]: records that do not fit, a network that is too wide, a record that it makes impossible.
    pub fn expect(
        &self,
        network: &Network,
        records: &Records,
        share: Share,
    ) -> Result<CountSums, CountSumsError> {
        check_records(network.variables(), records)?;
        let given = records;
        let (records, weights) = records.distinct();
        let place = |record: usize| {
            given.rows().position(|row| row == records.row(record)).unwrap_or(record)
        };
        let leaves = records.len().div_ceil(LEAF);
        let rows: Vec<(&[u16], u32)> = records.rows().zip(weights.iter().copied()).collect();
        let mut marks = Sums::new();
        for (leaf, rows) in rows.chunks(LEAF).enumerate() {
            marks.insert(leaf, 0, Digest::of_value(&rows)?)?;
        }
        let data = marks.total(leaves)?.ok_or(NetworkError::NoRecords("counts are of some"))?;
        let range = share.range(leaves);
        let expected = self
            .sums(network, &records, &weights, range.clone())
            .map_err(|error| error.at_record(place))?;
        let mut sums = Sums::new();
        for (leaf, sum) in range.zip(expected) {
            let rows = &rows[leaf * LEAF..rows.len().min((leaf + 1) * LEAF)];
            sums.insert(leaf, 0, Marked { digest: Digest::of_value(&rows)?, sum })?;
        }
        Ok(CountSums { network: Digest::of_value(network)?, data, records: records.len(), sums })
    }

    /// The network that the counts of all leaves make likeliest, with the prior.
    ///
    /// # Errors
    /// [`CountSumsError`]: counts of another network, or leaves that are missing.
    pub fn maximised(
        &self,
        network: &Network,
        sums: &CountSums,
    ) -> Result<Network, CountSumsError> {
        self.prior.validate()?;
        let (found, expected) = (sums.network, Digest::of_value(network)?);
        if found != expected {
            return Err(CountSumsError::OtherNetwork { found, expected });
        }
        let total = sums.total()?;
        let shape = network.shape().clone();
        if total.counts.len() != shape.all_cells() {
            return Err(CountSumsError::OtherNetwork { found, expected });
        }
        let theta = self.prior.estimate(&shape, &total.counts);
        Ok(Network::of_cells(network.variables().to_vec(), shape, theta)?)
    }
}

impl NetworkFile {
    /// The file with another network in the place of its own; `None` for a classifier.
    pub fn with_network(&self, network: Network) -> Option<Self> {
        match &self.model {
            NetworkModel::Network(_) => {
                Some(Self { model: NetworkModel::Network(network), ..self.clone() })
            }
            NetworkModel::Classifier(_) => None,
        }
    }
}

impl From<CountSums> for Stored {
    fn from(own: CountSums) -> Self {
        let node = |(first, level, node): (usize, u32, &Marked<ExpectedCounts>)| StoredNode {
            first,
            level,
            data: node.digest,
            log_likelihood: node.sum.log_likelihood,
            counts: node.sum.counts.clone(),
        };
        let nodes = own.sums.nodes().map(node).collect();
        let CountSums { network, data, records, .. } = own;
        Self { leaf: LEAF, network, data, records, nodes }
    }
}

impl TryFrom<Stored> for CountSums {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        let Stored { leaf, network, data, records, nodes } = stored;
        if leaf != LEAF {
            return Err(format!(
                "its leaves have {leaf} records, and those of this program {LEAF}; compute the part again"
            ));
        }
        let cells = nodes.first().map_or(0, |node| node.counts.len());
        let mut sums = Sums::new();
        for StoredNode { first, level, data, log_likelihood, counts } in nodes {
            if counts.len() != cells {
                return Err("counts of several networks".to_owned());
            }
            let sum = ExpectedCounts { counts, log_likelihood };
            sums.insert(first, level, Marked { digest: data, sum })
                .map_err(|error| error.to_string())?;
        }
        Ok(Self { network, data, records, sums })
    }
}
