//! Square matrices over row-major slices of `size * size`, for covariance matrices and the like: small,
//! dense, factorised in place.
//!
//! Entries outside a slice read as zero and are not written, so nothing panics; the caller's slices have
//! the size that is said. Sums are in one fixed order, so that every machine computes the same bits.
//!
//! | function | multiply-adds at size `n` |
//! |---|---|
//! | [`cholesky`], [`invert`] | `n^3 / 6` |
//! | [`solve`], [`solve_transposed`] | `n^2 / 2` |
//! | [`solve_lower`] | `n^3 / 6` |
//! | [`congruence`] | `n^3` to `2 n^3` |
//! | [`log_determinant`] | `n`, and a logarithm |

use crate::number::{LogProduct, Real};

/// An entry; zero outside the slice.
#[inline(always)]
pub fn at<T: Real>(matrix: &[T], size: usize, row: usize, column: usize) -> T {
    matrix.get(row * size + column).copied().unwrap_or(T::ZERO)
}

/// Sets an entry; has no effect outside the slice.
#[inline(always)]
pub fn put<T: Real>(matrix: &mut [T], size: usize, row: usize, column: usize, value: T) {
    if let Some(entry) = matrix.get_mut(row * size + column) {
        *entry = value;
    }
}

/// The lower Cholesky factor `S` of `matrix = S S'`, in place of its lower triangle; the upper
/// triangle becomes zero. A squared pivot below `floor(row)` is raised to it.
///
/// # Errors
/// The first row whose squared pivot is not positive in working precision: it depends on the rows before
/// it, or the matrix is not positive definite.
pub fn cholesky<T: Real>(
    matrix: &mut [T],
    size: usize,
    floor: impl Fn(usize) -> T,
) -> Result<(), usize> {
    for row in 0..size {
        for column in 0..row {
            let dot = (0..column).fold(T::ZERO, |sum, k| {
                sum + at(matrix, size, row, k) * at(matrix, size, column, k)
            });
            let entry = at(matrix, size, row, column) - dot;
            put(matrix, size, row, column, entry / at(matrix, size, column, column));
            put(matrix, size, column, row, T::ZERO);
        }
        let diagonal = at(matrix, size, row, row);
        let dot = (0..row).fold(T::ZERO, |sum, k| {
            let entry = at(matrix, size, row, k);
            sum + entry * entry
        });
        let square = Real::max(diagonal - dot, floor(row));
        // Of a difference within some roundings of the diagonal no digit is left.
        let digits = square * T::power_of_two(-4);
        let visible = square > T::ZERO && (square >= diagonal || diagonal + digits > diagonal);
        if !visible || !square.is_finite() {
            return Err(row);
        }
        put(matrix, size, row, row, square.sqrt());
    }
    Ok(())
}

/// Solves `lower y = x` in place: forward substitution.
pub fn solve<T: Real>(lower: &[T], size: usize, x: &mut [T]) {
    for row in 0..size {
        let dot = x
            .iter()
            .enumerate()
            .take(row)
            .fold(T::ZERO, |sum, (k, &y)| sum + at(lower, size, row, k) * y);
        if let Some(entry) = x.get_mut(row) {
            *entry = (*entry - dot) / at(lower, size, row, row);
        }
    }
}

/// Solves `lower' y = x` in place: back substitution.
pub fn solve_transposed<T: Real>(lower: &[T], size: usize, x: &mut [T]) {
    for row in (0..size).rev() {
        let dot = x
            .iter()
            .enumerate()
            .take(size)
            .skip(row + 1)
            .fold(T::ZERO, |sum, (k, &y)| sum + at(lower, size, k, row) * y);
        if let Some(entry) = x.get_mut(row) {
            *entry = (*entry - dot) / at(lower, size, row, row);
        }
    }
}

/// `log |lower lower'|`, twice the sum of the logarithms on the diagonal: of the matrix whose Cholesky
/// factor it is.
pub fn log_determinant<T: Real>(lower: &[T], size: usize) -> T {
    let product = (0..size).fold(LogProduct::ONE, |p, row| p.times(at(lower, size, row, row)));
    let half = product.log();
    half + half
}

/// Solves `lower Y = X` in place, where `X` is a lower triangle, too.
pub fn solve_lower<T: Real>(lower: &[T], size: usize, x: &mut [T]) {
    for column in 0..size {
        for row in column..size {
            let dot = (column..row)
                .fold(T::ZERO, |sum, k| sum + at(lower, size, row, k) * at(x, size, k, column));
            let entry = at(x, size, row, column) - dot;
            put(x, size, row, column, entry / at(lower, size, row, row));
        }
    }
}

/// Replaces `lower` by its inverse: by rows, each needs those above it only.
pub fn invert<T: Real>(lower: &mut [T], size: usize) {
    for row in 0..size {
        let reciprocal = T::ONE / at(lower, size, row, row);
        for column in 0..row {
            // Rows above hold their inverse already; this one, right of `column`, its entries.
            let dot = (column..row)
                .fold(T::ZERO, |sum, k| sum + at(lower, size, row, k) * at(lower, size, k, column));
            put(lower, size, row, column, -dot * reciprocal);
        }
        put(lower, size, row, row, reciprocal);
    }
}

/// Side of a [`congruence`] on which the factor stands untransposed.
#[derive(Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Side {
    /// `factor matrix factor'`.
    Left,
    /// `factor' matrix factor`.
    Right,
}

/// `scale factor matrix factor'` or `scale factor' matrix factor`, in place; `factor` is lower
/// triangular.
pub fn congruence<T: Real>(factor: &[T], side: Side, scale: T, size: usize, matrix: &mut [T]) {
    let left = |row, k| match side {
        Side::Left => at(factor, size, row, k),
        Side::Right => at(factor, size, k, row),
    };
    // An entry needs those before it (left) or after it (right) as they were: so from that end on.
    let order = |index: usize| match side {
        Side::Left => size - 1 - index,
        Side::Right => index,
    };
    for row in 0..size {
        for column in (0..size).map(order) {
            let dot =
                (0..size).fold(T::ZERO, |sum, k| sum + at(matrix, size, row, k) * left(column, k));
            put(matrix, size, row, column, dot);
        }
    }
    for column in 0..size {
        for row in (0..size).map(order) {
            let dot =
                (0..size).fold(T::ZERO, |sum, k| sum + left(row, k) * at(matrix, size, k, column));
            put(matrix, size, row, column, scale * dot);
        }
    }
}
