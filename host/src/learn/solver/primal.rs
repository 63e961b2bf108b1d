//! Linear machines in the primal, by Newton's method.

use crate::kernel::inner_product;
use crate::learn::solver::expansion::Linear;
use crate::learn::solver::kernel_logistic::KERNEL_LOGISTIC;
use crate::learn::solver::learner::{Learner, Trains};
use crate::learn::solver::loss::{Costs, Loss, LossSum};
use crate::learn::solver::matrix::Matrix;

/// Logistic regression as a learner.
pub static LOGISTIC: Learner = Learner {
    name: "logistic",
    machine: "logistic regression",
    about: "logistic regression with an L2 penalty, by Newton's method on the rows",
    costs: &[0.1, 1.0, 10.0],
    trains: Trains::OnRows {
        path: |rows, positive, costs| {
            let mut path: Vec<Linear> = Vec::new();
            for &costs in costs {
                path.push(minimise(Loss::Logistic, rows, positive, costs, path.last()));
            }
            path
        },
        on_gram: &KERNEL_LOGISTIC,
    },
};

/// The gradient at the end, relative to the one at zero weights.
pub const TOLERANCE: f64 = 1e-8;
/// Newton steps at most, and conjugate gradients within one.
const STEPS: usize = 100;
const INNER_STEPS: usize = 200;

/// Rows of features as a linear machine sees them: by products with them alone, so that they need not be
/// written out.
pub trait Design {
    /// Number of features.
    fn columns(&self) -> usize;

    /// `start + w . x_i` of each row.
    fn products(&self, weights: &[f64], start: f64) -> Vec<f64>;

    /// Adds `sum_i factor_i x_i` to `sum`.
    fn combine(&self, factors: &[f64], sum: &mut [f64]);
}

impl Design for Matrix {
    fn columns(&self) -> usize {
        Matrix::columns(self)
    }

    fn products(&self, weights: &[f64], start: f64) -> Vec<f64> {
        let value = |row: &[f32]| {
            let mut sum = start;
            let entries = weights.len().min(row.len());
            let (weights, row) = (&weights[..entries], &row[..entries]);
            for k in 0..entries {
                sum += weights[k] * f64::from(row[k]);
            }
            sum
        };
        self.rows().map(value).collect()
    }

    fn combine(&self, factors: &[f64], sum: &mut [f64]) {
        for (row, &factor) in self.rows().zip(factors).filter(|(_, factor)| **factor != 0.0) {
            let entries = sum.len().min(row.len());
            let (sum, row) = (&mut sum[..entries], &row[..entries]);
            for k in 0..entries {
                sum[k] += factor * f64::from(row[k]);
            }
        }
    }
}

/// Minimises `1/2 |w|^2 + 1/2 b^2 + sum_i c_i loss(y_i (w . x_i + b))` over weights and bias, from
/// `start`, with `y_i = 1` where `positive`, else `-1`. The bias is one more feature of value one.
///
/// Newton's method, its steps found by conjugate gradients on products with the Hessian
/// `1 + X' D X`, which is never formed (Lin, Weng and Keerthi, "Trust region Newton method for
/// large-scale logistic regression", 2008, with a line search for the trust region). It ends when the
/// gradient is `1e-8` of that at zero; the objective is strictly convex, so that is the one minimum.
///
/// Work: two passes over the rows a conjugate gradient; RAM: four vectors of either size.
pub fn minimise(
    loss: Loss,
    rows: &dyn Design,
    positive: &[bool],
    costs: Costs,
    start: Option<&Linear>,
) -> Linear {
    minimise_to(TOLERANCE, loss, rows, positive, costs, start)
}

/// [`minimise`] until the gradient is `tolerance` of that at zero: to compare costs, less will do.
pub fn minimise_to(
    tolerance: f64,
    loss: Loss,
    rows: &dyn Design,
    positive: &[bool],
    costs: Costs,
    start: Option<&Linear>,
) -> Linear {
    let objective = Objective { loss, rows, positive, costs };
    let mut weights = start.map_or_else(
        || vec![0.0; rows.columns() + 1],
        |start| start.weights.iter().copied().chain([start.bias]).collect(),
    );
    let zero = objective.gradient(&vec![0.0; weights.len()], &vec![0.0; positive.len()]);
    let enough = tolerance * norm(&zero).max(f64::MIN_POSITIVE);
    let mut values = objective.values(&weights);
    for _ in 0..STEPS {
        let gradient = objective.gradient(&weights, &values);
        let length = norm(&gradient);
        if length <= enough {
            break;
        }
        let step = objective.newton_step(&gradient, &values, length.sqrt().min(0.1) * length);
        let moves = objective.values(&step);
        if !objective.search(
            &mut weights,
            &mut values,
            &step,
            &moves,
            inner_product(&gradient, &step),
        ) {
            break;
        }
    }
    let bias = weights.pop().unwrap_or(0.0);
    Linear { weights, bias }
}

