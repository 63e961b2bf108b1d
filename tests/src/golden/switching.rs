use fishweir::dynamics::SwitchingSystem;
use fishweir::kernel::between::{BetweenError, ModelKernel, PathWeights, SwitchingKernel};
use fishweir_core::kernel::Measure;
use serde::Deserialize;

use super::compare::Comparison;
use super::schema::{Matrix, Row};
use super::tree::Expectation;
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

/// What a case expects of two switching systems.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Expected {
    k_tilde: Expectation,
    log_k_tilde: Expectation,
    sampling_expectation: Expectation,
}

/// Compares the kernels of two switching systems, by sums over all paths, with what a case expects.
pub(super) fn check(
    one: SldsJson,
    other: SldsJson,
    steps: usize,
    rhos: &[f64],
    expected: &Expected,
    comparison: &mut Comparison,
) -> Result<(), String> {
    let (one, other) = (one.into(), other.into());
    let logs = |weights| -> Result<Row, BetweenError> {
        let of = |&rho: &f64| {
            SwitchingKernel::new(steps + 1, Measure::Product { rho }, weights)?
                .log_value(&one, &other)
        };
        rhos.iter().map(of).collect()
    };
    let powered = logs(PathWeights::Powered).map_err(|error| error.to_string())?;
    let sampled = logs(PathWeights::Expected).map_err(|error| error.to_string())?;
    let of_logs = |logs: &Row| logs.iter().map(|log| log.exp()).collect::<Row>();
    for (name, expected, got) in [
        ("k_tilde", &expected.k_tilde, of_logs(&powered)),
        ("log_k_tilde", &expected.log_k_tilde, powered),
        ("sampling_expectation", &expected.sampling_expectation, of_logs(&sampled)),
    ] {
        comparison.field(name, expected, got, Tolerance::EXACT);
    }
    Ok(())
}
