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

impl FactorialJson {
    /// Initial and transition probabilities and means of the states of all chains together, and their covariance.
    pub(super) fn flattened(self) -> (Row, Matrix, Vec<Row>, Matrix) {
        let mut initial = vec![1.0];
        let mut transition = vec![vec![1.0]];
        let mut means = vec![vec![0.0; self.cov.len()]];
        for chain in 0..self.initial.len() {
            let product = |a: &Row, b: &Row| -> Row {
                a.iter().flat_map(|x| b.iter().map(move |y| x * y)).collect()
            };
            initial = product(&initial, &self.initial[chain]);
            let rows =
                |a: &Row| self.transition[chain].iter().map(|b| product(a, b)).collect::<Vec<_>>();
            transition = transition.iter().flat_map(rows).collect();
            let sums = |a: &Row| -> Vec<Row> {
                let sum = |b: &Row| a.iter().zip(b).map(|(x, y)| x + y).collect();
                self.means[chain].iter().map(sum).collect()
            };
            means = means.iter().flat_map(sums).collect();
        }
        (initial, transition, means, self.cov)
    }
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