/// The objective that [`minimise`] minimises, at some weights.
pub fn objective(
    loss: Loss,
    rows: &dyn Design,
    positive: &[bool],
    costs: Costs,
    machine: &Linear,
) -> f64 {
    let objective = Objective { loss, rows, positive, costs };
    let weights: Vec<f64> = machine.weights.iter().copied().chain([machine.bias]).collect();
    objective.objective(&weights, &objective.values(&weights))
}

struct Objective<'a> {
    loss: Loss,
    rows: &'a dyn Design,
    positive: &'a [bool],
    costs: Costs,
}

impl Objective<'_> {
    /// `w . x_i + b`, `[row]`.
    fn values(&self, weights: &[f64]) -> Vec<f64> {
        let Some((&bias, weights)) = weights.split_last() else { return Vec::new() };
        self.rows.products(weights, bias)
    }

    /// `start + sum_i factor_i x_i`.
    fn combine(&self, start: &[f64], factors: &[f64]) -> Vec<f64> {
        let mut sum = start.to_vec();
        let Some((bias, weights)) = sum.split_last_mut() else { return sum };
        self.rows.combine(factors, weights);
        factors.iter().for_each(|factor| *bias += factor);
        sum
    }

    /// The sign of an item's side, and the cost of an error there.
    #[inline]
    fn side(&self, item: usize) -> (f64, f64) {
        let positive = self.positive[item];
        (if positive { 1.0 } else { -1.0 }, self.costs.of(positive))
    }

    fn objective(&self, weights: &[f64], values: &[f64]) -> f64 {
        let [mut positive, mut negative] = [LossSum::new(self.loss); 2];
        for item in 0..values.len() {
            match self.positive[item] {
                true => positive.add(values[item]),
                false => negative.add(-values[item]),
            }
        }
        let losses =
            self.costs.positive * positive.total() + self.costs.negative * negative.total();
        0.5 * inner_product(weights, weights) + losses
    }

    fn gradient(&self, weights: &[f64], values: &[f64]) -> Vec<f64> {
        let mut slopes = vec![0.0; values.len()];
        for item in 0..values.len() {
            let (sign, cost) = self.side(item);
            slopes[item] = sign * cost * self.loss.slope(sign * values[item]);
        }
        self.combine(weights, &slopes)
    }

    /// A step `s` with `|H s + gradient| <= tolerance`.
    fn newton_step(&self, gradient: &[f64], values: &[f64], tolerance: f64) -> Vec<f64> {
        let mut curvature = vec![0.0; values.len()];
        for item in 0..values.len() {
            let (sign, cost) = self.side(item);
            curvature[item] = cost * self.loss.curvature(sign * values[item]);
        }
        let mut step = vec![0.0; gradient.len()];
        let mut residual: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut direction = residual.clone();
        let mut square = inner_product(&residual, &residual);
        for _ in 0..INNER_STEPS {
            if square.sqrt() <= tolerance {
                break;
            }
            let mut along = self.values(&direction);
            let curvature = &curvature[..along.len()];
            for item in 0..along.len() {
                along[item] *= curvature[item];
            }
            let product = self.combine(&direction, &along);
            let length = square / inner_product(&direction, &product);
            add(&mut step, length, &direction);
            add(&mut residual, -length, &product);
            let next = inner_product(&residual, &residual);
            let residual = &residual[..direction.len()];
            for k in 0..direction.len() {
                direction[k] = residual[k] + next / square * direction[k];
            }
            square = next;
        }
        step
    }

    /// Halves a step until the objective falls by enough of what its slope promises; `false`, and
    /// nothing is changed, where rounding leaves no such step.
    fn search(
        &self,
        weights: &mut Vec<f64>,
        values: &mut Vec<f64>,
        step: &[f64],
        moves: &[f64],
        slope: f64,
    ) -> bool {
        let before = self.objective(weights, values);
        let slack = 1e-15 * before.abs();
        let mut length = 1.0;
        while length > 1e-9 {
            let (mut tried, mut moved) = (weights.clone(), values.clone());
            add(&mut tried, length, step);
            add(&mut moved, length, moves);
            if self.objective(&tried, &moved) <= before + 1e-4 * length * slope + slack {
                (*weights, *values) = (tried, moved);
                return true;
            }
            length *= 0.5;
        }
        false
    }
}

fn add(to: &mut [f64], factor: f64, from: &[f64]) {
    let entries = to.len().min(from.len());
    let (to, from) = (&mut to[..entries], &from[..entries]);
    for k in 0..entries {
        to[k] += factor * from[k];
    }
}

fn norm(x: &[f64]) -> f64 {
    inner_product(x, x).sqrt()
}
