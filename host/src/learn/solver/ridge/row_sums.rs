//! The normal equations of rows that come in order, some at a time.

use nalgebra::{Cholesky, DMatrix, DVector};

use super::RIDGE_AT_MOST;
use crate::learn::solver::expansion::{KernelLearnError, Linear};
use crate::learn::solver::matrix::Matrix;
use crate::sums::{LEAF, Products, Sums, sum_leaves};

/// Sums of rows, leaf by leaf along the tree of [`Sums`], from which machines of all classes follow: with the sums `s_c` of a
/// class's rows, the mean `m` of `n` rows and targets `y` of one and minus one,
///
/// ```text
/// Z' Z = sum x x' - n m m',   Z' t = sum y x - mean(y) sum x,   w = (Z' Z + 1 / (2 C))^-1 Z' t,   b = mean(y) - m . w
/// ```
///
/// RAM: `log2(n / 64)` triangles of `d^2 / 2` reals, and 64 more at a time; it does not grow with the rows otherwise.
pub(crate) struct RowSums {
    sums: Sums<Products>,
    /// Rows and classes that do not fill a leaf yet.
    rows: Matrix,
    labels: Vec<usize>,
    leaves: usize,
    classes: usize,
}

impl RowSums {
    /// Sums of no row yet, of `columns` features and some classes.
    ///
    /// # Errors
    /// [`KernelLearnError::TooLarge`] of more than [`RIDGE_AT_MOST`] features.
    pub(crate) fn new(columns: usize, classes: usize) -> Result<Self, KernelLearnError> {
        if columns > RIDGE_AT_MOST {
            return Err(KernelLearnError::TooLarge { size: columns, most: RIDGE_AT_MOST });
        }
        let (sums, rows) = (Sums::new(), Matrix::new(columns));
        Ok(Self { sums, rows, labels: Vec::new(), leaves: 0, classes })
    }

    /// Adds the next rows, with a class each.
    pub(crate) fn add(&mut self, rows: &Matrix, labels: &[usize]) {
        self.rows.append(rows);
        self.labels.extend(labels);
        let full = self.labels.len() / LEAF;
        self.sum(full);
        let rest: Vec<usize> = (full * LEAF..self.labels.len()).collect();
        self.rows = self.rows.some(&rest);
        self.labels.drain(..full * LEAF);
    }

    /// Sums the first leaves of those that are there.
    fn sum(&mut self, count: usize) {
        let rows: Vec<&[f32]> = self.rows.rows().collect();
        let (labels, first, columns) = (&self.labels, self.leaves, self.rows.columns());
        let of_leaf = |leaf: usize| {
            let from = (leaf - first) * LEAF;
            let to = labels.len().min(from + LEAF);
            let products =
                Products::of_rows(&rows[from..to], (&labels[from..to], self.classes), columns);
            Ok::<_, std::convert::Infallible>(products)
        };
        let Ok(sums) = sum_leaves(first..first + count, &of_leaf);
        for (at, level, sum) in sums.into_nodes() {
            // No leaf comes twice.
            let _ = self.sums.insert(at, level, sum);
        }
        self.leaves += count;
    }

    /// The machines of a cost, one per output.
    ///
    /// # Errors
    /// [`KernelLearnError`]: no row, or entries that leave no factor.
    pub(crate) fn machines(mut self, c: f64) -> Result<Vec<Linear>, KernelLearnError> {
        self.sum(self.labels.len().div_ceil(LEAF));
        let total = self.sums.total(self.leaves).ok().flatten().ok_or(KernelLearnError::Empty)?;
        solved(&total, c)
    }
}

/// The machines of a cost, one per output.
///
/// # Errors
/// [`KernelLearnError`]: no row, or entries that leave no factor.
pub(crate) fn solved(sums: &Products, c: f64) -> Result<Vec<Linear>, KernelLearnError> {
    let (classes, columns, count) = (sums.counts().len(), sums.columns(), sums.count());
    if count == 0.0 {
        return Err(KernelLearnError::Empty);
    }
    let of_class = |class: usize| DVector::from_column_slice(sums.of_class(class));
    let all = DVector::from_vec(sums.sum());
    let mean = &all / count;
    let moments = DMatrix::from_fn(columns, columns, |i, j| {
        let penalty = if i == j { 0.5 / c } else { 0.0 };
        let (i, j) = (i.max(j), i.min(j));
        sums.product(i, j) - count * mean[i] * mean[j] + penalty
    });
    let factor = Cholesky::new(moments).ok_or(KernelLearnError::NotSemidefinite)?;
    let found = if classes == 2 { 1..2 } else { 0..classes };
    let machine = |class: usize| {
        let middle = 2.0 * sums.counts()[class] / count - 1.0;
        let along = of_class(class) * 2.0 - &all * (1.0 + middle);
        let weights = factor.solve(&along);
        let bias = middle - mean.dot(&weights);
        Linear { weights: weights.iter().copied().collect(), bias }
    };
    Ok(found.map(machine).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::solver::loss::ClassWeight;
    use crate::learn::solver::ridge::RIDGE;

    #[test]
    fn rows_that_come_in_parts_make_the_machines_of_all_rows() {
        let mut random = 7_u32;
        let mut draw = || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(random >> 8) / f64::from(1 << 24) - 0.5
        };
        let (mut rows, mut labels) = (Matrix::new(5), Vec::new());
        for item in 0..333 {
            let row: Vec<f64> = (0..5).map(|k| draw() + f64::from(item % 3 == k)).collect();
            rows.push(&row);
            labels.push(item as usize % 3);
        }
        let whole = RIDGE.path(&rows, &labels, 3, &[2.0], ClassWeight::Even).expect("a machine");
        let in_parts = |ends: &[usize]| {
            let mut sums = RowSums::new(5, 3).expect("few");
            let mut from = 0;
            for &to in ends {
                let some: Vec<usize> = (from..to).collect();
                sums.add(&rows.some(&some), &labels[from..to]);
                from = to;
            }
            sums.machines(2.0).expect("machines")
        };
        let machines = in_parts(&[333]);
        for (one, other) in machines.iter().zip(&whole[0]) {
            let near = |one: f64, other: f64| (one - other).abs() < 1e-9 * (1.0 + other.abs());
            assert!(near(one.bias, other.bias), "{} {}", one.bias, other.bias);
            assert!(one.weights.iter().zip(&other.weights).all(|(&one, &other)| near(one, other)));
        }
        for ends in [&[1, 64, 65, 333][..], &[63, 128, 192, 320, 333], &[0, 300, 333]] {
            assert_eq!(in_parts(ends), machines, "the bits are those of the rows alone");
        }
    }
}
