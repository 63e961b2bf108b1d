//! One-against-rest machines on scaled features, in the primal whatever they were trained in.

use std::fmt;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::choice::Verdict;
use super::error::TrainError;
use super::expansion::{Expansion, KernelLearnError, Linear};
use super::features::{FeatureMap, Scaling};
use super::loss::{ClassWeight, Costs, Loss};
use super::metric::Metric;
use super::multi_class::{KernelLearner, KernelMachine, one_against_rest};
use super::primal::minimise;
use super::svm::{LinearSvm, Matrix};
use crate::classifier::Output;
use crate::kernel::{Gram, inner_product};

/// What is trained on the features. All four are linear in them, so all compile.
///
/// `cargo run --release --example learners -- DATA` holds them against each other on any labelled file:
/// accuracy, objective reached, time. On 2 233 splice sites (a fold held back; C = 0.1, 1, 10) dual
/// coordinate descent got 0.957, 0.955, 0.937, logistic regression 0.946, 0.957, 0.955 in 11, 6 and 3
/// times the time, the support vector machine on the Gram matrix 0.951, 0.953, 0.953, kernel logistic
/// regression what the logistic one got in 104, 37 and 14 times. So the default is the first: as good at
/// the best C, and quickest; at C = 10 it stopped 14 % above the least objective. On 2 994 windows of the
/// watch it got 0.795, 0.821, 0.820, logistic regression 0.784, 0.802, 0.808, the machine on the Gram
/// matrix 0.791, 0.814, 0.810. The kernel machines find what their primal counterparts find, at a cost
/// that grows with the square of the number of windows; they are there for kernels that are no inner
/// product of features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "command", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum Learner {
    /// Support vector machine with the squared hinge, by dual coordinate descent on the rows.
    #[default]
    Svm,
    /// Logistic regression with an L2 penalty, by Newton's method on the rows.
    Logistic,
    /// Support vector machine with the hinge, on the Gram matrix.
    KernelSvm,
    /// Kernel logistic regression, on the Gram matrix plus one: the bias has prior variance one.
    #[cfg_attr(feature = "command", value(name = "klr"))]
    KernelLogistic,
}

/// Windows that a kernel machine takes: a Gram matrix of 5 000 is 200 MB, which the machines of all
/// classes share; logistic regression asks for up to four times as much again.
pub const KERNEL_WINDOWS: usize = 5_000;

impl fmt::Display for Learner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Svm => "linear support vector machine",
            Self::Logistic => "logistic regression",
            Self::KernelSvm => "kernel support vector machine",
            Self::KernelLogistic => "kernel logistic regression",
        })
    }
}

impl Learner {
    /// Refuses more windows than a Gram matrix takes; a learner of features stands for a support vector
    /// machine on the matrix.
    ///
    /// # Errors
    /// [`TrainError::TooManyWindows`].
    pub fn check_windows(self, windows: usize) -> Result<(), TrainError> {
        let learner = if self.on_kernel() { self } else { Self::KernelSvm };
        if windows <= KERNEL_WINDOWS {
            return Ok(());
        }
        Err(TrainError::TooManyWindows(windows, learner))
    }

    /// Whether it is trained on a Gram matrix.
    pub(super) fn on_kernel(self) -> bool {
        matches!(self, Self::KernelSvm | Self::KernelLogistic)
    }

    /// A machine an output for each of rising costs, `[cost][output]`, each started from the one
    /// before where that helps.
    fn path(
        self,
        rows: &Matrix,
        labels: &[usize],
        classes: usize,
        c: &[f64],
        weight: ClassWeight,
    ) -> Result<Vec<Vec<Linear>>, KernelLearnError> {
        let gram = self.on_kernel().then(|| {
            let features: Vec<Vec<f64>> =
                rows.rows().map(|row| row.iter().copied().map(f64::from).collect()).collect();
            self.gram(features.len(), |i, j| inner_product(&features[i], &features[j]))
        });
        let by_output = one_against_rest(labels, classes, self.bytes(labels.len()), |positive| {
            let costs = || c.iter().map(|&c| weight.costs(c, positive));
            match &gram {
                Some(gram) => {
                    let folded = |costs| -> Result<Linear, KernelLearnError> {
                        let expansion = self.train_on(gram, positive, costs)?;
                        Ok(expansion.fold(rows.rows(), rows.columns()))
                    };
                    costs().map(folded).collect()
                }
                None if self == Self::Logistic => {
                    let mut path: Vec<Linear> = Vec::new();
                    for costs in costs() {
                        let start = path.last();
                        path.push(minimise(Loss::Logistic, rows, positive, costs, start));
                    }
                    Ok(path)
                }
                None => {
                    let mut dual = vec![0.0; labels.len()];
                    let machine = |costs| LinearSvm::train(rows, positive, costs, &mut dual);
                    Ok(costs().map(machine).map(|svm| svm.linear()).collect())
                }
            }
        })?;
        let of_cost =
            |index: usize| by_output.iter().map(|path: &Vec<Linear>| path[index].clone()).collect();
        Ok((0..c.len()).map(of_cost).collect())
    }

