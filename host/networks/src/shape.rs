//! A network's shape: whose parents are whose, and where the tables' entries lie.

use std::ops::Range;

use super::error::{CELLS_AT_MOST, NetworkError};
use crate::records::{MISSING, Variable};

/// A directed graph without cycles over nodes with states, and the place of every entry of tables in its
/// form: `[node][row][state]`, one after the other.
///
/// A *row* is a configuration of a node's parents: a mixed-radix number over the parents as they are
/// listed, the last varying fastest; 0 without parents. A *cell* is a row and a state, numbered through
/// all nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    cards: Vec<usize>,
    parents: Vec<Vec<usize>>,
    /// Parents before their children.
    order: Vec<usize>,
    /// The first row of each node, and the number of all.
    rows: Vec<usize>,
    /// The first cell of each node, and the number of all.
    cells: Vec<usize>,
}

impl Shape {
    /// The shape of nodes with these parents, `[node]`.
    ///
    /// # Errors
    /// [`NetworkError`]: nodes or states without a name or with the same name, a parent that is unknown or listed twice, a table
    /// of more than [`CELLS_AT_MOST`] entries, or a cycle, which is named.
    pub fn new(variables: &[Variable], parents: Vec<Vec<usize>>) -> Result<Self, NetworkError> {
        check_variables(variables)?;
        if parents.len() != variables.len() {
            let (found, nodes) = (parents.len(), variables.len());
            return Err(NetworkError::Lists { what: "lists of parents", found, nodes });
        }
        let cards: Vec<usize> = variables.iter().map(Variable::card).collect();
        let (mut rows, mut cells) = (vec![0], vec![0]);
        for (node, of_node) in parents.iter().enumerate() {
            let name = || variables[node].name.clone();
            for (index, &parent) in of_node.iter().enumerate() {
                let Some(variable) = variables.get(parent) else {
                    let parent = format!("number {parent}");
                    return Err(NetworkError::NoParent { node: name(), parent });
                };
                if of_node[..index].contains(&parent) {
                    let parent = variable.name.clone();
                    return Err(NetworkError::ParentTwice { node: name(), parent });
                }
            }
            let of_node = of_node.iter().map(|&parent| cards[parent]);
            let (q, size) = table_size(of_node, cards[node])
                .filter(|(_, size)| cells[node] + size <= CELLS_AT_MOST)
                .ok_or_else(|| NetworkError::TooLarge { node: name() })?;
            rows.push(rows[node] + q);
            cells.push(cells[node] + size);
        }
        let order = order(&parents).map_err(|cycle| {
            let names = cycle.iter().map(|&node| variables[node].name.as_str());
            NetworkError::Cycle(names.collect::<Vec<_>>().join(" -> "))
        })?;
        Ok(Self { cards, parents, order, rows, cells })
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.cards.len()
    }

    /// Number of states of each node.
    pub fn cards(&self) -> &[usize] {
        &self.cards
    }

    /// The parents of a node, in the order of its rows.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn parents(&self, node: usize) -> &[usize] {
        &self.parents[node]
    }

    /// The parents of each node.
    pub fn all_parents(&self) -> &[Vec<usize>] {
        &self.parents
    }

    /// The edges, `(parent, child)`, child by child.
    pub fn edges(&self) -> impl Iterator<Item = (usize, usize)> {
        let of_node = |(child, parents): (usize, &Vec<usize>)| {
            parents.iter().map(|&parent| (parent, child)).collect::<Vec<_>>()
        };
        self.parents.iter().enumerate().flat_map(of_node)
    }

    /// A node's parents and the node, last.
    pub fn family(&self, node: usize) -> Vec<usize> {
        self.parents[node].iter().copied().chain([node]).collect()
    }

    /// The nodes, parents before their children.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The rows of a node among all rows.
    pub fn rows(&self, node: usize) -> Range<usize> {
        self.rows[node]..self.rows[node + 1]
    }

    /// Number of rows of all nodes.
    pub fn all_rows(&self) -> usize {
        self.rows[self.nodes()]
    }

    /// The cells of a node among all cells.
    pub fn cells(&self, node: usize) -> Range<usize> {
        self.cells[node]..self.cells[node + 1]
    }

    /// Number of cells of all nodes.
    pub fn all_cells(&self) -> usize {
        self.cells[self.nodes()]
    }

    /// Free parameters: `sum_i q_i (r_i - 1)`.
    pub fn parameters(&self) -> usize {
        self.all_cells() - self.all_rows()
    }

    /// Each row of all: its node, its number among all, its cells.
    pub fn every_row(&self) -> impl Iterator<Item = (usize, usize, Range<usize>)> {
        (0..self.nodes()).flat_map(move |node| {
            let (card, first) = (self.cards[node], self.cells[node]);
            self.rows(node)
                .zip((first..).step_by(card))
                .map(move |(row, cell)| (node, row, cell..cell + card))
        })
    }

    /// The row of a node, from the node's first, that a record has; `None` where a parent's state is
    /// missing. The record's states must be the nodes'.
    pub fn row(&self, node: usize, record: &[u16]) -> Option<usize> {
        self.parents[node].iter().try_fold(0, |row, &parent| {
            (record[parent] != MISSING)
                .then(|| row * self.cards[parent] + usize::from(record[parent]))
        })
    }

    /// The cell of a node that a record has; `None` where one of its fields is missing.
    pub fn cell(&self, node: usize, record: &[u16]) -> Option<usize> {
        let row = self.row(node, record)?;
        let state = record[node];
        (state != MISSING).then(|| self.cells[node] + row * self.cards[node] + usize::from(state))
    }

    /// The parents' states of a row counted from the node's first, in the order of the parents.
    pub fn states_of_row(&self, node: usize, row: usize) -> Vec<usize> {
        let mut rest = row;
        let mut states: Vec<usize> = self.parents[node]
            .iter()
            .rev()
            .map(|&parent| {
                let state = rest % self.cards[parent];
                rest /= self.cards[parent];
                state
            })
            .collect();
        states.reverse();
        states
    }
}

