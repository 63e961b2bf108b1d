use fishweir::kernel::between::{
    BetweenError, Divergence, HeatForm, HeatKernel, ModelKernel, Multinomial, SymmetricKl,
};
use fishweir::runtime::Distribution;
use serde::Deserialize;

use super::compare::Comparison;
use super::precision::{Kind, Precise};
use super::schema::{Matrix, Row};
use crate::rounding::Tolerance;

/// Distances of multinomials and divergences, and kernels made of them, which the host computes in `f64`.
pub(super) struct Geometry;

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Inputs {
    Multinomial { p: Row, q: Row, times: Row, a: f64, b: f64 },
    Gaussian { mean: Row, cov: Matrix, mean2: Row, cov2: Matrix, a: f64, b: f64 },
}

impl Kind for Geometry {
    type Inputs = Inputs;

    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        let done = match inputs {
            Inputs::Multinomial { p, q, times, a, b } => multinomials(p, q, &times, comparison)
                .and_then(|(p, q)| divergences(&p, &q, a, b, comparison)),
            Inputs::Gaussian { mean, cov, mean2, cov2, a, b } => {
                let of = |mean, covariance: Matrix| Distribution::FullGaussian {
                    mean,
                    covariance: covariance.concat(),
                };
                divergences(&of(mean, cov), &of(mean2, cov2), a, b, comparison)
            }
        };
        done.map_err(|error| error.to_string())
    }
}

fn multinomials(
    p: Row,
    q: Row,
    times: &[f64],
    comparison: &mut Comparison,
) -> Result<(Multinomial, Multinomial), BetweenError> {
    let (p, q) = (Multinomial::new(p)?, Multinomial::new(q)?);
    for (name, got) in [
        ("bhattacharyya", p.bhattacharyya(&q)?),
        ("hellinger_squared", p.hellinger_squared(&q)?),
        ("hellinger", p.hellinger(&q)?),
        ("geodesic", p.geodesic(&q)?),
    ] {
        comparison.field(name, got, Tolerance::EXACT);
    }
    for (name, form) in
        [("heat_unnormalised", HeatForm::Unnormalised), ("heat_leading", HeatForm::Leading)]
    {
        let of_time = |&time: &f64| Ok(HeatKernel::new(time, form)?.log_value(&p, &q)?.exp());
        let got = times.iter().map(of_time).collect::<Result<Row, BetweenError>>()?;
        comparison.field(name, got, Tolerance::EXACT);
    }
    Ok((p, q))
}

fn divergences<D: Divergence>(
    p: &D,
    q: &D,
    a: f64,
    b: f64,
    comparison: &mut Comparison,
) -> Result<(), BetweenError> {
    let kernel = SymmetricKl::new(a, b)?.log_value(p, q)?.exp();
    for (name, got) in [
        ("kl", p.divergence(q)?),
        ("kl_reverse", q.divergence(p)?),
        ("symmetric_kl_kernel", kernel),
    ] {
        comparison.field(name, got, Tolerance::EXACT);
    }
    Ok(())
}
