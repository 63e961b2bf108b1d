use serde::{Deserialize, Serialize};

use super::tree::Summand;
use crate::parallel::each;
use crate::product::{View, product};

/// Features whose products with all before them are computed at a time.
const BLOCK: usize = 128;

/// Sums of rows, class by class, and of their products.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Products {
    /// `[class]`.
    counts: Vec<f64>,
    /// `[class][feature]`.
    sums: Vec<f64>,
    /// `x_i x_j`, `[i][j]` of `j <= i`.
    products: Vec<f64>,
}

impl Summand for Products {
    fn add(&mut self, other: &Self) {
        let parts = [
            (&mut self.counts, &other.counts),
            (&mut self.sums, &other.sums),
            (&mut self.products, &other.products),
        ];
        for (own, other) in parts {
            own.iter_mut().zip(other).for_each(|(own, other)| *own += other);
        }
    }
}

impl Products {
    /// Sums of rows, of single or of double precision, each with a class.
    pub(crate) fn of_rows<T: Copy + Into<f64>>(
        rows: &[&[T]],
        (labels, classes): (&[usize], usize),
        columns: usize,
    ) -> Self {
        let mut own = Self {
            counts: vec![0.0; classes],
            sums: vec![0.0; classes * columns],
            products: Vec::with_capacity(columns * (columns + 1) / 2),
        };
        let mut wide = Vec::with_capacity(rows.len() * columns);
        for (row, &label) in rows.iter().zip(labels) {
            own.counts[label] += 1.0;
            let sums = &mut own.sums[label * columns..][..columns];
            for k in 0..columns {
                let value = row[k].into();
                wide.push(value);
                sums[k] += value;
            }
        }
        let features = View::of_columns(&wide, columns, rows.len());
        for from in (0..columns).step_by(BLOCK) {
            let to = columns.min(from + BLOCK);
            // What is above the diagonal is computed in its block alone.
            let block = product(features.rows(from..to), features.rows(0..to).transposed());
            for i in from..to {
                own.products.extend(block.row(i - from).iter().take(i + 1));
            }
        }
        own
    }
}

impl Products {
    /// Returns whether they are of some features and classes, and finite.
    pub(crate) fn fits(&self, columns: usize, classes: usize) -> bool {
        let all = [&self.counts, &self.sums, &self.products];
        let triangle = columns.saturating_mul(columns.saturating_add(1)) / 2;
        let wanted = [classes, classes.saturating_mul(columns), triangle];
        let finite = |numbers: &&Vec<f64>| numbers.iter().all(|number| number.is_finite());
        all.map(Vec::len) == wanted && all.iter().all(finite)
    }

    /// Number of features.
    pub(crate) fn columns(&self) -> usize {
        self.sums.len() / self.counts.len().max(1)
    }

    /// The sum of `x_i x_j`.
    pub(crate) fn product(&self, i: usize, j: usize) -> f64 {
        let (i, j) = (i.max(j), i.min(j));
        self.products[i * (i + 1) / 2 + j]
    }

    /// Number of rows.
    pub(crate) fn count(&self) -> f64 {
        self.counts.iter().sum()
    }

    /// Sum of the rows of all classes.
    pub(crate) fn sum(&self) -> Vec<f64> {
        let columns = self.columns();
        let mut all = vec![0.0; columns];
        for of_class in self.sums.chunks(columns.max(1)) {
            all.iter_mut().zip(of_class).for_each(|(all, own)| *all += own);
        }
        all
    }

    /// Mean and mean square of each feature.
    pub(crate) fn moments(&self) -> (Vec<f64>, Vec<f64>) {
        let count = self.count().max(1.0);
        let mean = self.sum().into_iter().map(|sum| sum / count).collect();
        (mean, (0..self.columns()).map(|k| self.product(k, k) / count).collect())
    }

    /// Sums of the rows of a class.
    pub(crate) fn of_class(&self, class: usize) -> &[f64] {
        &self.sums[class * self.columns()..][..self.columns()]
    }

    /// Number of rows of each class.
    pub(crate) fn counts(&self) -> &[f64] {
        &self.counts
    }

    /// The sums of rows that a linear map has mapped, `S' = W S` and `P' = W P W'`.
    pub(crate) fn mapped(&self, map: &(dyn Fn(Vec<f64>) -> Vec<f64> + Sync)) -> Self {
        let columns = self.columns();
        let sums = self.sums.chunks(columns.max(1)).flat_map(|row| map(row.to_vec())).collect();
        let row = |i: usize| map((0..columns).map(|j| self.product(i, j)).collect());
        let half: Vec<Vec<f64>> = each(columns, &row);
        let row = |j: usize| map(half.iter().map(|row| row[j]).collect());
        let whole: Vec<Vec<f64>> = each(columns, &row);
        let products = (0..columns).flat_map(|i| whole[i][..=i].to_vec()).collect();
        Self { counts: self.counts.clone(), sums, products }
    }

    /// The sums of rows `(x - offset) factor`.
    pub(crate) fn standardised(&self, standard: &[(f64, f64)]) -> Self {
        let (count, all) = (self.count(), self.sum());
        let mut own = self.clone();
        for (sums, count) in own.sums.chunks_mut(standard.len().max(1)).zip(&self.counts) {
            for (sum, &(offset, factor)) in sums.iter_mut().zip(standard) {
                *sum = (*sum - count * offset) * factor;
            }
        }
        let mut at = 0;
        for (i, &(left, by)) in standard.iter().enumerate() {
            for (j, &(right, factor)) in standard[..=i].iter().enumerate() {
                let centred =
                    own.products[at] - left * all[j] - right * all[i] + count * left * right;
                own.products[at] = centred * by * factor;
                at += 1;
            }
        }
        own
    }
}
