//! The Fisher kernel of a network.

use super::{Inference, Network, NetworkError, Width};
use crate::records::{MISSING, Records};
use fishweir::internals::each;
use fishweir::kernel::Gram;

/// Records drawn where a network is too wide for exact probabilities.
const DRAWN: usize = 1_000_000;

/// Records whose expected statistics are one task.
const AT_ONCE: usize = 64;

/// Tasks that keep counts of all cells, at most: each has its own until they are summed.
const MOST_COUNTS: usize = 64;

/// Whole records that are counted in one task, at least.
const COUNTED_AT_ONCE: usize = 1 << 16;

/// The Fisher kernel of a network with all its information, an inner product of features in the shape of
/// the tables:
///
/// ```text
/// K(x, y) = sum_i [same row j of i] / P_ij ( [x_i = y_i] / theta_ij,x_i - 1 ) = phi(x) . phi(y)
/// phi_ijk(x) = [row of i is j] ([x_i = k] - theta_ijk) / sqrt(P_ij theta_ijk)
/// ```
///
/// `P_ij` is the probability of row `j` of node `i`. It is the same for all networks that stand for the same
/// distribution by equivalent structures. Of a record with missing fields, or hidden nodes, the feature is
/// the expected one, `E[phi | what is there]`: the kernel marginalised over what is not.
///
/// Source: Leppä-aho, Silander and Roos, "Bayesian network Fisher kernel for categorical feature spaces",
/// Behaviormetrika 47, 2020, theorem 1; Tsuda, Kin and Asai, "Marginalized kernels for biological
/// sequences", 2002.
#[derive(Clone, Debug)]
pub struct NetworkFisher {
    network: Network,
    /// `None` where the network is too wide.
    inference: Option<Inference>,
    most: Width,
    /// `P_ij`, of all rows.
    rows: Vec<f64>,
    /// `1 / (P theta)` of all cells, zero where that is not finite.
    precision: Vec<f64>,
}

impl NetworkFisher {
    /// The kernel of a network. Probabilities of rows are exact where no clique is larger than `most`;
    /// else they are those of 1 000 000 records drawn with `seed`, with a pseudo-count of one per row.
    pub fn new(network: Network, most: Width, seed: u64) -> Self {
        let inference = Inference::of(&network, most).ok();
        let nothing = vec![MISSING; network.shape().nodes()];
        let exact = inference.as_ref().and_then(|inference| inference.posterior(&nothing));
        let rows = match exact {
            Some(prior) => (0..network.shape().nodes()).flat_map(|i| prior.parents(i)).collect(),
            None => drawn_rows(&network, seed),
        };
        let mut precision = vec![0.0; network.shape().all_cells()];
        for (_, row, cells) in network.shape().every_row() {
            for cell in cells {
                let inverse = 1.0 / (rows[row] * network.theta()[cell]);
                precision[cell] = if inverse.is_finite() { inverse } else { 0.0 };
            }
        }
        Self { network, inference, most, rows, precision }
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Returns whether the probabilities of rows are exact.
    pub fn is_exact(&self) -> bool {
        self.inference.is_some()
    }

    /// `P_ij`: the probability of each row of a node's parents.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn parent_probabilities(&self, node: usize) -> &[f64] {
        &self.rows[self.network.shape().rows(node)]
    }

    /// `1 / (P theta)` in the shape's cells; zero where a cell has no probability.
    pub fn precision(&self) -> &[f64] {
        &self.precision
    }

    /// The dimension of the space of features: `sum_ij (r_ij - 1)` over rows with probability and the
    /// states that have some in them.
    pub fn dimension(&self) -> usize {
        let of_row = |(_, _, cells): (usize, usize, std::ops::Range<usize>)| {
            let possible = self.precision[cells].iter().filter(|&&inverse| inverse > 0.0).count();
            possible.saturating_sub(1)
        };
        self.network.shape().every_row().map(of_row).sum()
    }

