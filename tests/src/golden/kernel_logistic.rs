use fishweir::kernel::Gram;
use fishweir::learn::{Costs, KernelLearnError, KernelLogistic, MapLogistic, sigmoid};
use serde::Deserialize;

use super::compare::Comparison;
use super::precision::{Kind, Precise};
use super::schema::{Matrix, Row};
use super::tree::Tree;
use crate::rounding::Tolerance;

/// Kernel logistic regression: on features with a prior's covariance, and on a Gram matrix.
pub(super) struct Logistic;

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Inputs {
    Linear {
        #[serde(rename = "X")]
        x: Matrix,
        #[serde(rename = "S")]
        s: Row,
        #[serde(rename = "Sigma")]
        sigma: Matrix,
        test: Matrix,
    },
    Kernel {
        kernel: Matrix,
        #[serde(rename = "S")]
        s: Row,
        test_kernel: Matrix,
    },
}

/// What a case asks for, computed.
struct Answer {
    theta: Option<Row>,
    kernel: Option<Matrix>,
    dual: KernelLogistic,
    margins: Row,
}

impl Kind for Logistic {
    type Inputs = Inputs;

    /// The host's learner, which is in `f64` alone: the case's own tolerance in either precision.
    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        let answer = match inputs {
            Inputs::Linear { x, s, sigma, test } => linear(&x, &labels(&s)?, &sigma, &test),
            Inputs::Kernel { kernel, s, test_kernel } => {
                on_kernel(&kernel, &labels(&s)?, &test_kernel)?
            }
        };
        // A problem without a solution has none of its parts.
        let answer = answer.ok();
        let of = |part: &dyn Fn(&Answer) -> Tree| answer.as_ref().map_or(Tree::Undefined, part);
        let probabilities = |answer: &Answer| -> Tree {
            answer.margins.iter().map(|&margin| sigmoid(margin)).collect::<Row>().into()
        };
        for (name, got) in [
            ("theta", of(&|a| a.theta.clone().into())),
            ("lambda", of(&|a| a.dual.multipliers.clone().into())),
            ("objective", of(&|a| a.dual.objective.into())),
            ("dual_objective", of(&|a| a.dual.dual_objective.into())),
            ("kernel", of(&|a| a.kernel.clone().into())),
            ("test_margin", of(&|a| a.margins.clone().into())),
            ("test_probability", of(&probabilities)),
        ] {
            comparison.field(name, got, Tolerance::EXACT);
        }
        Ok(())
    }
}

/// Which labels are `+1`.
fn labels(signs: &[f64]) -> Result<Vec<bool>, String> {
    match signs.iter().find(|sign| sign.abs() != 1.0) {
        Some(sign) => Err(format!("label {sign} is neither 1 nor -1")),
        None => Ok(signs.iter().map(|&sign| sign > 0.0).collect()),
    }
}

fn linear(
    x: &[Row],
    positive: &[bool],
    sigma: &[Row],
    test: &[Row],
) -> Result<Answer, KernelLearnError> {
    let machine = MapLogistic::train(x, positive, sigma)?;
    Ok(Answer {
        margins: test.iter().map(|row| machine.margin(row)).collect(),
        kernel: Some(machine.kernel.rows().map(<[f64]>::to_vec).collect()),
        theta: Some(machine.theta),
        dual: machine.dual,
    })
}

fn on_kernel(
    kernel: &[Row],
    positive: &[bool],
    test: &[Row],
) -> Result<Result<Answer, KernelLearnError>, String> {
    if kernel.iter().chain(test).any(|row| row.len() != kernel.len()) {
        return Err("a kernel row of another length than there are items".into());
    }
    let gram = Gram::from_fn(kernel.len(), |i, j| kernel[i][j]);
    Ok(KernelLogistic::train(&gram, positive, Costs::even(1.0)).map(|dual| Answer {
        theta: None,
        kernel: Some(kernel.to_vec()),
        margins: test.iter().map(|row| dual.margin(row)).collect(),
        dual,
    }))
}