    /// The Gram matrix that it is trained on, of a kernel on so many items: plus one for logistic
    /// regression, whose bias has prior variance one.
    pub(super) fn gram(self, items: usize, kernel: impl Fn(usize, usize) -> f64 + Sync) -> Gram {
        let constant = if self == Self::KernelLogistic { 1.0 } else { 0.0 };
        Gram::from_fn(items, |i, j| constant + kernel(i, j))
    }

    /// Which machine it trains on a Gram matrix; a support vector machine for a learner of features.
    fn kernel_learner(self) -> KernelLearner {
        match self {
            Self::KernelLogistic => KernelLearner::Logistic,
            _ => KernelLearner::Svm,
        }
    }

    /// What a machine takes on so many items, where a matrix is what takes room.
    fn bytes(self, items: usize) -> usize {
        if self.on_kernel() { self.kernel_learner().bytes(items) } else { 0 }
    }

    /// A machine for two classes on its Gram matrix.
    fn train_on(
        self,
        gram: &Gram,
        positive: &[bool],
        costs: Costs,
    ) -> Result<Expansion, KernelLearnError> {
        let mut expansion = self.kernel_learner().train(gram, positive, costs)?;
        if self == Self::KernelLogistic {
            // The kernel's constant is a feature of value one.
            expansion.bias += expansion.coefficients.iter().sum::<f64>();
        }
        Ok(expansion)
    }

    /// A machine an output on its Gram matrix; a support vector machine for a learner of features.
    pub(super) fn machine(
        self,
        gram: &Gram,
        labels: &[usize],
        (classes, weight): (usize, ClassWeight),
        c: f64,
    ) -> Result<KernelMachine, KernelLearnError> {
        let bytes = self.bytes(labels.len());
        let outputs = one_against_rest(labels, classes, bytes, |positive| {
            self.train_on(gram, positive, weight.costs(c, positive))
        })?;
        Ok(KernelMachine { outputs })
    }
}

/// What machines learn from, window by window.
pub(super) struct Examples {
    /// Features, not scaled.
    pub(super) rows: Matrix,
    pub(super) labels: Vec<usize>,
    /// Samples.
    pub(super) lengths: Vec<usize>,
}

/// Machines for each of several costs on features scaled alike.
pub(super) struct Path {
    metric: Metric,
    /// `[cost][output]`.
    machines: Vec<Vec<Linear>>,
}

impl Path {
    /// Trains machines for rising values of C.
    pub(super) fn train(
        learner: Learner,
        examples: &Examples,
        map: &FeatureMap,
        scaling: Scaling,
        c: &[f64],
        (classes, weight): (usize, ClassWeight),
    ) -> Result<Self, KernelLearnError> {
        let Examples { rows, labels, lengths } = examples;
        let metric = Metric::of(rows, lengths, map, scaling)?;
        let mut rows = rows.clone();
        metric.apply(&mut rows);
        Ok(Self { machines: learner.path(&rows, labels, classes, c, weight)?, metric })
    }

    /// What is decided of unscaled examples, `[cost][example]`.
    pub(super) fn judge(&self, examples: &Examples) -> Vec<Vec<Verdict>> {
        let (mut rows, labels) = (examples.rows.clone(), &examples.labels);
        self.metric.apply(&mut rows);
        let judge = |outputs: &Vec<Linear>| {
            let outputs: Vec<LinearSvm> = outputs.iter().map(LinearSvm::of).collect();
            let verdict = |(row, &label): (&[f32], &usize)| {
                let values: Vec<f32> = outputs.iter().map(|output| output.value(row)).collect();
                Verdict::of(&values, label)
            };
            rows.rows().zip(labels).map(verdict).collect()
        };
        self.machines.par_iter().map(judge).collect()
    }

    /// The machines of the first cost as outputs over unscaled features.
    pub(super) fn outputs(&self, map: &FeatureMap) -> Vec<Output> {
        let first = self.machines.first().into_iter().flatten();
        first
            .map(|machine| {
                let Linear { weights, bias } = self.metric.pull(machine);
                let (directions, weights) = map.directions(&weights).into_iter().unzip();
                Output { bias, weights, directions }
            })
            .collect()
    }
}