/// Rows and entries of a table, unless there are too many.
pub(super) fn table_size(
    mut parents: impl Iterator<Item = usize>,
    card: usize,
) -> Option<(usize, usize)> {
    let rows = parents.try_fold(1_usize, |rows, card| {
        rows.checked_mul(card).filter(|&rows| rows <= CELLS_AT_MOST)
    })?;
    rows.checked_mul(card).filter(|&size| size <= CELLS_AT_MOST).map(|size| (rows, size))
}

/// Checks names and states.
pub(super) fn check_variables(variables: &[Variable]) -> Result<(), NetworkError> {
    if variables.is_empty() {
        return Err(NetworkError::Empty);
    }
    let mut names: Vec<&str> = variables.iter().map(|variable| variable.name.as_str()).collect();
    if let Some(name) = twice(&mut names) {
        return Err(NetworkError::SameName(name));
    }
    for Variable { name, states } in variables {
        if name.is_empty() || states.iter().any(String::is_empty) {
            let what = "a node, or a state of one, has no name; give it one";
            return Err(NetworkError::Other(what.into()));
        }
        let node = name.clone();
        if states.is_empty() || states.len() > usize::from(MISSING) {
            return Err(NetworkError::States { node, states: states.len() });
        }
        if let Some(state) = twice(&mut states.iter().map(String::as_str).collect::<Vec<_>>()) {
            return Err(NetworkError::SameState { node, state });
        }
    }
    Ok(())
}

/// A name that comes more than once.
fn twice(names: &mut [&str]) -> Option<String> {
    names.sort_unstable();
    names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0].to_owned())
}

/// The nodes with parents first, the lowest number among those that could be next; or a cycle, its first
/// node again at its end.
fn order(parents: &[Vec<usize>]) -> Result<Vec<usize>, Vec<usize>> {
    let mut children = vec![Vec::new(); parents.len()];
    let mut waits: Vec<usize> = parents.iter().map(Vec::len).collect();
    for (child, of_child) in parents.iter().enumerate() {
        of_child.iter().for_each(|&parent| children[parent].push(child));
    }
    let mut ready: std::collections::BTreeSet<usize> =
        (0..parents.len()).filter(|&node| waits[node] == 0).collect();
    let mut order = Vec::with_capacity(parents.len());
    while let Some(node) = ready.pop_first() {
        order.push(node);
        for &child in &children[node] {
            waits[child] -= 1;
            if waits[child] == 0 {
                ready.insert(child);
            }
        }
    }
    if order.len() == parents.len() {
        return Ok(order);
    }
    // Every node that is left has a parent that is left: going up must come round.
    let left = |node: &usize| waits[*node] > 0;
    let mut path: Vec<usize> = (0..parents.len()).filter(left).take(1).collect();
    while let Some(&node) = path.last() {
        let Some(up) = parents[node].iter().copied().find(|parent| left(parent)) else { break };
        if let Some(first) = path.iter().position(|&other| other == up) {
            path.drain(..first);
            path.push(up);
            path.reverse();
            break;
        }
        path.push(up);
    }
    Err(path)
}
