use std::fmt;

/// A square matrix that equals its mirror image, of a number a pair of items: what a
/// [`Gram`](super::Gram) and a [`LogGram`](super::LogGram) are read by.
///
/// RAM: `8 n^2` bytes.
#[derive(Clone, PartialEq)]
pub struct Symmetric {
    items: usize,
    /// `[item][item]`, row after row.
    values: Vec<f64>,
}

impl Symmetric {
    /// The matrix whose upper triangle is that of rows, one after the other; the lower one is its mirror
    /// image. For there not to be `items^2` values is a mistake of the caller.
    pub(super) fn of_upper(items: usize, mut values: Vec<f64>) -> Self {
        debug_assert_eq!(values.len(), items * items);
        for i in 0..items {
            for j in i + 1..items {
                values[j * items + i] = values[i * items + j];
            }
        }
        Self { items, values }
    }

    /// The matrix of rows `[x(i, 0), ..., x(i, i)]`; the upper triangle is their mirror image.
    pub(super) fn of_lower(rows: Vec<Vec<f64>>) -> Self {
        let items = rows.len();
        let mut values = vec![0.0; items * items];
        for (i, row) in rows.into_iter().enumerate() {
            for (j, value) in row.into_iter().enumerate() {
                values[j * items + i] = value;
            }
        }
        Self::of_upper(items, values)
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.items
    }

    /// Returns whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.items == 0
    }

    /// The number of items `i` and `j`.
    ///
    /// # Panics
    /// If there is no such item.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.row(i)[j]
    }

    /// The numbers of item `i` with all.
    ///
    /// # Panics
    /// If there is no such item.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.items..][..self.items]
    }

    /// The rows, in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        (0..self.items).map(|i| self.row(i))
    }

    /// The number of each item with itself.
    pub fn diagonal(&self) -> impl ExactSizeIterator<Item = f64> {
        (0..self.items).map(|i| self.get(i, i))
    }

    /// Row after row.
    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    /// Borrows the values to change every entry alike.
    pub(super) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }
}

impl fmt::Debug for Symmetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.rows()).finish()
    }
}
