use fishweir::dynamics::{LinearNetwork, LinearSystem, Moments};
use fishweir::kernel::between::{
    BetweenError, DynamicsKernel, ModelKernel, NetworkKernel, PerStepKernel,
};
use fishweir_core::kernel::Affinity;
use serde::Deserialize;

use super::compare::Comparison;
use super::precision::{Kind, Precise};
use super::schema::{Matrix, Row};
use super::tree::Tree;
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

impl Kind for Linear {
    type Inputs = Inputs;

    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        let done = match inputs {
            Inputs::LinearGaussian { net, net2, rhos } => networks(&net, &net2, &rhos, comparison),
            Inputs::Lds { lds, lds2, steps, rhos } => {
                systems(&lds.into(), &lds2.into(), &steps, &rhos, comparison)
            }
        };
        done.map_err(|error| error.to_string())
    }
}

fn networks(
    net: &LinearNetwork,
    net2: &LinearNetwork,
    rhos: &[f64],
    comparison: &mut Comparison,
) -> Result<(), BetweenError> {
    let (one, other) = (net.moments()?, net2.moments()?);
    let kernel = |rho| NetworkKernel::new(Affinity::Product { rho })?.log_value(net, net2);
    let logs = rhos.iter().copied().map(kernel).collect::<Result<Row, _>>()?;
    let values: Row = logs.iter().map(|log| log.exp()).collect();
    let fields: [(&str, Tree); 6] = [
        ("mean", one.mean.into()),
        ("cov", one.covariance.into()),
        ("mean2", other.mean.into()),
        ("cov2", other.covariance.into()),
        ("value", values.into()),
        ("log_value", logs.into()),
    ];
    for (name, got) in fields {
        comparison.field(name, got, Tolerance::EXACT);
    }
    Ok(())
}

fn systems(
    one: &LinearSystem,
    other: &LinearSystem,
    steps: &[usize],
    rhos: &[f64],
    comparison: &mut Comparison,
) -> Result<(), BetweenError> {
    comparison.blocks("per_steps", steps.len());
    for (block, &steps) in steps.iter().enumerate() {
        let times = steps + 1;
        comparison.field(&format!("per_steps[{block}].steps"), steps, Tolerance::EXACT);
        let (mut exact, mut per_step, mut cosine) = (Row::new(), Row::new(), Row::new());
        for &rho in rhos {
            let measure = Affinity::Product { rho };
            let kernel = DynamicsKernel::new(times, measure)?;
            exact.push(kernel.log_value(one, other)?);
            per_step.push(PerStepKernel::new(times, measure)?.log_value(one, other)?);
            let pair = kernel.log_gram(&[one.clone(), other.clone()]).map_err(|error| error.why)?;
            cosine.push(pair.normalised().get(0, 1));
        }
        let of_logs = |logs: &Row| logs.iter().map(|log| log.exp()).collect::<Row>();
        let Moments { mean, covariance } = one.joint(times)?;
        let fields: [(&str, Tree); 7] = [
            ("mean", mean.into()),
            ("cov", covariance.into()),
            ("exact_joint", of_logs(&exact).into()),
            ("log_exact_joint", exact.into()),
            ("per_step_marginal", of_logs(&per_step).into()),
            ("log_per_step_marginal", per_step.into()),
            ("cosine_exact", cosine.into()),
        ];
        for (name, got) in fields {
            comparison.field(&format!("per_steps[{block}].{name}"), got, Tolerance::EXACT);
        }
    }
    Ok(())
}
