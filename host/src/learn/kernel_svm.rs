//! The support vector machine on a precomputed kernel matrix.

use libsvm_rs::train::svm_train;
use libsvm_rs::{KernelType, SvmNode, SvmParameterBuilder, SvmProblem, SvmType, check_parameter};

use super::expansion::{Expansion, KernelLearnError, check_kernel};
use super::loss::Costs;
use crate::kernel::Gram;

/// The largest violation of the optimality conditions, in units of the margin.
const TOLERANCE: f64 = 1e-6;
/// The largest gap between primal and dual objective that is accepted, relative.
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
    /// Trains on a Gram matrix by sequential minimal optimisation, as LIBSVM does it (Chang and Lin
    /// 2011; the crate `libsvm-rs`), which asks for no matrix of the reader's but this one. It is
    /// deterministic, keeps the kernel in `f32` as it works, and stops at a violation of `1e-6`.
    ///
    /// Items of one class alone leave nothing to be parted: no coefficient, and that class for bias.
    ///
    /// Time: some `n` to `n^2` steps of `n` multiply-adds each. RAM: `20 n^2` bytes beside the matrix.
    ///
    /// # Errors
    /// [`KernelLearnError`]: labels that do not fit the matrix, costs that are not positive, an entry
    /// that is not finite; or a gap between the objectives above a thousandth.
    pub fn train(gram: &Gram, positive: &[bool], costs: Costs) -> Result<Self, KernelLearnError> {
        check_kernel(gram, positive, costs)?;
        let items = gram.len();
        let Some((first, rest)) = positive.split_first() else {
            return Err(KernelLearnError::Empty);
        };
        if rest.iter().all(|positive| positive == first) {
            let bias = if *first { 1.0 } else { -1.0 };
            let expansion = Expansion { coefficients: vec![0.0; items], bias };
            return Ok(Self { expansion, dual_objective: 0.0, objective: 0.0 });
        }
        let sign = |positive: bool| if positive { 1.0 } else { -1.0 };
        let refused = |error: libsvm_rs::SvmError| KernelLearnError::Machine(error.to_string());
        let node = |index: usize, value: f64| SvmNode { index: index as i32, value };
        let problem = SvmProblem {
            labels: positive.iter().map(|&positive| sign(positive)).collect(),
            instances: (0..items)
                .map(|i| {
                    let kernels = (1..).zip(gram.row(i)).map(|(index, &k)| node(index, k));
                    [node(0, (i + 1) as f64)].into_iter().chain(kernels).collect()
                })
                .collect(),
        };
        let megabytes = (items * items * 4) as f64 / f64::from(1 << 20);
        let parameter = SvmParameterBuilder::new()
            .svm_type(SvmType::CSvc)
            .kernel_type(KernelType::Precomputed)
            .c(1.0)
            .weights(vec![(1, costs.positive), (-1, costs.negative)])
            .eps(TOLERANCE)
            .cache_size(megabytes.max(1.0) + 1.0)
            .build()
            .map_err(refused)?;
        check_parameter(&problem, &parameter).map_err(refused)?;
        libsvm_rs::set_quiet(true);
        let model = svm_train(&problem, &parameter);
        // Its labels are in the order met; decisions are for the first of them.
        let towards = f64::from(model.label.first().copied().unwrap_or(1));
        let mut coefficients = vec![0.0; items];
        for (&index, &coefficient) in model.sv_indices.iter().zip(model.sv_coef.iter().flatten()) {
            coefficients[index - 1] = towards * coefficient;
        }
        let bias = -towards * model.rho.first().copied().unwrap_or(0.0);
        Self { expansion: Expansion { coefficients, bias }, dual_objective: 0.0, objective: 0.0 }
            .judged(gram, positive, costs)
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
