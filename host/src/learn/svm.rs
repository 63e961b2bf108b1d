//! The linear support vector machine, in the dual, by coordinate descent.

use multiversion::multiversion;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::expansion::Linear;
use super::kernel_svm::KERNEL_SVM;
use super::learner::{Learner, Trains};
use super::loss::Costs;
use super::matrix::Matrix;

/// `f(x) = weights . x + bias`.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearSvm {
    /// Weights, `[feature]`.
    pub weights: Vec<f32>,
    /// Bias.
    pub bias: f32,
}

/// The [`LinearSvm`] as a learner.
pub static LINEAR_SVM: Learner = Learner {
    name: "svm",
    machine: "linear support vector machine",
    about: "support vector machine with the squared hinge, by dual coordinate descent on the rows",
    costs: &[0.1, 1.0, 10.0],
    trains: Trains::OnRows {
        path: |rows, positive, costs| {
            let mut dual = vec![0.0; positive.len()];
            let machine = |&costs| LinearSvm::train(rows, positive, costs, &mut dual).linear();
            costs.iter().map(machine).collect()
        },
        on_gram: &KERNEL_SVM,
    },
};

/// Rows looked at, at most, as passes over all, and the violation at which to stop.
const PASSES: usize = 25;
const TOLERANCE: f32 = 0.05;

impl LinearSvm {
    /// Minimises `|w|^2 / 2 + b^2 / 2 + sum_i c_i max(0, 1 - y_i f(x_i))^2` with `y_i = 1` where
    /// `positive`, else `-1`, and the cost `c_i` of that side.
    ///
    /// Dual coordinate descent: Hsieh, Chang, Lin, Keerthi and Sundararajan, "A dual coordinate
    /// descent method for large-scale linear SVM", 2008, with the squared hinge and with shrinking (section 3.2,
    /// algorithm 3): a row without a multiplier whose slope is above all that moved in the pass before is
    /// passed over, until the others violate nothing; then all are looked at again. The
    /// bias is one more feature of value one. `dual` holds one multiplier a row and may carry those
    /// of smaller costs on to the next (all zero to start); Chu, Ho, Tsai, Lin and Lin, "Warm start for parameter
    /// selection of linear classifiers", 2015, say what that is worth. It stops where no row of all violates its
    /// condition by 0.05, or where as many were looked at as are in 25 passes over all: short of the least objective
    /// where costs are large.
    ///
    /// Work: an inner product for a row looked at, and as much again where its multiplier moves; deterministic, and
    /// the same on every processor.
    pub fn train(rows: &Matrix, positive: &[bool], costs: Costs, dual: &mut [f32]) -> Self {
        let diagonal: Vec<f32> =
            positive.iter().map(|&positive| 0.5 / costs.of(positive) as f32).collect();
        let norms: Vec<f32> = rows
            .rows()
            .zip(&diagonal)
            .map(|(row, diagonal)| 1.0 + dot(row, row) + diagonal)
            .collect();
        let mut svm = Self { weights: vec![0.0; rows.columns()], bias: 0.0 };
        for ((row, &positive), &alpha) in rows.rows().zip(positive).zip(dual.iter()) {
            if alpha != 0.0 {
                svm.step(row, if positive { alpha } else { -alpha });
            }
        }
        let mut descent = Descent { rows, positive, diagonal: &diagonal, norms: &norms, dual, svm };
        descent.run();
        descent.svm
    }

    #[inline(always)]
    fn step(&mut self, row: &[f32], by: f32) {
        for (weight, x) in self.weights.iter_mut().zip(row) {
            *weight += by * x;
        }
        self.bias += by;
    }

    /// A machine in `f64`, rounded.
    pub fn of(machine: &Linear) -> Self {
        Self {
            weights: machine.weights.iter().map(|&weight| weight as f32).collect(),
            bias: machine.bias as f32,
        }
    }

    /// The same machine in `f64`.
    pub fn linear(&self) -> Linear {
        Linear {
            weights: self.weights.iter().copied().map(f64::from).collect(),
            bias: f64::from(self.bias),
        }
    }

    /// `f(x)`.
    #[inline(always)]
    pub fn value(&self, row: &[f32]) -> f32 {
        dot(&self.weights, row) + self.bias
    }
}

