use fishweir_core::ObservationError;
use fishweir_core::emission::Parametrisation;
use fishweir_core::smooth::SequenceError;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::{ContextModelError, Model, ModelScore, Scored};
use crate::data::internals::centre_and_spread;
use crate::data::{Rows, Samples, SamplesView};
use crate::elementary::Elementary;
use crate::fit::{distance, loo_bandwidth};
use crate::parallel::each;
use crate::runtime::numbers::normal;
use crate::runtime::{Distribution, HmmError, check};

/// Independent samples of a kernel density estimate: a Gaussian around every point, of one bandwidth a channel.
///
/// ```text
/// p(x_1..T) = prod_t 1/n sum_i prod_d N(x_td; point_id, bandwidth_d^2)
/// ```
///
/// A missing sample counts nothing. Score: the slope along the logarithm of a factor of all bandwidths, one
/// number. Source: Parzen, "On estimation of a probability density function and mode", 1962. Work per sample:
/// `n D` multiply-adds and `n` exponentials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts")]
pub struct KernelDensityModel {
    point: Vec<Vec<f64>>,
    bandwidth: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts {
    point: Vec<Vec<f64>>,
    bandwidth: Vec<f64>,
}

impl TryFrom<Parts> for KernelDensityModel {
    type Error = HmmError;

    fn try_from(Parts { point, bandwidth }: Parts) -> Result<Self, HmmError> {
        Self::new(point, bandwidth)
    }
}

impl KernelDensityModel {
    /// An estimate from its points, `[point][channel]`, and a bandwidth a channel, in its units.
    ///
    /// # Errors
    /// [`HmmError`] naming the first number that is wrong.
    pub fn new(point: Vec<Vec<f64>>, bandwidth: Vec<f64>) -> Result<Self, HmmError> {
        check::length("point", point.len(), point.len().max(1))?;
        check::length("bandwidth", bandwidth.len(), bandwidth.len().max(1))?;
        let std = vec![bandwidth.clone(); point.len()];
        check::gaussians(&point, &std, point.len(), bandwidth.len())?;
        Ok(Self { point, bandwidth })
    }

    /// The estimate of all samples of some series, with the bandwidth that makes each likeliest given the others
    /// ([`loo_bandwidth`]), in units of the channels' spread over these; `least` is the least of those units. A
    /// channel that never moves has its entry of `scale` for a unit, or one where that is zero.
    ///
    /// # Errors
    /// [`ContextModelError`] of too few or too many samples.
    pub fn fit(
        sequences: &[SamplesView<'_>],
        scale: &[f64],
        least: f64,
    ) -> Result<Self, ContextModelError> {
        let rows = sequences.iter().filter_map(SamplesView::rows);
        let point: Vec<Vec<f64>> =
            rows.flat_map(|rows| rows.iter().flatten()).map(<[f64]>::to_vec).collect();
        let (_, spread) = centre_and_spread(scale.len(), || point.iter().map(Vec::as_slice));
        let unit = |(spread, scale): (&f64, &f64)| {
            [*spread, *scale].into_iter().find(|unit| *unit > 0.0).unwrap_or(1.0)
        };
        let units: Vec<f64> = spread.iter().zip(scale).map(unit).collect();
        let factor = loo_bandwidth(&point, &units, least)?;
        Ok(Self::new(point, units.iter().map(|unit| factor * unit).collect())?)
    }

    /// The points, `[point][channel]`.
    #[must_use]
    pub fn points(&self) -> &[Vec<f64>] {
        &self.point
    }

    /// The bandwidth of each channel: a standard deviation.
    #[must_use]
    pub fn bandwidth(&self) -> &[f64] {
        &self.bandwidth
    }

    /// The distribution of a sample, as kernels between models compare it.
    #[must_use]
    pub fn distribution(&self) -> Distribution {
        let variance: Vec<f64> = self.bandwidth.iter().map(|h| h * h).collect();
        let around = |point: &Vec<f64>| Distribution::Gaussian {
            mean: point.clone(),
            variance: variance.clone(),
        };
        Distribution::Mixture {
            weight: vec![1.0 / self.point.len() as f64; self.point.len()],
            component: self.point.iter().map(around).collect(),
        }
    }

    /// `log p` of a sample, and its slope along the logarithm of a factor of the bandwidths.
    fn log_and_slope(&self, x: &[f64]) -> (f64, f64) {
        let squared: Vec<f64> =
            self.point.iter().map(|point| distance(x, point, &self.bandwidth)).collect();
        let nearest = squared.iter().copied().fold(f64::INFINITY, f64::min);
        let (mut sum, mut weighed) = (0.0, 0.0);
        for d in &squared {
            let share = (-0.5 * (d - nearest)).portable_exp();
            sum += share;
            weighed += share * d;
        }
        let channels = self.bandwidth.len() as f64;
        let units: f64 = self.bandwidth.iter().map(|h| h.portable_ln()).sum();
        let constant = units + 0.5 * channels * std::f64::consts::TAU.portable_ln();
        let log =
            sum.portable_ln() - 0.5 * nearest - (self.point.len() as f64).portable_ln() - constant;
        (log, weighed / sum - channels)
    }

    fn score(&self, samples: SamplesView<'_>) -> Result<ModelScore, SequenceError> {
        let refused = |time, error| SequenceError::Observation { time, error };
        let rows = samples.rows().filter(|rows| rows.dimension() == self.bandwidth.len());
        let rows = rows.ok_or(refused(0, ObservationError::Impossible))?;
        let (mut log_likelihood, mut slope) = (0.0, 0.0);
        for (time, row) in rows.iter().enumerate() {
            let Some(row) = row else { continue };
            if row.iter().any(|x| !x.is_finite()) {
                return Err(refused(time, ObservationError::NotFinite));
            }
            let (log, along) = self.log_and_slope(row);
            log_likelihood += log;
            slope += along;
        }
        Ok(ModelScore { log_likelihood, score: vec![slope] })
    }
}

impl Model for KernelDensityModel {
    fn noun(&self) -> &'static str {
        "kernel density estimate"
    }

