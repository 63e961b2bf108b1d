use fishweir::model::information_of_means;
use fishweir_core::context::{ContextLikelihood, ContextStatistics, Independent};
use fishweir_core::emission::{Gaussian, Mixture, Parametrisation, SufficientStatistics, Width};
use fishweir_core::number::Real;
use serde::Deserialize;

use super::compare::Comparison;
use super::features::Features;
use super::host_context;
use super::kernel::after;
use super::precision::{Kind, Precise};
use super::schema::{Matrix, Row};
use crate::oracle::{Factored, Law, Model, Observation};
use crate::rounding::{Rounding, Tolerance};

/// Scores and kernels of one-dimensional Gaussians and of two of one width.
pub(super) struct Densities;

#[derive(Deserialize)]
#[serde(tag = "kind", deny_unknown_fields)]
pub(super) enum Inputs {
    #[serde(rename = "gaussian_1d")]
    One { mu: f64, sigma: f64, x: Row, bandwidth: f64 },
    #[serde(rename = "two_gaussian")]
    Two { weight_plus: f64, mu_plus: f64, mu_minus: f64, sigma: f64, x: Row },
}

impl Kind for Densities {
    type Inputs = Inputs;

    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        match inputs {
            Inputs::One { mu, sigma, x, bandwidth } => {
                if T::ROUNDING == 0.0 {
                    host_context::one_gaussian([mu, sigma], &x, comparison)?;
                }
                one::<T>([mu, sigma], &x, bandwidth, comparison)
            }
            Inputs::Two { weight_plus, mu_plus, mu_minus, sigma, x } => {
                if T::ROUNDING == 0.0 {
                    let mean = [mu_plus, mu_minus];
                    host_context::two_gaussians(weight_plus, mean, sigma, &x, comparison)?;
                }
                let two = Two { weight: weight_plus, mean: [mu_plus, mu_minus], sigma };
                two.check::<T>(&x, comparison)
            }
        }
    }
}

/// Log-densities of single points, read from the stream, and their slack.
fn log_densities<T: Precise, E>(
    density: &Independent<E>,
    law: Law,
    x: &[f64],
) -> Result<(Row, Tolerance), String>
where
    E: SufficientStatistics<Real = T> + fishweir_core::emission::Emission<Observation = [T; 1]>,
{
    let model = Model { initial: vec![1.0], transition: vec![vec![1.0]], emission: vec![law] };
    let mut slack = Tolerance::EXACT;
    let mut logs = Row::new();
    for &x in x {
        let point = [T::from_f64(x)];
        logs.push(after(ContextLikelihood::of(density), [Some(&point)])?.to_f64());
        let sequence = vec![Some(Observation::Channels(vec![x]))];
        let each = Rounding::of(&model, &sequence, T::ROUNDING).log().absolute;
        slack.absolute = slack.absolute.max(each);
    }
    Ok((logs, slack))
}

/// `z` of a point and how far rounding may have taken it.
fn standardised(x: f64, mean: f64, sigma: f64, unit: f64) -> (f64, f64) {
    let z = (x - mean) / sigma;
    (z, unit * ((x.abs() + mean.abs()) / sigma + 4.0 * z.abs()))
}

fn one<T: Precise>(
    [mu, sigma]: [f64; 2],
    x: &[f64],
    bandwidth: f64,
    comparison: &mut Comparison,
) -> Result<(), String> {
    let (mean, variance) = (T::from_f64(mu), T::from_f64(sigma) * T::from_f64(sigma));
    let gaussian = Gaussian::<1, T>::new([mean], [variance]).map_err(|e| e.to_string())?;
    let density = Independent::of(gaussian);
    let law = Law::Gaussian { mean: vec![mu], variance: vec![sigma * sigma] };
    let (logs, slack) = log_densities(&density, law, x)?;
    comparison.field("log_density", logs, slack);

    let unit = T::ROUNDING;
    let features = |width: Width| -> Result<Features, String> {
        let factor = match width {
            Width::StandardDeviation => 1.0 / sigma,
            Width::Variance => 0.5 / (sigma * sigma),
            Width::LogStandardDeviation => 1.0,
        };
        let mut features = Features { score: vec![], error: vec![] };
        for &x in x {
            let point = [T::from_f64(x)];
            let [statistics] = after(ContextStatistics::of(&density), [Some(&point)])?;
            let score = gaussian.score_in(&statistics, width).map(Real::to_f64);
            features.score.push(score.to_vec());
            let (z, error) = standardised(x, mu, sigma, unit);
            let of_mean = (error + 4.0 * unit * z.abs()) / sigma;
            let square = 2.0 * z.abs() * error + error * error + unit * (8.0 * z * z + 8.0);
            features.error.push(vec![of_mean, square * factor]);
        }
        Ok(features)
    };
    let by_sigma = features(Width::StandardDeviation)?;
    let by_variance = features(Width::Variance)?;
    let by_log = features(Width::LogStandardDeviation)?;
    let scores = [
        ("score_mu_sigma", &by_sigma),
        ("score_mu_variance", &by_variance),
        ("score_mu_logsigma", &by_log),
    ];
    for (name, features) in scores {
        let slack = Tolerance::absolute(features.most());
        comparison.field(name, features.score.clone(), slack);
    }
    let grams = [("practical_mu_sigma", &by_sigma), ("practical_mu_variance", &by_variance)];
    for (name, features) in grams {
        let (gram, error) = features.gram(None);
        comparison.field_each(name, gram, Tolerance::EXACT, error);
    }

    let diagonal = |width| gaussian.information_in(width).map(Real::to_f64);
    let matrix = |[a, b]: [f64; 2]| vec![vec![a, 0.0], vec![0.0, b]];
    let information = matrix(diagonal(Width::StandardDeviation));
    let slack = Tolerance::relative(8.0 * unit);
    comparison.field("information_mu_sigma", information, slack);
    let widths = [
        (Width::StandardDeviation, &by_sigma),
        (Width::Variance, &by_variance),
        (Width::LogStandardDeviation, &by_log),
    ];
    for (width, features) in widths {
        // The same in all parametrisations.
        let inverse = matrix(diagonal(width).map(f64::recip));
        let (gram, error) = features.gram(Some(&inverse));
        let slack = Tolerance::relative(8.0 * unit);
        comparison.field_each("invariant", gram, slack, error);
    }

    let rows = &by_sigma.score;
    let distance = |a: &Row, b: &Row| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    let kernel = |a, b| (-distance(a, b) / (2.0 * bandwidth * bandwidth)).exp();
    let gram: Matrix = rows.iter().map(|a| rows.iter().map(|b| kernel(a, b)).collect()).collect();
    // The kernel changes by at most exp(-1/2) / bandwidth of what the distance does.
    let slack = Tolerance::absolute(2.0 * by_sigma.most() * 2.0 / bandwidth);
    comparison.field("gaussian_kernel", gram, slack);
    Ok(())
}

