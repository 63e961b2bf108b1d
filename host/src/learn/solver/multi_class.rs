//! Several classes by machines for two: one against the rest.
//!
//! A machine a class is trained to find its own items among all others; the class whose machine has
//! the largest value is decided for. For two classes one machine does, and its sign decides. That is
//! the form of the core's classifiers: an output a class, one for two. Machines for every pair of
//! classes would make `K (K - 1) / 2` outputs of the same `K`, and a direction each on the device.

use crate::classifier::{self, ExpansionKernel};
use crate::kernel::Gram;
use crate::learn::solver::expansion::{Expansion, KernelLearnError};
use crate::learn::solver::loss::{ClassWeight, Costs};
use crate::parallel::try_each;

/// Bytes that machines trained at a time may take together, if that is more than one of them takes.
const BYTES_AT_ONCE: usize = 1 << 30;

/// Trains a machine an output, in parallel as far as there is room for `bytes` of each: `machine` is
/// given which items are of the class to be found.
pub(crate) fn one_against_rest<M: Send, E: Send>(
    labels: &[usize],
    classes: usize,
    bytes: usize,
    machine: impl Fn(&[bool]) -> Result<M, E> + Sync,
) -> Result<Vec<M>, E> {
    let outputs = outputs(labels, classes);
    let mut machines = Vec::with_capacity(outputs.len());
    for some in outputs.chunks((BYTES_AT_ONCE / bytes.max(1)).max(1)) {
        machines.extend(try_each(some.len(), &|index| machine(&some[index]))?);
    }
    Ok(machines)
}

/// `true` for each item of the class that an output's machine is to find, `[output][item]`.
pub(crate) fn outputs(labels: &[usize], classes: usize) -> Vec<Vec<bool>> {
    let found = if classes == 2 { 1..2 } else { 0..classes };
    found.map(|class| labels.iter().map(|&label| label == class).collect()).collect()
}

/// Machines, `[cost]`, of a Gram matrix, which items are to be found, and costs.
pub type Expansions = fn(&Gram, &[bool], &[Costs]) -> Result<Vec<Expansion>, KernelLearnError>;

/// Training of a machine for two classes on a Gram matrix.
#[derive(Debug)]
pub struct OnGram {
    /// RAM in addition to the matrix, by the number of items.
    pub bytes: fn(usize) -> usize,
    /// Constant added to the kernel: the prior variance of the bias of a machine that has no other.
    pub constant: f64,
    /// Trains a machine for each of rising costs, each started from the one before where that helps; items are of
    /// the class to be found where `true`.
    pub path: Expansions,
}

impl OnGram {
    /// Gram matrix of a kernel on `items` items, with the constant.
    pub(crate) fn gram(&self, items: usize, kernel: impl Fn(usize, usize) -> f64 + Sync) -> Gram {
        Gram::from_fn(items, |i, j| self.constant + kernel(i, j))
    }

    /// Trains on its own Gram matrix machines on the kernel, one for each of rising costs.
    pub(crate) fn path_own(
        &self,
        gram: &Gram,
        positive: &[bool],
        costs: &[Costs],
    ) -> Result<Vec<Expansion>, KernelLearnError> {
        let mut machines = (self.path)(gram, positive, costs)?;
        for machine in &mut machines {
            // The kernel's constant is a feature of that variance.
            machine.bias += self.constant * machine.coefficients.iter().sum::<f64>();
        }
        Ok(machines)
    }
}

/// A classifier on kernel values: an expansion an output.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelMachine {
    /// One for two classes (its sign decides for class 1), else one per class.
    pub outputs: Vec<Expansion>,
}

impl KernelMachine {
    /// Trains one machine against the rest for each class, or a single one for two classes, on the learner's
    /// [own](OnGram::constant) Gram matrix of a kernel.
    ///
    /// # Errors
    /// [`KernelLearnError`] of the first machine that was not trained.
    pub fn train(
        on_gram: &OnGram,
        gram: &Gram,
        labels: &[usize],
        classes: (usize, ClassWeight),
        c: f64,
    ) -> Result<Self, KernelLearnError> {
        let paths = Self::paths(on_gram, gram, labels, classes, &[c])?;
        Ok(Self { outputs: paths.into_iter().flatten().collect() })
    }

    /// [`train`](Self::train) for each of rising values of C: what is known of one may shorten the next.
    ///
    /// # Errors
    /// Those of [`train`](Self::train).
    pub fn path(
        on_gram: &OnGram,
        gram: &Gram,
        labels: &[usize],
        classes: (usize, ClassWeight),
        c: &[f64],
    ) -> Result<Vec<Self>, KernelLearnError> {
        let paths = Self::paths(on_gram, gram, labels, classes, c)?;
        let of_cost = |index: usize| paths.iter().map(|path| path[index].clone()).collect();
        Ok((0..c.len()).map(|index| Self { outputs: of_cost(index) }).collect())
    }

    /// Machines, `[output][cost]`.
    fn paths(
        on_gram: &OnGram,
        gram: &Gram,
        labels: &[usize],
        (classes, weight): (usize, ClassWeight),
        c: &[f64],
    ) -> Result<Vec<Vec<Expansion>>, KernelLearnError> {
        let bytes = (on_gram.bytes)(gram.len());
        one_against_rest(labels, classes, bytes, |positive| {
            on_gram.path_own(gram, positive, &weight.all_costs(c, positive))
        })
    }

    /// The outputs' values on an item, from its kernel values against the training items.
    pub fn values(&self, kernels: &[f64]) -> Vec<f64> {
        self.outputs.iter().map(|output| output.value(kernels)).collect()
    }

    /// Biases, `[output]`.
    pub fn biases(&self) -> Vec<f64> {
        self.outputs.iter().map(|output| output.bias).collect()
    }

    /// The rule of a classifier whose items are the training items.
    pub fn expansion_on(&self, kernel: ExpansionKernel) -> classifier::Expansion {
        classifier::Expansion {
            kernel,
            coefficients: self.outputs.iter().map(|output| output.coefficients.clone()).collect(),
            biases: self.biases(),
        }
    }

    /// The class decided for.
    pub fn decide(&self, kernels: &[f64]) -> usize {
        fishweir_core::classify::decide(&self.values(kernels)).class
    }
}
