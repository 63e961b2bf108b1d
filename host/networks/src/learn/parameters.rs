//! Tables from counts.

use serde::{Deserialize, Serialize};

use super::super::{Network, NetworkError, Shape};
use crate::records::{MISSING, Records, Variable};

/// A Dirichlet prior of every row of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Prior {
    /// Number of additional records in each cell; 0 for maximum likelihood.
    PseudoCount(f64),
    /// Number of additional records in total, spread evenly over each node's cells: `a / (q_i r_i)` in each.
    Equivalent(f64),
}

impl Prior {
    /// Checks the number.
    ///
    /// # Errors
    /// Unless it is finite and not negative.
    pub fn validate(self) -> Result<(), NetworkError> {
        let (Self::PseudoCount(value) | Self::Equivalent(value)) = self;
        if value.is_finite() && value >= 0.0 {
            return Ok(());
        }
        let range = "finite and not negative";
        Err(NetworkError::Setting { name: "the prior's count", value, range })
    }

    /// Number that the prior adds to each cell of a node with `cells` cells.
    #[must_use]
    pub fn of_cell(self, cells: usize) -> f64 {
        match self {
            Self::PseudoCount(count) => count,
            Self::Equivalent(count) => count / cells as f64,
        }
    }

    /// `(n_ijk + a_ijk) / sum_k`, of counts in the shape's cells; an even row where all is zero.
    #[must_use]
    pub fn estimate(self, shape: &Shape, counts: &[f64]) -> Vec<f64> {
        let mut theta = counts.to_vec();
        for (node, _, cells) in shape.every_row() {
            let (added, card) = (self.of_cell(shape.cells(node).len()), cells.len() as f64);
            let row = &mut theta[cells];
            let sum = row.iter().sum::<f64>() + added * card;
            for entry in row {
                *entry = if sum > 0.0 { (*entry + added) / sum } else { 1.0 / card };
            }
        }
        theta
    }
}

/// A network of a graph, its tables the mean of their posterior: counts and the prior's, divided by their
/// sum.
///
/// A row of the tables is estimated from the records that have the node and its parents, whatever else
/// they lack; [`ExpectationMaximisation`](super::ExpectationMaximisation) makes use of the others.
///
/// # Errors
/// [`NetworkError`]: an invalid graph, records that do not fit, a prior out of range.
pub fn fit_parameters(
    variables: &[Variable],
    parents: &[Vec<usize>],
    records: &Records,
    prior: Prior,
) -> Result<Network, NetworkError> {
    prior.validate()?;
    let shape = Shape::new(variables, parents.to_vec())?;
    check_records(variables, records)?;
    let theta = prior.estimate(&shape, &count(&shape, records));
    Network::of_cells(variables.to_vec(), shape, theta)
}

/// Counts in the shape's cells, of the records that have a node and its parents.
pub(super) fn count(shape: &Shape, records: &Records) -> Vec<f64> {
    let mut counts = vec![0.0; shape.all_cells()];
    for record in records.rows() {
        let cells = (0..shape.nodes()).filter_map(|node| shape.cell(node, record));
        cells.for_each(|cell| counts[cell] += 1.0);
    }
    counts
}

/// Checks records against variables.
pub(crate) fn check_records(variables: &[Variable], records: &Records) -> Result<(), NetworkError> {
    if records.columns() != variables.len() {
        let (found, nodes) = (records.columns(), variables.len());
        return Err(NetworkError::Length { record: 0, found, nodes });
    }
    for (record, row) in records.rows().enumerate() {
        for (&value, variable) in row.iter().zip(variables) {
            if value != MISSING && usize::from(value) >= variable.card() {
                let (node, last) = (variable.name.clone(), variable.card().saturating_sub(1));
                return Err(NetworkError::UnknownState { record, node, value, last });
            }
        }
    }
    Ok(())
}
