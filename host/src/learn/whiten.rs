//! Whitening by the empirical information matrix.

use faer::{Mat, Side};

use super::expansion::KernelLearnError;
use crate::kernel::inner_product;

/// The ridge, as a share of the information's mean diagonal.
const RIDGE: f64 = 1e-3;

/// `phi = L^-1 g` with `L L' = I + ridge`, so that `phi_x . phi_y = g_x' (I + ridge)^-1 g_y`: the
/// invariant Fisher kernel with the empirical information `I = mean of g g'`.
#[derive(Clone, Debug)]
pub(super) struct Whiten {
    /// `L^-1`, lower triangular, by rows.
    inverse: Vec<Vec<f64>>,
}

impl Whiten {
    /// From scores, `[sequence][parameter]`. Work: `n P^2 / 2 + P^3` multiply-adds.
    pub(super) fn by_information_of(scores: &[Vec<f64>]) -> Result<Self, KernelLearnError> {
        let size = scores.first().map_or(0, Vec::len);
        let rows = Mat::from_fn(scores.len(), size, |i, k| scores[i][k]);
        let mut information = rows.transpose() * &rows;
        let count = scores.len().max(1) as f64;
        let trace: f64 = (0..size).map(|k| information[(k, k)]).sum();
        // Where nothing moves there is nothing to whiten: any positive ridge will do.
        let ridge = if trace > 0.0 { RIDGE * trace / size as f64 } else { count };
        for k in 0..size {
            information[(k, k)] += ridge;
        }
        let factor = information.llt(Side::Lower).map_err(|_| KernelLearnError::NotSemidefinite)?;
        let lower = factor.L();
        let scale = count.sqrt();
        // Rows of L^-1 by forward substitution.
        let mut inverse: Vec<Vec<f64>> = Vec::with_capacity(size);
        for i in 0..size {
            let mut row = vec![0.0; i + 1];
            for (k, known) in inverse.iter().enumerate() {
                let by = lower[(i, k)];
                for (entry, known) in row.iter_mut().zip(known) {
                    *entry -= by * known;
                }
            }
            row[i] = scale;
            let pivot = lower[(i, i)];
            row.iter_mut().for_each(|entry| *entry /= pivot);
            inverse.push(row);
        }
        Ok(Self { inverse })
    }

    /// The features of a score.
    pub(super) fn features(&self, score: &[f64]) -> Vec<f64> {
        self.inverse.iter().map(|row| inner_product(row, &score[..row.len()])).collect()
    }

    /// The weights on the score that mean the same as weights on its features.
    pub(super) fn pull(&self, weights: &[f64]) -> Vec<f64> {
        let mut pulled = vec![0.0; weights.len()];
        for (row, weight) in self.inverse.iter().zip(weights) {
            for (sum, entry) in pulled.iter_mut().zip(row) {
                *sum += weight * entry;
            }
        }
        pulled
    }
}
