//! What files about kernels on scores have in common: inner products, and what rounding does to them.

use super::schema::{Matrix, Row};

/// Scores of several items, `[item][parameter]`, and how far rounding may have taken each number.
pub(super) struct Features {
    pub(super) score: Matrix,
    pub(super) error: Matrix,
}

impl Features {
    /// Inner products under a metric, and the error of each. Without a metric, plain ones.
    pub(super) fn gram(&self, metric: Option<&Matrix>) -> (Matrix, Matrix) {
        let plain = |a: &Row, b: &Row| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let product = |a: &Row, b: &Row, metric: Option<&Matrix>| match metric {
            None => plain(a, b),
            Some(metric) => metric.iter().zip(a).map(|(row, a)| a * plain(row, b)).sum(),
        };
        let absolute = |rows: &Matrix| -> Matrix {
            rows.iter().map(|row| row.iter().map(|x| x.abs()).collect()).collect()
        };
        let gram =
            self.score.iter().map(|a| self.score.iter().map(|b| product(a, b, metric)).collect());
        let (size, metric) = (absolute(&self.score), metric.map(absolute));
        let of = |a: &Row, b: &Row| product(a, b, metric.as_ref());
        let error =
            |(a, da): (&Row, &Row), (b, db): (&Row, &Row)| of(a, db) + of(da, b) + of(da, db);
        let rows = || size.iter().zip(&self.error);
        let errors = rows().map(|a| rows().map(|b| error(a, b)).collect());
        (gram.collect(), errors.collect())
    }

    /// The largest error of any entry.
    pub(super) fn most(&self) -> f64 {
        self.error.iter().flatten().fold(0.0, |most: f64, error| most.max(*error))
    }
}

/// A Gram matrix of the items that are possible as one of all items: the others have no kernel with any.
pub(super) fn with_gaps(gram: Matrix, possible: &[bool]) -> Vec<Vec<Option<f64>>> {
    let mut rows = gram.into_iter();
    let row = |here: &bool| {
        let mut row = if *here { rows.next() } else { None }.map(Vec::into_iter);
        let entry = |there: &bool| if *there { row.as_mut()?.next() } else { None };
        possible.iter().map(entry).collect()
    };
    possible.iter().map(row).collect()
}
