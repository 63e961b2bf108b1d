//! The linear support vector machine, in the dual, by coordinate descent.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::learn::solver::expansion::Linear;
use crate::learn::solver::kernel_svm::KERNEL_SVM;
use crate::learn::solver::learner::{Learner, Trains};
use crate::learn::solver::loss::Costs;
use crate::learn::solver::matrix::Matrix;

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

/// Visits an item at most, in the mean, and the violation at which to stop.
const PASSES: usize = 60;
const TOLERANCE: f32 = 0.05;

impl LinearSvm {
    /// Minimises `|w|^2 / 2 + b^2 / 2 + sum_i c_i max(0, 1 - y_i f(x_i))^2` with `y_i = 1` where
    /// `positive`, else `-1`, and the cost `c_i` of that side.
    ///
    /// Dual coordinate descent with shrinking: Hsieh, Chang, Lin, Keerthi and Sundararajan, "A dual coordinate
    /// descent method for large-scale linear SVM", 2008, algorithm 3 with the squared hinge. A multiplier at zero
    /// whose gradient is above all that moved in the pass before is not visited again before the others are
    /// settled; then all are. The bias is one more feature of value one. `dual` holds one multiplier a row and may
    /// carry those of smaller costs on to the next (all zero to start). It stops at a violation of 0.05 in a pass
    /// over all rows, or after 60 visits a row in the mean and a last pass over all: short of the least objective
    /// where costs are large.
    ///
    /// Work: an inner product a visit, and as much again where a multiplier moves; deterministic.
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
            svm.step(row, if positive { alpha } else { -alpha });
        }
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let count = norms.len();
        let (mut active, mut visits) = (Vec::new(), 0);
        // The largest projected gradient of the pass before: a multiplier at zero is not visited beyond it.
        let mut highest = f32::INFINITY;
        loop {
            let last = visits >= PASSES * count;
            if active.is_empty() || last {
                (active, highest) = ((0..count).collect(), f32::INFINITY);
            }
            let whole = active.len() == count;
            visits += active.len();
            active.shuffle(&mut rng);
            let (mut violation, mut above) = (0.0_f32, 0.0_f32);
            active.retain(|&i| {
                let row = rows.row(i);
                let y = if positive[i] { 1.0 } else { -1.0 };
                let gradient = y * svm.value(row) - 1.0 + diagonal[i] * dual[i];
                let projected = if dual[i] == 0.0 { gradient.min(0.0) } else { gradient };
                (violation, above) = (violation.max(projected.abs()), above.max(projected));
                if projected != 0.0 {
                    let before = dual[i];
                    dual[i] = (before - gradient / norms[i]).max(0.0);
                    svm.step(row, y * (dual[i] - before));
                }
                projected != 0.0 || gradient <= highest
            });
            if last || whole && violation < TOLERANCE {
                return svm;
            }
            highest = if above > 0.0 { above } else { f32::INFINITY };
            if violation < TOLERANCE {
                active.clear();
            }
        }
    }

    fn step(&mut self, row: &[f32], by: f32) {
        let row = &row[..self.weights.len()];
        let weights = &mut self.weights[..row.len()];
        for k in 0..row.len() {
            weights[k] += by * row[k];
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

    /// Converts the machine to `f64`.
    pub fn linear(&self) -> Linear {
        Linear {
            weights: self.weights.iter().copied().map(f64::from).collect(),
            bias: f64::from(self.bias),
        }
    }

    /// `f(x)`.
    pub fn value(&self, row: &[f32]) -> f32 {
        dot(&self.weights, row) + self.bias
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    // Eight running sums, so that the compiler may use what vector unit there is.
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let ((blocks_a, rest_a), (blocks_b, rest_b)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let blocks_b = &blocks_b[..blocks_a.len()];
    for block in 0..blocks_a.len() {
        let (a, b) = (&blocks_a[block], &blocks_b[block]);
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest_b = &rest_b[..rest_a.len()];
    let mut rest = 0.0;
    for k in 0..rest_a.len() {
        rest += rest_a[k] * rest_b[k];
    }
    let mut sum = 0.0;
    for lane in 0..LANES {
        sum += sums[lane];
    }
    sum + rest
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::super::loss::Loss;
    use super::super::primal::{minimise, objective};
    use super::*;

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

    /// Shrunken items are visited again before the end: the conditions hold for every item, and the objective is that of Newton's
    /// method, which leaves none out.
    #[test]
    fn shrinking_leaves_no_condition_unmet() {
        let (n, d) = (400, 6);
        let positive: Vec<bool> = (0..n).map(|i| i % 2 == 0).collect();
        for seed in 0..6 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut rows = Matrix::new(d);
            for &is in &positive {
                let shift = if is { 0.1 } else { -0.1 };
                let row: Vec<f64> =
                    (0..d).map(|_| 2.0 * rng.random::<f64>() - 1.0 + shift).collect();
                rows.push(&row);
            }
            for c in [0.01, 0.1, 1.0] {
                let (costs, mut dual) = (Costs::even(c), vec![0.0; n]);
                let svm = LinearSvm::train(&rows, &positive, costs, &mut dual);
                for ((row, &is), &alpha) in rows.rows().zip(&positive).zip(&dual) {
                    let y = if is { 1.0 } else { -1.0 };
                    let gradient = y * svm.value(row) - 1.0 + 0.5 / c as f32 * alpha;
                    let violation = if alpha == 0.0 { gradient.min(0.0) } else { gradient };
                    assert!(violation.abs() < 2.0 * TOLERANCE, "{violation} at C = {c}");
                }
                let reached = |machine: &Linear| {
                    objective(Loss::SquaredHinge, &rows, &positive, costs, machine)
                };
                let newton = minimise(Loss::SquaredHinge, &rows, &positive, costs, None);
                let (own, least) = (reached(&svm.linear()), reached(&newton));
                assert!(own < 1.005 * least, "{own} against {least} at C = {c}");
            }
        }
    }
}
