//! Gram matrices of logarithms: kernels of long sequences, and of models of them, are far below the
//! least number.

use std::ops::Deref;

use super::{CrossGram, Gram, Symmetric};
use crate::elementary::Elementary;
use crate::parallel::each;

/// `log k` of all pairs of `n` items; minus infinity where a kernel is zero. Read as a [`Symmetric`]
/// matrix.
///
/// RAM: `8 n^2` bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct LogGram(Symmetric);

impl Deref for LogGram {
    type Target = Symmetric;

    fn deref(&self) -> &Symmetric {
        &self.0
    }
}

impl LogGram {
    /// The matrix with `log k(i, j) = kernel(i, j)`, which is called with `j <= i` alone, in parallel.
    ///
    /// # Errors
    /// One of the kernel's.
    pub(crate) fn try_from_fn<E: Send>(
        items: usize,
        kernel: impl Fn(usize, usize) -> Result<f64, E> + Sync,
    ) -> Result<Self, E> {
        let row = |i: usize| (0..=i).map(|j| kernel(i, j)).collect::<Result<Vec<f64>, E>>();
        // The longest first: they end together.
        let rows = each(items, &|task| row(items - 1 - task)).into_iter().rev();
        Ok(Self::of_lower(rows.collect::<Result<_, E>>()?))
    }

    /// The matrix of rows `[log k(i, 0), ..., log k(i, i)]`; the upper triangle is their mirror image.
    pub(crate) fn of_lower(rows: Vec<Vec<f64>>) -> Self {
        Self(Symmetric::of_lower(rows))
    }

    /// The cosines `exp(log k(i, j) - (log k(i, i) + log k(j, j)) / 2)`, which no length makes
    /// underflow; zero where an item's kernel with itself is.
    pub fn normalised(&self) -> Gram {
        let diagonal: Vec<f64> = self.diagonal().collect();
        Gram::from_fn(self.len(), |i, j| cosine(self.get(i, j), diagonal[i], diagonal[j]))
    }

    /// The kernels themselves, `exp(log k)`: zero below the least number.
    pub fn kernels(&self) -> Gram {
        Gram::from_fn(self.len(), |i, j| self.get(i, j).portable_exp())
    }

    /// The kernels over the largest kernel of an item with itself, and its logarithm: as
    /// [`kernels`](Self::kernels), but for a factor that keeps the largest within range.
    pub fn scaled(&self) -> (Gram, f64) {
        let scale = self.diagonal().fold(f64::NEG_INFINITY, f64::max);
        let scale = if scale.is_finite() { scale } else { 0.0 };
        (Gram::from_fn(self.len(), |i, j| (self.get(i, j) - scale).portable_exp()), scale)
    }
}

/// `log k` of new items (rows) with stored ones (columns), and of each with itself.
#[derive(Clone, Debug, PartialEq)]
pub struct LogCrossGram {
    /// `log k` of each row's item with itself.
    pub row_diagonal: Vec<f64>,
    /// `log k` of each column's item with itself.
    pub column_diagonal: Vec<f64>,
    /// `[row][column]`.
    logs: Vec<Vec<f64>>,
}

impl LogCrossGram {
    pub(crate) fn new(
        row_diagonal: Vec<f64>,
        column_diagonal: Vec<f64>,
        logs: Vec<Vec<f64>>,
    ) -> Self {
        Self { row_diagonal, column_diagonal, logs }
    }

    /// `log k(row, column)`.
    ///
    /// # Panics
    /// If there is no such row or column.
    pub fn get(&self, row: usize, column: usize) -> f64 {
        self.logs[row][column]
    }

    /// `log k` of a new item with all stored ones.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.logs[row]
    }

    /// The cosines, as [`LogGram::normalised`].
    pub fn normalised(&self) -> CrossGram {
        let (rows, columns) = (self.row_diagonal.len(), self.column_diagonal.len());
        CrossGram::from_fn(rows, columns, |i, j| {
            cosine(self.get(i, j), self.row_diagonal[i], self.column_diagonal[j])
        })
    }

    /// The kernels over the factor whose logarithm a [`LogGram::scaled`] of the columns gave.
    pub fn scaled(&self, log_scale: f64) -> CrossGram {
        let (rows, columns) = (self.row_diagonal.len(), self.column_diagonal.len());
        CrossGram::from_fn(rows, columns, |i, j| (self.get(i, j) - log_scale).portable_exp())
    }
}

fn cosine(log: f64, own: f64, other: f64) -> f64 {
    if log == f64::NEG_INFINITY || own == f64::NEG_INFINITY || other == f64::NEG_INFINITY {
        return 0.0;
    }
    (log - 0.5 * (own + other)).portable_exp()
}
