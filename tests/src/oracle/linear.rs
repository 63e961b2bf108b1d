/// A square matrix eliminated with row exchanges: solves and determinants without the Cholesky
/// factor that the emissions under test use.
#[derive(Clone, Debug)]
pub struct Factored {
    /// Unit lower triangle below the diagonal, upper triangle on and above it.
    rows: Vec<Vec<f64>>,
    /// Which row of the matrix stands where.
    order: Vec<usize>,
}

impl Factored {
    /// Eliminates.
    pub fn of(matrix: &[Vec<f64>]) -> Self {
        let n = matrix.len();
        let mut rows = matrix.to_vec();
        let mut order: Vec<usize> = (0..n).collect();
        for column in 0..n {
            let pivot = (column..n)
                .max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()))
                .unwrap_or(column);
            rows.swap(column, pivot);
            order.swap(column, pivot);
            let (done, rest) = rows.split_at_mut(column + 1);
            let pivot_row = &done[column];
            for row in rest {
                let factor = row[column] / pivot_row[column];
                row[column] = factor;
                for (entry, pivot) in row.iter_mut().zip(pivot_row).skip(column + 1) {
                    *entry -= factor * pivot;
                }
            }
        }
        Self { rows, order }
    }

    /// The solution of `matrix x = right`.
    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
        let n = self.rows.len();
        let mut x: Vec<f64> = self.order.iter().map(|&row| right[row]).collect();
        for row in 0..n {
            for column in 0..row {
                x[row] -= self.rows[row][column] * x[column];
            }
        }
        for row in (0..n).rev() {
            for column in row + 1..n {
                x[row] -= self.rows[row][column] * x[column];
            }
            x[row] /= self.rows[row][row];
        }
        x
    }

    /// The inverse, `[row][column]`.
    pub fn inverse(&self) -> Vec<Vec<f64>> {
        let n = self.rows.len();
        let columns: Vec<Vec<f64>> = (0..n)
            .map(|column| {
                let mut unit = vec![0.0; n];
                unit[column] = 1.0;
                self.solve(&unit)
            })
            .collect();
        (0..n).map(|row| columns.iter().map(|column| column[row]).collect()).collect()
    }

    /// `log |det matrix|`.
    pub fn log_determinant(&self) -> f64 {
        self.rows.iter().enumerate().map(|(i, row)| row[i].abs().ln()).sum()
    }
}

/// The least eigenvalue of a symmetric matrix, by Jacobi's rotations.
pub fn least_eigenvalue(matrix: &[Vec<f64>]) -> f64 {
    let mut a = matrix.to_vec();
    let n = a.len();
    for _ in 0..60 {
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q] == 0.0 {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let tangent = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let cosine = 1.0 / tangent.hypot(1.0);
                let sine = tangent * cosine;
                for row in &mut a {
                    (row[p], row[q]) =
                        (cosine * row[p] - sine * row[q], sine * row[p] + cosine * row[q]);
                }
                for k in 0..n {
                    let (x, y) = (a[p][k], a[q][k]);
                    (a[p][k], a[q][k]) = (cosine * x - sine * y, sine * x + cosine * y);
                }
            }
        }
    }
    (0..n).map(|i| a[i][i]).fold(f64::INFINITY, f64::min)
}
