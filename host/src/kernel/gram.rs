use std::convert::Infallible;
use std::fmt;
use std::ops::Deref;

use multiversion::multiversion;
use nalgebra::DMatrix;

use super::Symmetric;
use crate::parallel::{map_values, try_each_piece};

/// Rows and columns of a tile: two tiles of rows of features stay in a core's cache while their
/// inner products are taken.
const TILE: usize = 32;

/// Reason why a matrix is no Gram matrix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum GramError {
    /// A kernel value overflowed, or is undefined.
    #[error(
        "the kernel of items {row} and {column} is not finite; normalise the kernel or lower its \
         power"
    )]
    #[strum(serialize = "kernel-not-finite")]
    NotFinite {
        /// One item, from 0.
        row: usize,
        /// The other.
        column: usize,
    },
    /// The eigenvalues of a finite matrix were not found.
    #[error("the eigenvalues of the Gram matrix did not converge")]
    #[strum(serialize = "no-eigenvalues")]
    Eigenvalues,
}

crate::kinds!(GramError);

/// Kernel values of all pairs of `n` items, `k_ij = K(x_i, x_j)`: symmetric to the bit, because each
/// pair is computed once. Read as a [`Symmetric`] matrix.
///
/// RAM: `8 n^2` bytes.
#[derive(Clone, PartialEq)]
pub struct Gram(Symmetric);

impl Deref for Gram {
    type Target = Symmetric;

    fn deref(&self) -> &Symmetric {
        &self.0
    }
}

/// The extreme eigenvalues of a [`Gram`] matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spectrum {
    /// The smallest.
    pub smallest: f64,
    /// The largest.
    pub largest: f64,
    /// Size that rounding may give to an eigenvalue of zero: `16 n` roundings of the largest.
    pub rounding: f64,
}

impl Spectrum {
    /// Returns whether no eigenvalue is negative, rounding aside, so that the matrix can be that of a kernel.
    pub fn is_positive_semidefinite(&self) -> bool {
        self.smallest >= -self.rounding
    }
}

impl Gram {
    /// The matrix with `k_ij = kernel(i, j)`, which is called with `i <= j` alone, in parallel.
    pub fn from_fn(items: usize, kernel: impl Fn(usize, usize) -> f64 + Sync) -> Self {
        let kernel = |i, j| Ok::<_, Infallible>(kernel(i, j));
        match Self::try_from_fn(items, kernel) {
            Ok(gram) => gram,
            Err(never) => match never {},
        }
    }

    /// [`from_fn`](Self::from_fn) with a kernel that may fail.
    ///
    /// # Errors
    /// What the kernel says of some pair.
    pub fn try_from_fn<E: Send>(
        items: usize,
        kernel: impl Fn(usize, usize) -> Result<f64, E> + Sync,
    ) -> Result<Self, E> {
        let mut values = vec![0.0; items * items];
        try_each_piece(&mut values, TILE * items, &|tile, rows| {
            let first = tile * TILE;
            for from in (first..items).step_by(TILE) {
                for (i, row) in (first..).zip(rows.chunks_exact_mut(items)) {
                    let columns = from.max(i)..(from + TILE).min(items);
                    for (j, value) in columns.clone().zip(&mut row[columns]) {
                        *value = kernel(i, j)?;
                    }
                }
            }
            Ok(())
        })?;
        Ok(Self(Symmetric::of_upper(items, values)))
    }

    /// The inner products of rows of features, `[item][feature]`. `n^2 / 2` inner products.
    ///
    /// # Panics
    /// If rows differ in length: a mistake of the caller, not of a file.
    pub fn of_features(features: &[Vec<f64>]) -> Self {
        Self::from_fn(features.len(), |i, j| inner_product(&features[i], &features[j]))
    }

    /// The matrix of some of the items, in the order given; an item may come more than once.
    ///
    /// # Panics
    /// If there is no such item.
    pub fn subset(&self, items: &[usize]) -> Self {
        Self(Symmetric::of_upper(items.len(), self.cross(items, items).values))
    }

    /// The kernel values of some of the items (rows) against others (columns): what a machine
    /// trained on the columns reads of the rows.
    ///
    /// # Panics
    /// If there is no such item.
    pub fn cross(&self, rows: &[usize], columns: &[usize]) -> CrossGram {
        CrossGram::from_fn(rows.len(), columns.len(), |i, j| self.get(rows[i], columns[j]))
    }

    /// Applies a function to every entry, `f(k_ij)`.
    #[must_use]
    pub fn map(mut self, f: impl Fn(f64) -> f64 + Sync) -> Self {
        map_values(self.0.values_mut(), &f);
        self
    }

    /// The cosine kernel `k_ij / sqrt(k_ii k_jj)`: its diagonal is exactly one. An item whose `k_ii`
    /// is not positive has no direction, and its row and column are zero.
    pub fn normalised(&self) -> Self {
        let length: Vec<f64> = self.diagonal().map(f64::sqrt).collect();
        Self::from_fn(self.len(), |i, j| cosine(self.get(i, j), length[i], length[j], i == j))
    }

