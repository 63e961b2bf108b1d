use fishweir::dynamics::{LinearNetwork, LinearSystem, Moments};
use fishweir::kernel::between::{
    BetweenError, DynamicsKernel, ModelKernel, NetworkKernel, PerStepKernel,
};
use fishweir_core::kernel::Measure;
use serde::Deserialize;

use super::compare::Comparison;
use super::precision::{Kind, Precise};
use super::schema::{Matrix, Row};
use super::tree::{Expectation, Tree};
use crate::rounding::Tolerance;

/// Kernels between linear-Gaussian networks and between linear dynamical systems, which the host computes in
/// `f64`.
pub(super) struct Linear;

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Inputs {
    LinearGaussian { net: LinearNetwork, net2: LinearNetwork, rhos: Row },
    Lds { lds: System, lds2: System, steps: Vec<usize>, rhos: Row },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(non_snake_case, reason = "the files' names")]
pub(super) struct System {
    mu: Row,
    Sigma: Matrix,
    A: Matrix,
    Q: Matrix,
    C: Matrix,
    R: Matrix,
}

impl From<System> for LinearSystem {
    fn from(system: System) -> Self {
        Self {
            initial_mean: system.mu,
            initial_covariance: system.Sigma,
            transition: system.A,
            state_noise: system.Q,
            observation: system.C,
            observation_noise: system.R,
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Expected {
    mean: Expectation,
    cov: Expectation,
    mean2: Expectation,
    cov2: Expectation,
    value: Expectation,
    log_value: Expectation,
    per_steps: Vec<PerSteps>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct PerSteps {
    steps: usize,
    mean: Expectation,
    cov: Expectation,
    exact_joint: Expectation,
    log_exact_joint: Expectation,
    per_step_marginal: Expectation,
    log_per_step_marginal: Expectation,
    cosine_exact: Expectation,
}

impl Kind for Linear {
    type Inputs = Inputs;
    type Expected = Expected;

    fn check<T: Precise>(
        inputs: Inputs,
        expected: &Expected,
        comparison: &mut Comparison,
    ) -> Result<(), String> {
        let done = match inputs {
            Inputs::LinearGaussian { net, net2, rhos } => {
                networks(&net, &net2, &rhos, expected, comparison)
            }
            Inputs::Lds { lds, lds2, steps, rhos } => {
                if steps.len() != expected.per_steps.len() {
                    return Err("`per_steps` is not a block a number of steps".into());
                }
                systems(&lds.into(), &lds2.into(), &rhos, expected, comparison)
            }
        };
        done.map_err(|error| error.to_string())
    }
}

fn networks(
    net: &LinearNetwork,
    net2: &LinearNetwork,
    rhos: &[f64],
    expected: &Expected,
    comparison: &mut Comparison,
) -> Result<(), BetweenError> {
    let (one, other) = (net.moments()?, net2.moments()?);
    let kernel = |rho| NetworkKernel::new(Measure::Product { rho })?.log_value(net, net2);
    let logs = rhos.iter().copied().map(kernel).collect::<Result<Row, _>>()?;
    let Expected { mean, cov, mean2, cov2, value, log_value, .. } = expected;
    let values: Row = logs.iter().map(|log| log.exp()).collect();
    let fields: [(&str, &Expectation, Tree); 6] = [
        ("mean", mean, one.mean.into()),
        ("cov", cov, one.covariance.into()),
        ("mean2", mean2, other.mean.into()),
        ("cov2", cov2, other.covariance.into()),
        ("value", value, values.into()),
        ("log_value", log_value, logs.into()),
    ];
    for (name, expected, got) in fields {
        comparison.field(name, expected, got, Tolerance::EXACT);
    }
    Ok(())
}

fn systems(
    one: &LinearSystem,
    other: &LinearSystem,
    rhos: &[f64],
    expected: &Expected,
    comparison: &mut Comparison,
) -> Result<(), BetweenError> {
    for block in &expected.per_steps {
        let times = block.steps + 1;
        let (mut exact, mut per_step, mut cosine) = (Row::new(), Row::new(), Row::new());
        for &rho in rhos {
            let measure = Measure::Product { rho };
            let kernel = DynamicsKernel::new(times, measure)?;
            exact.push(kernel.log_value(one, other)?);
            per_step.push(PerStepKernel::new(times, measure)?.log_value(one, other)?);
            let pair = kernel.log_gram(&[one.clone(), other.clone()]).map_err(|error| error.why)?;
            cosine.push(pair.normalised().get(0, 1));
        }
        let of_logs = |logs: &Row| logs.iter().map(|log| log.exp()).collect::<Row>();
        let Moments { mean, covariance } = one.joint(times)?;
        let fields: [(&str, &Expectation, Tree); 7] = [
            ("mean", &block.mean, mean.into()),
            ("cov", &block.cov, covariance.into()),
            ("exact_joint", &block.exact_joint, of_logs(&exact).into()),
            ("log_exact_joint", &block.log_exact_joint, exact.into()),
            ("per_step_marginal", &block.per_step_marginal, of_logs(&per_step).into()),
            ("log_per_step_marginal", &block.log_per_step_marginal, per_step.into()),
            ("cosine_exact", &block.cosine_exact, cosine.into()),
        ];
        for (name, expected, got) in fields {
            comparison.field(
                &format!("steps {}.{name}", block.steps),
                expected,
                got,
                Tolerance::EXACT,
            );
        }
    }
    Ok(())
}
