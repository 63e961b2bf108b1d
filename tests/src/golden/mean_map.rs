use fishweir_core::kernel::Affinity;
use serde::Deserialize;

use super::between::{Compared, MixtureJson, Pair};
use super::compare::Comparison;
use super::precision::{Kind, Precise};
use super::schema::{Matrix, Row};
use crate::oracle::{Law, Model};
use crate::rounding::Tolerance;

/// The generative mean map between distributions and between hidden Markov models.
pub(super) struct MeanMaps;

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Inputs {
    #[serde(alias = "ppk_limit")]
    Gaussian {
        mean: Row,
        cov: Matrix,
        mean2: Row,
        cov2: Matrix,
        lambdas: Row,
    },
    GaussianIsotropic {
        mean: Row,
        h: f64,
        mean2: Row,
        h2: f64,
        lambdas: Row,
    },
    Discrete {
        p: Row,
        p2: Row,
        lambdas: Row,
    },
    #[serde(alias = "gmm_full")]
    GmmDiag {
        p: MixtureJson,
        p2: MixtureJson,
        lambdas: Row,
    },
    Kde {
        points: Matrix,
        h: f64,
        points2: Matrix,
        h2: f64,
        lambdas: Row,
    },
    Hmm {
        hmm: Model,
        hmm2: Model,
        steps: Vec<usize>,
        lambdas: Row,
    },
}

/// The estimate of a density is a mixture of as many Gaussians as there are points.
fn density(points: Matrix, h: f64) -> Law {
    let weight = vec![(points.len() as f64).recip(); points.len()];
    let around = |mean: Row| Law::Gaussian { variance: vec![h; mean.len()], mean };
    Law::Mixture { weight, component: points.into_iter().map(around).collect() }
}

impl Kind for MeanMaps {
    type Inputs = Inputs;

    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        let (pair, lambdas) = match inputs {
            Inputs::Gaussian { mean, cov, mean2, cov2, lambdas } => {
                let of = |mean, covariance| Law::FullGaussian { mean, covariance };
                (Pair::of(of(mean, cov), of(mean2, cov2)), lambdas)
            }
            Inputs::GaussianIsotropic { mean, h, mean2, h2, lambdas } => {
                let of = |mean: Row, h| Law::Gaussian { variance: vec![h; mean.len()], mean };
                (Pair::of(of(mean, h), of(mean2, h2)), lambdas)
            }
            Inputs::Discrete { p, p2, lambdas } => {
                (Pair::of(Law::Categorical(p), Law::Categorical(p2)), lambdas)
            }
            Inputs::GmmDiag { p, p2, lambdas } => {
                (Pair::of(p.try_into()?, p2.try_into()?), lambdas)
            }
            Inputs::Kde { points, h, points2, h2, lambdas } => {
                (Pair::of(density(points, h), density(points2, h2)), lambdas)
            }
            Inputs::Hmm { hmm, hmm2, steps, lambdas } => {
                let models = [hmm, hmm2];
                return sequences::<T>(models, &steps, &lambdas, comparison);
            }
        };
        let [half, full] = conventions(&lambdas);
        let mut compared = Compared::of::<T>(&pair, &half, comparison)?;
        compared.each("half", |logs| logs.both.exp());
        compared.each("normalised_half", |logs| logs.normalised());
        let mut compared = Compared::of::<T>(&pair, &full, comparison)?;
        compared.each("full", |logs| logs.both.exp());
        scaled::<T>(&pair, &lambdas, comparison)?;
        limit::<T>(&pair, comparison)
    }
}

/// `exp(-lambda/2 |x - y|^2)` and `exp(-lambda |x - y|^2)`.
fn conventions(lambdas: &Row) -> [Vec<Affinity<f64>>; 2] {
    [1.0, 2.0]
        .map(|by| lambdas.iter().map(|lambda| Affinity::MeanMap { lambda: by * lambda }).collect())
}

/// Times `(lambda / 2 pi)^(d/2)`.
fn scaled<T: Precise>(
    pair: &Pair,
    lambdas: &Row,
    comparison: &mut Comparison,
) -> Result<(), String> {
    if let Some(Law::FullGaussian { mean, .. }) = pair.models[0].emission.first() {
        for (l, &lambda) in lambdas.iter().enumerate() {
            let factor = (lambda / std::f64::consts::TAU).powf(0.5 * mean.len() as f64);
            let measure = [Affinity::MeanMap { lambda }];
            let mut compared = Compared::of::<T>(pair, &measure, comparison)?;
            compared.only(&format!("scaled[{l}]"), |logs| factor * logs.both.exp());
        }
    }
    Ok(())
}

/// The product kernel with `rho` one.
fn limit<T: Precise>(pair: &Pair, comparison: &mut Comparison) -> Result<(), String> {
    if comparison.expects("limit") {
        let mut compared = Compared::of::<T>(pair, &[Affinity::Product { rho: 1.0 }], comparison)?;
        compared.only("limit", |logs| logs.both.exp());
    }
    Ok(())
}

fn sequences<T: Precise>(
    models: [Model; 2],
    steps: &[usize],
    lambdas: &Row,
    comparison: &mut Comparison,
) -> Result<(), String> {
    let [half, full] = conventions(lambdas);
    let mut pair = Pair { models, steps: 0 };
    comparison.blocks("per_steps", steps.len());
    for (block, &steps) in steps.iter().enumerate() {
        pair.steps = steps;
        let name = |field: &str| format!("per_steps[{block}].{field}");
        comparison.field(&name("steps"), steps, Tolerance::EXACT);
        let mut compared = Compared::of::<T>(&pair, &half, comparison)?;
        compared.psi("psi_half");
        compared.each(&name("log_half"), |logs| logs.both);
        compared.each(&name("half"), |logs| logs.both.exp());
        compared.each(&name("normalised_half"), |logs| logs.normalised());
        let mut compared = Compared::of::<T>(&pair, &full, comparison)?;
        compared.each(&name("log_full"), |logs| logs.both);
        compared.each(&name("full"), |logs| logs.both.exp());
    }
    limit::<T>(&pair, comparison)
}