    /// The extreme eigenvalues.
    ///
    /// Source: nalgebra's tridiagonalisation and its QR steps. Some `4/3 n^3` multiply-adds on one
    /// thread and `16 n^2` bytes.
    ///
    /// # Errors
    /// [`GramError`] naming an entry that is not finite. Without any item both are zero.
    pub fn spectrum(&self) -> Result<Spectrum, GramError> {
        self.check()?;
        if self.is_empty() {
            return Ok(Spectrum { smallest: 0.0, largest: 0.0, rounding: 0.0 });
        }
        let matrix = DMatrix::from_row_slice(self.len(), self.len(), self.values());
        let values = matrix.symmetric_eigenvalues();
        let (smallest, largest) = (values.min(), values.max());
        let rounding = 16.0 * self.len() as f64 * f64::EPSILON * largest.abs().max(smallest.abs());
        Ok(Spectrum { smallest, largest, rounding })
    }

    /// The smallest eigenvalue, as [`spectrum`](Self::spectrum) finds it; minus infinity for a
    /// matrix that has none because an entry is not finite.
    pub fn smallest_eigenvalue(&self) -> f64 {
        self.spectrum().map_or(f64::NEG_INFINITY, |spectrum| spectrum.smallest)
    }

    /// Checks that every entry is finite.
    ///
    /// # Errors
    /// [`GramError::NotFinite`] naming the first that is not.
    pub fn check(&self) -> Result<(), GramError> {
        match self.values().iter().position(|value| !value.is_finite()) {
            Some(index) => {
                let (row, column) = (index / self.len(), index % self.len());
                Err(GramError::NotFinite { row, column })
            }
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Gram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Kernel values of new items (rows) against known ones (columns): `k_ij = K(x_i, y_j)`.
///
/// RAM: `8` bytes per entry.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossGram {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl CrossGram {
    /// The matrix with `k_ij = kernel(i, j)`, computed in parallel.
    pub fn from_fn(
        rows: usize,
        columns: usize,
        kernel: impl Fn(usize, usize) -> f64 + Sync,
    ) -> Self {
        let mut values = vec![0.0; rows * columns];
        let fill = |i, row: &mut [f64]| {
            for (j, value) in row.iter_mut().enumerate() {
                *value = kernel(i, j);
            }
            Ok(())
        };
        match try_each_piece(&mut values, columns, &fill) {
            Ok(()) => Self { rows, columns, values },
            Err::<(), Infallible>(never) => match never {},
        }
    }

    /// The inner products of rows of features, `[item][feature]`.
    ///
    /// # Panics
    /// If rows differ in length: a mistake of the caller, not of a file.
    pub fn of_features(rows: &[Vec<f64>], columns: &[Vec<f64>]) -> Self {
        Self::from_fn(rows.len(), columns.len(), |i, j| inner_product(&rows[i], &columns[j]))
    }

    /// Number of new items.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of known items.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// `K(x_i, y_j)`.
    ///
    /// # Panics
    /// If there is no such item.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.row(i)[j]
    }

    /// `K(x_i, y_1) .. K(x_i, y_n)`.
    ///
    /// # Panics
    /// If there is no such item.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.columns..][..self.columns]
    }

    /// Applies a function to every entry, `f(k_ij)`.
    #[must_use]
    pub fn map(mut self, f: impl Fn(f64) -> f64 + Sync) -> Self {
        map_values(&mut self.values, &f);
        self
    }

    /// The cosine kernel `k_ij / sqrt(K(x_i, x_i) K(y_j, y_j))`, from the two sides' kernels with
    /// themselves. An item whose own is not positive has a row or column of zeros.
    ///
    /// # Panics
    /// If there is not one number per item.
    pub fn normalised(&self, of_rows: &[f64], of_columns: &[f64]) -> Self {
        assert_eq!((of_rows.len(), of_columns.len()), (self.rows, self.columns), "one an item");
        let [of_rows, of_columns] =
            [of_rows, of_columns].map(|own| own.iter().map(|k| k.sqrt()).collect::<Vec<f64>>());
        Self::from_fn(self.rows, self.columns, |i, j| {
            cosine(self.get(i, j), of_rows[i], of_columns[j], false)
        })
    }
}

/// A kernel value over two lengths; exactly one for an item with itself.
fn cosine(kernel: f64, one: f64, other: f64, same: bool) -> f64 {
    match one > 0.0 && other > 0.0 {
        true if same => 1.0,
        // Divided one after the other: the product of two lengths may leave the range.
        true => kernel / one / other,
        false => 0.0,
    }
}

