use fishweir::kernel::between::{Affinity, FactorialHmm, FactorialKernel, MeanField, ModelKernel};
use serde::Deserialize;

use super::compare::Comparison;
use super::precision::Precise;
use super::schema::{Matrix, Row};
use crate::rounding::Tolerance;

/// A factorial hidden Markov model.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FactorialJson {
    initial: Matrix,
    transition: Vec<Matrix>,
    means: Vec<Matrix>,
    cov: Matrix,
}

impl From<FactorialJson> for FactorialHmm {
    fn from(json: FactorialJson) -> Self {
        let FactorialJson { initial, transition, means: mean, cov: covariance } = json;
        Self { initial, transition, mean, covariance }
    }
}

/// Between factorial hidden Markov models: the host computes in `f64`, whatever the precision.
pub(super) fn check<T: Precise>(
    [a, b]: [FactorialJson; 2],
    steps: usize,
    rhos: &Row,
    comparison: &mut Comparison,
) -> Result<(), String> {
    let (a, b) = (FactorialHmm::from(a), FactorialHmm::from(b));
    let (mut logs, mut uniform) = (Row::new(), Row::new());
    for &rho in rhos {
        let said = |error: fishweir::kernel::between::BetweenError| error.to_string();
        let exact = FactorialKernel::new(Affinity::Product { rho }, steps).map_err(said)?;
        let log = exact.log_value(&a, &b).map_err(said)?;
        let field = MeanField::new(rho, steps).map_err(said)?;
        let bounds = field.log_bounds(&a, &b).map_err(said)?;
        let (first, last) = (bounds[0], bounds[bounds.len() - 1]);
        if let Some(fallen) = bounds.windows(2).find(|pair| pair[1] < pair[0] - 1e-12) {
            comparison.fail(format!("a sweep lowers the bound: {fallen:?} at rho {rho}"));
        }
        if !(first..=log + 1e-9).contains(&last) {
            comparison.fail(format!("a bound of {last}, not from {first} to {log}, at rho {rho}"));
        }
        logs.push(log);
        uniform.push(first.exp());
    }
    let values: Row = logs.iter().map(|log| log.exp()).collect();
    comparison.field("log_k_tilde", logs, Tolerance::EXACT);
    comparison.field("k_tilde", values, Tolerance::EXACT);
    comparison.field("uniform_bound", uniform, Tolerance::EXACT);
    Ok(())
}
