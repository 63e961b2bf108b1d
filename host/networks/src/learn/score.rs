//! Score of a graph on whole records.

use std::collections::HashMap;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use statrs::function::gamma::ln_gamma;

use super::super::NetworkError;
use super::columns::Columns;
use crate::records::{Records, Variable};
use fishweir::internals::Elementary;
use fishweir::internals::each;

/// Cells of a family's counts at most; wider families are not looked at.
pub(super) const CELLS_AT_MOST: f64 = (1 << 20) as f64;

/// The score of a graph, a sum over nodes; larger is better, in nats. Equivalent graphs have the same.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Score {
    /// `sum_i ( sum_jk n_ijk log(n_ijk / n_ij) - log(n)/2 q_i (r_i - 1) )`.
    ///
    /// Source: Schwarz, "Estimating the dimension of a model", 1978.
    Bic,
    /// The log marginal likelihood under a Dirichlet prior of `a / (q_i r_i)` in each cell.
    ///
    /// Source: Heckerman, Geiger and Chickering, "Learning Bayesian networks: the combination of knowledge
    /// and statistical data", 1995.
    Bdeu {
        /// The equivalent sample size `a`, above zero.
        equivalent: f64,
    },
}

impl Score {
    /// Checks its numbers.
    ///
    /// # Errors
    /// An equivalent sample size that is not finite or not above zero.
    pub fn validate(self) -> Result<(), NetworkError> {
        match self {
            Self::Bdeu { equivalent } if !(equivalent.is_finite() && equivalent > 0.0) => {
                let (name, range) = ("the equivalent sample size", "finite and above 0");
                Err(NetworkError::Setting { name, value: equivalent, range })
            }
            _ => Ok(()),
        }
    }

    /// The part of a node with `r` states, of its counts, row after row.
    fn of_counts(self, counts: &[u32], r: usize, records: usize) -> f64 {
        let q = (counts.len() / r) as f64;
        match self {
            Self::Bic => {
                let xlogx =
                    |n: u32| if n == 0 { 0.0 } else { f64::from(n) * f64::from(n).portable_ln() };
                let of_row = |row: &[u32]| {
                    row.iter().map(|&n| xlogx(n)).sum::<f64>() - xlogx(row.iter().sum())
                };
                let fit: f64 = counts.chunks(r).map(of_row).sum();
                fit - 0.5 * (records as f64).portable_ln() * q * (r as f64 - 1.0)
            }
            Self::Bdeu { equivalent } => {
                let (of_row, of_cell) = (equivalent / q, equivalent / (q * r as f64));
                let (row_zero, cell_zero) = (ln_gamma(of_row), ln_gamma(of_cell));
                let seen = |row: &&[u32]| row.iter().any(|&n| n > 0);
                let row = |row: &[u32]| {
                    let total: u32 = row.iter().sum();
                    let cells = row.iter().filter(|&&n| n > 0);
                    let cells = cells.map(|&n| ln_gamma(f64::from(n) + of_cell) - cell_zero);
                    cells.sum::<f64>() + row_zero - ln_gamma(f64::from(total) + of_row)
                };
                counts.chunks(r).filter(seen).map(row).sum()
            }
        }
    }
}

/// Scores of families, each computed once.
pub(super) struct Scorer<'a> {
    pub(super) columns: &'a Columns,
    score: Score,
    /// Scores by node and its parents in order.
    known: Mutex<HashMap<(usize, Vec<usize>), f64>>,
}

impl<'a> Scorer<'a> {
    pub(super) fn new(columns: &'a Columns, score: Score) -> Self {
        Self { columns, score, known: Mutex::default() }
    }

    /// The score of a node with parents, in order.
    pub(super) fn family(&self, node: usize, parents: &[usize]) -> f64 {
        self.families(node, &[parents.to_vec()])[0]
    }

    /// The scores of a node with each of several sets of parents, each in order.
    pub(super) fn families(&self, node: usize, sets: &[Vec<usize>]) -> Vec<f64> {
        let lock = || self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut scores: Vec<Option<f64>> = {
            let known = lock();
            sets.iter().map(|set| known.get(&(node, set.clone())).copied()).collect()
        };
        for (score, set) in scores.iter_mut().zip(sets) {
            if score.is_none() {
                let found = self.count(node, set);
                lock().insert((node, set.clone()), found);
                *score = Some(found);
            }
        }
        scores.into_iter().map(|score| score.unwrap_or(f64::NEG_INFINITY)).collect()
    }

    /// Minus infinity where the table would be too large.
    fn count(&self, node: usize, parents: &[usize]) -> f64 {
        let Columns { cards, values, records, .. } = self.columns;
        let (q, r) = (self.columns.configurations(parents), cards[node]);
        if q * r as f64 > CELLS_AT_MOST {
            return f64::NEG_INFINITY;
        }
        let mut counts = vec![0_u32; q as usize * r];
        // The commonest families, without a pass that writes rows.
        match parents {
            [] => values[node].iter().for_each(|&x| counts[usize::from(x)] += 1),
            [one] => {
                for (&p, &x) in values[*one].iter().zip(&values[node]) {
                    counts[usize::from(p) * r + usize::from(x)] += 1;
                }
            }
            _ => {
                for (&row, &x) in self.columns.rows(parents).iter().zip(&values[node]) {
                    counts[row as usize * r + usize::from(x)] += 1;
                }
            }
        }
        self.score.of_counts(&counts, r, *records)
    }

    /// The score of a graph.
    pub(super) fn graph(&self, parents: &[Vec<usize>]) -> f64 {
        each(parents.len(), &|node| self.family(node, &parents[node])).into_iter().sum()
    }
}

/// The score of a graph over the columns of whole records, `parents[column]`.
///
/// # Errors
/// [`NetworkError`]: invalid variables, records that do not fit or have missing fields, a parent that is not a column.
pub fn graph_score(
    score: Score,
    variables: &[Variable],
    parents: &[Vec<usize>],
    records: &Records,
) -> Result<f64, NetworkError> {
    score.validate()?;
    super::super::Shape::new(variables, parents.to_vec())?;
    let columns = Columns::of(variables, records)?;
    let mut of_place = vec![Vec::new(); columns.len()];
    for (column, of_column) in parents.iter().enumerate() {
        let mut places: Vec<usize> =
            of_column.iter().filter_map(|&parent| columns.place(parent)).collect();
        places.sort_unstable();
        if let Some(place) = columns.place(column) {
            of_place[place] = places;
        }
    }
    Ok(Scorer::new(&columns, score).graph(&of_place))
}
