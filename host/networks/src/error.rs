//! Errors in a network, or in its input.

/// Largest number of entries of a network's tables.
pub const CELLS_AT_MOST: usize = 1 << 24;

/// Reason why a network is invalid, or has no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum NetworkError {
    /// No node at all.
    #[error("a network needs a node")]
    #[strum(serialize = "empty-network")]
    Empty,
    /// Lists that should have an entry per node.
    #[error("there are {found} {what} for {nodes} nodes; give one per node")]
    #[strum(serialize = "wrong-shape")]
    Lists {
        /// Things counted.
        what: &'static str,
        /// Number found.
        found: usize,
        /// Nodes.
        nodes: usize,
    },
    /// Two nodes of one name.
    #[error("two nodes are named `{0}`; rename one")]
    SameName(String),
    /// A node whose number of states is out of range.
    #[error("node `{node}` has {states} states; it must have 1 to 65535")]
    #[strum(serialize = "wrong-states")]
    States {
        /// The node.
        node: String,
        /// Number of states.
        states: usize,
    },
    /// Two states of one name.
    #[error("node `{node}` has two states `{state}`; rename one")]
    SameState {
        /// The node.
        node: String,
        /// The state.
        state: String,
    },
    /// A parent that is no node.
    #[error("node `{node}` has the parent {parent}, which is not a node; remove it")]
    #[strum(serialize = "unknown-parent")]
    NoParent {
        /// The node.
        node: String,
        /// The parent: its name, or its number from 0.
        parent: String,
    },
    /// A parent twice.
    #[error("node `{node}` has the parent `{parent}` twice; remove one")]
    ParentTwice {
        /// The node.
        node: String,
        /// The parent.
        parent: String,
    },
    /// Edges that form a cycle.
    #[error("the edges {0} form a cycle; remove one of them")]
    #[strum(serialize = "cyclic-network")]
    Cycle(String),
    /// A table above the size limit.
    #[error(
        "with the table of node `{node}` the network would have more than {most} entries; give nodes fewer \
         parents",
        most = CELLS_AT_MOST
    )]
    TooLarge {
        /// The node.
        node: String,
    },
    /// A table of another size.
    #[error("the table of node `{node}` has {found} entries, and {expected} are needed")]
    #[strum(serialize = "wrong-table-size")]
    Table {
        /// The node.
        node: String,
        /// Entries found.
        found: usize,
        /// Rows times states.
        expected: usize,
    },
    /// An entry that is no probability.
    #[error(
        "node `{node}`, row {row} ({given}), state `{state}`: {value} is not a probability; it must be 0 to 1"
    )]
    #[strum(serialize = "bad-probability")]
    Entry {
        /// The node.
        node: String,
        /// The row, from 0.
        row: usize,
        /// The row in words: the parents' states.
        given: String,
        /// The state.
        state: String,
        /// The entry.
        value: f64,
    },
    /// A row that does not sum to one.
    #[error("node `{node}`, row {row} ({given}): its entries sum to {sum}, not to 1")]
    #[strum(serialize = "sum-not-one")]
    Sum {
        /// The node.
        node: String,
        /// The row, from 0.
        row: usize,
        /// The row in words: the parents' states.
        given: String,
        /// The sum.
        sum: f64,
    },
    /// A record of another length.
    #[error("record {record} has {found} fields, and the network has {nodes} nodes")]
    #[strum(serialize = "ragged-row")]
    Length {
        /// The record, from 0.
        record: usize,
        /// Fields.
        found: usize,
        /// Nodes.
        nodes: usize,
    },
    /// A state that a node does not have.
    #[error("record {record}: node `{node}` has no state {value}; its states are 0 to {last}")]
    UnknownState {
        /// The record, from 0.
        record: usize,
        /// The node.
        node: String,
        /// The number.
        value: u16,
        /// The largest there is.
        last: usize,
    },
    /// A missing field where all are needed.
    #[error("record {record}: the state of node `{node}` is missing; this needs complete records")]
    #[strum(serialize = "missing-field")]
    Missing {
        /// The record, from 0.
        record: usize,
        /// The node.
        node: String,
    },
    /// A record that the network makes impossible.
    #[error(
        "record {record}: the network gives it probability zero{}; fit with a pseudo-count above zero, \
         or leave the record out",
        node.as_ref().map_or_else(String::new, |node| format!(" (at node `{node}`)"))
    )]
    #[strum(serialize = "impossible-record")]
    Impossible {
        /// The record, from 0.
        record: usize,
        /// The node where it is, if it is one's.
        node: Option<String>,
    },
    /// No record where some are needed.
    #[error("there is no record; {0}")]
    NoRecords(&'static str),
    /// One class alone.
    #[error(
        "all records are of class `{class}` of column `{column}`; a classifier needs two classes"
    )]
    OneClass {
        /// The class.
        class: String,
        /// Name of the column.
        column: String,
    },
    /// Records without a class where one is needed.
    #[error(
        "no record has a class in column `{0}`, so there is nothing to evaluate; add the column, or use predict"
    )]
    #[strum(serialize = "unlabelled-records")]
    Unlabelled(String),
    /// A class of which nothing can be learnt.
    #[error(
        "class `{class}` of column `{column}` has no record; leave it out, or add records of it"
    )]
    #[strum(serialize = "empty-class")]
    ClassEmpty {
        /// The class.
        class: String,
        /// Name of the column.
        column: String,
    },
    /// A clique too large for exact computation.
    #[error(
        "exact inference needs a clique of {variables} nodes with {cells:.3e} entries, beyond the \
         limit of {most_variables} nodes and {most_cells} entries; fewer parents make it narrower"
    )]
    TooWide {
        /// Nodes of the widest clique.
        variables: usize,
        /// Entries of the largest clique.
        cells: f64,
        /// Nodes that a clique may have.
        most_variables: usize,
        /// Entries that a clique may have.
        most_cells: usize,
    },
    /// A setting out of range.
    #[error("{name} is {value}; it must be {range}")]
    #[strum(serialize = "bad-setting")]
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// Value of the setting.
        value: f64,
        /// Valid range.
        range: &'static str,
    },
    /// A name that no node has.
    #[error("the network has no node `{0}`")]
    UnknownNode(String),
    /// Another fault, described in words.
    #[error("{0}")]
    #[strum(serialize = "bad-network")]
    Other(String),
}

fishweir::kinds!(NetworkError);

impl NetworkError {
    /// The record that it is about, from 0.
    pub fn record(&self) -> Option<usize> {
        match self {
            Self::Length { record, .. }
            | Self::UnknownState { record, .. }
            | Self::Missing { record, .. }
            | Self::Impossible { record, .. } => Some(*record),
            _ => None,
        }
    }

    /// Replaces the number of the record, for records selected from others.
    #[must_use]
    pub fn at_record(mut self, number: impl Fn(usize) -> usize) -> Self {
        if let Self::Length { record, .. }
        | Self::UnknownState { record, .. }
        | Self::Missing { record, .. }
        | Self::Impossible { record, .. } = &mut self
        {
            *record = number(*record);
        }
        self
    }
}