    fn size(&self) -> usize {
        self.bandwidth.len()
    }

    /// `log_bandwidth`.
    fn parameter_names(&self) -> Vec<String> {
        vec!["log_bandwidth".into()]
    }
}

impl Scored for KernelDensityModel {
    fn parameters(&self) -> usize {
        1
    }

    fn scores(
        &self,
        sequences: &[SamplesView<'_>],
        _: Parametrisation,
    ) -> Vec<Result<ModelScore, SequenceError>> {
        each(sequences.len(), &|index| self.score(sequences[index]))
    }

    fn draw(&self, length: usize, seed: u64) -> Samples {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut rows = Rows::new(self.bandwidth.len());
        for _ in 0..length {
            let point = &self.point[rng.random_range(0..self.point.len())];
            let near = point.iter().zip(&self.bandwidth).map(|(x, h)| x + h * normal(&mut rng));
            rows.push(Some(&near.collect::<Vec<f64>>()));
        }
        Samples::Channels(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_is_the_slope_and_the_density_that_of_the_mixture() {
        let point: Vec<Vec<f64>> =
            (0..7).map(|t| vec![f64::from(t * t % 5), f64::from(t % 3)]).collect();
        let model =
            |factor: f64| KernelDensityModel::new(point.clone(), vec![0.5 * factor, 0.25 * factor]);
        let samples: Samples = [[0.5, 1.0], [3.0, 0.25], [20.0, -3.0]].into_iter().collect();
        let log = |factor: f64| {
            let one = model(factor).expect("an estimate");
            Model::log_likelihoods(&one, &[samples.view()])[0].expect("possible")
        };
        let step = 1e-5_f64;
        let difference = (log(step.exp()) - log((-step).exp())) / (2.0 * step);
        let one = model(1.0).expect("an estimate");
        let score = one.score(samples.view()).expect("possible").score[0];
        assert!((score - difference).abs() < 1e-6 * score.abs(), "{score} {difference}");
        let Distribution::Mixture { weight, component } = one.distribution() else {
            panic!("a mixture")
        };
        let density = |x: [f64; 2]| -> f64 {
            let parts = weight.iter().zip(&component).map(|(weight, one)| {
                let Distribution::Gaussian { mean, variance } = one else { panic!("Gaussians") };
                let channel = |d: usize| {
                    (-0.5 * (x[d] - mean[d]).powi(2) / variance[d]).exp()
                        / (std::f64::consts::TAU * variance[d]).sqrt()
                };
                weight * channel(0) * channel(1)
            });
            parts.sum::<f64>().ln()
        };
        let near: Samples = [[0.5, 1.0], [3.0, 0.25]].into_iter().collect();
        let found = one.score(near.view()).expect("possible").log_likelihood;
        let wanted = density([0.5, 1.0]) + density([3.0, 0.25]);
        assert!((found - wanted).abs() < 1e-12, "{found} {wanted}");
        assert_eq!(one.draw(5, 3), one.draw(5, 3));
        assert!(KernelDensityModel::new(Vec::new(), vec![1.0]).is_err());
        assert!(model(-1.0).is_err());
    }
}
