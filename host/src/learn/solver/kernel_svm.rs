//! The support vector machine on a precomputed kernel matrix.

use crate::kernel::Gram;
use crate::learn::solver::expansion::{Expansion, KernelLearnError, check_kernel};
use crate::learn::solver::learner::{Learner, Trains};
use crate::learn::solver::loss::Costs;
use crate::learn::solver::multi_class::OnGram;
use crate::learn::solver::pairs::{Dual, TOLERANCE};

/// The [`KernelSvm`] as a learner.
pub static KERNEL_SVM: Learner = Learner {
    name: "kernel-svm",
    machine: "kernel support vector machine",
    about: "support vector machine with the hinge, on the Gram matrix",
    costs: &[0.1, 1.0, 10.0],
    trains: Trains::OnGram(OnGram {
        bytes: |items| 4 * items * items + 192 * items,
        constant: 0.0,
        path: |gram, positive, costs| {
            let machines = KernelSvm::path(gram, positive, costs)?;
            Ok(machines.into_iter().map(|machine| machine.expansion).collect())
        },
    }),
};

/// The largest gap between primal and dual objective that is accepted, relative, but for what conditions leave that are
/// violated by no more than steps end at.
const GAP: f64 = 1e-3;
/// A support vector machine in the dual: `f(x) = b + sum_i S_i alpha_i K(x_i, x)` with
///
/// ```text
/// alpha = argmax  sum_i alpha_i - 1/2 sum_ij alpha_i alpha_j S_i S_j K_ij,
///         0 <= alpha_i <= c_i,   sum_i S_i alpha_i = 0
/// ```
///
/// the dual of `1/2 |f|^2 + sum_i c_i max(0, 1 - S_i f(x_i))`, the bias not penalised.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelSvm {
    /// `S_i alpha_i` and the bias.
    pub expansion: Expansion,
    /// The dual objective reached.
    pub dual_objective: f64,
    /// The primal objective reached, at least the dual one.
    pub objective: f64,
}

impl KernelSvm {
    /// Trains on a Gram matrix by sequential minimal optimisation: pairs of multipliers, the first the one
    /// that violates the optimality conditions most, the second the one that gains most with it to second
    /// order (R.-E. Fan, P.-H. Chen and C.-J. Lin, Working set selection using second order information
    /// for training support vector machines, Journal of Machine Learning Research 6, 2005), until none
    /// is violated by more than `1e-6`; items that press against their bounds are left out in between, as in LIBSVM
    /// (C.-C. Chang and C.-J. Lin, ACM Transactions on Intelligent Systems and Technology 2, 2011, section 5.1),
    /// and asked again at the end. Steps among the items that are left read a block of the matrix in single precision,
    /// the last ones the matrix itself, which machines of several classes share. It is deterministic.
    ///
    /// Items of one class alone leave nothing to be parted: no coefficient, and that class for bias.
    ///
    /// Time: some `n` to `n^2` steps of some `4 n` multiply-adds, `n` the items not left out. RAM: `4 n^2 + 192 n`
    /// bytes beside the matrix.
    ///
    /// # Errors
    /// [`KernelLearnError`]: labels that do not fit the matrix, costs that are not positive, an entry
    /// that is not finite; or a gap between the objectives above a thousandth, and above two millionths of all costs.
    pub fn train(gram: &Gram, positive: &[bool], costs: Costs) -> Result<Self, KernelLearnError> {
        Self::path(gram, positive, &[costs])?.pop().ok_or(KernelLearnError::Empty)
    }

    /// [`train`](Self::train) for each of several costs, each from the multipliers of the one before, which saves
    /// steps where costs rise. Where no multiplier is at its cost, larger ones change nothing: the machine is
    /// theirs too.
    ///
    /// # Errors
    /// Those of [`train`](Self::train), of the first machine that was not trained.
    pub fn path(
        gram: &Gram,
        positive: &[bool],
        costs: &[Costs],
    ) -> Result<Vec<Self>, KernelLearnError> {
        costs.iter().try_for_each(|&costs| check_kernel(gram, positive, costs))?;
        let Some((first, rest)) = positive.split_first() else {
            return Err(KernelLearnError::Empty);
        };
        if rest.iter().all(|positive| positive == first) {
            let bias = if *first { 1.0 } else { -1.0 };
            let expansion = Expansion { coefficients: vec![0.0; gram.len()], bias };
            let alone = Self { expansion, dual_objective: 0.0, objective: 0.0 };
            return Ok(vec![alone; costs.len()]);
        }
        let mut path: Vec<Self> = Vec::with_capacity(costs.len());
        // The costs, the dual at its end, and whether larger costs are settled with them.
        let mut before: Option<(Costs, Dual<'_>, bool)> = None;
        for &costs in costs {
            let mut dual = match before.take() {
                Some((smaller, dual, true)) if smaller.at_most(costs) => {
                    path.extend(path.last().cloned());
                    before = Some((smaller, dual, true));
                    continue;
                }
                Some((_, mut dual, _)) => {
                    dual.carry_to(costs);
                    dual
                }
                None => Dual::new(gram, positive, costs),
            };
            let holds = dual.solve();
            let settled = holds && dual.bounds_none();
            let expansion = Expansion { coefficients: dual.multipliers(), bias: dual.bias() };
            let machine = Self { expansion, dual_objective: 0.0, objective: 0.0 };
            path.push(machine.judged(gram, positive, costs, holds)?);
            before = Some((costs, dual, settled));
        }
        Ok(path)
    }

    /// Adds its objectives, if they are close enough: nearer where steps ended before the conditions held.
    fn judged(
        mut self,
        gram: &Gram,
        positive: &[bool],
        costs: Costs,
        holds: bool,
    ) -> Result<Self, KernelLearnError> {
        let (mut norm, mut loss, mut sum) = (0.0, 0.0, 0.0);
        for (i, &positive) in positive.iter().enumerate() {
            let (coefficient, value) =
                (self.expansion.coefficients[i], self.expansion.value(gram.row(i)));
            let margin = if positive { value } else { -value };
            norm += coefficient * (value - self.expansion.bias);
            loss += costs.of(positive) * (1.0 - margin).max(0.0);
            sum += coefficient.abs();
        }
        self.dual_objective = sum - 0.5 * norm;
        self.objective = 0.5 * norm + loss;
        let gap = self.objective - self.dual_objective;
        let scale = 1.0 + self.objective.abs();
        // What conditions that are violated by so little leave, each item's times its cost; twice, for the bias is between.
        let left = 2.0 * TOLERANCE * positive.iter().map(|&one| costs.of(one)).sum::<f64>();
        if gap.abs() < GAP * scale || holds && gap.abs() <= left {
            return Ok(self);
        }
        let c = costs.positive.max(costs.negative);
        Err(KernelLearnError::Gap { c, relative: gap / scale })
    }
}
