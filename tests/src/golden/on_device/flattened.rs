//! Kernels between models with structure as kernels between hidden Markov models, which devices compare: networks of categories with
//! hidden nodes, factorial models, Gaussians with covariances, and mixtures in states.
//!
//! A joint configuration of hidden nodes is a state, and one of observed nodes a symbol; a factorial model's states are those of its
//! chains together; a component of a state's mixture is a state. Two covariances become diagonal in common coordinates `y = W x`,
//! `W S W' = I` and `W S' W' = D`, in which `log k` is less by `(2 rho - 1) log |W|` per sample.

use fishweir::dynamics::LinearNetwork;
use serde::Deserialize;

use super::super::factorial::FactorialJson;
use super::super::factorial_switching;
use super::super::network::Pair;
use super::super::schema::{Case, Matrix, Row};
use super::{Products, components, inputs, numbers};
use crate::oracle::{Law, Model};

/// A Gaussian of a state.
type Normal = (Row, Matrix);

/// `L` with `L L' = S`.
fn cholesky(s: &Matrix) -> Matrix {
    let n = s.len();
    let mut l = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let rest: f64 = s[i][j] - (0..j).map(|k| l[i][k] * l[j][k]).sum::<f64>();
            l[i][j] = if i == j { rest.sqrt() } else { rest / l[j][j] };
        }
    }
    l
}

/// `L^-1 B`.
fn solve(l: &Matrix, b: &Matrix) -> Matrix {
    let mut x = b.clone();
    for i in 0..l.len() {
        for column in 0..b[0].len() {
            let rest: f64 = (0..i).map(|k| l[i][k] * x[k][column]).sum();
            x[i][column] = (b[i][column] - rest) / l[i][i];
        }
    }
    x
}

fn transposed(a: &Matrix) -> Matrix {
    (0..a[0].len()).map(|column| a.iter().map(|row| row[column]).collect()).collect()
}

fn times(a: &Matrix, b: &Matrix) -> Matrix {
    let b = transposed(b);
    let product = |x: &Row, y: &Row| x.iter().zip(y).map(|(x, y)| x * y).sum();
    a.iter().map(|row| b.iter().map(|column| product(row, column)).collect()).collect()
}

