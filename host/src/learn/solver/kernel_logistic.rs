//! Kernel logistic regression, in the dual.

use nalgebra::{Cholesky, DMatrix, DVector};

use crate::kernel::{Gram, inner_product};
use crate::learn::solver::expansion::{Expansion, KernelLearnError, check_kernel};
use crate::learn::solver::factor::features;
use crate::learn::solver::learner::{Learner, Trains};
use crate::learn::solver::loss::{Costs, Loss, sigmoid, softplus};
use crate::learn::solver::multi_class::OnGram;
use crate::product::{View, product};

/// [`KernelLogistic`] regression as a learner. Its features have the kernel's rank: at most some four matrices
/// beside the kernel's.
pub static KERNEL_LOGISTIC: Learner = Learner {
    name: "klr",
    machine: "kernel logistic regression",
    about: "kernel logistic regression, on the Gram matrix plus one: the bias has prior variance one",
    costs: &[0.1, 1.0, 10.0],
    trains: Trains::OnGram(OnGram {
        bytes: |items| 32 * items * items,
        constant: 1.0,
        path: |gram, positive, costs| {
            let machine = |&costs| Ok(KernelLogistic::train(gram, positive, costs)?.expansion());
            costs.iter().map(machine).collect()
        },
    }),
};

/// Newton steps at most. A kernel of norm `k` takes some `log k` of them beyond the usual ten.
const STEPS: usize = 200;
/// The square of Newton's decrement at the end, relative to the objective.
const TOLERANCE: f64 = 1e-28;
/// Tolerance if no step makes it smaller.
const STAGNATED: f64 = 1e-16;
/// Tolerance at which Newton's method converges quadratically.
///
/// The objective, whose changes are soon lost to rounding, is then not evaluated.
const QUADRATIC: f64 = 1e-6;

/// Kernel logistic regression: `P(y = 1 | x) = sigma( sum_i S_i lambda_i K(x_i, x) )` with labels
/// `S_i` of plus or minus one and multipliers that maximise
///
/// ```text
/// J(lambda) = sum_i c_i H(lambda_i / c_i) - 1/2 sum_ij lambda_i lambda_j S_i S_j K_ij,
/// 0 < lambda_i < c_i,   H(p) = -p log p - (1 - p) log(1 - p)
/// ```
///
/// With all costs `c_i` one this is the maximum a posteriori estimate under a Gaussian prior whose
/// covariance is the kernel (Jaakkola and Haussler, "Exploiting generative models in discriminative
/// classifiers", 1998, equations 3 to 6); costs weigh the items' log-likelihoods. There is no bias
/// but the kernel's own: a constant added to the kernel is the prior variance of one (footnote 5
/// there).
#[derive(Clone, Debug, PartialEq)]
pub struct KernelLogistic {
    /// `lambda`, `[item]`.
    pub multipliers: Vec<f64>,
    /// `J` at the solution: minus the penalised log-likelihood.
    pub dual_objective: f64,
    /// `sum_i c_i log sigma(S_i f(x_i)) - 1/2 |f|^2` at the solution, which equals `-J` there.
    pub objective: f64,
    /// The margins `f(x_i)` of the training items.
    pub margins: Vec<f64>,
    /// Newton steps taken.
    pub steps: usize,
    signs: Vec<f64>,
}

/// The state of the iteration, in features `G` of the kernel, `K = G G'`: weights `w`, margins
/// `f = G w`, and the dual point `S_i lambda_i = -S_i c_i loss'(S_i f_i)` that belongs to those.
struct Point {
    weights: Vec<f64>,
    margins: Vec<f64>,
    dual: Vec<f64>,
    /// `1/2 |w|^2 + sum_i c_i loss(S_i f_i)`.
    objective: f64,
}

struct Objective {
    /// `G`, `[feature][item]`.
    columns: Vec<Vec<f64>>,
    signs: Vec<f64>,
    costs: Vec<f64>,
}

impl KernelLogistic {
    /// Maximises the dual on a positive semi-definite Gram matrix, singular or not. Items are of the
    /// class to be found where `positive`; all of them may be of one class, and there may be none.
    ///
    /// Newton's method on the primal in features of the kernel, from its Cholesky factor with pivots:
    /// `w <- w - (1 + G' W G)^-1 (w - G' S lambda)` with `W = diag c_i sigma(f_i) sigma(-f_i)`, halved
    /// where a step goes too far. The matrix has no eigenvalue below one whatever the kernel's rank,
    /// and `lambda` is read from the margins, `lambda_i = c_i sigma(-S_i f_i)` (equation 5), so it is
    /// inside its bounds. It ends when Newton's decrement is `1e-14` of the objective's root, or
    /// smaller than rounding lets it be known.
    ///
    /// Time: `n r^2` multiply-adds to factor a kernel of rank `r`, and `n r^2 + r^3 / 3` per step, some
    /// ten steps. RAM: `16 n r` bytes.
    ///
    /// # Errors
    /// [`KernelLearnError`]: labels that do not fit the matrix, costs that are not positive, an entry
    /// that is not finite, a matrix that is not positive semi-definite; or the steps did not converge.
    pub fn train(gram: &Gram, positive: &[bool], costs: Costs) -> Result<Self, KernelLearnError> {
        check_kernel(gram, positive, costs)?;
        let objective = Objective {
            columns: features(gram)?,
            signs: positive.iter().map(|&positive| if positive { 1.0 } else { -1.0 }).collect(),
            costs: positive.iter().map(|&positive| costs.of(positive)).collect(),
        };
        objective.solve()
    }

