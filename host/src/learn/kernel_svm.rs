//! The support vector machine on a precomputed kernel matrix.

use super::expansion::{Expansion, KernelLearnError, check_kernel};
use super::learner::{Learner, Trains};
use super::loss::Costs;
use super::multi_class::OnGram;
use crate::kernel::Gram;

/// The [`KernelSvm`] as a learner.
pub static KERNEL_SVM: Learner = Learner {
    name: "kernel-svm",
    machine: "kernel support vector machine",
    about: "support vector machine with the hinge, on the Gram matrix",
    costs: &[0.1, 1.0, 10.0],
    trains: Trains::OnGram(OnGram {
        bytes: |items| 40 * items,
        constant: 0.0,
        train: |gram, positive, costs| Ok(KernelSvm::train(gram, positive, costs)?.expansion),
    }),
};

/// The largest violation of the optimality conditions, in units of the margin.
const TOLERANCE: f64 = 1e-6;
/// The largest gap between primal and dual objective that is accepted, relative.
const GAP: f64 = 1e-3;
/// The curvature along a pair of items that are alike: some number above zero.
const FLAT: f64 = 1e-12;
/// Steps at most, and at most an item where that is more.
const STEPS: usize = 10_000_000;
const STEPS_AN_ITEM: usize = 100;

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

/// The dual in signed multipliers `b_i = S_i alpha_i`: least `1/2 b' K b - S' b` with
/// `low_i <= b_i <= high_i` and `sum_i b_i = 0`.
struct Dual<'g> {
    gram: &'g Gram,
    diagonal: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
    multipliers: Vec<f64>,
    /// `S - K b`, `[item]`: what the margins lack.
    lacking: Vec<f64>,
}

impl KernelSvm {
    /// Trains on a Gram matrix by sequential minimal optimisation: pairs of multipliers, the first the one
    /// that violates the optimality conditions most, the second the one that gains most with it to second
    /// order (R.-E. Fan, P.-H. Chen and C.-J. Lin, Working set selection using second order information
    /// for training support vector machines, Journal of Machine Learning Research 6, 2005), until none
    /// is violated by more than `1e-6`. It is deterministic, and reads the matrix where it is: machines
    /// of several classes share it.
    ///
    /// Items of one class alone leave nothing to be parted: no coefficient, and that class for bias.
    ///
    /// Time: some `n` to `n^2` steps of some `4 n` multiply-adds. RAM: `40 n` bytes beside the matrix.
    ///
    /// # Errors
    /// [`KernelLearnError`]: labels that do not fit the matrix, costs that are not positive, an entry
    /// that is not finite; or a gap between the objectives above a thousandth.
    pub fn train(gram: &Gram, positive: &[bool], costs: Costs) -> Result<Self, KernelLearnError> {
        check_kernel(gram, positive, costs)?;
        let Some((first, rest)) = positive.split_first() else {
            return Err(KernelLearnError::Empty);
        };
        if rest.iter().all(|positive| positive == first) {
            let bias = if *first { 1.0 } else { -1.0 };
            let expansion = Expansion { coefficients: vec![0.0; gram.len()], bias };
            return Ok(Self { expansion, dual_objective: 0.0, objective: 0.0 });
        }
        let bound = |wanted: bool, cost: f64| {
            positive.iter().map(|&is| if is == wanted { cost } else { 0.0 }).collect::<Vec<f64>>()
        };
        let mut dual = Dual {
            gram,
            diagonal: gram.diagonal().collect(),
            low: bound(false, -costs.negative),
            high: bound(true, costs.positive),
            multipliers: vec![0.0; gram.len()],
            lacking: positive.iter().map(|&is| if is { 1.0 } else { -1.0 }).collect(),
        };
        for _ in 0..STEPS.max(STEPS_AN_ITEM * gram.len()) {
            if !dual.step() {
                break;
            }
        }
        let bias = dual.bias();
        let expansion = Expansion { coefficients: dual.multipliers, bias };
        Self { expansion, dual_objective: 0.0, objective: 0.0 }.judged(gram, positive, costs)
    }

    /// With its objectives, if they are close enough.
    fn judged(
        mut self,
        gram: &Gram,
        positive: &[bool],
        costs: Costs,
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
        let gap = (self.objective - self.dual_objective) / (1.0 + self.objective.abs());
        if gap.abs() < GAP { Ok(self) } else { Err(KernelLearnError::Gap { relative: gap }) }
    }
}

impl Dual<'_> {
    /// The item whose multiplier should rise most, and by how much its margin lacks more than another's.
    fn rising(&self) -> Option<(usize, f64)> {
        let may_rise = (0..self.gram.len()).filter(|&i| self.multipliers[i] < self.high[i]);
        let lacking = may_rise.map(|i| (i, self.lacking[i]));
        lacking.reduce(|most, one| if one.1 > most.1 { one } else { most })
    }

    /// The least that a margin lacks whose multiplier may fall.
    fn least(&self) -> f64 {
        let may_fall = (0..self.gram.len()).filter(|&j| self.multipliers[j] > self.low[j]);
        may_fall.map(|j| self.lacking[j]).fold(f64::INFINITY, f64::min)
    }

    /// Raises one multiplier and lowers another by as much. False where the conditions hold.
    fn step(&mut self) -> bool {
        let Some((i, most)) = self.rising() else { return false };
        let (row, own) = (self.gram.row(i), self.diagonal[i]);
        let (mut best, mut least) = (None, f64::INFINITY);
        for (j, &kernel) in row.iter().enumerate() {
            if self.multipliers[j] <= self.low[j] {
                continue;
            }
            least = least.min(self.lacking[j]);
            let slope = most - self.lacking[j];
            if slope > 0.0 {
                let curvature = (own + self.diagonal[j] - 2.0 * kernel).max(FLAT);
                let gain = slope * slope / curvature;
                if best.is_none_or(|(most, _, _)| gain > most) {
                    best = Some((gain, j, slope / curvature));
                }
            }
        }
        let Some((_, j, newton)) = best.filter(|_| most - least >= TOLERANCE) else { return false };
        let up = self.high[i] - self.multipliers[i];
        let down = self.multipliers[j] - self.low[j];
        let step = newton.min(up).min(down);
        // A bound that is reached is reached to the bit.
        self.multipliers[i] = if step >= up { self.high[i] } else { self.multipliers[i] + step };
        self.multipliers[j] = if step >= down { self.low[j] } else { self.multipliers[j] - step };
        let rows = row.iter().zip(self.gram.row(j));
        for (lacking, (of_i, of_j)) in self.lacking.iter_mut().zip(rows) {
            *lacking -= step * (of_i - of_j);
        }
        true
    }

    /// What margins lack where they should be one: the mean over multipliers between their bounds, or
    /// else the middle of what the others allow.
    fn bias(&self) -> f64 {
        let free = |&i: &usize| {
            let value = self.multipliers[i];
            self.low[i] < value && value < self.high[i]
        };
        let (sum, count) = (0..self.gram.len())
            .filter(free)
            .fold((0.0, 0_usize), |(sum, count), i| (sum + self.lacking[i], count + 1));
        match self.rising() {
            _ if count > 0 => sum / count as f64,
            Some((_, most)) => 0.5 * (most + self.least()),
            None => self.least(),
        }
    }
}
