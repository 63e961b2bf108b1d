//! Learners, and the machines that they train.

use std::fmt;

use crate::kernel::inner_product;
use crate::learn::error::TrainError;
use crate::learn::solver::expansion::{KERNEL_WINDOWS, KernelLearnError, Linear};
use crate::learn::solver::loss::{ClassWeight, Costs};
use crate::learn::solver::matrix::Matrix;
use crate::learn::solver::multi_class::{OnGram, one_against_rest};

/// A learner: what is trained on features, or on a Gram matrix. All are linear in the features, so all
/// compile.
#[derive(Debug)]
pub struct Learner {
    /// Name in options.
    pub name: &'static str,
    /// The machine that it trains, in words.
    pub machine: &'static str,
    /// Description of the training.
    pub about: &'static str,
    /// Default values of C to choose from, rising.
    pub costs: &'static [f64],
    /// Training of a machine for two classes.
    pub trains: Trains,
}

/// Machines, `[output][cost]`, of rows, their classes, how many classes there are and how they weigh, and costs.
pub type ClosedForm = fn(
    &Matrix,
    &[usize],
    (usize, ClassWeight),
    &[f64],
) -> Result<Vec<Vec<Linear>>, KernelLearnError>;

/// Function that computes the outputs of all machines for each item, trained without the item's group, `[output][cost][item]`.
///
/// Its arguments are the rows, their classes and groups, the number of classes and their weights, and the costs. `None` if the
/// result is not determined numerically.
pub type ClosedFormHeldOut = fn(
    &Matrix,
    &[usize],
    &[usize],
    (usize, ClassWeight),
    &[f64],
) -> Result<Vec<Vec<Option<Vec<f64>>>>, KernelLearnError>;

/// Training of machines for two classes.
#[derive(Debug)]
pub enum Trains {
    /// Training on rows of features.
    OnRows {
        /// A machine for each of rising costs, each started from the one before where that helps. Rows are of
        /// the class to be found where `true`.
        path: fn(&Matrix, &[bool], &[Costs]) -> Vec<Linear>,
        /// Learner that replaces it for a Gram matrix alone.
        on_gram: &'static Learner,
    },
    /// Training on rows of features, machines of all classes and costs at once: [`Ridge`](crate::learn::Ridge).
    InClosedForm {
        /// Function that trains the machines.
        machines: ClosedForm,
        /// Outputs for held-out groups: they judge settings, forms and images.
        held_out: ClosedFormHeldOut,
        /// Learner that replaces it for a Gram matrix alone.
        on_gram: &'static Learner,
    },
    /// Training on a Gram matrix.
    OnGram(OnGram),
}

/// Names of learners are unique.
impl PartialEq for Learner {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Display for Learner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.machine)
    }
}

impl Learner {
    /// Refuses more windows than a Gram matrix takes.
    ///
    /// # Errors
    /// [`TrainError::TooManyWindows`].
    pub fn check_windows(&'static self, windows: usize) -> Result<(), TrainError> {
        match windows {
            ..=KERNEL_WINDOWS => Ok(()),
            _ => Err(TrainError::TooManyWindows(windows, self.standing_in().machine)),
        }
    }

    /// Returns whether it is trained on a Gram matrix.
    pub fn on_kernel(&self) -> bool {
        matches!(self.trains, Trains::OnGram(_))
    }

    /// Closed-form hold-out, if available.
    pub(crate) fn held_out(&self) -> Option<ClosedFormHeldOut> {
        match self.trains {
            Trains::InClosedForm { held_out, .. } => Some(held_out),
            Trains::OnRows { .. } | Trains::OnGram(_) => None,
        }
    }

    /// Returns whether hold-out is available in closed form.
    pub(crate) fn in_closed_form(&self) -> bool {
        self.held_out().is_some()
    }

    /// Learner for a Gram matrix alone: itself, or its replacement.
    pub fn standing_in(&'static self) -> &'static Self {
        match &self.trains {
            Trains::OnGram(_) => self,
            Trains::OnRows { on_gram, .. } | Trains::InClosedForm { on_gram, .. } => {
                on_gram.standing_in()
            }
        }
    }

    /// Training on a Gram matrix alone.
    pub fn on_gram(&self) -> &OnGram {
        match &self.trains {
            Trains::OnGram(on_gram) => on_gram,
            Trains::OnRows { on_gram, .. } | Trains::InClosedForm { on_gram, .. } => {
                on_gram.on_gram()
            }
        }
    }

    /// A machine an output for each of rising costs, `[cost][output]`.
    pub(crate) fn path(
        &self,
        rows: &Matrix,
        labels: &[usize],
        classes: usize,
        c: &[f64],
        weight: ClassWeight,
    ) -> Result<Vec<Vec<Linear>>, KernelLearnError> {
        let costs = |positive: &[bool]| weight.all_costs(c, positive);
        let by_output = match &self.trains {
            Trains::OnRows { path, .. } => one_against_rest(labels, classes, 0, |positive| {
                Ok::<_, KernelLearnError>(path(rows, positive, &costs(positive)))
            }),
            Trains::InClosedForm { machines, .. } => machines(rows, labels, (classes, weight), c),
            Trains::OnGram(on_gram) => {
                let features: Vec<Vec<f64>> =
                    rows.rows().map(|row| row.iter().copied().map(f64::from).collect()).collect();
                let gram =
                    on_gram.gram(features.len(), |i, j| inner_product(&features[i], &features[j]));
                one_against_rest(labels, classes, (on_gram.bytes)(labels.len()), |positive| {
                    let machines = on_gram.path_own(&gram, positive, &costs(positive))?;
                    let folded = machines.iter().map(|one| one.fold(rows.rows(), rows.columns()));
                    Ok(folded.collect())
                })
            }
        }?;
        let of_cost =
            |index: usize| by_output.iter().map(|path: &Vec<Linear>| path[index].clone()).collect();
        Ok((0..c.len()).map(of_cost).collect())
    }
}
