//! Features of a kernel matrix: its Cholesky factor with pivots.

use super::expansion::KernelLearnError;
use crate::kernel::Gram;

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
pub(super) fn features(gram: &Gram) -> Result<Vec<Vec<f64>>, KernelLearnError> {
    let items = gram.len();
    let mut left: Vec<f64> = gram.diagonal().collect();
    let scale = left.iter().fold(0.0_f64, |most, entry| most.max(entry.abs()));
    let zero = ROUNDINGS * items as f64 * f64::EPSILON * scale;
    let mut columns: Vec<Vec<f64>> = Vec::new();
    while columns.len() < items {
        let (pivot, largest) = left
            .iter()
            .copied()
            .enumerate()
            .fold((0, f64::NEG_INFINITY), |best, one| if one.1 > best.1 { one } else { best });
        if largest <= zero {
            break;
        }
        let root = largest.sqrt();
        let mut column = remainder(gram, &columns, pivot);
        column.iter_mut().for_each(|entry| *entry /= root);
        for (left, entry) in left.iter_mut().zip(&column) {
            *left -= entry * entry;
        }
        left[pivot] = 0.0;
        columns.push(column);
    }
    // A remainder of a semi-definite matrix is semi-definite: with a diagonal of zeros it is zero.
    let allowed = 16.0 * zero;
    let is_zero = |row: usize| remainder(gram, &columns, row).iter().all(|k| k.abs() <= allowed);
    if (0..items).all(is_zero) { Ok(columns) } else { Err(KernelLearnError::NotSemidefinite) }
}

/// A row of the matrix less what the columns found so far make of it.
fn remainder(gram: &Gram, columns: &[Vec<f64>], row: usize) -> Vec<f64> {
    let mut rest = gram.row(row).to_vec();
    for column in columns {
        let factor = column[row];
        for (rest, entry) in rest.iter_mut().zip(column) {
            *rest -= factor * entry;
        }
    }
    rest
}