/// A descent, and where it is.
struct Descent<'a> {
    rows: &'a Matrix,
    positive: &'a [bool],
    /// `1 / (2 c_i)`, and with `1 + |x_i|^2` the curvature along a multiplier.
    diagonal: &'a [f32],
    norms: &'a [f32],
    dual: &'a mut [f32],
    svm: LinearSvm,
}

/// What a pass met.
struct Pass {
    /// The largest slope along a multiplier that may move, in size.
    violation: f32,
    /// The largest of them; none is below zero.
    steepest: f32,
}

impl Descent<'_> {
    fn run(&mut self) {
        let all = self.norms.len();
        let mut order: Vec<usize> = (0..all).collect();
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let (mut bar, mut visits) = (f32::INFINITY, 0);
        while visits < PASSES * all {
            visits += order.len();
            order.shuffle(&mut rng);
            let Pass { violation, steepest } = pass(self, &mut order, bar);
            bar = if steepest > 0.0 { steepest } else { f32::INFINITY };
            if violation < TOLERANCE {
                if order.len() == all {
                    break;
                }
                order = (0..all).collect();
                bar = f32::INFINITY;
            }
        }
    }
}

/// Moves the multipliers of some rows in order, and leaves out of them those at zero whose slopes are above `bar`.
// Vector registers as wide as there are: without fused multiply-adds the bits are the same on all.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn pass(descent: &mut Descent<'_>, order: &mut Vec<usize>, bar: f32) -> Pass {
    let Descent { rows, positive, diagonal, norms, dual, svm } = descent;
    let mut met = Pass { violation: 0.0, steepest: 0.0 };
    let mut kept = 0;
    for at in 0..order.len() {
        let i = order[at];
        let row = rows.row(i);
        let y = if positive[i] { 1.0 } else { -1.0 };
        let slope = y * svm.value(row) - 1.0 + diagonal[i] * dual[i];
        let at_rest = dual[i] == 0.0 && slope >= 0.0;
        if at_rest && slope > bar {
            continue;
        }
        order[kept] = i;
        kept += 1;
        if at_rest {
            continue;
        }
        met.violation = met.violation.max(slope.abs());
        met.steepest = met.steepest.max(slope);
        if slope != 0.0 {
            let before = dual[i];
            dual[i] = (before - slope / norms[i]).max(0.0);
            svm.step(row, y * (dual[i] - before));
        }
    }
    order.truncate(kept);
    met
}

/// Running sums of a product: as many as keep two adders of the widest registers busy.
const SUMS: usize = 32;

