//! Common parts of kernel machines: expansions in kernels, and errors of training.

use crate::kernel::{Gram, InformationError, inner_product};
use crate::learn::solver::loss::Costs;

/// Windows that a kernel machine takes: a Gram matrix of 5 000 is 200 MB, which the machines of all
/// classes share; logistic regression asks for up to four times as much again.
pub const KERNEL_WINDOWS: usize = 5_000;

/// A machine in the dual: `f(x) = bias + sum_i coefficient_i K(x_i, x)` over the training items.
#[derive(Clone, Debug, PartialEq)]
pub struct Expansion {
    /// `S_i lambda_i`, `[item]`; zero where the item is no support vector.
    pub coefficients: Vec<f64>,
    /// Bias.
    pub bias: f64,
}

/// A machine in the primal: `f(x) = weights . x + bias`.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// Weights, `[feature]`.
    pub weights: Vec<f64>,
    /// Bias.
    pub bias: f64,
}

impl Expansion {
    /// `f(x)` of an item, from its kernel values against the training items.
    pub fn value(&self, kernels: &[f64]) -> f64 {
        let terms = self.coefficients.iter().zip(kernels);
        self.bias + terms.map(|(coefficient, kernel)| coefficient * kernel).sum::<f64>()
    }

    /// Folds the machine into the primal, for a kernel that is the inner product of features:
    /// `weights = sum_i coefficient_i x_i`. `rows` are the training items' features, `features` in a row.
    ///
    /// This is what makes a kernel machine compile: a device needs the weights alone.
    pub fn fold<'a, T: Copy + Into<f64> + 'a>(
        &self,
        rows: impl IntoIterator<Item = &'a [T]>,
        features: usize,
    ) -> Linear {
        let mut weights = vec![0.0; features];
        for (&coefficient, row) in self.coefficients.iter().zip(rows) {
            if coefficient != 0.0 {
                for (weight, &x) in weights.iter_mut().zip(row) {
                    *weight += coefficient * x.into();
                }
            }
        }
        Linear { weights, bias: self.bias }
    }
}

impl Linear {
    /// `f(x)`.
    pub fn value(&self, row: &[f64]) -> f64 {
        self.bias + inner_product(&self.weights, row)
    }
}

/// Reason why a kernel machine was not trained.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum KernelLearnError {
    /// A list of the wrong length.
    #[error("{what} {row} has {found} entries, and {wanted} are needed")]
    #[strum(serialize = "wrong-shape")]
    Shape {
        /// Name of the list.
        what: &'static str,
        /// Index of the row.
        row: usize,
        /// Length of the row.
        found: usize,
        /// The length needed.
        wanted: usize,
    },
    /// Another number of labels than of items.
    #[error("{labels} labels for a kernel matrix of {items} items")]
    #[strum(serialize = "wrong-shape")]
    Labels {
        /// Labels given.
        labels: usize,
        /// Items of the matrix.
        items: usize,
    },
    /// No item at all.
    #[error("no item to train on")]
    #[strum(serialize = "no-data")]
    Empty,
    /// Costs must be positive numbers.
    #[error("the cost of an error must be a positive number; got {positive} and {negative}")]
    #[strum(serialize = "bad-setting")]
    Costs {
        /// Cost of positive items.
        positive: f64,
        /// Cost of negative items.
        negative: f64,
    },
    /// A kernel value that is no number.
    #[error("the kernel of items {row} and {column} is not finite; leave impossible items out")]
    #[strum(serialize = "kernel-not-finite")]
    NotFinite {
        /// One item.
        row: usize,
        /// The other.
        column: usize,
    },
    /// A covariance that is not symmetric.
    #[error("entries [{row}][{column}] and [{column}][{row}] of the covariance differ")]
    NotSymmetric {
        /// Row.
        row: usize,
        /// Column.
        column: usize,
    },
    /// A matrix that is no kernel.
    #[error("the kernel matrix is not positive semi-definite; add a ridge to its diagonal")]
    NotSemidefinite,
    /// A matrix too large for its eigenvalues to be sought.
    #[error(
        "ridge regression needs the eigenvalues of a matrix of {size} rows, and {most} are the most: take the \
         learner svm, or fewer windows or features"
    )]
    TooLarge {
        /// Number of rows.
        size: usize,
        /// The most.
        most: usize,
    },
    /// Eigenvalues that were not found.
    #[error(
        "the eigenvalues of the second moments of the features did not converge; scale the features down"
    )]
    #[strum(serialize = "no-eigenvalues")]
    Eigenvalues,
    /// The iteration ended before it converged.
    #[error(
        "no convergence in {steps} steps (relative decrement {decrement:.1e}); scale the kernel down"
    )]
    NotConverged {
        /// Steps taken.
        steps: usize,
        /// The square of Newton's decrement, relative to the objective.
        decrement: f64,
    },
    /// A machine whose objectives are too far apart.
    #[error(
        "the support vector machine with C = {c} did not converge: primal and dual objective differ by \
         {relative:.1e}; take a smaller C, or scale the kernel down"
    )]
    #[strum(serialize = "not-converged")]
    Gap {
        /// The cost of an item, the larger of both sides'.
        c: f64,
        /// The gap, relative to the primal objective.
        relative: f64,
    },
    /// No information matrix to whiten scores by.
    #[error("whitening: {0}")]
    Whitening(#[from] InformationError),
}

crate::kinds!(KernelLearnError,
    Self::Whitening(error) => error,
);

/// Checks the requirements of every kernel machine.
pub(crate) fn check_kernel(
    gram: &Gram,
    positive: &[bool],
    costs: Costs,
) -> Result<(), KernelLearnError> {
    let items = gram.len();
    if positive.len() != items {
        return Err(KernelLearnError::Labels { labels: positive.len(), items });
    }
    if !costs.are_valid() {
        let Costs { positive, negative } = costs;
        return Err(KernelLearnError::Costs { positive, negative });
    }
    for row in 0..items {
        if let Some(column) = gram.row(row).iter().position(|kernel| !kernel.is_finite()) {
            return Err(KernelLearnError::NotFinite { row, column });
        }
    }
    Ok(())
}
