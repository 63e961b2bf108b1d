//! Several classes by machines for two: one against the rest.
//!
//! A machine a class is trained to find its own items among all others; the class whose machine has
//! the largest value is decided for. For two classes one machine does, and its sign decides. That is
//! the form of the core's classifiers: an output a class, one for two. Machines for every pair of
//! classes would make `K (K - 1) / 2` outputs of the same `K`, and a direction each on the device.

use rayon::prelude::*;

use super::expansion::{Expansion, KernelLearnError};
use super::kernel_logistic::KernelLogistic;
use super::kernel_svm::KernelSvm;
use super::loss::ClassWeight;
use crate::classifier::{self, ExpansionKernel};
use crate::kernel::Gram;

/// Bytes that machines trained at a time may take together, if that is more than one of them takes.
const BYTES_AT_ONCE: usize = 1 << 30;

/// Trains a machine an output, in parallel as far as there is room for `bytes` of each: `machine` is
/// given which items are of the class to be found.
pub(super) fn one_against_rest<M: Send, E: Send>(
    labels: &[usize],
    classes: usize,
    bytes: usize,
    machine: impl Fn(&[bool]) -> Result<M, E> + Sync,
) -> Result<Vec<M>, E> {
    let found: Vec<usize> = if classes == 2 { vec![1] } else { (0..classes).collect() };
    let of_class = |&class: &usize| {
        let positive: Vec<bool> = labels.iter().map(|&label| label == class).collect();
        machine(&positive)
    };
    let mut machines = Vec::with_capacity(found.len());
    for classes in found.chunks((BYTES_AT_ONCE / bytes.max(1)).max(1)) {
        machines.extend(classes.par_iter().map(of_class).collect::<Result<Vec<M>, E>>()?);
    }
    Ok(machines)
}

/// Which machine is trained on a kernel matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelLearner {
    /// [`KernelSvm`].
    Svm,
    /// [`KernelLogistic`].
    Logistic,
}

/// A classifier on kernel values: an expansion an output.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelMachine {
    /// One for two classes (its sign decides for class 1), else one a class.
    pub outputs: Vec<Expansion>,
}

impl KernelMachine {
    /// Trains one machine against the rest for each class, or a single one for two classes.
    ///
    /// # Errors
    /// [`KernelLearnError`] of the first machine that was not trained.
    pub fn train(
        learner: KernelLearner,
        gram: &Gram,
        labels: &[usize],
        classes: usize,
        c: f64,
        weight: ClassWeight,
    ) -> Result<Self, KernelLearnError> {
        let bytes = learner.bytes(gram.len());
        let outputs = one_against_rest(labels, classes, bytes, |positive| {
            learner.train(gram, positive, weight.costs(c, positive))
        })?;
        Ok(Self { outputs })
    }

    /// The outputs' values on an item, from its kernel values against the training items.
    pub fn values(&self, kernels: &[f64]) -> Vec<f64> {
        self.outputs.iter().map(|output| output.value(kernels)).collect()
    }

    /// The rule of a classifier whose items are the training items.
    pub fn expansion_on(&self, kernel: ExpansionKernel) -> classifier::Expansion {
        classifier::Expansion {
            kernel,
            coefficients: self.outputs.iter().map(|output| output.coefficients.clone()).collect(),
            biases: self.outputs.iter().map(|output| output.bias).collect(),
        }
    }

    /// The class decided for.
    pub fn decide(&self, kernels: &[f64]) -> usize {
        fishweir_core::classify::decide(&self.values(kernels)).class
    }
}

impl KernelLearner {
    /// RAM that a machine takes on so many items while it is trained, beside the Gram matrix: at most
    /// some four matrices more for the logistic one, whose features have the kernel's rank.
    pub(super) fn bytes(self, items: usize) -> usize {
        match self {
            Self::Svm => 40 * items,
            Self::Logistic => 32 * items * items,
        }
    }

    /// Trains one machine for two classes.
    ///
    /// # Errors
    /// Those of [`KernelSvm::train`] and [`KernelLogistic::train`].
    pub fn train(
        self,
        gram: &Gram,
        positive: &[bool],
        costs: super::loss::Costs,
    ) -> Result<Expansion, KernelLearnError> {
        Ok(match self {
            Self::Svm => KernelSvm::train(gram, positive, costs)?.expansion,
            Self::Logistic => KernelLogistic::train(gram, positive, costs)?.expansion(),
        })
    }
}