/// `sum_k x_k y_k`, in eight partial sums that fill vector registers; the order does not depend on
/// the machine.
///
/// # Panics
/// If the two differ in length.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn inner_product(x: &[f64], y: &[f64]) -> f64 {
    assert_eq!(x.len(), y.len(), "features of two lengths");
    const LANES: usize = 8;
    let (whole_x, rest_x) = x.as_chunks::<LANES>();
    let (whole_y, rest_y) = y.as_chunks::<LANES>();
    // Of one length, which says that no index needs a check.
    let (whole_y, rest_y) = (&whole_y[..whole_x.len()], &rest_y[..rest_x.len()]);
    let mut sums = [0.0; LANES];
    for block in 0..whole_x.len() {
        let (x, y) = (&whole_x[block], &whole_y[block]);
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let mut rest = 0.0;
    for k in 0..rest_x.len() {
        rest += rest_x[k] * rest_y[k];
    }
    let mut sum = 0.0;
    for lane in 0..LANES {
        sum += sums[lane];
    }
    sum + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features(items: usize, dimension: usize) -> Vec<Vec<f64>> {
        let entry = |i: usize, k: usize| ((i * 31 + k * 17 + i * k) % 23) as f64 / 7.0 - 1.5;
        (0..items).map(|i| (0..dimension).map(|k| entry(i, k)).collect()).collect()
    }

    #[test]
    fn every_pair_is_asked_once_and_mirrored() {
        for items in [0, 1, 2, TILE, TILE + 1, 3 * TILE + 5] {
            let gram = Gram::from_fn(items, |i, j| {
                assert!(i <= j, "asked for ({i}, {j})");
                (1000 * i + j) as f64
            });
            for i in 0..items {
                for j in 0..items {
                    assert_eq!(gram.get(i, j), (1000 * i.min(j) + i.max(j)) as f64);
                }
            }
        }
    }

    #[test]
    fn inner_products_of_any_length() {
        for length in [0, 1, 7, 8, 9, 40, 43] {
            let rows = features(2, length);
            let plain: f64 = rows[0].iter().zip(&rows[1]).map(|(x, y)| x * y).sum();
            assert!((inner_product(&rows[0], &rows[1]) - plain).abs() < 1e-12);
        }
    }

    #[test]
    fn the_spectrum_of_a_known_matrix() {
        // 2 on the diagonal, 1 next to it, n = 3: 2 + 2 cos(pi k / 4).
        let gram = Gram::from_fn(3, |i, j| match j - i {
            0 => 2.0,
            1 => 1.0,
            _ => 0.0,
        });
        let spectrum = gram.spectrum().expect("finite");
        assert!((spectrum.smallest - (2.0 - 2.0_f64.sqrt())).abs() < 1e-14);
        assert!((spectrum.largest - (2.0 + 2.0_f64.sqrt())).abs() < 1e-14);
        assert!(spectrum.is_positive_semidefinite());
        assert!(!gram.map(|k| 1.0 - k).spectrum().expect("finite").is_positive_semidefinite());
    }

    #[test]
    fn few_features_leave_zeros_to_rounding_and_no_more() {
        let spectrum = Gram::of_features(&features(60, 5)).spectrum().expect("finite");
        assert!(spectrum.is_positive_semidefinite(), "{spectrum:?}");
        assert!(spectrum.smallest.abs() <= spectrum.rounding && spectrum.largest > 1.0);
    }

    #[test]
    fn what_is_not_finite_is_named() {
        let gram = Gram::from_fn(4, |i, j| if (i, j) == (1, 2) { f64::NAN } else { 1.0 });
        assert_eq!(gram.spectrum(), Err(GramError::NotFinite { row: 1, column: 2 }));
        assert_eq!(gram.smallest_eigenvalue(), f64::NEG_INFINITY);
        let failed = Gram::try_from_fn(3, |i, j| if i == j { Err((i, j)) } else { Ok(0.0) });
        assert!(matches!(failed, Err((i, j)) if i == j));
    }

    #[test]
    fn cosine_has_a_diagonal_of_one_and_no_direction_where_there_is_no_length() {
        let mut rows = features(6, 4);
        rows[3] = vec![0.0; 4];
        rows[4] = vec![1e-160; 4];
        let gram = Gram::of_features(&rows).normalised();
        for (i, k) in gram.diagonal().enumerate() {
            assert_eq!(k, f64::from(i != 3), "item {i}");
        }
        assert!(gram.row(3).iter().all(|&k| k == 0.0));
        assert!(gram.rows().flatten().all(|k| k.abs() <= 1.0 + 1e-14));
        let raw = Gram::of_features(&rows);
        let own: Vec<f64> = raw.diagonal().collect();
        let cross = raw.cross(&[5, 3, 0], &[1, 2]);
        let normalised = cross.normalised(&[own[5], own[3], own[0]], &own[1..3]);
        assert_eq!((normalised.rows(), normalised.columns()), (3, 2));
        for (i, row) in [5, 3, 0].into_iter().enumerate() {
            for (j, column) in [1, 2].into_iter().enumerate() {
                assert_eq!(normalised.get(i, j), gram.get(row.min(column), row.max(column)));
            }
        }
    }

    #[test]
    fn a_subset_keeps_the_order_asked_for() {
        let gram = Gram::of_features(&features(5, 3));
        let picked = gram.subset(&[4, 0, 4]);
        assert_eq!(picked.row(1), [gram.get(0, 4), gram.get(0, 0), gram.get(0, 4)]);
        assert_eq!(picked.len(), 3);
        let rows = features(5, 3);
        assert_eq!(CrossGram::of_features(&rows[..2], &rows[2..]).row(1), &gram.row(1)[2..]);
    }
}
