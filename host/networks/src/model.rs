//! The network itself.

use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::{NetworkError, Shape};
use crate::records::{MISSING, Records, Variable};
use fishweir::internals::Elementary;
use fishweir::internals::each;

/// Largest deviation of a row of probabilities from the sum one.
const SUM_TOLERANCE: f64 = 1e-9;

/// Records drawn with one generator: sampling is the same on any number of threads.
const DRAWN_AT_ONCE: usize = 8192;

/// Such tasks whose records are kept before they are handed on.
const TASKS_AT_ONCE: usize = 16;

/// A Bayesian network over categorical variables:
///
/// ```text
/// p(x) = prod_i theta_i[row of x's parents of i][x_i]
/// ```
///
/// Nodes need not be in an order in which parents come first. Probabilities may be zero.
///
/// ```
/// use fishweir_networks::records::Variable;
/// use fishweir_networks::Network;
///
/// let rain = Variable::new("rain", ["no", "yes"]);
/// let grass = Variable::new("grass", ["dry", "wet"]);
/// let network = Network::new(
///     vec![rain, grass],
///     vec![vec![], vec![0]],
///     &[vec![vec![0.8, 0.2]], vec![vec![0.9, 0.1], vec![0.2, 0.8]]],
/// )?;
/// let both = network.log_likelihood(&[1, 1])?;
/// assert!((both - 0.16_f64.ln()).abs() < 1e-12);
/// # Ok::<(), fishweir_networks::NetworkError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StoredNetwork", into = "StoredNetwork")]
pub struct Network {
    variables: Vec<Variable>,
    shape: Shape,
    /// Probabilities in the shape's cells.
    theta: Vec<f64>,
}

impl Network {
    /// The network with tables `[node][row][state]`.
    ///
    /// # Errors
    /// [`NetworkError`]: what [`Shape::new`] refuses; a table of another size; an entry that is no
    /// probability or a row that does not sum to one within 1e-9, named by node, row and state.
    pub fn new(
        variables: Vec<Variable>,
        parents: Vec<Vec<usize>>,
        tables: &[Vec<Vec<f64>>],
    ) -> Result<Self, NetworkError> {
        let shape = Shape::new(&variables, parents)?;
        if tables.len() != variables.len() {
            let (found, nodes) = (tables.len(), variables.len());
            return Err(NetworkError::Lists { what: "tables", found, nodes });
        }
        for (node, table) in tables.iter().enumerate() {
            let found = table.iter().map(Vec::len).sum();
            let expected = shape.cells(node).len();
            let ragged = table.iter().any(|row| row.len() != shape.cards()[node]);
            if ragged || found != expected {
                let node = variables[node].name.clone();
                return Err(NetworkError::Table { node, found, expected });
            }
        }
        let theta = tables.iter().flatten().flatten().copied().collect();
        Self::of_cells(variables, shape, theta)
    }

    /// The network with the entries of a shape's cells.
    ///
    /// # Errors
    /// As [`new`](Self::new), of the entries.
    pub fn of_cells(
        variables: Vec<Variable>,
        shape: Shape,
        theta: Vec<f64>,
    ) -> Result<Self, NetworkError> {
        if theta.len() != shape.all_cells() {
            let (found, expected) = (theta.len(), shape.all_cells());
            return Err(NetworkError::Table { node: "all".into(), found, expected });
        }
        let network = Self { variables, shape, theta };
        for (node, row, cells) in network.shape.every_row() {
            let row = row - network.shape.rows(node).start;
            let (name, given) = (&network.variables[node].name, || network.given(node, row));
            let entries = &network.theta[cells];
            for (state, &value) in network.variables[node].states.iter().zip(entries) {
                if !(0.0..=1.0 + SUM_TOLERANCE).contains(&value) {
                    let (node, state) = (name.clone(), state.clone());
                    return Err(NetworkError::Entry { node, row, given: given(), state, value });
                }
            }
            let sum: f64 = entries.iter().sum();
            if (sum - 1.0).abs() > SUM_TOLERANCE {
                return Err(NetworkError::Sum { node: name.clone(), row, given: given(), sum });
            }
        }
        Ok(network)
    }

    /// A row in words: the parents' states.
    pub fn given(&self, node: usize, row: usize) -> String {
        let parents = self.shape.parents(node);
        if parents.is_empty() {
            return "without parents".into();
        }
        let states = self.shape.states_of_row(node, row);
        let word = |(&parent, state): (&usize, usize)| {
            let Variable { name, states } = &self.variables[parent];
            format!("{name} = {}", states.get(state).map_or("?", String::as_str))
        };
        parents.iter().zip(states).map(word).collect::<Vec<_>>().join(", ")
    }

