use fishweir::dynamics::SwitchingSystem;
use fishweir::kernel::between::{BetweenError, ModelKernel, PathWeights, SwitchingKernel};
use fishweir_core::kernel::Affinity;
use serde::Deserialize;

use super::compare::Comparison;
use super::schema::{Matrix, Row};
use crate::rounding::Tolerance;

/// A switching linear dynamical system.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(non_snake_case, reason = "the files' names")]
pub(super) struct SldsJson {
    initial: Row,
    transition: Matrix,
    mu: Matrix,
    Sigma: Vec<Matrix>,
    A: Vec<Matrix>,
    Q: Vec<Matrix>,
    C: Matrix,
    R: Matrix,
}

impl From<SldsJson> for SwitchingSystem {
    fn from(system: SldsJson) -> Self {
        Self {
            initial: system.initial,
            chain: system.transition,
            initial_mean: system.mu,
            initial_covariance: system.Sigma,
            transition: system.A,
            state_noise: system.Q,
            observation: system.C,
            observation_noise: system.R,
        }
    }
}

/// Compares the kernels of two switching systems, by sums over all paths, with what a case expects.
pub(super) fn check(
    one: SldsJson,
    other: SldsJson,
    steps: usize,
    rhos: &[f64],
    comparison: &mut Comparison,
) -> Result<(), String> {
    let (one, other) = (one.into(), other.into());
    let logs = |weights| -> Result<Row, BetweenError> {
        let of = |&rho: &f64| {
            SwitchingKernel::new(steps + 1, Affinity::Product { rho }, weights)?
                .log_value(&one, &other)
        };
        rhos.iter().map(of).collect()
    };
    let powered = logs(PathWeights::Powered).map_err(|error| error.to_string())?;
    let sampled = logs(PathWeights::Expected).map_err(|error| error.to_string())?;
    let of_logs = |logs: &Row| logs.iter().map(|log| log.exp()).collect::<Row>();
    for (name, got) in [
        ("k_tilde", of_logs(&powered)),
        ("log_k_tilde", powered),
        ("sampling_expectation", of_logs(&sampled)),
    ] {
        comparison.field(name, got, Tolerance::EXACT);
    }
    Ok(())
}