    /// Exact inference for missing fields.
    pub(super) fn inference(&self) -> Result<&Inference, NetworkError> {
        match &self.inference {
            Some(inference) => Ok(inference),
            None => Err(Inference::of(&self.network, self.most).err().unwrap_or_else(|| {
                NetworkError::Other("exact inference is not possible here".into())
            })),
        }
    }

    /// The cell of each node of a whole record, `None` for a record with missing fields.
    ///
    /// # Errors
    /// A record that the network makes impossible.
    pub(super) fn cells(
        &self,
        index: usize,
        record: &[u16],
    ) -> Result<Option<Vec<usize>>, NetworkError> {
        if record.contains(&MISSING) {
            return Ok(None);
        }
        let cells: Vec<usize> = self.network.cells_of(index, record).collect::<Result<_, _>>()?;
        match cells.iter().position(|&cell| self.precision[cell] == 0.0) {
            None => Ok(Some(cells)),
            Some(node) => {
                let node = Some(self.network.name(node).to_owned());
                Err(NetworkError::Impossible { record: index, node })
            }
        }
    }

    /// Expected counts of a record with missing fields, in the shape's cells.
    fn expected(&self, index: usize, record: &[u16]) -> Result<Vec<f64>, NetworkError> {
        let posterior = self.inference()?.posterior(record);
        let impossible = NetworkError::Impossible { record: index, node: None };
        Ok(posterior.ok_or(impossible)?.families())
    }

    /// Counts in the shape's cells, over all records; expected ones of those with missing fields.
    ///
    /// # Errors
    /// A record that does not fit the network or that it makes impossible; one with missing fields where
    /// the network is too wide.
    pub fn counts(&self, records: &Records) -> Result<Vec<f64>, NetworkError> {
        self.network.check(records)?;
        let shape = self.network.shape();
        let counted = records.len().div_ceil(MOST_COUNTS).max(COUNTED_AT_ONCE);
        let whole = each(records.len().div_ceil(counted), &|task| {
            let (mut counts, mut missing) = (vec![0_u32; shape.all_cells()], Vec::new());
            let all = records.rows().enumerate().skip(task * counted);
            for (index, record) in all.take(counted) {
                if record.contains(&MISSING) {
                    missing.push(index);
                    continue;
                }
                let cells = (0..shape.nodes()).filter_map(|node| shape.cell(node, record));
                cells.for_each(|cell| counts[cell] += 1);
            }
            (counts, missing)
        });
        let (mut counts, mut missing) = (vec![0.0; shape.all_cells()], Vec::new());
        for (of_task, missing_there) in whole {
            counts.iter_mut().zip(of_task).for_each(|(sum, count)| *sum += f64::from(count));
            missing.extend(missing_there);
        }
        if counts.iter().zip(&self.precision).any(|(&n, &inverse)| n > 0.0 && inverse == 0.0) {
            // Which it was is looked for only here.
            records
                .rows()
                .enumerate()
                .try_for_each(|(index, row)| self.cells(index, row).map(drop))?;
        }
        let at_once = missing.len().div_ceil(MOST_COUNTS).max(AT_ONCE);
        let expected = each(missing.len().div_ceil(at_once), &|task| {
            let mut sum = vec![0.0; counts.len()];
            for &index in missing[task * at_once..].iter().take(at_once) {
                let of_record = self.expected(index, records.row(index))?;
                sum.iter_mut().zip(of_record).for_each(|(sum, one)| *sum += one);
            }
            Ok::<_, NetworkError>(sum)
        });
        for sum in expected {
            counts.iter_mut().zip(sum?).for_each(|(all, sum)| *all += sum);
        }
        Ok(counts)
    }

    /// Counts less their expectations given the rows' counts: `n_ijk - n_ij theta_ijk`.
    pub(super) fn centre(&self, counts: &[f64]) -> Vec<f64> {
        let mut centred = counts.to_vec();
        for (_, _, cells) in self.network.shape().every_row() {
            let row: f64 = counts[cells.clone()].iter().sum();
            if row != 0.0 {
                for cell in cells {
                    centred[cell] -= row * self.network.theta()[cell];
                }
            }
        }
        centred
    }

