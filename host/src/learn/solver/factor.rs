//! Features of a kernel matrix: its Cholesky factor with pivots, of all of it or of some rows.

use crate::kernel::Gram;
use crate::learn::solver::expansion::KernelLearnError;

/// Pivots below this many roundings of the largest are zeros.
const ROUNDINGS: f64 = 4.0;

/// `G` with `G G' = K`, as columns `[feature][item]`: as many as the matrix has rank, so that items
/// with few features stay cheap however many there are.
///
/// The largest entry left on the diagonal is the next pivot; it ends when that is zero to rounding.
/// Work: `n r^2 / 2` multiply-adds, and as many to check what is left. RAM: `n r` reals.
///
/// # Errors
/// [`KernelLearnError::NotSemidefinite`] if what is left is not zero.
pub(crate) fn features(gram: &Gram) -> Result<Vec<Vec<f64>>, KernelLearnError> {
    let items = gram.len();
    let mut factor = Factor::new(gram.diagonal().collect());
    let scale = factor.left.iter().fold(0.0_f64, |most, entry| most.max(entry.abs()));
    let zero = ROUNDINGS * items as f64 * f64::EPSILON * scale;
    while factor.columns.len() < items {
        let (pivot, largest) = factor
            .left
            .iter()
            .copied()
            .enumerate()
            .fold((0, f64::NEG_INFINITY), |best, one| if one.1 > best.1 { one } else { best });
        if largest <= zero {
            break;
        }
        factor.take(pivot, gram.row(pivot).to_vec());
    }
    // A remainder of a semi-definite matrix is semi-definite: with a diagonal of zeros it is zero.
    let allowed = 16.0 * zero;
    let is_zero = |row: usize| {
        factor.remainder(row, gram.row(row).to_vec()).iter().all(|k| k.abs() <= allowed)
    };
    if (0..items).all(is_zero) {
        Ok(factor.columns)
    } else {
        Err(KernelLearnError::NotSemidefinite)
    }
}

/// A Cholesky factor that grows by a pivot at a time: `G G'` is `K` in every pivot's row and column.
pub(crate) struct Factor {
    /// `K - G G'` on the diagonal, `[item]`.
    pub(crate) left: Vec<f64>,
    /// `G`, `[pivot][item]`.
    pub(crate) columns: Vec<Vec<f64>>,
}

impl Factor {
    /// Creates a factor without a pivot, from the diagonal of `K`.
    pub(crate) fn new(diagonal: Vec<f64>) -> Self {
        Self { left: diagonal, columns: Vec::new() }
    }

    /// An item of which something is left as the next pivot; `row` is its row of `K`.
    pub(crate) fn take(&mut self, pivot: usize, row: Vec<f64>) {
        let root = self.left[pivot].sqrt();
        let mut column = self.remainder(pivot, row);
        column.iter_mut().for_each(|entry| *entry /= root);
        for (left, entry) in self.left.iter_mut().zip(&column) {
            *left -= entry * entry;
        }
        self.left[pivot] = 0.0;
        self.columns.push(column);
    }

    /// An item's row of `K` less the part that the columns found so far explain.
    fn remainder(&self, item: usize, mut row: Vec<f64>) -> Vec<f64> {
        for column in &self.columns {
            let factor = column[item];
            for (rest, entry) in row.iter_mut().zip(column) {
                *rest -= factor * entry;
            }
        }
        row
    }
}