/// Rows of eigenvectors of a symmetric matrix, by Jacobi's rotations.
fn eigenvectors(m: &Matrix) -> Matrix {
    let n = m.len();
    let mut m = m.clone();
    let mut rows: Matrix =
        (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for _ in 0..50 {
        for p in 0..n {
            for q in p + 1..n {
                let angle = 0.5 * (2.0 * m[p][q]).atan2(m[q][q] - m[p][p]);
                let (sin, cos) = angle.sin_cos();
                let turn = |a: &mut Matrix| {
                    for column in 0..n {
                        let (x, y) = (a[p][column], a[q][column]);
                        (a[p][column], a[q][column]) = (cos * x - sin * y, sin * x + cos * y);
                    }
                };
                turn(&mut m);
                m = transposed(&m);
                turn(&mut m);
                m = transposed(&m);
                turn(&mut rows);
            }
        }
    }
    rows
}

/// Models whose states have Gaussians of one covariance each, in coordinates in which both are diagonal; and `log |W|`.
fn diagonal(pair: [(Row, Matrix, Vec<Row>, Matrix); 2]) -> ([Model; 2], f64) {
    let [one, other] = pair.each_ref().map(|(_, _, _, covariance)| covariance.clone());
    let l = cholesky(&one);
    let between = solve(&l, &transposed(&solve(&l, &other)));
    let identity: Matrix =
        (0..l.len()).map(|i| (0..l.len()).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    let w = times(&eigenvectors(&between), &solve(&l, &identity));
    let log = -l.iter().enumerate().map(|(i, row)| row[i].ln()).sum::<f64>();
    let models = pair.map(|(initial, transition, means, covariance)| {
        let turned = times(&times(&w, &covariance), &transposed(&w));
        let variance: Row = turned.iter().enumerate().map(|(i, row)| row[i]).collect();
        let law = |mean: Row| Law::Gaussian {
            mean: times(&w, &transposed(&vec![mean])).concat(),
            variance: variance.clone(),
        };
        Model { initial, transition, emission: means.into_iter().map(law).collect() }
    });
    (models, log)
}

fn of_logs(models: [Model; 2], rhos: &Row, logs: Row, steps: usize, log: f64) -> Products {
    let each = rhos.iter().zip(logs);
    let samples = (steps + 1) as f64;
    let expected = each.map(|(&rho, k)| (rho, steps, k - (2.0 * rho - 1.0) * samples * log));
    Products { models, expected: expected.collect() }
}

/// Two Gaussians with covariances.
pub(super) fn of_covariances(pair: [Normal; 2], rhos: &Row, logs: Row) -> Products {
    let single = |(mean, covariance): Normal| (vec![1.0], vec![vec![1.0]], vec![mean], covariance);
    let (models, log) = diagonal(pair.map(single));
    of_logs(models, rhos, logs, 0, log)
}

/// Linear-Gaussian networks, by the normal distributions of what is observed; `None` of systems, which no stream learns.
pub(super) fn of_linear(case: &Case) -> Result<Option<Products>, String> {
    #[derive(Deserialize)]
    struct Networks {
        net: LinearNetwork,
        net2: LinearNetwork,
        rhos: Row,
    }
    let Ok(Networks { net, net2, rhos }) = inputs::<Networks>(case) else { return Ok(None) };
    let normal = |net: &LinearNetwork| -> Result<Normal, String> {
        let moments = net.moments().map_err(|error| error.to_string())?;
        Ok((moments.mean, moments.covariance))
    };
    let logs = numbers(case.expected.get("log_value"))?;
    Ok(Some(of_covariances([normal(&net)?, normal(&net2)?], &rhos, logs)))
}

/// Networks of categories: a state per configuration of hidden nodes, a symbol per one of observed nodes.
pub(super) fn of_networks(case: &Case) -> Result<Option<Products>, String> {
    let Pair { bn, observed, bn2, observed2, rhos } = inputs::<Pair>(case)?;
    let models = [bn.flattened(&observed), bn2.flattened(&observed2)];
    let models = models
        .map(|(weight, laws)| components(weight, laws.into_iter().map(Law::Categorical).collect()));
    let values = numbers(case.expected.get("k_tilde"))?;
    let logs = values.into_iter().map(f64::ln).collect();
    Ok(Some(of_logs(models, &rhos, logs, 0, 0.0)))
}

/// Factorial models; `None` of switching systems, which no stream learns.
pub(super) fn of_factorial(case: &Case) -> Result<Option<Products>, String> {
    let factorial_switching::Inputs::Fhmm { fhmm, fhmm2, steps, rhos } = inputs(case)? else {
        return Ok(None);
    };
    let (models, log) = diagonal([fhmm, fhmm2].map(FactorialJson::flattened));
    let logs = numbers(case.expected.get("log_k_tilde"))?;
    Ok(Some(of_logs(models, &rhos, logs, steps, log)))
}

/// A state per component of each state's mixture.
pub(super) fn of_components(model: Model) -> Model {
    let mut flat = Model { initial: Vec::new(), transition: Vec::new(), emission: Vec::new() };
    let parts = |law: &Law| match law.clone() {
        Law::Mixture { weight, component } => weight.into_iter().zip(component).collect(),
        law => vec![(1.0, law)],
    };
    let parts: Vec<Vec<(f64, Law)>> = model.emission.iter().map(parts).collect();
    for (from, of_state) in parts.iter().enumerate() {
        for (weight, law) in of_state {
            flat.initial.push(model.initial[from] * weight);
            flat.emission.push(law.clone());
            let to = parts.iter().enumerate();
            let to = to.flat_map(|(to, parts)| parts.iter().map(move |(weight, _)| (to, weight)));
            flat.transition
                .push(to.map(|(to, weight)| model.transition[from][to] * weight).collect());
        }
    }
    flat
}