    /// `sum D D' / (P theta)` of two tables of centred counts.
    pub(super) fn product(&self, a: &[f64], b: &[f64]) -> f64 {
        let terms = a.iter().zip(b).zip(&self.precision);
        terms.map(|((a, b), inverse)| a * b * inverse).sum()
    }

    /// The features of each record, `[record][cell]`: dense, `8` bytes per cell.
    ///
    /// # Errors
    /// As [`counts`](Self::counts).
    pub fn features(&self, records: &Records) -> Result<Vec<Vec<f64>>, NetworkError> {
        self.network.check(records)?;
        let features = each(records.len().div_ceil(AT_ONCE), &|task| {
            let first = task * AT_ONCE;
            (first..(first + AT_ONCE).min(records.len()))
                .map(|index| self.feature(index, records.row(index)))
                .collect::<Result<Vec<_>, _>>()
        });
        let features: Vec<Vec<Vec<f64>>> = features.into_iter().collect::<Result<_, _>>()?;
        Ok(features.into_iter().flatten().collect())
    }

    fn feature(&self, index: usize, record: &[u16]) -> Result<Vec<f64>, NetworkError> {
        let counts = match self.cells(index, record)? {
            Some(cells) => {
                let mut counts = vec![0.0; self.precision.len()];
                cells.into_iter().for_each(|cell| counts[cell] = 1.0);
                counts
            }
            None => self.expected(index, record)?,
        };
        let mut feature = self.centre(&counts);
        for (entry, inverse) in feature.iter_mut().zip(&self.precision) {
            *entry *= inverse.sqrt();
        }
        Ok(feature)
    }

    /// The kernel of all pairs of records.
    ///
    /// Work: a comparison per node and pair; where fields are missing, two operations per cell and pair. RAM:
    /// `8 n^2` bytes for the matrix.
    ///
    /// # Errors
    /// As [`counts`](Self::counts).
    pub fn gram(&self, records: &Records) -> Result<Gram, NetworkError> {
        if records.missing() > 0 {
            return Ok(Gram::of_features(&self.features(records)?));
        }
        self.network.check(records)?;
        let of_record = |(index, record)| Ok(self.cells(index, record)?.unwrap_or_default());
        let cells: Vec<Vec<usize>> =
            records.rows().enumerate().map(of_record).collect::<Result<_, NetworkError>>()?;
        Ok(Gram::from_fn(cells.len(), |i, j| self.pair(&cells[i], &cells[j])))
    }

    /// `K(x, y)` of two whole records by their cells.
    pub(super) fn pair(&self, x: &[usize], y: &[usize]) -> f64 {
        let shape = self.network.shape();
        let of_node = |(node, (&x, &y)): (usize, (&usize, &usize))| {
            let (first, card) = (shape.cells(node).start, shape.cards()[node]);
            let (row, other) = ((x - first) / card, (y - first) / card);
            if row != other {
                return 0.0;
            }
            let same = if x == y { self.precision[x] } else { 0.0 };
            same - 1.0 / self.rows[shape.rows(node).start + row]
        };
        x.iter().zip(y).enumerate().map(of_node).sum()
    }
}

/// Probabilities of rows, `(n_ij + 1) / (n + q_i)` over records drawn.
fn drawn_rows(network: &Network, seed: u64) -> Vec<f64> {
    let shape = network.shape();
    let mut rows = vec![1.0; shape.all_rows()];
    network.each_drawn(DRAWN, seed, |record| {
        for node in 0..shape.nodes() {
            rows[shape.rows(node).start + shape.row(node, record).unwrap_or(0)] += 1.0;
        }
    });
    for node in 0..shape.nodes() {
        let all = (DRAWN + shape.rows(node).len()) as f64;
        rows[shape.rows(node)].iter_mut().for_each(|row| *row /= all);
    }
    rows
}