/// Two Gaussians of one width.
struct Two {
    weight: f64,
    mean: [f64; 2],
    sigma: f64,
}

impl Two {
    fn mixture<T: Real>(&self) -> Result<Mixture<Gaussian<1, T>, 2>, String> {
        let variance = T::from_f64(self.sigma) * T::from_f64(self.sigma);
        let [plus, minus] =
            self.mean.map(|mean| Gaussian::<1, T>::new([T::from_f64(mean)], [variance]));
        let text = |error: fishweir_core::ModelError| error.to_string();
        let weight = [self.weight, 1.0 - self.weight].map(T::from_f64);
        Mixture::new(weight, [plus.map_err(text)?, minus.map_err(text)?]).map_err(text)
    }

    /// How far rounding may have taken the scores of a point: of both means, and of the weight.
    fn errors(&self, x: f64, unit: f64) -> [f64; 3] {
        let standard = self.mean.map(|mean| standardised(x, mean, self.sigma, unit));
        let exponent = |(z, error): (f64, f64)| z.abs() * error + unit * z * z + 4.0 * unit;
        let lead = exponent(standard[0]) + exponent(standard[1]);
        let log_odds = (self.weight / (1.0 - self.weight)).ln()
            + 0.5 * (standard[1].0.powi(2) - standard[0].0.powi(2));
        let plus = 1.0 / (1.0 + (-log_odds).exp());
        // What the posterior loses to the error of its log-odds, and to its own rounding.
        let posterior = 2.0 * plus * (1.0 - plus) * lead.min(1.0) + 8.0 * unit;
        let of_mean = |(z, error): (f64, f64)| {
            (posterior * z.abs() + error + 4.0 * unit * z.abs()) / self.sigma
        };
        [of_mean(standard[0]), of_mean(standard[1]), posterior + 4.0 * unit]
    }

    fn check<T: Precise>(&self, x: &[f64], comparison: &mut Comparison) -> Result<(), String> {
        let density = Independent::of(self.mixture::<T>()?);
        let law =
            |mean: f64| Law::Gaussian { mean: vec![mean], variance: vec![self.sigma * self.sigma] };
        let law = Law::Mixture {
            weight: vec![self.weight, 1.0 - self.weight],
            component: self.mean.map(law).to_vec(),
        };
        let (logs, slack) = log_densities(&density, law, x)?;
        comparison.field("log_density", logs, slack);

        let mut full = Features { score: vec![], error: vec![] };
        let mut weights = Matrix::new();
        for &x in x {
            let point = [T::from_f64(x)];
            let statistics = after(ContextStatistics::of(&density), [Some(&point)])?;
            let [score] = density.score(&statistics, Parametrisation::SOFTMAX);
            let [plus, minus] = score.component.map(|component| component.mean[0].to_f64());
            let weight = score.weight.map(Real::to_f64);
            full.score.push(vec![plus, minus, weight[0]]);
            full.error.push(self.errors(x, T::ROUNDING).to_vec());
            weights.push(weight.to_vec());
        }
        let cut = |rows: &Matrix| rows.iter().map(|row| row[..2].to_vec()).collect::<Matrix>();
        let means = Features { score: cut(&full.score), error: cut(&full.error) };
        let slack = Tolerance::absolute(means.most());
        comparison.field("score", means.score.clone(), slack);
        let of_weights = full.error.iter().map(|row| row[2]).fold(0.0, f64::max);
        let slack = Tolerance::absolute(of_weights);
        comparison.field("score_weights_softmax", weights, slack);
        let (gram, error) = means.gram(None);
        comparison.field_each("practical", gram, Tolerance::EXACT, error);

        // By quadrature, on the host and in double precision whatever the scores' is.
        let information: Matrix =
            information_of_means(&self.mixture::<f64>()?).map(|row| row.to_vec()).to_vec();
        let of_means = cut(&information)[..2].to_vec();
        let kinds = [("information", &of_means), ("information_full", &information)];
        for (name, information) in kinds {
            comparison.field(name, information.clone(), Tolerance::EXACT);
        }
        let kernels = [("invariant", &means, of_means), ("invariant_full", &full, information)];
        for (name, features, information) in kernels {
            let (gram, error) = features.gram(Some(&Factored::of(&information).inverse()));
            comparison.field_each(name, gram, Tolerance::EXACT, error);
        }
        Ok(())
    }
}