    /// The nodes' names and states.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// A node's name.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn name(&self, node: usize) -> &str {
        &self.variables[node].name
    }

    /// The node of a name.
    ///
    /// # Errors
    /// [`NetworkError::UnknownNode`].
    pub fn node(&self, name: &str) -> Result<usize, NetworkError> {
        let found = self.variables.iter().position(|variable| variable.name == name);
        found.ok_or_else(|| NetworkError::UnknownNode(name.to_owned()))
    }

    /// Graph of the network, and layout of its entries.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The probabilities, in the shape's cells.
    pub fn theta(&self) -> &[f64] {
        &self.theta
    }

    /// A node's probabilities, row after row.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn table(&self, node: usize) -> &[f64] {
        &self.theta[self.shape.cells(node)]
    }

    /// Checks records against the nodes' states; [`MISSING`] passes.
    ///
    /// # Errors
    /// [`NetworkError::Length`], [`NetworkError::UnknownState`].
    pub fn check(&self, records: &Records) -> Result<(), NetworkError> {
        records.rows().enumerate().try_for_each(|(index, record)| self.check_record(index, record))
    }

    /// Checks one record, which has a number.
    pub(super) fn check_record(&self, record: usize, states: &[u16]) -> Result<(), NetworkError> {
        let nodes = self.shape.nodes();
        if states.len() != nodes {
            return Err(NetworkError::Length { record, found: states.len(), nodes });
        }
        for ((variable, &value), &card) in self.variables.iter().zip(states).zip(self.shape.cards())
        {
            if value != MISSING && usize::from(value) >= card {
                let node = variable.name.clone();
                return Err(NetworkError::UnknownState { record, node, value, last: card - 1 });
            }
        }
        Ok(())
    }

    /// The cell of each node for a whole record that has been checked.
    ///
    /// # Errors
    /// [`NetworkError::Missing`].
    pub(super) fn cells_of<'a>(
        &'a self,
        index: usize,
        record: &'a [u16],
    ) -> impl Iterator<Item = Result<usize, NetworkError>> + 'a {
        (0..self.shape.nodes()).map(move |node| {
            self.shape.cell(node, record).ok_or_else(|| {
                let absent = record.iter().position(|&value| value == MISSING).unwrap_or(node);
                NetworkError::Missing { record: index, node: self.variables[absent].name.clone() }
            })
        })
    }

    /// `log p(x)` of a whole record, a state per node; minus infinity where it is impossible.
    ///
    /// # Errors
    /// A record of another length, with an unknown state, or with a missing one.
    pub fn log_likelihood(&self, record: &[u16]) -> Result<f64, NetworkError> {
        self.check_record(0, record)?;
        self.cells_of(0, record).map(|cell| Ok(self.theta[cell?].portable_ln())).sum()
    }

    /// Log-likelihoods of many records, in order.
    ///
    /// # Errors
    /// As [`log_likelihood`](Self::log_likelihood), naming the record.
    pub fn log_likelihoods(&self, records: &Records) -> Result<Vec<f64>, NetworkError> {
        self.check(records)?;
        let logs: Vec<f64> = self.theta.iter().map(|theta| theta.portable_ln()).collect();
        let log = |(index, record)| self.cells_of(index, record).map(|cell| Ok(logs[cell?])).sum();
        records.rows().enumerate().map(log).collect()
    }

    /// Records drawn from the network. The same for the same seed, on any number of threads.
    ///
    /// Work: a walk through a row per node and record.
    pub fn sample(&self, count: usize, seed: u64) -> Records {
        let mut records = Records::new(self.shape.nodes());
        self.each_drawn(count, seed, |record| records.push(record));
        records
    }

    /// Hands on records as [`sample`](Self::sample) draws them: a few thousand at a time are kept.
    pub(super) fn each_drawn(&self, count: usize, seed: u64, mut take: impl FnMut(&[u16])) {
        let tasks = count.div_ceil(DRAWN_AT_ONCE);
        for first in (0..tasks).step_by(TASKS_AT_ONCE) {
            let drawn = each(TASKS_AT_ONCE.min(tasks - first), &|task| {
                let done = (first + task) * DRAWN_AT_ONCE;
                let mut draws = Draws { done, ..self.draws(seed) };
                let mut records = Records::new(self.shape.nodes());
                let mut record = vec![0; self.shape.nodes()];
                for _ in 0..DRAWN_AT_ONCE.min(count - done) {
                    draws.next_into(&mut record);
                    records.push(&record);
                }
                records
            });
            drawn.iter().flat_map(Records::rows).for_each(&mut take);
        }
    }

    /// The records of [`sample`](Self::sample), one after the other.
    pub(super) fn draws(&self, seed: u64) -> Draws<'_> {
        Draws { network: self, random: ChaCha8Rng::seed_from_u64(seed), done: 0 }
    }

    /// Draws one record into a buffer with an entry per node.
    pub(super) fn draw(&self, random: &mut impl RngCore, record: &mut [u16]) {
        for &node in self.shape.order() {
            let row = self.shape.row(node, record).unwrap_or(0);
            let card = self.shape.cards()[node];
            let first = self.shape.cells(node).start + row * card;
            record[node] = pick(&self.theta[first..first + card], random.random()) as u16;
        }
    }

    /// Returns the network with its nodes in another order: node `i` of the result is node `order[i]` of this one.
    ///
    /// # Errors
    /// Unless the order has every node once.
    pub fn reordered(&self, order: &[usize]) -> Result<Self, NetworkError> {
        let mut place = vec![usize::MAX; self.shape.nodes()];
        for (to, &from) in order.iter().enumerate() {
            if let Some(place) = place.get_mut(from) {
                *place = to;
            }
        }
        if order.len() != place.len() || place.contains(&usize::MAX) {
            return Err(NetworkError::Other("an order must have every node once".into()));
        }
        let variables: Vec<Variable> =
            order.iter().map(|&node| self.variables[node].clone()).collect();
        let parents = order.iter().map(|&node| {
            self.shape.parents(node).iter().map(|&parent| place[parent]).collect::<Vec<_>>()
        });
        let shape = Shape::new(&variables, parents.collect())?;
        let theta = order.iter().flat_map(|&node| self.table(node)).copied().collect();
        Ok(Self { variables, shape, theta })
    }
}

