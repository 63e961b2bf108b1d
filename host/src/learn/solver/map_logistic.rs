//! Logistic regression with a Gaussian prior of any covariance, through its kernel.

use crate::kernel::{Gram, inner_product};
use crate::learn::solver::expansion::KernelLearnError;
use crate::learn::solver::kernel_logistic::KernelLogistic;
use crate::learn::solver::loss::{Costs, sigmoid};

/// Logistic regression `P(y = 1 | x) = sigma(theta . x)`, the maximum a posteriori estimate under
/// the prior `theta ~ N(0, Sigma)`:
///
/// ```text
/// theta = argmax  sum_i log sigma(S_i theta . x_i) - 1/2 theta' Sigma^-1 theta
///       = sum_i S_i lambda_i Sigma x_i,       lambda_i = sigma(-S_i theta . x_i)
/// ```
///
/// (Jaakkola and Haussler, "Exploiting generative models in discriminative classifiers", 1998,
/// equations 3 to 5). It is found as [`KernelLogistic`] with the kernel `x' Sigma y`, so that
/// `Sigma` need not be invertible: where it is singular, `theta` stays in its range.
#[derive(Clone, Debug, PartialEq)]
pub struct MapLogistic {
    /// `theta`, `[feature]`.
    pub theta: Vec<f64>,
    /// The kernel `x_i' Sigma x_j` of the training items.
    pub kernel: Gram,
    /// The machine over that kernel: multipliers, objective (the maximum above), dual objective.
    pub dual: KernelLogistic,
}

impl MapLogistic {
    /// Trains on rows of features, all of the covariance's size. A bias is a feature of value one.
    ///
    /// Time and RAM: those of [`KernelLogistic::train`], and `n^2 D + n D^2` multiply-adds.
    ///
    /// # Errors
    /// [`KernelLearnError`], among them [`KernelLearnError::Shape`] for rows of another length than
    /// the covariance has columns, and [`KernelLearnError::NotSymmetric`].
    pub fn train(
        rows: &[Vec<f64>],
        positive: &[bool],
        covariance: &[Vec<f64>],
    ) -> Result<Self, KernelLearnError> {
        let size = covariance.len();
        let all = rows.iter().chain(covariance).enumerate();
        if let Some((row, found)) =
            all.map(|(row, entries)| (row, entries.len())).find(|(_, found)| *found != size)
        {
            let (what, row) = match row.checked_sub(rows.len()) {
                Some(row) => ("covariance's row", row),
                None => ("row of features", row),
            };
            return Err(KernelLearnError::Shape { what, row, found, wanted: size });
        }
        for (row, entries) in covariance.iter().enumerate() {
            let differs = |column: &usize| {
                let (a, b) = (entries[*column], covariance[*column][row]);
                let symmetric = (a - b).abs() <= 1e-9 * (a.abs() + b.abs());
                !symmetric
            };
            if let Some(column) = (0..row).find(differs) {
                return Err(KernelLearnError::NotSymmetric { row, column });
            }
        }
        let mapped: Vec<Vec<f64>> = rows
            .iter()
            .map(|row| covariance.iter().map(|entries| inner_product(entries, row)).collect())
            .collect();
        let kernel = Gram::from_fn(rows.len(), |i, j| inner_product(&rows[i], &mapped[j]));
        let dual = KernelLogistic::train(&kernel, positive, Costs::even(1.0))?;
        let theta = dual.expansion().fold(mapped.iter().map(Vec::as_slice), size).weights;
        Ok(Self { theta, kernel, dual })
    }

    /// `theta . x`: the log-odds of the positive class.
    pub fn margin(&self, row: &[f64]) -> f64 {
        inner_product(&self.theta, row)
    }

    /// `P(y = 1 | x)`.
    pub fn probability(&self, row: &[f64]) -> f64 {
        sigmoid(self.margin(row))
    }
}