    /// `sum_i S_i lambda_i K(x_i, x)` of a new item, from its kernel values against the training
    /// items: its margin, the log-odds of the positive class.
    pub fn margin(&self, kernels: &[f64]) -> f64 {
        let terms = self.multipliers.iter().zip(&self.signs).zip(kernels);
        terms.map(|((lambda, sign), kernel)| sign * lambda * kernel).sum()
    }

    /// `P(y = 1 | x)` of a new item, from its kernel values against the training items.
    pub fn probability(&self, kernels: &[f64]) -> f64 {
        sigmoid(self.margin(kernels))
    }

    /// The machine as an expansion in kernels.
    pub fn expansion(&self) -> Expansion {
        let coefficients = self.multipliers.iter().zip(&self.signs).map(|(lambda, s)| s * lambda);
        Expansion { coefficients: coefficients.collect(), bias: 0.0 }
    }
}

impl Objective {
    fn solve(self) -> Result<KernelLogistic, KernelLearnError> {
        let mut point = self.at(vec![0.0; self.columns.len()], vec![0.0; self.signs.len()]);
        let (mut steps, mut last) = (0, f64::INFINITY);
        loop {
            let pulled = self.columns.iter().map(|column| inner_product(column, &point.dual));
            let gradient: Vec<f64> = point.weights.iter().zip(pulled).map(|(w, p)| w - p).collect();
            let step = self.newton_step(&gradient, &point)?;
            let scale = point.objective.max(f64::MIN_POSITIVE);
            let decrement = -inner_product(&gradient, &step) / scale;
            let stagnated = decrement >= last && decrement < STAGNATED;
            if decrement <= TOLERANCE || stagnated {
                return Ok(self.finish(point, steps));
            }
            if steps == STEPS || !decrement.is_finite() {
                return Err(KernelLearnError::NotConverged { steps, decrement });
            }
            last = decrement;
            point = self.search(&point, &step, decrement);
            steps += 1;
        }
    }

    fn at(&self, weights: Vec<f64>, margins: Vec<f64>) -> Point {
        let items = || margins.iter().zip(self.signs.iter().zip(&self.costs));
        let loss: f64 = items().map(|(f, (s, c))| c * Loss::Logistic.value(s * f)).sum();
        Point {
            dual: items().map(|(f, (s, c))| -s * c * Loss::Logistic.slope(s * f)).collect(),
            objective: loss + 0.5 * inner_product(&weights, &weights),
            weights,
            margins,
        }
    }

    /// `-(1 + G' W G)^-1 gradient`.
    fn newton_step(&self, gradient: &[f64], point: &Point) -> Result<Vec<f64>, KernelLearnError> {
        let (items, features) = (self.signs.len(), self.columns.len());
        let root: Vec<f64> = point
            .margins
            .iter()
            .zip(&self.costs)
            .map(|(f, cost)| (cost * Loss::Logistic.curvature(*f)).sqrt())
            .collect();
        let weighed = DMatrix::from_fn(items, features, |i, k| root[i] * self.columns[k][i]);
        let weighed = View::of(&weighed);
        let mut matrix = product(weighed.transposed(), weighed);
        for k in 0..features {
            matrix[(k, k)] += 1.0;
        }
        let factor = Cholesky::new(matrix).ok_or(KernelLearnError::NotSemidefinite)?;
        let mut step = DVector::from_fn(features, |k, _| -gradient[k]);
        factor.solve_mut(&mut step);
        Ok(step.iter().copied().collect())
    }

    /// The point a step further, or half a step, or a quarter: where the objective falls by enough of
    /// what its slope promises.
    fn search(&self, point: &Point, step: &[f64], decrement: f64) -> Point {
        let mut moves = vec![0.0; self.signs.len()];
        for (column, step) in self.columns.iter().zip(step) {
            moves.iter_mut().zip(column).for_each(|(sum, entry)| *sum += step * entry);
        }
        let along = |from: &[f64], by: &[f64], t: f64| -> Vec<f64> {
            from.iter().zip(by).map(|(from, by)| from + t * by).collect()
        };
        let mut length = 1.0;
        loop {
            let weights = along(&point.weights, step, length);
            let trial = self.at(weights, along(&point.margins, &moves, length));
            let enough = point.objective * (1.0 - 1e-4 * length * decrement);
            if decrement < QUADRATIC || trial.objective <= enough || length < 1e-12 {
                return trial;
            }
            length *= 0.5;
        }
    }

    /// The multipliers and both objectives at a point.
    fn finish(self, point: Point, steps: usize) -> KernelLogistic {
        let mut entropy = 0.0;
        for ((sign, cost), margin) in self.signs.iter().zip(&self.costs).zip(&point.margins) {
            // lambda / c = sigma(-m): its logarithm and its complement's without cancellation.
            let m = sign * margin;
            entropy += cost * (sigmoid(-m) * softplus(m) + sigmoid(m) * softplus(-m));
        }
        let pulled = self.columns.iter().map(|column| inner_product(column, &point.dual));
        let norm: f64 = pulled.map(|pulled| pulled * pulled).sum();
        KernelLogistic {
            multipliers: point.dual.iter().zip(&self.signs).map(|(dual, s)| dual * s).collect(),
            dual_objective: entropy - 0.5 * norm,
            objective: -point.objective,
            margins: point.margins,
            steps,
            signs: self.signs,
        }
    }
}
