//! Rows of features.

/// Rows of features, row-major, in `f32`: a training set is read many times, and half the bytes are
/// half the time.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    columns: usize,
    values: Vec<f32>,
}

impl Matrix {
    /// A matrix with `columns` columns and no row.
    pub fn new(columns: usize) -> Self {
        Self { columns, values: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it has another length than the matrix has columns.
    pub fn push(&mut self, row: &[f64]) {
        assert_eq!(row.len(), self.columns, "a row must have one entry per column");
        self.values.extend(row.iter().map(|&x| x as f32));
    }

    /// The first `rows` rows.
    pub(crate) fn first(&self, rows: usize) -> Self {
        Self { values: self.values[..rows * self.columns].to_vec(), ..*self }
    }

    /// Some of the rows, in the order given.
    pub fn some(&self, of: &[usize]) -> Self {
        Self { values: of.iter().flat_map(|&row| self.row(row)).copied().collect(), ..*self }
    }

    /// Adds the rows of another matrix with the same number of columns.
    pub(crate) fn append(&mut self, other: &Self) {
        assert_eq!(other.columns, self.columns, "a row must have one entry per column");
        self.values.extend_from_slice(&other.values);
    }

    /// Keeps the first `rows` rows.
    pub(crate) fn truncate(&mut self, rows: usize) {
        self.values.truncate(rows * self.columns);
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The rows, in order.
    pub fn rows(&self) -> std::slice::ChunksExact<'_, f32> {
        self.values.chunks_exact(self.columns.max(1))
    }

    /// A row.
    ///
    /// # Panics
    /// Index past the last row.
    pub fn row(&self, index: usize) -> &[f32] {
        &self.values[index * self.columns..][..self.columns]
    }

    /// The rows, to be changed in place.
    pub fn rows_mut(&mut self) -> std::slice::ChunksExactMut<'_, f32> {
        self.values.chunks_exact_mut(self.columns.max(1))
    }
}
