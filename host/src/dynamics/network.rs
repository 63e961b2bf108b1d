use serde::{Deserialize, Serialize};

use super::system::Moments;
use super::{Matrix, SystemError};
use crate::runtime::check::{FINITE, NOT_NEGATIVE, length, numbers};

/// A linear-Gaussian network: scalars in an order, each a sum of those before it and noise of its own.
///
/// ```text
/// x_i = bias_i + sum_j<i weights_ij x_j + N(0, variance_i)
/// ```
///
/// Some are observed, the others hidden. Source: Jebara, Kondor and Howard, "Probability Product Kernels",
/// 2004, section 4.4.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearNetwork {
    /// `[variable]`.
    pub bias: Vec<f64>,
    /// `[variable][variable before it]`; zero on and right of the diagonal.
    pub weights: Matrix,
    /// Variances of the noise, `[variable]`; not negative.
    pub variance: Vec<f64>,
    /// The variables that are observed, in the order in which they are compared.
    pub observed: Vec<usize>,
}

impl LinearNetwork {
    /// Checks shapes and numbers.
    ///
    /// # Errors
    /// [`SystemError`] naming the first part that is wrong.
    pub fn validate(&self) -> Result<(), SystemError> {
        let variables = self.bias.len();
        if self.observed.is_empty() {
            return Err(SystemError::Empty("observed variables"));
        }
        numbers("bias", std::slice::from_ref(&self.bias), (1, variables), FINITE)?;
        numbers("weights", &self.weights, (variables, variables), FINITE)?;
        length("variance", self.variance.len(), variables)?;
        let variance = std::slice::from_ref(&self.variance);
        numbers("variance", variance, (1, variables), NOT_NEGATIVE)?;
        for (row, weights) in self.weights.iter().enumerate() {
            if let Some(column) = (row..variables).find(|&column| weights[column] != 0.0) {
                return Err(SystemError::Order { row, column });
            }
        }
        for (entry, variable) in self.observed.iter().enumerate() {
            if *variable >= variables || self.observed[..entry].contains(variable) {
                return Err(SystemError::Observed(entry));
            }
        }
        Ok(())
    }

    /// The observed variables as one Gaussian; hidden ones are integrated out. Work: `n^3 / 2`
    /// multiply-adds.
    ///
    /// # Errors
    /// [`SystemError`] for an invalid network.
    pub fn moments(&self) -> Result<Moments, SystemError> {
        self.validate()?;
        let variables = self.bias.len();
        let mut mean = self.bias.clone();
        let mut covariance = vec![vec![0.0; variables]; variables];
        for (i, weights) in self.weights.iter().enumerate() {
            let before: f64 = weights[..i].iter().zip(&mean).map(|(w, x)| w * x).sum();
            mean[i] += before;
            // With each before it, and then with itself.
            for j in 0..=i {
                let along = covariance[..i].iter().zip(weights).map(|(row, w)| w * row[j]);
                let own = if i == j { self.variance[i] } else { 0.0 };
                let entry = along.sum::<f64>() + own;
                (covariance[i][j], covariance[j][i]) = (entry, entry);
            }
        }
        let row = |&i: &usize| self.observed.iter().map(|&j| covariance[i][j]).collect();
        Ok(Moments {
            mean: self.observed.iter().map(|&i| mean[i]).collect(),
            covariance: self.observed.iter().map(row).collect(),
        })
    }
}