#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; SUMS];
    let ((blocks_a, rest_a), (blocks_b, rest_b)) = (a.as_chunks::<SUMS>(), b.as_chunks::<SUMS>());
    for (a, b) in blocks_a.iter().zip(blocks_b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    for ((sum, a), b) in sums.iter_mut().zip(rest_a).zip(rest_b) {
        *sum += a * b;
    }
    // Halves onto halves, which registers add as they are.
    for half in [16, 8, 4, 2, 1] {
        let (low, high) = sums.split_at_mut(half);
        for (low, high) in low.iter_mut().zip(high) {
            *low += *high;
        }
    }
    sums[0]
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;
    use crate::learn::{Loss, objective};

    /// Without shrinking, one row after the other, until nothing violates its condition by `tolerance`.
    fn plainly(
        rows: &Matrix,
        positive: &[bool],
        Costs { positive: c, .. }: Costs,
        tolerance: f64,
    ) -> (Vec<f64>, Linear) {
        let mut dual = vec![0.0; positive.len()];
        let mut machine = Linear { weights: vec![0.0; rows.columns()], bias: 0.0 };
        let mut violation = f64::INFINITY;
        while violation > tolerance {
            violation = 0.0;
            for (i, row) in rows.rows().enumerate() {
                let row: Vec<f64> = row.iter().copied().map(f64::from).collect();
                let y = if positive[i] { 1.0 } else { -1.0 };
                let slope = y * machine.value(&row) - 1.0 + 0.5 / c * dual[i];
                let before: f64 = dual[i];
                violation = violation.max(if before == 0.0 { -slope } else { slope.abs() });
                let norm = 1.0 + row.iter().map(|x| x * x).sum::<f64>() + 0.5 / c;
                dual[i] = (before - slope / norm).max(0.0);
                let by = y * (dual[i] - before);
                machine.weights.iter_mut().zip(&row).for_each(|(weight, x)| *weight += by * x);
                machine.bias += by;
            }
        }
        (dual, machine)
    }

    /// Along rising costs the machine is within its tolerance of the one that leaves no row out and stops late: by the
    /// duality gap, by where multipliers are, and by what it decides.
    #[test]
    fn shrinking_finds_the_machine_that_no_row_is_left_out_of() {
        let mut rng = ChaCha8Rng::seed_from_u64(9);
        let (items, features) = (400, 37);
        let (mut rows, mut positive) = (Matrix::new(features), Vec::new());
        for i in 0..items {
            let shift = if i % 5 == 0 { 0.35 } else { -0.1 };
            let row = |k| rng.random::<f64>() - 0.5 + if k < 6 { shift } else { 0.0 };
            rows.push(&(0..features).map(row).collect::<Vec<f64>>());
            positive.push(i % 5 == 0);
        }
        let mut dual = vec![0.0; items];
        for c in [0.1, 1.0, 10.0] {
            let costs = Costs::even(c);
            let machine = LinearSvm::train(&rows, &positive, costs, &mut dual).linear();
            let (multipliers, wanted) = plainly(&rows, &positive, costs, 1e-6);
            let primal = |one: &Linear| objective(Loss::SquaredHinge, &rows, &positive, costs, one);
            let square = machine.weights.iter().map(|w| w * w).sum::<f64>() + machine.bias.powi(2);
            let dual_value = dual
                .iter()
                .map(|&alpha| f64::from(alpha))
                .map(|alpha| alpha - alpha * alpha / (4.0 * c))
                .sum::<f64>()
                - 0.5 * square;
            let gap = (primal(&machine) - dual_value) / primal(&wanted);
            assert!((-1e-5..6e-3).contains(&gap), "a gap of {gap} at {c}");
            assert!(primal(&machine) <= 1.004 * primal(&wanted), "at {c}");
            let most = multipliers.iter().copied().fold(0.0, f64::max);
            for (i, row) in rows.rows().enumerate() {
                let row: Vec<f64> = row.iter().copied().map(f64::from).collect();
                let (one, other) = (machine.value(&row), wanted.value(&row));
                assert!((one > 0.0) == (other > 0.0) || other.abs() < 0.1, "{one} {other} at {c}");
                assert!(
                    (f64::from(dual[i]) - multipliers[i]).abs() < 0.15 * most,
                    "row {i} at {c}"
                );
            }
        }
    }

    #[test]
    fn two_points_are_parted_in_the_middle() {
        let mut rows = Matrix::new(1);
        rows.push(&[2.0]);
        rows.push(&[-2.0]);
        let svm = LinearSvm::train(&rows, &[true, false], Costs::even(1e6), &mut [0.0; 2]);
        assert!((svm.value(&[2.0]) - 1.0).abs() < 0.06, "{svm:?}");
        assert!(svm.value(&[0.0]).abs() < 0.06, "{svm:?}");
    }

    #[test]
    fn the_gradient_of_the_objective_vanishes() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let (n, d, c) = (60, 11, 0.7_f32);
        let mut rows = Matrix::new(d);
        let mut positive = Vec::new();
        for i in 0..n {
            let row: Vec<f64> =
                (0..d).map(|_| rng.random::<f64>() - 0.5 + 0.3 * (i % 2) as f64).collect();
            rows.push(&row);
            positive.push(i % 2 == 0);
        }
        let svm = LinearSvm::train(&rows, &positive, Costs::even(c.into()), &mut vec![0.0; n]);
        let mut gradient = svm.weights.clone();
        for (row, &positive) in rows.rows().zip(&positive) {
            let y = if positive { 1.0 } else { -1.0 };
            let slack = (1.0 - y * svm.value(row)).max(0.0);
            for (gradient, x) in gradient.iter_mut().zip(row) {
                *gradient -= 2.0 * c * slack * y * x;
            }
        }
        for gradient in gradient {
            assert!(gradient.abs() < 0.5, "{gradient}");
        }
    }
}
