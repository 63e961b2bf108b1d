use fishweir::kernel::between::{
    BetweenError, Bhattacharyya, DistributionKernel, ExponentialFamily, Gamma, GammaProduct,
    ModelKernel, Multinomial, MultinomialProduct, MultinomialSeries, NaturalFamily,
};
use fishweir::runtime::Distribution;
use serde::Deserialize;

use super::compare::Comparison;
use super::precision::{Kind, Precise};
use super::schema::{Matrix, Row};
use crate::rounding::Tolerance;

/// Kernels between members of exponential families, which the host computes in `f64`.
pub(super) struct Exponential;

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Inputs {
    Gaussian { mean: Row, cov: Matrix, mean2: Row, cov2: Matrix, rhos: Row },
    GaussianIsotropic { mean: Row, mean2: Row, variance: f64, rhos: Row },
    GaussianVariance { variance: f64, variance2: f64, rhos: Row },
    Bernoulli { p: Row, p2: Row, rhos: Row },
    Multinomial { p: Row, p2: Row, s: usize, rhos: Row },
    Poisson { rate: f64, rate2: f64, rhos: Row },
    Exponential { mean: f64, mean2: f64, rhos: Row },
    Gamma { shape: f64, scale: f64, shape2: f64, scale2: f64, rhos: Row },
    Expfam { family: Family, theta: Row, theta2: Row, s: Option<u32> },
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Family {
    GaussianMean,
    GaussianPrecision,
    Exponential,
    GammaShape,
    Poisson,
    Multinomial,
    Bernoulli,
}

fn said(error: BetweenError) -> String {
    error.to_string()
}

impl Kind for Exponential {
    type Inputs = Inputs;

    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        match inputs {
            Inputs::Gaussian { mean, cov, mean2, cov2, rhos } => {
                let of = |mean, covariance: Matrix| Distribution::FullGaussian {
                    mean,
                    covariance: covariance.concat(),
                };
                distributions([of(mean, cov), of(mean2, cov2)], &rhos, comparison)
            }
            Inputs::GaussianIsotropic { mean, mean2, variance, rhos } => {
                let of = |mean: Row| {
                    let variance = vec![variance; mean.len()];
                    Distribution::Gaussian { mean, variance }
                };
                distributions([of(mean), of(mean2)], &rhos, comparison)
            }
            Inputs::GaussianVariance { variance, variance2, rhos } => {
                let of =
                    |variance| Distribution::Gaussian { mean: vec![0.0], variance: vec![variance] };
                distributions([of(variance), of(variance2)], &rhos, comparison)
            }
            Inputs::Bernoulli { p, p2, rhos } => {
                distributions([p, p2].map(Distribution::Bernoulli), &rhos, comparison)
            }
            Inputs::Poisson { rate, rate2, rhos } => {
                let pair = [rate, rate2].map(|rate| Distribution::Poisson(vec![rate]));
                distributions(pair, &rhos, comparison)
            }
            Inputs::Exponential { mean, mean2, rhos } => {
                gammas([mean, mean2].map(Gamma::exponential), &rhos, comparison)
            }
            Inputs::Gamma { shape, scale, shape2, scale2, rhos } => {
                let pair = [Gamma::new(shape, scale), Gamma::new(shape2, scale2)];
                gammas(pair, &rhos, comparison)
            }
            Inputs::Multinomial { p, p2, s, rhos } => multinomial(p, p2, s, &rhos, comparison),
            Inputs::Expfam { family, theta, theta2, s } => {
                let family = natural(family, s)?;
                let log = Bhattacharyya(family).log_value(&theta, &theta2).map_err(said)?;
                for (name, got) in [
                    ("bhattacharyya", log.exp()),
                    ("cumulant", family.cumulant(&theta).map_err(said)?),
                    ("cumulant2", family.cumulant(&theta2).map_err(said)?),
                ] {
                    comparison.field(name, got, Tolerance::EXACT);
                }
                Ok(())
            }
        }
    }
}

fn natural(family: Family, count: Option<u32>) -> Result<NaturalFamily, String> {
    Ok(match family {
        Family::GaussianMean => NaturalFamily::GaussianMean,
        Family::GaussianPrecision => NaturalFamily::GaussianPrecision,
        Family::Exponential => NaturalFamily::Exponential,
        Family::GammaShape => NaturalFamily::GammaShape,
        Family::Poisson => NaturalFamily::Poisson,
        Family::Bernoulli => NaturalFamily::Bernoulli,
        Family::Multinomial => {
            NaturalFamily::Multinomial { count: count.ok_or("a multinomial without its sum")? }
        }
    })
}

fn distributions(
    pair: [Distribution; 2],
    rhos: &[f64],
    comparison: &mut Comparison,
) -> Result<(), String> {
    let kernels = rhos.iter().map(|&rho| DistributionKernel::product(rho));
    let kernels = kernels.collect::<Result<Vec<_>, _>>().map_err(said)?;
    values(&kernels, &pair, comparison)
}

fn gammas(
    pair: [Result<Gamma, BetweenError>; 2],
    rhos: &[f64],
    comparison: &mut Comparison,
) -> Result<(), String> {
    let pair = pair.into_iter().collect::<Result<Vec<_>, _>>().map_err(said)?;
    let kernels = rhos.iter().map(|&rho| GammaProduct::new(rho));
    let kernels = kernels.collect::<Result<Vec<_>, _>>().map_err(said)?;
    values(&kernels, &pair, comparison)
}

/// Kernel values of a pair, and cosines; those are undefined where a kernel of one with itself is.
fn values<K: ModelKernel>(
    kernels: &[K],
    pair: &[K::Model],
    comparison: &mut Comparison,
) -> Result<(), String> {
    let log = |kernel: &K| kernel.log_value(&pair[0], &pair[1]).ok();
    let logs: Vec<Option<f64>> = kernels.iter().map(log).collect();
    let values: Vec<Option<f64>> = logs.iter().map(|log| log.map(f64::exp)).collect();
    let cosine = |kernel: &K| Some(kernel.log_gram(pair).ok()?.normalised().get(0, 1));
    let cosines: Vec<Option<f64>> = kernels.iter().map(cosine).collect();
    comparison.field("value", values, Tolerance::EXACT);
    comparison.field("log_value", logs, Tolerance::EXACT);
    comparison.field("cosine", cosines, Tolerance::EXACT);
    Ok(())
}

fn multinomial(
    p: Row,
    q: Row,
    count: usize,
    rhos: &[f64],
    comparison: &mut Comparison,
) -> Result<(), String> {
    let kernels = rhos.iter().map(|&rho| MultinomialProduct::new(rho, count));
    let kernels = kernels.collect::<Result<Vec<_>, _>>().map_err(said)?;
    let pair = [p, q].map(Multinomial::new).into_iter().collect::<Result<Vec<_>, _>>();
    let pair = pair.map_err(said)?;
    values(&kernels, &pair, comparison)?;
    let base = pair[0].bhattacharyya(&pair[1]).map_err(said)?;
    comparison.field("bhattacharyya_base", base, Tolerance::EXACT);
    let series = MultinomialSeries::new(1.0).map_err(said)?;
    let sum = match series.log_value(&pair[0], &pair[1]) {
        Err(BetweenError::Diverges(_)) => f64::INFINITY,
        log => log.map_err(said)?.exp(),
    };
    comparison.field("sum_over_s", sum, Tolerance::EXACT);
    Ok(())
}