/// Records in the order in which they are drawn: a generator for each few thousand, on any number of threads.
pub(super) struct Draws<'n> {
    network: &'n Network,
    random: ChaCha8Rng,
    done: usize,
}

impl Draws<'_> {
    /// Draws the next into a buffer with an entry per node.
    pub(super) fn next_into(&mut self, record: &mut [u16]) {
        if self.done.is_multiple_of(DRAWN_AT_ONCE) {
            // A stream begins at its first word.
            self.random.set_stream((self.done / DRAWN_AT_ONCE) as u64);
            self.random.set_word_pos(0);
        }
        self.network.draw(&mut self.random, record);
        self.done += 1;
    }
}

/// The state that a number from 0 to 1 picks; never one of probability zero.
fn pick(probabilities: &[f64], mut at: f64) -> usize {
    let mut last = 0;
    for (state, &p) in probabilities.iter().enumerate() {
        if p > 0.0 {
            if at < p {
                return state;
            }
            last = state;
        }
        at -= p;
    }
    last
}

/// A network as it is stored: parents by name.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredNetwork {
    nodes: Vec<StoredNode>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredNode {
    name: String,
    states: Vec<String>,
    parents: Vec<String>,
    /// `[row][state]`.
    table: Vec<Vec<f64>>,
}

impl From<Network> for StoredNetwork {
    fn from(network: Network) -> Self {
        let node = |(node, variable): (usize, &Variable)| StoredNode {
            name: variable.name.clone(),
            states: variable.states.clone(),
            parents: network
                .shape
                .parents(node)
                .iter()
                .map(|&parent| network.name(parent).to_owned())
                .collect(),
            table: network.table(node).chunks(variable.card()).map(<[f64]>::to_vec).collect(),
        };
        Self { nodes: network.variables.iter().enumerate().map(node).collect() }
    }
}

impl TryFrom<StoredNetwork> for Network {
    type Error = NetworkError;

    fn try_from(StoredNetwork { nodes }: StoredNetwork) -> Result<Self, NetworkError> {
        let names: Vec<String> = nodes.iter().map(|node| node.name.clone()).collect();
        let (mut variables, mut parents, mut tables) = (Vec::new(), Vec::new(), Vec::new());
        for StoredNode { name, states, parents: of_node, table } in nodes {
            let number = |parent: &String| {
                names.iter().position(|name| name == parent).ok_or_else(|| NetworkError::NoParent {
                    node: name.clone(),
                    parent: format!("`{parent}`"),
                })
            };
            parents.push(of_node.iter().map(number).collect::<Result<Vec<_>, _>>()?);
            variables.push(Variable { name, states });
            tables.push(table);
        }
        Self::new(variables, parents, &tables)
    }
}
